// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/modules.hpp -- every module that dimwise/dimwise.hpp includes.
//
// Layer: nn.
// Tests: tests/nn
#pragma once

#include <dimwise/nn/attention.hpp>
#include <dimwise/nn/cache.hpp>
#include <dimwise/nn/heads/latent_attention.hpp>
#include <dimwise/nn/heads/multi_head.hpp>
#include <dimwise/nn/heads/slot_attention.hpp>
#include <dimwise/nn/heads/talking_heads.hpp>
#include <dimwise/nn/layers.hpp>
#include <dimwise/nn/layers/embedding.hpp>
#include <dimwise/nn/layers/feed_forward.hpp>
#include <dimwise/nn/layers/linear.hpp>
#include <dimwise/nn/layers/norm.hpp>
#include <dimwise/nn/layers/pack_weights.hpp>
#include <dimwise/nn/linear_attention.hpp>
#include <dimwise/nn/paged_cache.hpp>
#include <dimwise/nn/parameters.hpp>
#include <dimwise/nn/parameters/initialise.hpp>
#include <dimwise/nn/transformer.hpp>
