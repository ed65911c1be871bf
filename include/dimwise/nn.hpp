// SPDX-License-Identifier: BSL-1.0
// dimwise/nn.hpp -- the modules: layers and models written in the language of dimwise. Structs of
// BOOST_HANA_DEFINE_STRUCT are modules as well.
#pragma once

// clang-format off: errors are declared first, which keeps the include lines of an error few
#include <dimwise/support/errors.hpp>
// clang-format on

#include <dimwise/nn/hana.hpp>
#include <dimwise/nn/modules.hpp>
