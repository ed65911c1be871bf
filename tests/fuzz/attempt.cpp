// tests/fuzz/attempt.cpp -- random numbers and extents, and the families.
//
// SPDX-License-Identifier: BSL-1.0
#include "attempt.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace fuzz {

const char* name_of(spread s) {
  constexpr const char* names[] = {"even",   "normal",       "small",  "large", "few",
                                   "sparse", "signed zeros", "powers", "whole"};
  return names[static_cast<std::size_t>(s)];
}

float numbers::operator()() {
  const double u = 2 * from_->unit() - 1;
  switch (how_) {
    case spread::even:
      return static_cast<float>(u);
    case spread::normal: {
      double total = 0;
      for (int i = 0; i < 6; ++i) { total += from_->unit() - 0.5; }
      return static_cast<float>(total * 1.4142135623730951);
    }
    case spread::small:
      return static_cast<float>(u * 1e-4);
    case spread::large:
      return static_cast<float>(u * 300);
    case spread::few:
      return from_->one_in(8) ? -0.75F : 1.5F;
    case spread::sparse:
      return from_->one_in(6) ? static_cast<float>(u) : 0.0F;
    case spread::signed_zeros:
      return from_->one_in(3) ? static_cast<float>(u) : from_->one_in(2) ? -0.0F : 0.0F;
    case spread::powers:
      return static_cast<float>(std::ldexp(u < 0 ? -1.0 : 1.0, static_cast<int>(from_->between(-9, 6))));
    case spread::whole:
      break;
  }
  return static_cast<float>(from_->between(-4, 4));
}

namespace {

constexpr std::size_t borders[] = {0,  1,  1,  1,  2,  2,  2,  3,  3,  4,  4,  5,   5,   6,   7,   7,
                                   8,  8,  9,  12, 15, 16, 16, 17, 23, 24, 25, 31,  32,  32,  33,  47,
                                   48, 49, 63, 64, 64, 65, 80, 95, 96, 96, 97, 112, 127, 128, 129, 130};

}  // namespace

std::size_t attempt::extent(range r) {
  const std::size_t most = std::max(r.least, std::min(r.most, to_.size));
  const auto* const first = std::lower_bound(std::begin(borders), std::end(borders), r.least);
  const auto* const last = std::upper_bound(first, std::end(borders), most);
  if (first == last) { return most; }
  // Nothing at all is one extent among many, but in a formula of six extents it would be a sixth of all formulas.
  const std::size_t drawn = first[random.below(static_cast<std::size_t>(last - first))];
  return drawn == 0 && !random.one_in(2) ? std::min<std::size_t>(1, most) : drawn;
}

void attempt::shorten(std::span<std::size_t> all, std::span<const range> ranges) const {
  for (;;) {
    std::size_t product = 1;
    for (const std::size_t n : all) { product *= std::max<std::size_t>(n, 1); }
    if (product <= to_.work) { return; }
    std::size_t largest = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] > ranges[i].least && all[i] > 1 && (largest == all.size() || all[i] > all[largest])) { largest = i; }
    }
    if (largest == all.size()) { return; }
    all[largest] = std::max(ranges[largest].least, all[largest] / 2);
  }
}

namespace {

std::vector<family>& registered() {
  static std::vector<family> all;
  return all;
}

}  // namespace

families_of_file::families_of_file(std::initializer_list<family> of_file) {
  registered().insert(registered().end(), of_file.begin(), of_file.end());
}

std::vector<family> every_family() {
  std::vector<family> all = registered();
  std::ranges::sort(all, {}, [](const family& f) { return std::string_view(f.name); });
  return all;
}

}  // namespace fuzz
