// SPDX-License-Identifier: BSL-1.0
// 22_transformer -- a language model with tied embeddings, and an encoder-decoder, from modules.
//
// Layers from attention, feed-forward and norms; stacks; parameters by name; the mask of each attention. The weights
// are random: the program prints shapes, counts, and what a mask must not change.
#include "support/difference.hpp"
#include <dimwise/dimwise.hpp>

#include <cstdio>
#include <iostream>
#include <string>

namespace lesson {
struct batch : dimwise::batch_dim<> {};
struct vocabulary : dimwise::choice_dim<> {};
struct target : dimwise::position_dim<> {};
struct target_key : dimwise::prime<target> {};
struct source : dimwise::position_dim<> {};
struct source_key : dimwise::prime<source> {};
struct d_model : dimwise::feature_dim<16> {};
struct d_ff : dimwise::feature_dim<32> {};
struct heads : dimwise::heads_dim<4> {};
struct d_k : dimwise::divided<d_model, heads> {};
struct d_v : dimwise::divided<d_model, heads> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

namespace {

using attention = nn::multi_head_attention<d_model, heads, d_k, d_v>;
using feed_forward = nn::feed_forward<d_model, d_ff>;
using norm_layer = nn::layer_norm<d_model>;

using target_layer = nn::encoder_layer<nn::self_attention<target, target_key, attention>, feed_forward, norm_layer>;
using source_layer = nn::encoder_layer<nn::self_attention<source, source_key, attention>, feed_forward, norm_layer>;
using decoder_layer = nn::decoder_layer<nn::self_attention<target, target_key, attention>,
                                        nn::cross_attention<target, source, attention>, feed_forward, norm_layer>;

tensor<id<vocabulary>, batch, target> sentence(std::size_t last) {
  tensor<id<vocabulary>, batch, target> ids(batch{1}, target{5});
  for (std::size_t i = 0; i < 5; ++i) {
    ids.set(id<vocabulary>(i == 4 ? last : 2 * i % 7), id<batch>(0), id<target>(i));
  }
  return ids;
}

}  // namespace

int main() {
  nn::xavier_uniform how(1);

  std::cout << "-- A language model: X = E[words] * sqrt(d_model) + P, layers, softmax(E X)\n";
  nn::transformer<vocabulary, target, d_model, nn::stack<target_layer>> model{{}, nn::stack<target_layer>::of(2)};
  nn::initialise(model, how, vocabulary{11});
  const tensor next = model(sentence(1), causal<target, target_key>{});
  std::cout << "next tokens: " << describe(next) << '\n';
  std::printf("parameters         %zu\n", nn::parameter_count(model));

  // The last token must not change the predictions of earlier ones.
  const tensor other = model(sentence(3), causal<target, target_key>{});
  const tensor before = slice<target>(next, 0, 4);
  const tensor still = slice<target>(other, 0, 4);
  std::printf("a later token leaves earlier predictions unchanged: %s\n",
              examples::largest_difference(before.values(), still.values()) == 0 ? "yes" : "no");

  std::cout << "-- An encoder and a decoder\n";
  nn::encoder_decoder<nn::stack<source_layer>, nn::stack<decoder_layer, norm_layer>> translator{
      nn::stack<source_layer>::of(2), nn::stack<decoder_layer, norm_layer>::of(2)};
  nn::initialise(translator, how);
  tensor<float, batch, source, d_model> from(batch{2}, source{6});
  tensor<float, batch, target, d_model> to(batch{2}, target{5});
  from.fill(0.5F);
  to.fill(0.25F);
  const tensor<int, batch> lengths({6, 4}, batch{2});
  const tensor y =
      translator(from, to, padding<source_key>(lengths), causal<target, target_key>{}, padding<source>(lengths));
  std::cout << "translated: " << describe(y) << '\n';
  std::size_t shown = 0;
  nn::for_each_parameter(translator, [&](const std::string& name, const auto& t) {
    if (++shown <= 10) { std::cout << name << ": " << describe(t) << '\n'; }
  });
  std::printf("… %zu parameter tensors, %zu numbers\n", shown, nn::parameter_count(translator));
}
