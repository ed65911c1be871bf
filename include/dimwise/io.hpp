// SPDX-License-Identifier: BSL-1.0
// dimwise/io.hpp -- files: what is read and written. Link `dimwise::io`.
#pragma once

#include <dimwise/io/checkpoint.hpp>
#include <dimwise/io/safetensors.hpp>
