// tests/fuzz/formulas/positions.cpp -- rotary positions, sinusoids, skew.
//
// SPDX-License-Identifier: BSL-1.0
#include "fuzz/dims.hpp"

namespace fuzz {

namespace {

struct pairs_of : feature_dim<> {};

class turned {
 public:
  explicit turned(attempt& a)
      : n(a.extents<4>({{0, 3}, {0, 33}, {1, 4}, {0, 33}})),
        first(a.random.between(0, 20)),
        x(a, "x", numbers(a.random), repeats::sometimes, batch{n[0]}, starting_at(seq{n[1]}, first), heads{n[2]},
          d_k{2 * n[3]}) {}
  std::array<std::size_t, 4> n;
  std::ptrdiff_t first;
  held<float, batch, seq, heads, d_k> x;
  // A rotation mixes two elements by numbers up to 1: three roundings, and one of each factor, whose angle is a double.
  template <class E>
  [[nodiscard]] each_of<E> allowed(const E& e) const {
    auto all = exactly(e);
    for (double& y : all.of) { y = u * 4 * 2 * x.largest() + least_float; }
    return all;
  }
};

void rotary_of(attempt& a) {
  const turned o(a);
  const auto e = rotary<seq, d_k>(o.x.view());
  compare(a, e, [&] { return o.allowed(e); });
}
void rotary_interleaved(attempt& a) {
  const turned o(a);
  const auto e = rotary<seq, d_k>(o.x.view() * 0.5F, {.base = 500, .pairs = rotary_pairs::interleaved});
  compare(a, e, [&] { return o.allowed(e); });
}
void rotary_told(attempt& a) {
  const turned o(a);
  const held<int, batch, seq> places(a, "positions", [&a] { return static_cast<int>(a.random.below(50)); },
                                     repeats::sometimes, batch{o.n[0]}, starting_at(seq{o.n[1]}, o.first));
  const auto e = rotary<seq, d_k>(o.x.view(), places.view());
  compare(a, e, [&] { return o.allowed(e); });
}
void plus_sinusoid(attempt& a) {
  const turned o(a);
  const auto e =
      at<heads>(o.x.view(), std::size_t{0}) + sinusoid<seq, d_k>(starting_at(seq{o.n[1]}, o.first), d_k{2 * o.n[3]});
  compare(a, e, [&] {
    auto all = exactly(e);
    for (double& y : all.of) {
      y = u * (8 + 4 * static_cast<double>(static_cast<std::size_t>(o.first) + o.n[1]) + o.x.largest());
    }
    return all;
  });
}
void skewed(attempt& a) {
  const auto [h, s, t] = a.extents<3>({{0, 4}, {0, 33}, {0, 33}});
  struct far : position_dim<> {};
  const held<float, heads, seq, far> x(a, "x", numbers(a.random), repeats::sometimes, heads{h}, seq{s},
                                       far{2 * std::max(s, t) + 1});
  const auto e = skew<seq, far, key>(x.view(), key{s});
  compare(a, e, [&] { return roundings(exactly(e), 0); });
}

const families_of_file all{
    {"position.rotary", rotary_of},
    {"position.rotary_interleaved", rotary_interleaved},
    {"position.rotary_told", rotary_told},
    {"position.sinusoid", plus_sinusoid},
    {"position.skew", skewed},
};

}  // namespace

}  // namespace fuzz
