// SPDX-License-Identifier: BSL-1.0
// dimwise/io.hpp -- files: what is read and written. Link `dimwise::io`.
#pragma once

#include <dimwise/io/checkpoint.hpp>
#include <dimwise/io/config.hpp>
#include <dimwise/io/gguf.hpp>
#include <dimwise/io/npy.hpp>
#include <dimwise/io/safetensors.hpp>
#include <dimwise/io/shards.hpp>
#include <dimwise/io/tensors.hpp>
#include <dimwise/nn/hana.hpp>
