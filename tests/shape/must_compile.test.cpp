// tests/shape/must_compile.test.cpp -- right code that a stricter rule could refuse: formulas of published models.
//
// Every formula is formed and its shape is checked; none is evaluated here, so tensors are declared only.
// SPDX-License-Identifier: BSL-1.0
#include "vocabulary.hpp"
#include <dimwise/dimwise.hpp>

#include <doctest/doctest.h>

#include <span>
#include <type_traits>

namespace must_compile {

using namespace shape_test;

template <class X, class... DimsAndMarks>
inline constexpr bool forms = std::is_same_v<typename X::shape_type, shape<DimsAndMarks...>>;

extern tensor<float, batch, seq, d_model> x;
extern tensor<float, batch, src, d_model> memory;
extern tensor<float, d_model, heads, d_k> w_q, w_k;
extern tensor<float, d_model, heads, d_v> w_v;
extern tensor<float, heads, d_v, d_model> w_o;
extern tensor<float, batch, seq, heads, d_k> q;
extern tensor<float, batch, key, heads, d_k> k;
extern tensor<float, batch, key, heads, d_v> v;
extern tensor<float, batch, heads, seq, key, score<d_k>> s;
extern tensor<float, batch, heads, seq, key, normalised<key>> a;
extern tensor<int, batch> lengths;

// c1, c14, c19: self-attention after an explicit rename, without positions, of run-time batch and length.
inline auto self_attention() {
  auto keys = rename<seq, key>(contract<d_model>(x, w_k));
  auto values = rename<seq, key>(contract<d_model>(x, w_v));
  auto weights = softmax<key>(masked(scores<d_k>(contract<d_model>(x, w_q), keys), causal<seq, key>{}));
  return contract<heads, d_v>(contract<key>(weights, values), w_o);
}
static_assert(forms<decltype(self_attention()), batch, seq, d_model>);

// c2: cross-attention, also where both sequences have one extent.
struct as_long : position_dim<7> {};
extern tensor<float, batch, as_long, heads, d_k> q_as_long;
static_assert(forms<decltype(softmax<src>(scores<d_k>(q, contract<d_model>(memory, w_k)))), batch, heads, seq, src,
                    normalised<src>>);
static_assert(forms<decltype(softmax<src>(scores<d_k>(q_as_long, contract<d_model>(memory, w_k)))), batch, heads,
                    as_long, src, normalised<src>>);

// c3: the values' features are not the keys', by name and by extent.
static_assert(forms<decltype(contract<key>(softmax<key>(scores<d_k>(q, k)), v)), batch, heads, seq, d_v>);

// c4: one head, without a heads dimension; and without a batch.
extern tensor<float, batch, seq, d_k> q_single;
extern tensor<float, batch, key, d_k> k_single;
extern tensor<float, batch, key, d_v> v_single;
extern tensor<float, seq, d_k> q_bare;
extern tensor<float, key, d_k> k_bare;
extern tensor<float, key, d_v> v_bare;
static_assert(forms<decltype(contract<key>(softmax<key>(scores<d_k>(q_single, k_single)), v_single)), batch, seq, d_v>);
static_assert(forms<decltype(contract<key>(softmax<key>(scores<d_k>(q_bare, k_bare)), v_bare)), seq, d_v>);

// c5: multi-query attention, whose keys have no heads. c6: grouped heads.
extern tensor<float, batch, seq, heads, group_of, d_k> q_grouped;
static_assert(forms<decltype(contract<key>(softmax<key>(scores<d_k>(q, k_single)), v_single)), batch, seq, heads, d_v>);
static_assert(
    forms<decltype(contract<key>(softmax<key>(scores<d_k>(q_grouped, k)), v)), batch, heads, seq, group_of, d_v>);

// c7, c18: an additive bias with some of the dimensions: per head and key, or per head and bucket, shared by all
// examples.
struct bucket : choice_dim<32> {};
extern tensor<float, heads, key> slopes;
extern tensor<float, bucket, heads> bias_table;
extern tensor<id<bucket>, seq, key> buckets;
static_assert(forms<decltype(softmax<key>(biased(s, slopes))), batch, heads, seq, key, normalised<key>>);
static_assert(forms<decltype(s + slopes), batch, heads, seq, key, score<d_k>, biased_for<key>>);
static_assert(forms<decltype(softmax<key>(biased(unscaled(contract<d_k>(q, k)), gather<bucket>(bias_table, buckets)))),
                    batch, heads, seq, key, normalised<key>>);

// c8, c9, c10: masks over (queries, keys), (batch, keys), (batch, queries, keys), and several together.
extern tensor<bool, seq, key> bits;
extern tensor<bool, batch, key> key_bits;
extern tensor<bool, batch, seq, key> batch_bits;
static_assert(forms<decltype(softmax<key>(masked(s, allow(bits)))), batch, heads, seq, key, normalised<key>>);
static_assert(forms<decltype(softmax<key>(masked(s, allow(key_bits)))), batch, heads, seq, key, normalised<key>>);
static_assert(
    forms<decltype(softmax<key>(masked(s, allow_of(block(key_bits))))), batch, heads, seq, key, normalised<key>>);
static_assert(forms<decltype(softmax<key>(masked(s, padding<key>(lengths)))), batch, heads, seq, key, normalised<key>>);
static_assert(forms<decltype(softmax<key>(masked(s, allow(batch_bits)))), batch, heads, seq, key, normalised<key>>);
static_assert(forms<decltype(softmax<key>(masked(s, causal<seq, key>{} & padding<key>(lengths) & !allow(bits)))), batch,
                    heads, seq, key, normalised<key>>);
static_assert(forms<decltype(softmax<key>(masked(masked(s, causal<seq, key>{}), padding<key>(lengths)))), batch, heads,
                    seq, key, normalised<key>>);
static_assert(forms<decltype(softmax<key>(masked(scores<d_k>(q_bare, k_bare), padding<key>(lengths)))), seq, key, batch,
                    normalised<key>>);

// c11: slot attention: softmax over the queries on purpose, renormalised over the keys.
static_assert(forms<decltype(contract<key>(renormalise<key>(softmax<seq>(s)), v)), batch, heads, seq, d_v>);

// c12: W_V and W_O of each head, summed over heads.
extern tensor<float, d_model, heads, out<d_model>> w_vo;
static_assert(forms<decltype(sum<heads>(contract<d_v>(contract<key>(a, v), w_o))), batch, seq, d_model>);
static_assert(
    forms<decltype(sum<heads>(contract<key>(a, rename<seq, key>(contract<d_model>(x, w_vo))))), batch, seq, d_model>);

// c13: a tied embedding: looked up by ids, contracted over the model dimension for the logits.
extern tensor<float, vocab, d_model> embedding;
extern tensor<id<vocab>, batch, seq> tokens;
static_assert(forms<decltype(gather<vocab>(embedding, tokens) * 3.4F), batch, seq, d_model>);
static_assert(forms<decltype(softmax<vocab>(contract<d_model>(x, embedding))), batch, seq, vocab, normalised<vocab>>);
static_assert(forms<decltype(argmax<vocab>(contract<d_model>(x, embedding))), batch, seq>);

// c15: partial rotary: two products, scaled together.
struct rot : feature_dim<2> {};
struct pass : feature_dim<2> {};
extern tensor<float, batch, seq, heads, rot, rotated<rot, seq>> q_rot;
extern tensor<float, batch, key, heads, rot, rotated<rot, seq>> k_rot;
extern tensor<float, batch, seq, heads, pass> q_pass;
extern tensor<float, batch, key, heads, pass> k_pass;
static_assert(forms<decltype(scaled<summed<rot, pass>>(contract<rot>(q_rot, k_rot) + contract<pass>(q_pass, k_pass))),
                    batch, heads, seq, key, score<pass>, score<rot>>);

// c16, c17: a causal mask whose queries begin later than the keys, and a sliding window.
struct cached : prime<seq, 42> {};
extern tensor<float, heads, seq, cached, score<d_k>> s_cached;
static_assert(
    forms<decltype(softmax<cached>(masked(s_cached, causal<seq, cached>{starting_at(seq{1}, 41), cached{42}}))), heads,
          seq, cached, normalised<cached>>);
static_assert(forms<decltype(softmax<key>(masked(s, causal<seq, key>{} & window<seq, key>{128, 0}))), batch, heads, seq,
                    key, normalised<key>>);

// c20: linear attention: keys and values first.
inline auto linear_attention() {
  auto phi_q = relu(q);
  auto phi_k = relu(k);
  return contract<d_k>(phi_q, contract<key>(phi_k, v)) / contract<d_k>(phi_q, sum<key>(phi_k));
}
static_assert(forms<decltype(linear_attention()), batch, heads, seq, d_v>);

// c21: talking heads: mixed after scoring, and mixed again after softmax.
extern tensor<float, heads, more_heads> mix;
extern tensor<float, more_heads, heads> mix_back;
static_assert(forms<decltype(contract<key>(contract<more_heads>(softmax<key>(contract<heads>(s, mix)), mix_back), v)),
                    batch, heads, seq, d_v>);

// c22, Named Tensor Notation: a layer, a recurrent step, norms over any dimensions, a flattened and a factored
// classifier.
struct hidden : feature_dim<8> {};
struct channels : feature_dim<3> {};
extern tensor<float, d_model, d_ff> w_1;
extern tensor<float, d_ff> b_1;
extern tensor<float, d_ff, d_model> w_2;
extern tensor<float, d_model> b_2, gamma, beta;
extern tensor<float, batch, hidden> state;
extern tensor<float, batch, d_model> input;
extern tensor<float, hidden, out<hidden>> w_h;
extern tensor<float, d_model, hidden> w_i;
extern tensor<float, hidden> b_h;
extern tensor<float, batch, src, as_long, channels> picture;
extern tensor<float, src, as_long, channels, vocab> classifier;
extern tensor<float, merged<src, as_long, channels>, vocab> flat_classifier;
static_assert(forms<decltype(contract<d_ff>(relu(contract<d_model>(x, w_1) + b_1), w_2) + b_2), batch, seq, d_model>);
static_assert(forms<decltype(tanh(contract<hidden>(state, w_h) + contract<d_model>(input, w_i) + b_h)), batch, hidden>);
static_assert(forms<decltype(layer_norm<d_model>(x + x, gamma, beta)), batch, seq, d_model>);
static_assert(forms<decltype(standardize<batch, d_model>(x)), batch, seq, d_model>);
static_assert(forms<decltype(softmax<vocab>(contract<src, as_long, channels>(picture, classifier))), batch, vocab,
                    normalised<vocab>>);
static_assert(
    forms<decltype(contract<merged<src, as_long, channels>>(merge<src, as_long, channels>(picture), flat_classifier)),
          batch, vocab>);
static_assert(forms<decltype(x + sinusoid<seq, d_model>(seq{5})), batch, seq, d_model>);
//     Inner, outer and elementwise products, a matrix and a vector, norms.
static_assert(forms<decltype(contract<d_model>(gamma, beta))>);
static_assert(forms<decltype(outer(gamma, b_h)), d_model, hidden>);
static_assert(forms<decltype(sqrt(sum<d_model>(square(x)))), batch, seq>);
static_assert(forms<decltype(contract<d_model>(gamma, w_1)), d_ff>);
//     Embeddings by one-hot vectors, attention with an additive mask.
extern tensor<float, batch, seq, vocab> one_hot;
extern tensor<float, seq, key> penalty;
static_assert(forms<decltype(contract<vocab>(one_hot, embedding)), batch, seq, d_model>);
static_assert(forms<decltype(contract<key>(softmax<key>(biased(s, penalty)), v)), batch, heads, seq, d_v>);

// Shaw's relative positions, of keys and of values.
extern tensor<float, seq, key, d_k> r_k;
extern tensor<float, seq, key, d_v> r_v;
static_assert(forms<decltype(permute<batch, heads, seq, key>(scaled<d_k>(contract<d_k>(q, k) +
                                                                         contract<d_k>(q, r_k, along<seq>{})))),
                    batch, heads, seq, key, score<d_k>>);
static_assert(forms<decltype(contract<key>(a, v) + contract<key>(a, r_v, along<seq>{})), batch, heads, seq, d_v>);

// Transformer-XL: content and position, each with its bias of queries.
extern tensor<float, heads, d_k> u_content, u_position;
extern tensor<float, key, heads, d_k> positions;
static_assert(forms<decltype(scaled<d_k>(contract<d_k>(q + u_content, k) + contract<d_k>(q + u_position, positions))),
                    batch, heads, seq, key, score<d_k>>);

// Latent attention, as written and with the key's matrix absorbed into the query.
struct latent : feature_dim<5> {};
extern tensor<float, d_model, latent> w_down;
extern tensor<float, latent, heads, d_k> w_up;
inline auto latents() { return rename<seq, key>(contract<d_model>(x, w_down)); }
static_assert(forms<decltype(scores<d_k>(q, contract<latent>(latents(), w_up))), batch, heads, seq, key, score<d_k>>);
static_assert(forms<decltype(softmax<key>(scaled(contract<latent>(contract<d_k>(q, w_up), latents()), 0.5F))), batch,
                    heads, seq, key, normalised<key>>);

// Mixture of experts: every expert's layer side by side, mixed by the router.
extern tensor<float, d_model, experts> router;
extern tensor<float, experts, d_model, d_ff> w_in;
extern tensor<float, experts, d_ff, d_model> w_out;
inline auto gates() { return softmax<experts>(contract<d_model>(x, router)); }
inline auto expert_outputs() { return contract<d_ff>(relu(contract<d_model>(x, w_in)), w_out); }
static_assert(forms<decltype(gates()), batch, seq, experts, normalised<experts>>);
static_assert(forms<decltype(contract<experts>(gates(), expert_outputs(), along<seq>{})), batch, seq, d_model>);
static_assert(has_dims<decltype(sum<experts>(expert_outputs() * gates())), batch, seq, d_model>);

// A contrastive loss: one batch is relabelled to candidates.
struct candidate : choice_dim<> {};
extern tensor<float, batch, hidden> image, caption;
static_assert(
    forms<decltype(log_softmax<candidate>(contract<hidden>(image, relabel<batch, candidate>(caption)) * 0.07F)), batch,
          candidate, log_normalised<candidate>>);

// Masked mean pooling, in one word and by hand.
static_assert(forms<decltype(mean<seq>(x, padding<seq>(lengths))), batch, d_model>);
static_assert(forms<decltype(sum<seq>(x * indicator(padding<seq>(lengths), seq{5}))), batch, d_model>);

// The backward pass says where a rule of the forward pass does not apply.
extern tensor<float, batch, heads, seq, d_v> grad;
inline auto grad_scores() {
  auto grad_weights = plain(contract<d_v>(grad, v));
  return plain(a) * (grad_weights - sum<key>(plain(a) * grad_weights));
}
static_assert(forms<decltype(contract<seq>(plain(a), grad)), batch, heads, key, d_v>);
static_assert(forms<decltype(contract<key>(grad_scores(), k)), batch, heads, seq, d_k>);
static_assert(forms<decltype(contract<seq>(grad_scores(), q)), batch, heads, key, d_k>);
static_assert(forms<decltype(contract<batch, seq>(x, contract<d_ff>(relu(contract<d_model>(x, w_1)),
                                                                    rename<d_model, out<d_model>>(w_2)))),
                    d_model, out<d_model>>);

// Packed documents, causal inside of each.
extern tensor<float, packed_seq, heads, d_k> q_packed;
extern tensor<float, packed_key, heads, d_k> k_packed;
extern tensor<float, packed_key, heads, d_v> v_packed;
static_assert(forms<decltype(contract<packed_key>(softmax<packed_key>(masked(scores<d_k>(q_packed, k_packed),
                                                                             document<packed_seq, packed_key>{} &
                                                                                 causal<packed_seq, packed_key>{})),
                                                  v_packed)),
                    heads, packed_seq, d_v>);

// A fused projection, its parts taken by name, of any sizes; a class token before patches; the last position alone.
using fused = summed<merged<heads, d_k>, d_k, d_v>;
extern tensor<float, d_model, fused> w_qkv;
extern tensor<float, batch, one, d_model> cls;
static_assert(
    forms<decltype(split<heads, d_k>(part<merged<heads, d_k>>(contract<d_model>(x, w_qkv)))), batch, seq, heads, d_k>);
static_assert(forms<decltype(part<d_v>(contract<d_model>(x, w_qkv))), batch, seq, d_v>);
static_assert(forms<decltype(concat<summed<one, src>>(cls, memory)), batch, summed<one, src>, d_model>);
static_assert(
    forms<decltype(softmax<vocab>(contract<d_model>(at<seq>(x, 4), embedding))), batch, vocab, normalised<vocab>>);
static_assert(forms<decltype(softmax<key>(scores<d_k>(at<seq>(q, 4), k))), batch, heads, key, normalised<key>>);

// R20: no tensor becomes raw storage, a number, or another tensor's elements by itself.
using some_tensor = tensor<float, seq, d_model>;
static_assert(!std::is_convertible_v<some_tensor, float*> && !std::is_convertible_v<some_tensor, const float*> &&
              !std::is_convertible_v<some_tensor, bool>);
static_assert(!std::is_convertible_v<some_tensor, float> &&
              !std::is_convertible_v<some_tensor, std::span<const float>> &&
              !std::is_convertible_v<some_tensor, std::span<float>>);
static_assert(!std::is_convertible_v<float*, some_tensor> &&
              !std::is_convertible_v<std::span<const float>, some_tensor> &&
              !std::is_convertible_v<float, some_tensor>);
static_assert(!std::is_convertible_v<float*, tensor_view<float, seq, d_model>> &&
              !std::is_convertible_v<int, id<vocab>>);

TEST_CASE("shape: formulas that must compile") { CHECK(forms<decltype(self_attention()), batch, seq, d_model>); }

}  // namespace must_compile
