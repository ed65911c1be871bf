// Two translation units include the whole library and use it: they link, and compute the same.
// SPDX-License-Identifier: BSL-1.0
#include "attention.hpp"

#include <cstdio>

int main() {
  const double here = odr::attention();
  const double there = odr::attention_of_the_other_file();
  std::printf("%.9g %.9g\n", here, there);
  return here == there && here > 0 ? 0 : 1;
}
