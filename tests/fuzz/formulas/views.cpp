// tests/fuzz/formulas/views.cpp -- elements looked at otherwise, joined, gathered, moved: nothing is rounded.
//
// SPDX-License-Identifier: BSL-1.0
#include "fuzz/dims.hpp"

namespace fuzz {

namespace {

struct kernel_width : feature_dim<> {};
struct shorter : position_dim<> {};
struct cut : feature_dim<> {};
struct square_side : prime<d_model> {};

// A formula that only moves elements, or adds `roundings_of_one` roundings to them.
template <class E>
void exact(attempt& a, const E& e) {
  compare(a, e, [&] { return roundings(exactly(e), 0); });
}

class operand {
 public:
  explicit operand(attempt& a)
      : n(a.extents<3>({{0, 9}, {0, 65}, {0, 130}})),
        x(a, "x", numbers(a.random), repeats::sometimes, batch{n[0]}, seq{n[1]}, d_model{n[2]}) {}
  std::array<std::size_t, 3> n;
  held<float, batch, seq, d_model> x;
};
class heads_operand {
 public:
  explicit heads_operand(attempt& a)
      : n(a.extents<3>({{0, 65}, {0, 6}, {0, 65}})),
        x(a, "x", numbers(a.random), repeats::sometimes, seq{n[0]}, heads{n[1]}, d_k{n[2]}) {}
  std::array<std::size_t, 3> n;
  held<float, seq, heads, d_k> x;
};
// A part of n elements: from, count.
std::pair<std::size_t, std::size_t> some_of(attempt& a, std::size_t n) {
  const std::size_t first = a.random.below(n + 1);
  const std::size_t count = a.random.below(n - first + 1);
  a.note("from " + std::to_string(first) + ", " + std::to_string(count));
  return {first, count};
}

void permuted(attempt& a) {
  const operand o(a);
  exact(a, permute<d_model, batch, seq>(o.x.view()));
}
void renamed(attempt& a) {
  const operand o(a);
  exact(a, rename<seq, key>(o.x.view()) * 2.0F);
}
void sliced(attempt& a) {
  const operand o(a);
  const auto [first, count] = some_of(a, o.n[1]);
  const auto [from, many] = some_of(a, o.n[2]);
  exact(a, slice<d_model>(slice<seq>(o.x.view(), first, count), from, many));
}
void sliced_and_computed(attempt& a) {
  const operand o(a);
  const auto [first, count] = some_of(a, o.n[2]);
  exact(a, relu(slice<d_model>(-o.x.view(), first, count)));
}
void one_of(attempt& a) {
  const auto [b, s, m] = a.extents<3>({{0, 9}, {1, 65}, {0, 130}});
  const held<float, batch, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, batch{b}, seq{s}, d_model{m});
  const std::size_t i = a.random.below(s);
  exact(a, at<seq>(x.view() * 0.5F, i));
}
void merged_and_split(attempt& a) {
  const heads_operand o(a);
  exact(a, merge<heads, d_k>(o.x.view()));
}
void merged_turned(attempt& a) {
  const heads_operand o(a);
  exact(a, merge<d_k, heads>(permute<heads, seq, d_k>(o.x.view())) + 0.0F);
}
void split_of(attempt& a) {
  const auto [s, h, k] = a.extents<3>({{0, 65}, {0, 6}, {0, 65}});
  const held<float, merged<heads, d_k>, seq> x(a, "x", numbers(a.random), repeats::sometimes, seq{s}, heads{h}, d_k{k});
  exact(a, permute<seq, d_k, heads>(split<heads, d_k>(x.view())));
}
void slice_of_composite(attempt& a) {
  const auto [s, h, k] = a.extents<3>({{0, 65}, {0, 6}, {0, 65}});
  const held<float, seq, merged<heads, d_k>> x(a, "x", numbers(a.random), repeats::never, seq{s}, heads{h}, d_k{k});
  const auto [first, count] = some_of(a, h * k);
  exact(a, slice<merged<heads, d_k>, cut>(x.view(), first, count));
}
void parts_of_sum(attempt& a) {
  const auto [s, k, v] = a.extents<3>({{0, 65}, {0, 65}, {0, 65}});
  const held<float, summed<d_k, d_v>, seq> x(a, "x", numbers(a.random), repeats::sometimes, seq{s}, d_k{k}, d_v{v});
  exact(a, part<d_v>(x.view()));
}
void diagonal_of(attempt& a) {
  const auto [n, b] = a.extents<2>({{0, 65}, {0, 65}});
  const held<float, d_model, batch, square_side> x(a, "x", numbers(a.random), repeats::sometimes, d_model{n}, batch{b},
                                                   square_side{n});
  exact(a, diagonal<d_model, square_side>(x.view()));
}
void unrolled(attempt& a) {
  const auto [b, s, m] = a.extents<3>({{0, 5}, {1, 49}, {0, 33}});
  const held<float, batch, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, batch{b}, seq{s}, d_model{m});
  exact(a, unroll<seq, kernel_width>(x.view(), kernel_width{1 + a.random.below(s)}));
}
void convolved(attempt& a) {
  const auto [s, m, f, w] = a.extents<4>({{9, 65}, {0, 17}, {0, 17}, {1, 9}});
  const held<float, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, seq{s}, d_model{m});
  const held<float, d_ff, kernel_width, d_model> c(a, "kernel", numbers(a.random), repeats::sometimes, d_model{m},
                                                   d_ff{f}, kernel_width{w});
  const auto of = [width = w](const auto& p, const auto& q) {
    return contract<kernel_width, d_model>(unroll<seq, kernel_width>(p, kernel_width{width}), q);
  };
  compare(a, of(x.view(), c.view()),
          [&, terms = m * w] { return of_product(of(x.magnitudes(), c.magnitudes()), terms); });
}
void pooled(attempt& a) {
  const auto [b, s, w] = a.extents<3>({{0, 5}, {0, 33}, {1, 8}});
  const held<float, batch, seq> x(a, "x", numbers(a.random), repeats::sometimes, batch{b}, seq{s * w});
  exact(a, max<kernel_width>(pool<seq, kernel_width>(x.view(), kernel_width{w})));
}
void joined(attempt& a) {
  const operand o(a);
  const held<float, d_model, seq, batch> y(a, "y", numbers(a.random), repeats::sometimes, batch{o.n[0]},
                                           seq{a.extent({0, 33})}, d_model{o.n[2]});
  exact(a, concat<seq>(o.x.view(), y.view(), relu(o.x.view())));
}
void joined_parts(attempt& a) {
  const auto [s, k, v] = a.extents<3>({{0, 65}, {0, 65}, {0, 65}});
  const held<float, seq, d_k> x(a, "x", numbers(a.random), repeats::sometimes, seq{s}, d_k{k});
  const held<float, d_v, seq> y(a, "y", numbers(a.random), repeats::sometimes, seq{s}, d_v{v});
  exact(a, concat<summed<d_k, d_v>>(x.view() * 2.0F, y.view()));
}
void stacked(attempt& a) {
  const operand o(a);
  const held<float, seq, batch, d_model> y(a, "y", numbers(a.random), repeats::sometimes, batch{o.n[0]}, seq{o.n[1]},
                                           d_model{o.n[2]});
  exact(a, stack<heads>(o.x.view(), y.view() * 2.0F, o.x.view()));
}

