// tests/fuzz/attention/variants.cpp -- formulas of practitioners: differences of attentions, global queries, masked
// statistics, choices.
//
// SPDX-License-Identifier: BSL-1.0
#include "attention.hpp"

namespace fuzz {

namespace {

void difference_of_attentions(attempt& a) {
  const attention_operands o(a, positions::any);
  const held<float, heads> lambda(a, "lambda", numbers(a.random), repeats::sometimes, o.e.h);
  const auto of = [&](const auto& v, const auto& l) {
    const auto s = scores<d_k>(o.q.view(), o.k.view());
    return contract<key>(softmax<key>(s), v) - l * contract<key>(softmax<key>(s * 0.5F), v);
  };
  const auto sum = [&](const auto& v, const auto& l) {
    const auto s = scores<d_k>(o.q.view(), o.k.view());
    return contract<key>(softmax<key>(s), v) + l * contract<key>(softmax<key>(s * 0.5F), v);
  };
  compare(a, of(o.v.view(), lambda.view()), [&] {
    return of_attention(exactly(sum(o.v.magnitudes(), lambda.magnitudes())), 1 + o.scale(), o.e.k.extent(),
                        o.e.t.extent() + 4, o.v.largest() * (1 + lambda.largest()));
  });
}
// Global queries see all keys beside a window; padded ones see none.
void whole_rows_or_window(attempt& a) {
  const attention_operands o(a);
  const held<bool, seq> global(a, "global", draw_bools(a), repeats::sometimes, o.e.s);
  const auto w = draw_window(a, o.e);
  o.check(a, [&](const auto& s) { return masked(s, w | whole_rows(allow(global.view()))); }, 0,
          unseen(o.e, [&](auto, auto i, auto j) { return global[i] || in_window(o.e, w, i, j); }));
}
void padded_queries(attempt& a) {
  const attention_operands o(a, positions::any);
  const held<int, batch> of_keys(a, "lengths of keys", draw_lengths(a, o.e.t.extent()), repeats::sometimes, o.e.b);
  const held<int, batch> of_queries(a, "lengths of queries", draw_lengths(a, o.e.s.extent()), repeats::sometimes,
                                    o.e.b);
  o.check(a, [&](const auto& s) {
    return masked(s, padding<key>(of_keys.view()) & whole_rows(padding<seq>(of_queries.view())));
  }, 0, [&](std::size_t b, std::size_t j) { return static_cast<int>(j) >= of_keys[b]; });
}
// Weights of heads, averaged: no softmax that a fused kernel keeps to itself.
void averaged_weights(attempt& a) {
  const attention_operands o(a, positions::any);
  const auto e = mean<heads>(softmax<key>(scores<d_k>(o.q.view(), o.k.view())));
  compare(a, e,
          [&] { return of_attention(exactly(e), o.scale(), o.e.k.extent(), o.e.t.extent() + o.e.h.extent(), 1); });
}
// Retention: a product of products, weighed by a given decay, without a softmax.
void retention(attempt& a) {
  const attention_operands o(a, positions::any);
  const held<float, seq, heads, key> decay(a, "decay", numbers(a.random), repeats::sometimes, o.e.s, o.e.h, o.e.t);
  const auto of = [](const auto& q, const auto& k, const auto& d, const auto& v) {
    return contract<key>(plain(contract<d_k>(q, k)) * d, v);
  };
  compare(a, of(o.q.view(), o.k.view(), decay.view(), o.v.view()), [&] {
    return of_product(of(o.q.magnitudes(), o.k.magnitudes(), decay.magnitudes(), o.v.magnitudes()),
                      o.e.k.extent() + o.e.t.extent(), 4);
  });
}
// The temperature of each head, and a mask.
void temperature_of_heads(attempt& a) {
  const attention_operands o(a);
  const held<float, heads> t(a, "temperatures", numbers(a.random), repeats::sometimes, o.e.h);
  const auto w = draw_window(a, o.e);
  o.check(a, [&](const auto& s) { return masked(s / (abs(t.view()) + 0.5F), w); }, o.scale() * 2);
}
// Cosines of two sets of vectors: sums of squares, roots, quotients, a product.
void cosines(attempt& a) {
  const auto [s, t, k] = a.extents<3>({{0, 65}, {0, 65}, {0, 130}});
  const held<float, seq, d_k> x(a, "x", numbers(a.random), repeats::sometimes, seq{s}, d_k{k});
  const held<float, d_k, key> y(a, "y", numbers(a.random), repeats::sometimes, key{t}, d_k{k});
  const auto unit = [](const auto& z) { return z / (sqrt(sum<d_k>(square(z))) + 0.25F); };
  const auto e = contract<d_k>(unit(x.view()), unit(y.view()));
  compare(a, e,
          [&, n = k] { return of_product(contract<d_k>(unit(x.magnitudes()), unit(y.magnitudes())), 3 * n, 16); });
}
// The mean of what is not padded, and what is far from it.
void masked_statistics(attempt& a) {
  const auto [b, s, m] = a.extents<3>({{0, 5}, {0, 65}, {0, 65}});
  const held<float, batch, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, batch{b}, seq{s}, d_model{m});
  const held<int, batch> lengths(a, "lengths", draw_lengths(a, s), repeats::sometimes, batch{b});
  const auto of = [&](const auto& z) {
    return where(padding<seq>(lengths.view()), z - mean<seq>(z, padding<seq>(lengths.view())), 0.0F);
  };
  const auto sum = [&](const auto& z) { return z + mean<seq>(z, padding<seq>(lengths.view())); };
  compare(a, of(x.view()),
          [&, n = s] { return roundings(exactly(sum(x.magnitudes())), static_cast<double>(n) + 4, least_float); });
}

const families_of_file all{
    {"words.difference_of_attentions", difference_of_attentions},
    {"words.whole_rows_or_window", whole_rows_or_window},
    {"words.padded_queries", padded_queries},
    {"words.averaged_weights", averaged_weights},
    {"words.retention", retention},
    {"words.temperature_of_heads", temperature_of_heads},
    {"words.cosines", cosines},
    {"words.masked_statistics", masked_statistics},
};

}  // namespace

}  // namespace fuzz
