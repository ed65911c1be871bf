// tests/fuzz/formulas/products.cpp -- products of any order, strides and extents.
//
// SPDX-License-Identifier: BSL-1.0
#include "fuzz/dims.hpp"

namespace fuzz {

namespace {

// Two operands, compared with u·n·Σ|a||b|.
template <class A, class B, class F>
void product(attempt& a, const A& x, const B& y, std::size_t terms, const F& of) {
  compare(a, of(x.view(), y.view()), [&] { return of_product(of(x.magnitudes(), y.magnitudes()), terms); });
}

struct sizes {
  batch b;
  seq s;
  d_model m;
  d_ff f;
};
sizes draw(attempt& a) {
  const auto [b, s, m, f] = a.extents<4>({{0, 4}, {0, 130}, {0, 130}, {0, 130}});
  return {batch{b}, seq{s}, d_model{m}, d_ff{f}};
}

void layer(attempt& a) {
  const sizes n = draw(a);
  const held<float, batch, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, n.b, n.s, n.m);
  const held<float, d_model, d_ff> w(a, "w", numbers(a.random), repeats::sometimes, n.m, n.f);
  product(a, x, w, n.m.extent(), [](const auto& p, const auto& q) { return contract<d_model>(p, q); });
}
void layer_turned(attempt& a) {
  const sizes n = draw(a);
  const held<float, d_ff, d_model> w(a, "w", numbers(a.random), repeats::sometimes, n.m, n.f);
  const held<float, seq, d_model, batch> x(a, "x", numbers(a.random), repeats::sometimes, n.b, n.s, n.m);
  product(a, w, x, n.m.extent(), [](const auto& p, const auto& q) { return contract<d_model>(p, q); });
}
// Owned tensors, as programs have them: their packed copies are kept.
void layer_owned(attempt& a) {
  const sizes n = draw(a);
  const held<float, batch, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, n.b, n.s, n.m);
  const held<float, d_model, d_ff> w(a, "w", numbers(a.random), repeats::sometimes, n.m, n.f);
  const auto of = [](const auto& p, const auto& q) { return contract<d_model>(p, q); };
  compare(a, of(x.dense(), w.dense()), [&] { return of_product(of(x.magnitudes(), w.magnitudes()), n.m.extent()); });
}
void per_batch(attempt& a) {
  const sizes n = draw(a);
  const held<float, batch, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, n.b, n.s, n.m);
  const held<float, d_model, batch, d_ff> w(a, "w", numbers(a.random), repeats::sometimes, n.b, n.m, n.f);
  product(a, x, w, n.m.extent(), [](const auto& p, const auto& q) { return contract<d_model>(p, q); });
}
void vector_by_matrix(attempt& a) {
  const sizes n = draw(a);
  const held<float, d_model> x(a, "x", numbers(a.random), repeats::sometimes, n.m);
  const held<float, d_ff, d_model> w(a, "w", numbers(a.random), repeats::sometimes, n.m, n.f);
  product(a, x, w, n.m.extent(), [](const auto& p, const auto& q) { return contract<d_model>(p, q); });
}
void inner(attempt& a) {
  const sizes n = draw(a);
  const held<float, batch, d_model> x(a, "x", numbers(a.random), repeats::sometimes, n.b, n.m);
  const held<float, d_model, batch> y(a, "y", numbers(a.random), repeats::sometimes, n.b, n.m);
  product(a, x, y, n.m.extent(), [](const auto& p, const auto& q) { return contract<d_model>(p, q); });
}
void along_shared(attempt& a) {
  const sizes n = draw(a);
  const held<float, batch, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, n.b, n.s, n.m);
  const held<float, seq, d_model, d_ff> y(a, "y", numbers(a.random), repeats::sometimes, n.s, n.m, n.f);
  product(a, x, y, n.m.extent(), [](const auto& p, const auto& q) { return contract<d_model>(p, q, along<seq>{}); });
}
// The gradient of a weight: summed over batch and positions.
void over_positions(attempt& a) {
  const sizes n = draw(a);
  const held<float, batch, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, n.b, n.s, n.m);
  const held<float, seq, batch, d_ff> y(a, "y", numbers(a.random), repeats::sometimes, n.b, n.s, n.f);
  product(a, x, y, n.b.extent() * n.s.extent(),
          [](const auto& p, const auto& q) { return contract<batch, seq>(p, q); });
}
void two_features(attempt& a) {
  const auto [s, h, k, m] = a.extents<4>({{0, 130}, {1, 5}, {0, 49}, {0, 130}});
  const held<float, seq, heads, d_k> x(a, "x", numbers(a.random), repeats::sometimes, seq{s}, heads{h}, d_k{k});
  const held<float, d_k, d_model, heads> w(a, "w", numbers(a.random), repeats::sometimes, heads{h}, d_k{k}, d_model{m});
  product(a, x, w, h * k, [](const auto& p, const auto& q) { return contract<heads, d_k>(p, q); });
}
void over_composite(attempt& a) {
  const auto [s, h, k, m] = a.extents<4>({{0, 130}, {1, 5}, {0, 49}, {0, 130}});
  const held<float, seq, merged<heads, d_k>> x(a, "x", numbers(a.random), repeats::sometimes, seq{s}, heads{h}, d_k{k});
  const held<float, merged<heads, d_k>, d_model> w(a, "w", numbers(a.random), repeats::sometimes, heads{h}, d_k{k},
                                                   d_model{m});
  product(a, x, w, h * k, [](const auto& p, const auto& q) { return contract<merged<heads, d_k>>(p, q); });
}
void split_weight(attempt& a) {
  const auto [s, h, k, m] = a.extents<4>({{0, 130}, {1, 5}, {0, 49}, {0, 130}});
  const held<float, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, seq{s}, d_model{m});
  const held<float, d_model, merged<heads, d_k>> w(a, "w", numbers(a.random), repeats::sometimes, heads{h}, d_k{k},
                                                   d_model{m});
  product(a, x, w, m, [](const auto& p, const auto& q) { return contract<d_model>(p, split<heads, d_k>(q)); });
}
void square_weight(attempt& a) {
  const sizes n = draw(a);
  const held<float, batch, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, n.b, n.s, n.m);
  const held<float, d_model, out<d_model>> w(a, "w", numbers(a.random), repeats::sometimes, n.m,
                                             out<d_model>{n.m.extent()});
  product(a, x, w, n.m.extent(), [](const auto& p, const auto& q) { return contract<d_model>(p, q); });
}
void outer_product(attempt& a) {
  const auto [b, s, m] = a.extents<3>({{0, 4}, {0, 130}, {0, 130}});
  const held<float, batch, seq> x(a, "x", numbers(a.random), repeats::sometimes, batch{b}, seq{s});
  const held<float, d_model, batch> y(a, "y", numbers(a.random), repeats::sometimes, batch{b}, d_model{m});
  product(a, x, y, 1, [](const auto& p, const auto& q) { return outer(p, q); });
}
void raw_scores(attempt& a) {
  const auto [b, s, t, h, k] = a.extents<5>({{1, 3}, {0, 130}, {0, 130}, {1, 4}, {0, 97}});
  const held<float, batch, seq, heads, d_k> x(a, "q", numbers(a.random), repeats::sometimes, batch{b}, seq{s}, heads{h},
                                              d_k{k});
  const held<float, heads, batch, key, d_k> y(a, "k", numbers(a.random), repeats::sometimes, batch{b}, key{t}, heads{h},
                                              d_k{k});
  product(a, x, y, k, [](const auto& p, const auto& q) { return contract<d_k>(p, q); });
}
// Operands that are parts and slices of others.
void of_slices(attempt& a) {
  const sizes n = draw(a);
  const held<float, batch, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, n.b, n.s, n.m);
  const held<float, d_ff, d_model> w(a, "w", numbers(a.random), repeats::sometimes, n.m, n.f);
  const std::size_t first = a.random.below(n.m.extent() + 1);
  const std::size_t count = a.random.below(n.m.extent() - first + 1);
  const std::size_t from = a.random.below(n.s.extent() + 1);
  a.note("slice " + std::to_string(first) + '+' + std::to_string(count) + " of d_model, from " + std::to_string(from) +
         " of seq");
  product(a, x, w, count, [&](const auto& p, const auto& q) {
    return contract<d_model>(slice<seq>(slice<d_model>(p, first, count), from), slice<d_model>(q, first, count));
  });
}
// Operands that are computed: one product of another, and a sum.
void of_products(attempt& a) {
  const sizes n = draw(a);
  const held<float, batch, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, n.b, n.s, n.m);
  const held<float, d_model, d_ff> w(a, "w", numbers(a.random), repeats::sometimes, n.m, n.f);
  const auto of = [](const auto& p, const auto& q) { return contract<d_ff>(contract<d_model>(p + p, q), q); };
  compare(a, of(x.view(), w.view()),
          [&] { return of_product(of(x.magnitudes(), w.magnitudes()), n.m.extent() + n.f.extent(), 6); });
}
// One dimension looked at as another: x xᵀ of positions.
void gram(attempt& a) {
  const sizes n = draw(a);
  const held<float, batch, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, n.b, n.s, n.m);
  product(a, x, x, n.m.extent(),
          [](const auto& p, const auto& q) { return contract<d_model>(p, rename<seq, key>(q)); });
}
// One position of many, and one element for all.
void at_and_broadcast(attempt& a) {
  const auto [b, s, m, f] = a.extents<4>({{1, 4}, {1, 49}, {0, 130}, {0, 130}});
  const held<float, batch, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, batch{b}, seq{s}, d_model{m});
  const held<float, d_ff, d_model> w(a, "w", numbers(a.random), repeats::sometimes, d_model{m}, d_ff{f});
  const std::size_t i = a.random.below(s);
  const std::size_t many = a.extent({0, 9});
  product(a, x, w, m, [&](const auto& p, const auto& q) {
    return contract<d_model>(at<seq>(p, i), broadcast<heads>(q, heads{many}));
  });
}

const families_of_file all{
    {"product.layer", layer},
    {"product.layer_turned", layer_turned},
    {"product.layer_owned", layer_owned},
    {"product.per_batch", per_batch},
    {"product.vector_by_matrix", vector_by_matrix},
    {"product.inner", inner},
    {"product.along", along_shared},
    {"product.over_positions", over_positions},
    {"product.two_features", two_features},
    {"product.over_composite", over_composite},
    {"product.split_weight", split_weight},
    {"product.square_weight", square_weight},
    {"product.outer", outer_product},
    {"product.raw_scores", raw_scores},
    {"product.of_slices", of_slices},
    {"product.of_products", of_products},
    {"product.gram", gram},
    {"product.at_and_broadcast", at_and_broadcast},
};

}  // namespace

}  // namespace fuzz
