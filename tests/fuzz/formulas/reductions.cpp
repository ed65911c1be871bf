// tests/fuzz/formulas/reductions.cpp -- sums, means, extremes and log-sum-exps, with masks; what is masked does not
// count.
//
// SPDX-License-Identifier: BSL-1.0
#include "fuzz/dims.hpp"

#include <cmath>

namespace fuzz {

namespace {

class operands {
 public:
  explicit operands(attempt& a)
      : n(a.extents<3>({{0, 9}, {0, 33}, {0, 130}})),
        x(a, "x", numbers(a.random), repeats::sometimes, batch{n[0]}, key{n[1]}, d_model{n[2]}),
        visible(a, "visible", [&a] { return !a.random.one_in(3); }, repeats::never, batch{n[0]}, key{n[1]}) {}
  std::array<std::size_t, 3> n;
  held<float, batch, key, d_model> x;
  held<bool, batch, key> visible;
  /// What is hidden is NaN.
  [[nodiscard]] auto poisoned(const held<float, batch, key, d_model>& of) const {
    return of.like(
        [&](std::size_t i, float y) { return visible[i / n[2]] ? y : std::numeric_limits<float>::quiet_NaN(); });
  }
};

void sums(attempt& a) {
  const operands o(a);
  compare(a, sum<key>(o.x.view()),
          [&] { return roundings(exactly(sum<key>(o.x.magnitudes())), static_cast<double>(o.n[1]), least_float); });
}
void sums_of_two(attempt& a) {
  const operands o(a);
  compare(a, sum<d_model, batch>(o.x.view()), [&] {
    return roundings(exactly(sum<d_model, batch>(o.x.magnitudes())), static_cast<double>(o.n[0] * o.n[2]), least_float);
  });
}
void sums_of_all(attempt& a) {
  const operands o(a);
  compare(a, sum<d_model, batch, key>(o.x.view()), [&] {
    return roundings(exactly(sum<d_model, batch, key>(o.x.magnitudes())), static_cast<double>(o.n[0] * o.n[1] * o.n[2]),
                     least_float);
  });
}
void means(attempt& a) {
  const operands o(a);
  compare(a, mean<d_model>(o.x.view()), [&] {
    return roundings(exactly(mean<d_model>(o.x.magnitudes())), static_cast<double>(o.n[2]) + 2, least_float);
  });
}
void means_masked(attempt& a) {
  const operands o(a);
  const held<float, batch, key, d_model> y(a, "y", numbers(a.random), repeats::never, batch{o.n[0]}, key{o.n[1]},
                                           d_model{o.n[2]});
  const auto of = [&](const auto& z) { return mean<key>(z, allow(o.visible.view())); };
  compare(a, of(o.poisoned(y)), of(y.view()),
          [&] { return roundings(exactly(of(y.magnitudes())), static_cast<double>(o.n[1]) + 2, least_float); });
}
void sums_masked(attempt& a) {
  const operands o(a);
  const held<int, batch> lengths(a, "lengths", [&] { return static_cast<int>(a.random.below(o.n[1] + 1)); },
                                 repeats::sometimes, batch{o.n[0]});
  const auto of = [&](const auto& z) { return sum<key>(z * z, padding<key>(lengths.view())); };
  compare(a, of(o.x.view()), [&] {
    return roundings(exactly(of(o.x.view())), static_cast<double>(o.n[1]) + 2,
                     least_float * static_cast<double>(o.n[1] + 1));
  });
}
template <class F>
void exact(attempt& a, const F& of) {
  const operands o(a);
  compare(a, of(o.x.view()), [&] { return roundings(exactly(of(o.x.view())), 0); });
}
void largest(attempt& a) {
  exact(a, [](const auto& x) { return max<key>(x); });
}
void smallest(attempt& a) {
  exact(a, [](const auto& x) { return min<d_model, key>(x); });
}
void largest_masked(attempt& a) {
  const operands o(a);
  const held<float, batch, key, d_model> y(a, "y", numbers(a.random), repeats::never, batch{o.n[0]}, key{o.n[1]},
                                           d_model{o.n[2]});
  const auto of = [&](const auto& z) { return max<key>(z, allow(o.visible.view())); };
  compare(a, of(o.poisoned(y)), of(y.view()), [&] { return roundings(exactly(of(y.view())), 0); });
}
void log_sums(attempt& a) {
  const operands o(a);
  const auto e = logsumexp<key>(o.x.view());
  compare(a, e, [&] {
    auto allowed = exactly(e);
    for (double& y : allowed.of) { y = std::isinf(y) ? 0 : u * (16 + 4 * o.x.largest() + static_cast<double>(o.n[1])); }
    return allowed;
  });
}
void variances(attempt& a) {
  const operands o(a);
  const auto of = [](const auto& x) { return mean<d_model>(square(x - mean<d_model>(x))); };
  // A difference errs by the roundings of the larger; its square by twice that.
  compare(a, of(o.x.view()), [&] {
    return roundings(exactly(mean<d_model>(square(o.x.magnitudes()) + square(mean<d_model>(o.x.magnitudes())))),
                     6 * static_cast<double>(o.n[2] + 4), least_float);
  });
}
void lengths_of_vectors(attempt& a) {
  const operands o(a);
  const auto e = sqrt(sum<d_model>(square(o.x.view())));
  compare(a, e, [&] {
    return roundings(exactly(e), static_cast<double>(o.n[2]) + 4, 1e-19 * static_cast<double>(o.n[2] + 1));
  });
}
void norms(attempt& a) {
  const operands o(a);
  const auto e = norm<d_model>(o.x.view());
  compare(a, e, [&] { return roundings(exactly(e), static_cast<double>(o.n[2]) + 4, least_float); });
}
void norms_down(attempt& a) {
  const operands o(a);
  const auto e = norm<key, batch>(o.x.view());
  compare(a, e, [&] {
    const auto terms = static_cast<double>(o.n[0] * o.n[1]);
    return roundings(exactly(e), terms + 4, least_float * (static_cast<double>(o.n[0]) + 1));
  });
}
void norms_masked(attempt& a) {
  const operands o(a);
  const held<float, batch, key, d_model> y(a, "y", numbers(a.random), repeats::never, batch{o.n[0]}, key{o.n[1]},
                                           d_model{o.n[2]});
  const auto of = [&](const auto& z) { return norm<key>(z, allow(o.visible.view())); };
  compare(a, of(o.poisoned(y)), of(y.view()),
          [&] { return roundings(exactly(of(y.view())), static_cast<double>(o.n[1]) + 4, least_float); });
}
// Between 1/2 and 2, so that no product of 33 numbers overflows.
void products(attempt& a) {
  const operands o(a);
  const auto bounded = [](const auto& x) { return where(x < 0, clamp(x, -2, -0.5F), clamp(x, 0.5F, 2)); };
  const auto e = prod<key>(bounded(o.x.view()));
  compare(a, e, [&] { return roundings(exactly(prod<key>(bounded(o.x.magnitudes()))), static_cast<double>(o.n[1])); });
}
void sums_of_products(attempt& a) {
  const operands o(a);
  const held<float, key, d_model> y(a, "y", numbers(a.random), repeats::sometimes, key{o.n[1]}, d_model{o.n[2]});
  const auto of = [](const auto& p, const auto& q) { return sum<key>(p * q); };
  compare(a, of(o.x.view(), y.view()), [&] { return of_product(of(o.x.magnitudes(), y.magnitudes()), o.n[1]); });
}
void shown_by_masks(attempt& a) {
  const auto [b, s, t] = a.extents<3>({{0, 5}, {0, 65}, {0, 65}});
  const held<bool, batch, key> visible(a, "visible", [&a] { return a.random.one_in(2); }, repeats::sometimes, batch{b},
                                       key{t});
  const std::ptrdiff_t left = a.random.between(-1, 9);
  const auto e =
      indicator(window<seq, key>{left, 1} & !allow(visible.view()), starting_at(seq{s}, 2), starting_at(key{t}, 0));
  compare(a, e, [&] { return roundings(exactly(e), 0); });
}

const families_of_file all{
    {"reduction.sum", sums},
    {"reduction.sum_of_two", sums_of_two},
    {"reduction.sum_of_all", sums_of_all},
    {"reduction.mean", means},
    {"reduction.mean_masked", means_masked},
    {"reduction.sum_masked", sums_masked},
    {"reduction.max", largest},
    {"reduction.min", smallest},
    {"reduction.max_masked", largest_masked},
    {"reduction.logsumexp", log_sums},
    {"reduction.variance", variances},
    {"reduction.length", lengths_of_vectors},
    {"reduction.norm", norms},
    {"reduction.norm_down", norms_down},
    {"reduction.norm_masked", norms_masked},
    {"reduction.prod", products},
    {"reduction.sum_of_products", sums_of_products},
    {"reduction.indicator", shown_by_masks},
};

}  // namespace

}  // namespace fuzz
