// tests/fuzz/formulas/elements.cpp -- functions, arithmetic, choices and comparisons, element by element, matched
// by name.
//
// SPDX-License-Identifier: BSL-1.0
#include "fuzz/dims.hpp"

namespace fuzz {

namespace {

class operands {
 public:
  explicit operands(attempt& a)
      : n(a.extents<3>({{0, 9}, {0, 65}, {0, 130}})),
        x(a, "x", numbers(a.random), repeats::sometimes, batch{n[0]}, seq{n[1]}, d_model{n[2]}),
        y(a, "y", numbers(a.random), repeats::sometimes, batch{n[0]}, seq{n[1]}, d_model{n[2]}),
        w(a, "w", numbers(a.random), repeats::sometimes, seq{n[1]}, d_model{n[2]}),
        of_rows(a, "of rows", numbers(a.random), repeats::sometimes, batch{n[0]}, seq{n[1]}) {}
  std::array<std::size_t, 3> n;
  held<float, batch, seq, d_model> x;
  held<float, d_model, batch, seq> y;
  held<float, d_model, seq> w;
  held<float, seq, batch> of_rows;
};

// A function errs by a few units in the last place of its result, and of 1 where it is a difference of numbers near 1.
template <class F>
void function(attempt& a, const F& of, double own = 6, double absolute = 0) {
  const operands o(a);
  const auto e = of(o.x.view());
  compare(a, e, [&] { return roundings(exactly(e), own, u * absolute + 4 * least_float); });
}
void relu_of(attempt& a) {
  function(a, [](const auto& x) { return relu(x); }, 0);
}
void gelu_of(attempt& a) {
  function(a, [](const auto& x) { return gelu(x); }, 8, 4);
}
void gelu_tanh_of(attempt& a) {
  function(a, [](const auto& x) { return gelu_tanh(x); }, 8, 4);
}
void silu_of(attempt& a) {
  function(a, [](const auto& x) { return silu(x); }, 8, 4);
}
void sigmoid_of(attempt& a) {
  function(a, [](const auto& x) { return sigmoid(x); }, 8);
}
void softplus_of(attempt& a) {
  function(a, [](const auto& x) { return softplus(x); }, 8);
}
void tanh_of(attempt& a) {
  function(a, [](const auto& x) { return tanh(x); }, 8);
}
void exp_of(attempt& a) {
  function(a, [](const auto& x) { return exp(x * 0.25F); }, 10);
}
void erf_of(attempt& a) {
  function(a, [](const auto& x) { return erf(x); });
}
void log_of(attempt& a) {
  function(a, [](const auto& x) { return log(abs(x) + 1.0F); }, 8, 2);
}
void sqrt_of(attempt& a) {
  function(a, [](const auto& x) { return sqrt(square(x)); });
}
void sin_of(attempt& a) {
  function(a, [](const auto& x) { return sin(x) * cos(-x); }, 8, 8);
}
void own_function(attempt& a) {
  function(a, [](const auto& x) { return map([](auto y) { return y < 0 ? -y : y * 2; }, x); }, 1);
}

void sum_of_equals(attempt& a) {
  const operands o(a);
  compare(a, o.x.view() + o.y.view(),
          [&] { return roundings(exactly(o.x.magnitudes() + o.y.magnitudes()), 1, least_float); });
}
void difference_of_parts(attempt& a) {
  const operands o(a);
  compare(a, o.w.view() - o.x.view(),
          [&] { return roundings(exactly(o.w.magnitudes() + o.x.magnitudes()), 1, least_float); });
}
void product_by_rows(attempt& a) {
  const operands o(a);
  compare(a, o.x.view() * o.of_rows.view(),
          [&] { return roundings(exactly(o.x.magnitudes() * o.of_rows.magnitudes()), 1, least_float); });
}
void quotient(attempt& a) {
  const operands o(a);
  const auto of = [](const auto& x, const auto& y) { return x / (abs(y) + 0.5F); };
  compare(a, of(o.x.view(), o.w.view()),
          [&] { return roundings(exactly(of(o.x.magnitudes(), o.w.view())), 3, least_float); });
}
void chain(attempt& a) {
  const operands o(a);
  const auto of = [](const auto& x, const auto& y, const auto& w, const auto& r) { return (x * w + y) * 0.5F + r; };
  compare(a, of(o.x.view(), o.y.view(), o.w.view(), o.of_rows.view()), [&] {
    return roundings(exactly(of(o.x.magnitudes(), o.y.magnitudes(), o.w.magnitudes(), o.of_rows.magnitudes())), 4,
                     least_float * 4);
  });
}
void map_of_three(attempt& a) {
  const operands o(a);
  const auto e = map([](auto x, auto y, auto w) { return x < y ? w : x; }, o.x.view(), o.y.view(), o.w.view());
  compare(a, e, [&] { return roundings(exactly(e), 0); });
}
void shared_and_free(attempt& a) {
  const operands o(a);
  const held<float, batch, heads> z(a, "z", numbers(a.random), repeats::sometimes, batch{o.n[0]},
                                    heads{a.extent({0, 5})});
  const auto of = [](const auto& x, const auto& y) { return broadcast_like(x, y) * y; };
  compare(a, of(o.of_rows.view(), z.view()),
          [&] { return roundings(exactly(of(o.of_rows.magnitudes(), z.magnitudes())), 1, least_float); });
}

// Choices are exact.
template <class F>
void choice(attempt& a, const F& of) {
  const operands o(a);
  const auto e = of(o);
  compare(a, e, [&] { return roundings(exactly(e), 0); });
}
void larger_and_smaller(attempt& a) {
  choice(a, [](const operands& o) { return max(min(o.x.view(), o.w.view()), -0.25F); });
}
void clamped(attempt& a) {
  choice(a, [](const operands& o) { return clamp(o.x.view(), o.of_rows.view(), 0.5F); });
}
void where_compared(attempt& a) {
  choice(a, [](const operands& o) { return where(o.x.view() < o.w.view(), o.x.view(), o.y.view()); });
}
void where_equal(attempt& a) {
  choice(a, [](const operands& o) { return where(o.of_rows.view() == 0.0F, 1.0F, o.y.view()); });
}
// What is not chosen has no effect.
void where_padded(attempt& a) {
  const operands o(a);
  const held<int, batch> lengths(a, "lengths", [&] { return static_cast<int>(a.random.below(o.n[1] + 1)); },
                                 repeats::never, batch{o.n[0]});
  const held<float, batch, seq, d_model> x(a, "own x", numbers(a.random), repeats::never, batch{o.n[0]}, seq{o.n[1]},
                                           d_model{o.n[2]});
  const auto of = [&](const auto& y) { return where(padding<seq>(lengths.view()), y, o.w.view()); };
  const auto hidden = x.like([&](std::size_t i, float y) {
    const std::size_t row = i / o.n[2];
    return static_cast<int>(row % o.n[1]) < lengths[row / o.n[1]] ? y : std::numeric_limits<float>::quiet_NaN();
  });
  compare(a, of(hidden), of(x.view()), [&] { return roundings(exactly(of(x.view())), 0); });
}
void powers(attempt& a) {
  const operands o(a);
  const auto e = pow(abs(o.x.view()) + 0.5F, 1.5F);
  compare(a, e, [&] { return roundings(exactly(e), 8); });
}

const families_of_file all{
    {"element.relu", relu_of},
    {"element.gelu", gelu_of},
    {"element.gelu_tanh", gelu_tanh_of},
    {"element.silu", silu_of},
    {"element.sigmoid", sigmoid_of},
    {"element.softplus", softplus_of},
    {"element.tanh", tanh_of},
    {"element.exp", exp_of},
    {"element.erf", erf_of},
    {"element.log", log_of},
    {"element.sqrt", sqrt_of},
    {"element.sin", sin_of},
    {"element.map", own_function},
    {"element.add", sum_of_equals},
    {"element.subtract", difference_of_parts},
    {"element.multiply", product_by_rows},
    {"element.divide", quotient},
    {"element.chain", chain},
    {"element.map_of_three", map_of_three},
    {"element.broadcast_like", shared_and_free},
    {"element.max_min", larger_and_smaller},
    {"element.clamp", clamped},
    {"element.where_compared", where_compared},
    {"element.where_equal", where_equal},
    {"element.where_padded", where_padded},
    {"element.pow", powers},
};

}  // namespace

}  // namespace fuzz
