// tests/fuzz/attention/grouped.cpp -- groups of heads, shared keys, one query, no heads, low-precision keys, parts and
// sinks.
//
// SPDX-License-Identifier: BSL-1.0
#include "attention.hpp"

#include <cmath>

namespace fuzz {

namespace {

class grouped {
 public:
  explicit grouped(attempt& a)
      : n(a.extents<7>({{1, 3},
                        {0, a.random.one_in(2) ? std::size_t{5} : std::size_t{97}},
                        {0, 97},
                        {1, 3},
                        {1, 8},
                        {1, 65},
                        {1, 65}})),
        q(a, "q", numbers(a.random), repeats::sometimes, batch{n[0]}, seq{n[1]}, heads{n[3]}, group{n[4]}, d_k{n[5]}),
        k(a, "k", numbers(a.random), repeats::sometimes, batch{n[0]}, key{n[2]}, heads{n[3]}, d_k{n[5]}),
        v(a, "v", numbers(a.random), repeats::sometimes, batch{n[0]}, key{n[2]}, heads{n[3]}, d_v{n[6]}) {}
  std::array<std::size_t, 7> n;
  held<float, batch, seq, heads, group, d_k> q;
  held<float, batch, key, heads, d_k> k;
  held<float, heads, batch, key, d_v> v;
  template <class E>
  [[nodiscard]] auto allowed(const E& magnitudes, double more = 0) const {
    return of_attention(exactly(magnitudes),
                        largest_product(norms(q, n[5]), norms(k, n[5])) / std::sqrt(static_cast<double>(n[5])) + more,
                        n[5], n[2], v.largest());
  }
};

void groups(attempt& a) {
  const grouped o(a);
  const auto of = [&](const auto& v) { return contract<key>(softmax<key>(scores<d_k>(o.q.view(), o.k.view())), v); };
  compare(a, of(o.v.view()), [&] { return o.allowed(of(o.v.magnitudes())); });
}
void groups_padded(attempt& a) {
  const grouped o(a);
  const held<int, batch> lengths(a, "lengths", draw_lengths(a, o.n[2]), repeats::sometimes, batch{o.n[0]});
  const held<float, group, key> bias(a, "bias", numbers(a.random), repeats::sometimes, group{o.n[4]}, key{o.n[2]});
  const auto of = [&](const auto& v) {
    return contract<key>(
        softmax<key>(masked(biased(scores<d_k>(o.q.view(), o.k.view()), bias.view()), padding<key>(lengths.view()))),
        v);
  };
  compare(a, of(o.v.view()), [&] { return o.allowed(of(o.v.magnitudes()), bias.largest()); });
}
// Keys and values of one group for all batches.
void shared_keys(attempt& a) {
  const grouped o(a);
  const held<float, key, d_k> k(a, "shared k", numbers(a.random), repeats::sometimes, key{o.n[2]}, d_k{o.n[5]});
  const held<float, d_v, key> v(a, "shared v", numbers(a.random), repeats::sometimes, key{o.n[2]}, d_v{o.n[6]});
  const auto of = [&](const auto& x) { return contract<key>(softmax<key>(scores<d_k>(o.q.view(), k.view())), x); };
  const double l = largest_product(norms(o.q, o.n[5]), norms(k, o.n[5])) / std::sqrt(static_cast<double>(o.n[5]));
  compare(a, of(v.view()), [&] { return of_attention(exactly(of(v.magnitudes())), l, o.n[5], o.n[2], v.largest()); });
}
// No heads, no batch; one query without a position.
void one_query(attempt& a) {
  const auto [t, k, v] = a.extents<3>({{0, 130}, {1, 130}, {1, 130}});
  const held<float, d_k> q(a, "q", numbers(a.random), repeats::sometimes, d_k{k});
  const held<float, key, d_k> keys(a, "k", numbers(a.random), repeats::sometimes, key{t}, d_k{k});
  const held<float, key, d_v> values(a, "v", numbers(a.random), repeats::sometimes, key{t}, d_v{v});
  const auto of = [&](const auto& x) { return contract<key>(softmax<key>(scores<d_k>(q.view(), keys.view())), x); };
  const double l = largest_product(norms(q, k), norms(keys, k)) / std::sqrt(static_cast<double>(k));
  compare(a, of(values.view()),
          [&, d = k, n = t] { return of_attention(exactly(of(values.magnitudes())), l, d, n, values.largest()); });
}
void no_heads(attempt& a) {
  const auto [s, t, k, v] = a.extents<4>({{0, 130}, {0, 130}, {1, 130}, {1, 130}});
  const held<float, d_k, seq> q(a, "q", numbers(a.random), repeats::sometimes, seq{s}, d_k{k});
  const held<float, key, d_k> keys(a, "k", numbers(a.random), repeats::sometimes, key{t}, d_k{k});
  const held<float, key, d_v> values(a, "v", numbers(a.random), repeats::sometimes, key{t}, d_v{v});
  const auto of = [&](const auto& x) { return contract<key>(softmax<key>(scores<d_k>(q.view(), keys.view())), x); };
  const double l = q.largest() * std::sqrt(static_cast<double>(k)) * largest_product(norms(keys, k), std::vector{1.0}) /
                   std::sqrt(static_cast<double>(k));
  compare(a, of(values.view()),
          [&, d = k, n = t] { return of_attention(exactly(of(values.magnitudes())), l, d, n, values.largest()); });
}
// Context, merged and projected.
void projected(attempt& a) {
  const grouped o(a);
  const held<float, heads, group, d_v, d_model> w(a, "w", numbers(a.random), repeats::sometimes, heads{o.n[3]},
                                                  group{o.n[4]}, d_v{o.n[6]}, d_model{a.extent({0, 17})});
  const auto of = [&](const auto& v, const auto& x) {
    return contract<heads, group, d_v>(contract<key>(softmax<key>(scores<d_k>(o.q.view(), o.k.view())), v), x);
  };
  compare(a, of(o.v.view(), w.view()), [&] {
    return o.allowed(of(o.v.magnitudes(), w.magnitudes()), static_cast<double>(o.n[3] * o.n[4] * o.n[6]));
  });
}

// Keys and values in low precision: both sides see the stored numbers.
template <class Element>
void stored_as(attempt& a) {
  const grouped o(a);
  numbers drawn(a.random);
  const auto draw = [&drawn] { return Element(drawn()); };
  const held<Element, batch, heads, key, d_k> k(a, "stored k", draw, repeats::never, batch{o.n[0]}, heads{o.n[3]},
                                                key{o.n[2]}, d_k{o.n[5]});
  const held<Element, batch, key, heads, d_v> v(a, "stored v", draw, repeats::never, batch{o.n[0]}, heads{o.n[3]},
                                                key{o.n[2]}, d_v{o.n[6]});
  const auto of = [&](const auto& x) {
    return contract<key>(softmax<key>(scores<d_k>(o.q.view(), widened(k.view()))), x);
  };
  compare(a, of(widened(v.view())), [&] {
    const double l = largest_product(norms(o.q, o.n[5]), std::vector{300.0 * std::sqrt(static_cast<double>(o.n[5]))}) /
                     std::sqrt(static_cast<double>(o.n[5]));
    return of_attention(exactly(of(abs(widened(v.view())))), std::min(l, 1e6), o.n[5], o.n[2], 300);
  });
}
void of_bfloat16(attempt& a) { stored_as<bfloat16>(a); }
void of_float16(attempt& a) { stored_as<float16>(a); }
void of_int8(attempt& a) {
  const grouped o(a);
  const auto draw = [&a] { return static_cast<std::int8_t>(a.random.between(-127, 127)); };
  const held<std::int8_t, batch, heads, key, d_k> k(a, "stored k", draw, repeats::never, batch{o.n[0]}, heads{o.n[3]},
                                                    key{o.n[2]}, d_k{o.n[5]});
  const held<std::int8_t, batch, key, heads, d_v> v(a, "stored v", draw, repeats::never, batch{o.n[0]}, heads{o.n[3]},
                                                    key{o.n[2]}, d_v{o.n[6]});
  const auto positive = [&a] { return static_cast<float>(a.random.unit() / 127); };
  const held<float, heads, batch, key> of_keys(a, "scale of k", positive, repeats::sometimes, batch{o.n[0]},
                                               heads{o.n[3]}, key{o.n[2]});
  const held<float, heads> of_values(a, "scale of v", positive, repeats::sometimes, heads{o.n[3]});
  const auto of = [&](const auto& x) {
    return contract<key>(softmax<key>(scores<d_k>(o.q.view(), dequantised(k.view(), of_keys.view()))), x);
  };
  const double l = largest_product(norms(o.q, o.n[5]), std::vector{1.0});
  compare(a, of(dequantised(v.view(), of_values.view())), [&] {
    return of_attention(exactly(of(abs(dequantised(v.view(), of_values.view())))), l, o.n[5], o.n[2], 1);
  });
}

const families_of_file all{
    {"group.heads", groups},          {"group.padded", groups_padded}, {"group.shared_keys", shared_keys},
    {"group.one_query", one_query},   {"group.no_heads", no_heads},    {"group.projected", projected},
    {"stored.bfloat16", of_bfloat16}, {"stored.float16", of_float16},  {"stored.int8", of_int8},
};

}  // namespace

}  // namespace fuzz
