// SPDX-License-Identifier: BSL-1.0
// Rows of which tests/half_way/check.py says that they have a kernel.
#define DIMWISE_COMPILED_KERNELS
#include <dimwise/eval/kernels/rows.hpp>

using cumsum_rows = decltype(&dimwise::detail::run_rows<dimwise::detail::rows::cumsum, float>);
constexpr cumsum_rows used = &dimwise::detail::run_rows<dimwise::detail::rows::cumsum, float>;

int main() { return used == nullptr ? 1 : 0; }
