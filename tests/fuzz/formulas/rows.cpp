// tests/fuzz/formulas/rows.cpp -- softmax and norms of rows, in memory of any order, with factors and masks.
//
// SPDX-License-Identifier: BSL-1.0
#include "fuzz/dims.hpp"

#include <cmath>

namespace fuzz {

namespace {

class rows {
 public:
  explicit rows(attempt& a, std::size_t least = 1)
      : n(a.extents<3>({{0, 9}, {0, 33}, {least, 130}})),
        x(a, "x", numbers(a.random), repeats::sometimes, batch{n[0]}, seq{n[1]}, d_model{n[2]}) {}
  std::array<std::size_t, 3> n;
  held<float, batch, seq, d_model> x;
};
class alternatives {
 public:
  explicit alternatives(attempt& a)
      : n(a.extents<3>({{0, 9}, {0, 33}, {0, 130}})),
        x(a, "x", numbers(a.random), repeats::sometimes, batch{n[0]}, seq{n[1]}, vocab{n[2]}) {}
  std::array<std::size_t, 3> n;
  held<float, batch, seq, vocab> x;
};

// Weights err by their exponentials, whose arguments err by a rounding of x, and by their sum's roundings.
template <class Dims>
each<Dims> of_softmax(each<Dims> p, double largest, std::size_t n) {
  return roundings(std::move(p), 8 + 4 * largest + static_cast<double>(n), least_float * 4);
}
// Logarithms of them err absolutely: by roundings of x, of the result, and of the sum.
template <class Dims>
each<Dims> of_log_softmax(each<Dims> y, double largest, std::size_t n) {
  for (double& e : y.of) { e = u * (16 + 4 * largest + static_cast<double>(n) / 8 + 2 * std::abs(e)); }
  return y;
}

void softmax_rows(attempt& a) {
  const alternatives o(a);
  const auto e = softmax<vocab>(o.x.view());
  compare(a, e, [&] { return of_softmax(exactly(e), o.x.largest(), o.n[2]); });
}
void log_softmax_rows(attempt& a) {
  const alternatives o(a);
  const auto e = log_softmax<vocab>(o.x.view());
  compare(a, e, [&] { return of_log_softmax(exactly(e), o.x.largest(), o.n[2]); });
}
void softmax_permuted(attempt& a) {
  const alternatives o(a);
  const auto e = permute<vocab, batch, seq>(softmax<vocab>(o.x.view() * 0.5F));
  compare(a, e, [&] { return of_softmax(exactly(e), o.x.largest(), o.n[2]); });
}
void softmax_of_two(attempt& a) {
  const auto [s, h, w] = a.extents<3>({{0, 17}, {0, 33}, {0, 33}});
  const held<float, seq, vocab, key> x(a, "x", numbers(a.random), repeats::sometimes, seq{s}, vocab{h}, key{w});
  const auto e = softmax<vocab, key>(x.view());
  compare(a, e, [&, n = h * w] { return of_softmax(exactly(e), x.largest(), n); });
}
void softmax_masked(attempt& a) {
  const auto [b, s, t] = a.extents<3>({{0, 5}, {0, 33}, {0, 130}});
  const held<float, seq, batch, key> x(a, "x", numbers(a.random), repeats::never, batch{b}, seq{s}, key{t});
  const held<bool, batch, key> visible(a, "visible", [&a] { return !a.random.one_in(3); }, repeats::sometimes, batch{b},
                                       key{t});
  const auto of = [&](const auto& y) { return softmax<key>(masked(y, allow(visible.view()))); };
  const auto hidden = x.like([&, batches = b, keys = t](std::size_t i, float y) {
    return visible.at(i / keys % batches, i % keys) ? y : std::numeric_limits<float>::quiet_NaN();
  });
  compare(a, of(hidden), of(x.view()), [&, keys = t] { return of_softmax(exactly(of(x.view())), x.largest(), keys); });
}
void log_softmax_masked(attempt& a) {
  const auto [b, s, t] = a.extents<3>({{0, 5}, {0, 33}, {0, 130}});
  const held<float, batch, seq, key> x(a, "x", numbers(a.random), repeats::sometimes, batch{b}, seq{s}, key{t});
  const held<int, batch> lengths(a, "lengths", [&a, keys = t] { return static_cast<int>(a.random.below(keys + 1)); },
                                 repeats::sometimes, batch{b});
  const auto e = log_softmax<key>(masked(x.view(), padding<key>(lengths.view())));
  compare(a, e, [&, keys = t] { return of_log_softmax(exactly(e), x.largest(), keys); });
}
void renormalise_rows(attempt& a) {
  const alternatives o(a);
  // Positive numbers: sums that cancel err by any factor.
  const auto of = [&](const auto& x) { return renormalise<vocab>(x * x + 0.25F); };
  const auto e = of(o.x.view());
  compare(a, e, [&] { return roundings(exactly(e), 8 + static_cast<double>(o.n[2]), least_float); });
}

// How much larger the largest element of a row is than what it is divided by: a difference of two of them errs by so
// many roundings of the result. Nearly equal numbers of a row leave nothing but roundings, and no bound.
struct row_facts {
  std::vector<double> steep;  // of each row
  bool bounded = true;
};
row_facts facts_of(const rows& o, double epsilon, bool centred) {
  row_facts f;
  const std::size_t n = o.n[2];
  for (std::size_t i = 0; n > 0 && i < o.x.size(); i += n) {
    double mean = 0;
    double largest = 0;
    for (std::size_t j = 0; j < n; ++j) {
      mean += double{o.x[i + j]} / static_cast<double>(n);
      largest = std::max(largest, std::abs(double{o.x[i + j]}));
    }
    double variance = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const double d = double{o.x[i + j]} - (centred ? mean : 0);
      variance += d * d / static_cast<double>(n);
    }
    const double steep = largest / std::sqrt(variance + epsilon);
    f.bounded = f.bounded && steep * u * static_cast<double>(n + 8) < 0.01;
    f.steep.push_back(steep);
  }
  return f;
}
// x errs by its mean's n roundings, so does the variance; gamma times that, beta by one rounding.
template <class Dims>
each<Dims> of_norm(each<Dims> magnitudes, const rows& o, const row_facts& f, double largest_gamma,
                   double largest_beta) {
  const auto n = static_cast<double>(o.n[2]);
  for (std::size_t i = 0; i < magnitudes.of.size(); ++i) {
    const double steep = f.steep[i / o.n[2]];
    magnitudes.of[i] =
        u * ((n / 4 + 8) * (1 + steep) * (largest_gamma + magnitudes.of[i]) + 2 * largest_beta) + least_float;
  }
  return magnitudes;
}
template <class E>
each_of<E> magnitudes_of(const E& e) {
  each_of<E> all = exactly(e);
  for (double& m : all.of) { m = std::abs(m); }
  return all;
}

void standardize_rows(attempt& a) {
  const rows o(a, 2);
  const row_facts f = facts_of(o, 1e-5, true);
  if (!f.bounded) { return; }
  const auto e = standardize<d_model>(o.x.view());
  compare(a, e, [&] { return of_norm(magnitudes_of(e), o, f, 1, 0); });
}
void layer_norm_rows(attempt& a) {
  const rows o(a, 2);
  const held<float, d_model> gamma(a, "gamma", numbers(a.random), repeats::sometimes, d_model{o.n[2]});
  const held<float, d_model> beta(a, "beta", numbers(a.random), repeats::sometimes, d_model{o.n[2]});
  const row_facts f = facts_of(o, 1e-3, true);
  if (!f.bounded) { return; }
  const auto e = layer_norm<d_model>(o.x.view(), gamma.view(), beta.view(), 1e-3F);
  compare(a, e, [&] { return of_norm(magnitudes_of(e), o, f, gamma.largest(), beta.largest()); });
}
void rms_norm_rows(attempt& a) {
  const rows o(a, 1);
  const held<float, d_model> gamma(a, "gamma", numbers(a.random), repeats::sometimes, d_model{o.n[2]});
  const row_facts f = facts_of(o, 1e-5, false);
  const auto e = rms_norm<d_model>(o.x.view(), gamma.view());
  compare(a, e, [&] { return of_norm(magnitudes_of(e), o, f, gamma.largest(), 0); });
}
// What is added to a norm is no part of it; what it is of is computed first.
void norm_and_more(attempt& a) {
  const rows o(a, 2);
  const held<float, d_model> gamma(a, "gamma", numbers(a.random), repeats::sometimes, d_model{o.n[2]});
  const row_facts f = facts_of(o, 1e-5 / 4, true);
  if (!f.bounded) { return; }
  const auto e = o.x.view() + layer_norm<d_model>(o.x.view() + o.x.view(), gamma.view(), gamma.view());
  compare(a, e, [&] { return of_norm(magnitudes_of(e), o, f, gamma.largest(), gamma.largest() + o.x.largest()); });
}
void cumsum_rows(attempt& a) {
  const rows o(a, 0);
  const auto e = cumsum<seq>(o.x.view());
  compare(a, e, [&] {
    return roundings(exactly(cumsum<seq>(o.x.magnitudes())), static_cast<double>(o.n[1]) + 1, least_float);
  });
}
// Between 1/2 and 2, so that no product of 33 numbers overflows.
void cumprod_rows(attempt& a) {
  const rows o(a, 0);
  const auto bounded = [](const auto& x) { return where(x < 0, clamp(x, -2, -0.5F), clamp(x, 0.5F, 2)); };
  compare(a, cumprod<seq>(bounded(o.x.view())),
          [&] { return roundings(exactly(cumprod<seq>(bounded(o.x.magnitudes()))), static_cast<double>(o.n[1])); });
}
void sort_rows(attempt& a) {
  const rows o(a, 0);
  const auto e = sort<d_model>(o.x.view());
  compare(a, e, [&] { return roundings(exactly(e), 0); });
}
void argsort_rows(attempt& a) {
  const rows o(a, 0);
  const auto e = gather<seq>(o.x.view(), argsort<seq>(o.x.view(), descending{}));
  compare(a, e, [&] { return roundings(exactly(e), 0); });
}

const families_of_file all{
    {"rows.softmax", softmax_rows},
    {"rows.log_softmax", log_softmax_rows},
    {"rows.softmax_permuted", softmax_permuted},
    {"rows.softmax_of_two", softmax_of_two},
    {"rows.softmax_masked", softmax_masked},
    {"rows.log_softmax_masked", log_softmax_masked},
    {"rows.renormalise", renormalise_rows},
    {"rows.standardize", standardize_rows},
    {"rows.layer_norm", layer_norm_rows},
    {"rows.rms_norm", rms_norm_rows},
    {"rows.norm_and_more", norm_and_more},
    {"rows.cumsum", cumsum_rows},
    {"rows.cumprod", cumprod_rows},
    {"rows.sort", sort_rows},
    {"rows.argsort", argsort_rows},
};

}  // namespace

}  // namespace fuzz
