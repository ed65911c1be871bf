// tests/fuzz/operands.cpp -- random layouts.
//
// SPDX-License-Identifier: BSL-1.0
#include "operands.hpp"

namespace fuzz {

layout random_layout(source& random, std::span<const std::size_t> extents, repeats may_repeat) {
  const std::size_t rank = extents.size();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rank; ++i) { order.push_back(rank - 1 - i); }  // innermost first
  if (!random.one_in(3)) {
    for (std::size_t i = rank; i > 1; --i) { std::swap(order[i - 1], order[random.below(i)]); }
  }
  const bool in_row = random.one_in(2);  // no gaps, nothing backwards, nothing repeated
  layout l;
  l.strides.resize(rank);
  std::ptrdiff_t step = in_row || random.one_in(2) ? 1 : random.between(2, 3);
  for (const std::size_t k : order) {
    const auto n = static_cast<std::ptrdiff_t>(extents[k]);
    l.strides[k] = step;
    if (!in_row && may_repeat == repeats::sometimes && random.one_in(12)) {
      l.strides[k] = 0;
      continue;
    }
    if (!in_row && random.one_in(8)) {
      l.strides[k] = -step;
      if (n > 0) { l.first += static_cast<std::size_t>((n - 1) * step); }
    }
    step *= std::max<std::ptrdiff_t>(n, 1);
    if (!in_row && random.one_in(4)) { step += random.between(1, 17); }
  }
  if (!in_row) { l.first += random.below(4); }  // not aligned
  l.size = static_cast<std::size_t>(step) + 4;
  if (l.first >= l.size) { l.size = l.first + 1; }
  return l;
}

std::string in_words(const layout& l) {
  std::string text = " strides";
  for (const std::ptrdiff_t s : l.strides) { text += ' ' + std::to_string(s); }
  return text;
}

}  // namespace fuzz
