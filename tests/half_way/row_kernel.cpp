// SPDX-License-Identifier: BSL-1.0
// Rows of which tests/half_way/check.py says that they have a kernel.
#define DIMWISE_COMPILED_KERNELS
#include <dimwise/eval/kernels_rows.hpp>

using scan_rows = decltype(&dimwise::detail::run_rows<dimwise::detail::rows::scan, float>);
constexpr scan_rows used = &dimwise::detail::run_rows<dimwise::detail::rows::scan, float>;

int main() { return used == nullptr ? 1 : 0; }