// Ids, drawn; one of them may be outside, which every way says in the same words.
template <class D>
auto ids_below(attempt& a, std::size_t n, bool may_miss) {
  const std::size_t bound = n + (may_miss ? 1 : 0);
  return [&a, bound] { return id<D>(bound == 0 ? 0 : a.random.below(bound)); };
}
void gathered(attempt& a) {
  const auto [v, m, b, s] = a.extents<4>({{1, 65}, {0, 65}, {0, 5}, {0, 33}});
  const held<float, vocab, d_model> table(a, "table", numbers(a.random), repeats::sometimes, vocab{v}, d_model{m});
  const held<id<vocab>, batch, seq> ids(a, "ids", ids_below<vocab>(a, v, a.random.one_in(8)), repeats::sometimes,
                                        batch{b}, seq{s});
  exact(a, gather<vocab>(table.view(), ids.view()));
}
// What table and ids share goes side by side.
void gathered_beside(attempt& a) {
  const auto [v, b, s] = a.extents<3>({{1, 65}, {0, 5}, {0, 33}});
  const held<float, seq, vocab, batch> table(a, "table", numbers(a.random), repeats::sometimes, batch{b}, seq{s},
                                             vocab{v});
  const held<id<vocab>, batch, seq> ids(a, "ids", ids_below<vocab>(a, v, a.random.one_in(8)), repeats::sometimes,
                                        batch{b}, seq{s});
  exact(a, gather<vocab>(table.view() * 2.0F, ids.view()));
}
void reordered(attempt& a) {
  const operand o(a);
  const auto n = o.n[1] == 0 ? 0 : a.extent({0, 65});
  const held<id<seq>, batch, seq> ids(a, "ids", ids_below<seq>(a, o.n[1], a.random.one_in(8)), repeats::sometimes,
                                      batch{o.n[0]}, seq{n});
  exact(a, gather<seq>(o.x.view(), ids.view()));
}
void rolled(attempt& a) {
  const operand o(a);
  const std::ptrdiff_t by = a.random.between(-200, 200);
  a.note("by " + std::to_string(by));
  exact(a, roll<seq>(o.x.view(), by) - roll<d_model>(o.x.view(), -by));
}
void flipped(attempt& a) {
  const operand o(a);
  exact(a, flip<d_model>(flip<batch>(o.x.view() * 2.0F)));
}
void rolled_composite(attempt& a) {
  const heads_operand o(a);
  const std::ptrdiff_t by = a.random.between(-9, 9);
  a.note("by " + std::to_string(by));
  exact(a, roll<merged<heads, d_k>>(merge<heads, d_k>(o.x.view()), by));
}
void product_of_flipped(attempt& a) {
  const auto [s, m, f] = a.extents<3>({{0, 65}, {0, 130}, {0, 65}});
  const held<float, seq, d_model> x(a, "x", numbers(a.random), repeats::sometimes, seq{s}, d_model{m});
  const held<float, d_model, d_ff> w(a, "w", numbers(a.random), repeats::sometimes, d_model{m}, d_ff{f});
  const auto of = [](const auto& p, const auto& q) { return contract<d_model>(flip<d_model>(p), roll<d_model>(q, 3)); };
  compare(a, of(x.view(), w.view()), [&, terms = m] { return of_product(of(x.magnitudes(), w.magnitudes()), terms); });
}
void one_hot_of(attempt& a) {
  const auto [v, b, s] = a.extents<3>({{1, 65}, {0, 5}, {0, 33}});
  const held<id<vocab>, batch, seq> ids(a, "ids", ids_below<vocab>(a, v, a.random.one_in(8)), repeats::sometimes,
                                        batch{b}, seq{s});
  exact(a, one_hot<vocab>(ids.view(), vocab{v}));
}
void scattered(attempt& a) {
  const auto [v, b, s, m] = a.extents<4>({{1, 33}, {0, 5}, {0, 33}, {0, 33}});
  const held<id<vocab>, seq, batch> ids(a, "ids", ids_below<vocab>(a, v, a.random.one_in(8)), repeats::sometimes,
                                        batch{b}, seq{s});
  const held<float, batch, d_model, seq> x(a, "x", numbers(a.random), repeats::sometimes, batch{b}, seq{s}, d_model{m});
  const auto of = [&, n = v](const auto& y) { return scatter_add<vocab, seq, batch>(y, ids.view(), vocab{n}); };
  compare(a, of(x.view()), [&, terms = b * s] {
    return roundings(exactly(of(x.magnitudes())), static_cast<double>(terms), least_float);
  });
}

const families_of_file all{
    {"look.permute", permuted},
    {"look.rename", renamed},
    {"look.slice", sliced},
    {"look.slice_of_computed", sliced_and_computed},
    {"look.at", one_of},
    {"look.merge", merged_and_split},
    {"look.merge_turned", merged_turned},
    {"look.split", split_of},
    {"look.slice_of_composite", slice_of_composite},
    {"look.part", parts_of_sum},
    {"look.diagonal", diagonal_of},
    {"look.unroll", unrolled},
    {"look.convolution", convolved},
    {"look.pool", pooled},
    {"look.roll", rolled},
    {"look.flip", flipped},
    {"look.roll_of_composite", rolled_composite},
    {"look.product_of_flipped", product_of_flipped},
    {"join.concat", joined},
    {"join.concat_of_parts", joined_parts},
    {"join.stack", stacked},
    {"join.gather", gathered},
    {"join.gather_beside", gathered_beside},
    {"join.reorder", reordered},
    {"join.one_hot", one_hot_of},
    {"join.scatter_add", scattered},
};

}  // namespace

}  // namespace fuzz
