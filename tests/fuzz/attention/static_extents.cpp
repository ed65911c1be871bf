// tests/fuzz/attention/static_extents.cpp -- extents that the compiler knows: plans without a look at strides,
// tensors inside objects.
//
// SPDX-License-Identifier: BSL-1.0
#include "attention.hpp"

#include <cmath>

namespace fuzz {

namespace {

template <std::size_t N>
struct s_seq : position_dim<N> {};
template <std::size_t N>
struct s_key : prime<s_seq<N>, N> {};
template <std::size_t N>
struct s_heads : heads_dim<N> {};
template <std::size_t N>
struct s_k : feature_dim<N> {};
template <std::size_t N>
struct s_v : feature_dim<N> {};
template <std::size_t N>
struct s_model : feature_dim<N> {};

// Causal or not, in an order of memory that the types say.
template <std::size_t S, std::size_t H, std::size_t K, std::size_t V>
void attention_of(attempt& a) {
  using qs = s_seq<S>;
  using ks = s_key<S>;
  const held<float, qs, s_heads<H>, s_k<K>> q(a, "q", numbers(a.random), repeats::sometimes);
  const held<float, ks, s_heads<H>, s_k<K>> k(a, "k", numbers(a.random), repeats::sometimes);
  const held<float, s_heads<H>, ks, s_v<V>> v(a, "v", numbers(a.random), repeats::sometimes);
  const double l = largest_product(norms(q, K), norms(k, K)) / std::sqrt(static_cast<double>(K));
  const auto allowed = [&](const auto& of) {
    return [&a, &of, &v, l] {
      (void)a;
      return of_attention(exactly(of(tensor<float, s_heads<H>, ks, s_v<V>>(v.magnitudes()))), l, K, S, v.largest());
    };
  };
  const auto q_own = q.dense();
  const auto k_own = k.dense();
  const auto v_own = v.dense();
  if (a.random.one_in(2)) {
    const auto of = [&](const auto& x) { return contract<ks>(softmax<ks>(scores<s_k<K>>(q_own, k_own)), x); };
    compare(a, of(v_own), allowed(of));
  } else {
    const auto of = [&](const auto& x) {
      return contract<ks>(softmax<ks>(masked(scores<s_k<K>>(q_own, k_own), causal<qs, ks>{})), x);
    };
    compare(a, of(v_own), allowed(of));
  }
}
template <std::size_t S, std::size_t M, std::size_t H, std::size_t K>
void product_of(attempt& a) {
  const held<float, s_seq<S>, s_model<M>> x(a, "x", numbers(a.random), repeats::sometimes);
  const held<float, s_heads<H>, s_model<M>, s_k<K>> w(a, "w", numbers(a.random), repeats::sometimes);
  const auto of = [](const auto& p, const auto& q) { return contract<s_model<M>>(p, q); };
  compare(a, of(x.dense(), w.dense()), [&] { return of_product(of(x.magnitudes(), w.magnitudes()), M); });
}

const families_of_file all{
    {"static.attention_5_2_8_8", attention_of<5, 2, 8, 8>},
    {"static.attention_4_3_4_5", attention_of<4, 3, 4, 5>},
    {"static.attention_17_1_16_33", attention_of<17, 1, 16, 33>},
    {"static.attention_2_4_32_16", attention_of<2, 4, 32, 16>},
    {"static.product_5_12_3_4", product_of<5, 12, 3, 4>},
    {"static.product_16_33_2_16", product_of<16, 33, 2, 16>},
    {"static.product_1_64_1_48", product_of<1, 64, 1, 48>},
};

}  // namespace

}  // namespace fuzz
