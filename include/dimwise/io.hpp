// SPDX-License-Identifier: BSL-1.0
// dimwise/io.hpp -- files: what is read and written. Link `dimwise::io`.
#pragma once

// clang-format off: errors are declared first, which keeps the include lines of an error few
#include <dimwise/support/errors.hpp>
// clang-format on

#include <dimwise/io/arrays/tensors.hpp>
#include <dimwise/io/checkpoint.hpp>
#include <dimwise/io/config.hpp>
#include <dimwise/io/gguf.hpp>
#include <dimwise/io/npy.hpp>
#include <dimwise/io/safetensors.hpp>
#include <dimwise/io/shards.hpp>
#include <dimwise/nn/hana.hpp>
