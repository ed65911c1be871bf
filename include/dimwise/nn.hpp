// SPDX-License-Identifier: BSL-1.0
// dimwise/nn.hpp -- the modules: layers and models written in the language of dimwise.
#pragma once

#include <dimwise/nn/attention.hpp>
#include <dimwise/nn/cache.hpp>
#include <dimwise/nn/embedding.hpp>
#include <dimwise/nn/feed_forward.hpp>
#include <dimwise/nn/initialise.hpp>
#include <dimwise/nn/latent_attention.hpp>
#include <dimwise/nn/layers.hpp>
#include <dimwise/nn/linear.hpp>
#include <dimwise/nn/linear_attention.hpp>
#include <dimwise/nn/multi_head.hpp>
#include <dimwise/nn/norm.hpp>
#include <dimwise/nn/paged_cache.hpp>
#include <dimwise/nn/parameters.hpp>
#include <dimwise/nn/slot_attention.hpp>
#include <dimwise/nn/talking_heads.hpp>
#include <dimwise/nn/transformer.hpp>
