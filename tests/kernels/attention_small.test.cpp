// tests/kernels/attention_small.test.cpp -- the unrolled kernel for extents known to the compiler.
//
// SPDX-License-Identifier: BSL-1.0
#include "attention_reference.hpp"
#include <dimwise/kernels/attention_small.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

namespace {

namespace kernels = dimwise::kernels;
using arch = kernels::default_arch;
using kernels::key_window;

template <std::size_t Queries, std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim, bool Causal>
void check(std::mt19937& random, float poison = 0.0F) {
  CAPTURE(Queries);
  CAPTURE(Keys);
  CAPTURE(HeadDim);
  CAPTURE(ValueDim);
  CAPTURE(Causal);
  static_assert(kernels::attention_small_fits<Queries, Keys, HeadDim, ValueDim>);
  dimwise::kernels::attention_layout layout;
  layout.queries = Queries;
  layout.keys = Keys;
  layout.head_dim = HeadDim;
  layout.value_dim = ValueDim;
  layout.scale = 1.0F / std::sqrt(static_cast<float>(HeadDim) + 1.0F);
  if (Causal) layout.window = key_window::causal();
  auto p = reference::make_problem(layout, random, 3);
  p.head.lse = nullptr;
  if (poison != 0.0F) {
    // Not infinity: a score of -inf is a hidden key by definition, whatever the value.
    if (std::isnan(poison)) p.k[static_cast<std::size_t>(p.layout.k_row) * (Keys - 1)] = poison;
    p.v[static_cast<std::size_t>(p.layout.v_row) * (Keys / 2)] = poison;
  }
  kernels::attention_small<arch, Queries, Keys, HeadDim, ValueDim, Causal>(
      p.head.q, p.layout.q_row, p.head.k, p.layout.k_row, p.head.v, p.layout.v_row, p.head.out, p.layout.out_row,
      p.layout.scale);
  CHECK(reference::largest_error(p) <= 2.0);
  for (std::size_t i = 0; i < Queries; ++i) {
    for (std::size_t gap = 0; gap < 3; ++gap) CHECK(std::isnan(p.out[i * (ValueDim + 3) + ValueDim + gap]));
  }
}

template <std::size_t Queries, std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim>
void check_all() {
  std::mt19937 random(1);
  for (int round = 0; round < 5; ++round) {
    check<Queries, Keys, HeadDim, ValueDim, false>(random);
    check<Queries, Keys, HeadDim, ValueDim, true>(random);
    if (Keys > 0) {
      check<Queries, Keys, HeadDim, ValueDim, false>(random, std::numeric_limits<float>::quiet_NaN());
      check<Queries, Keys, HeadDim, ValueDim, true>(random, std::numeric_limits<float>::quiet_NaN());
      check<Queries, Keys, HeadDim, ValueDim, true>(random, std::numeric_limits<float>::infinity());
    }
  }
}

TEST_CASE("attention_small: extents of every kind") {
  check_all<6, 6, 24, 28>();
  check_all<10, 10, 8, 8>();
  check_all<1, 1, 1, 1>();
  check_all<1, 7, 3, 5>();
  check_all<2, 3, 17, 33>();
  check_all<5, 13, 16, 16>();
  check_all<8, 8, 8, 16>();
  check_all<9, 4, 7, 9>();
  check_all<16, 16, 16, 16>();
  check_all<17, 25, 5, 3>();
  check_all<32, 8, 4, 40>();
  check_all<3, 32, 64, 64>();
}

TEST_CASE("attention_small: extents of zero") {
  check_all<3, 0, 4, 5>();
  check_all<0, 3, 4, 5>();
}

}  // namespace
