// SPDX-License-Identifier: BSL-1.0
// tests/warnings/uses.cpp -- what a user writes with every public header, compiled with the warnings of users.
//
// A warning from a header is a failure, at every optimisation level. Warnings that depend on the optimiser
// (uninitialised, out of bounds) need uses, not includes:
// each function below instantiates one part of the library.
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/io.hpp>
#include <dimwise/ranks.hpp>
#include <dimwise/tensor/xtensor.hpp>
#include <dimwise/viz.hpp>

#include <cmath>
#include <iostream>
#include <optional>
#include <string>
#if __has_include(<zip.h>)
#include <dimwise/io/npz.hpp>
#endif
#if __has_include(<utf8proc.h>)
#include <dimwise/models/bert.hpp>
#include <dimwise/models/gpt2.hpp>
#include <dimwise/models/llama.hpp>
#include <dimwise/models/sentence/static_embedding.hpp>
#include <dimwise/models/sentence/vector_modules.hpp>
#include <dimwise/text/tokenizer.hpp>
#endif

namespace demo {
struct batch : dimwise::batch_dim<> {};
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_model : dimwise::feature_dim<8> {};
struct heads : dimwise::heads_dim<2> {};
struct d_k : dimwise::divided<d_model, heads> {};
struct d_v : dimwise::divided<d_model, heads> {};

using namespace dimwise;

template <class T>
float attention() {
  tensor<T, batch, seq, d_model> x(batch{2}, seq{3});
  tensor<T, d_model, heads, d_k> w;
  const tensor q = contract<d_model>(x, w);
  const tensor k = rename<seq, key>(q);
  const tensor a = softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{}));
  const tensor<T, batch, seq, heads, d_k> y = permute<batch, seq, heads, d_k>(contract<key>(a, k));
  std::cout << describe(y) << explain(contract<key>(a, k)).text() << draw(contract<key>(a, k)).svg().size();
  return static_cast<float>(evaluate(mean<batch, seq, heads, d_k>(y)));
}

// Operands of double beside floats, and tensors without dimensions: loops whose number of axes is 0.
float losses() {
  const tensor<float, batch> logits{1, -1}, targets{1, 0};
  const auto binary = [&](const auto& m) { return binary_cross_entropy(m, targets, positive_weight(3)); };
  const auto [value, gradient] = value_and_gradient(logits, binary);
  const tensor<double, batch> precise{1, -1};
  const auto squares = [&](const auto& m) { return mean_squared_error(m, tensor<double, batch>{1, 0}); };
  return static_cast<float>(value) + static_cast<float>(value_and_gradient(precise, squares).value) +
         gradient.data()[0];
}

float model(const std::string& file) {
  nn::self_attention<seq, key, nn::multi_head_attention<d_model, heads, d_k, d_v>> layer;
  tensor<float, batch, seq, d_model> x(batch{2}, seq{3});
  io::save(layer, file);
  return evaluate(mean<batch, seq, d_model>(layer(x)));
}

// A cache in pages, which copies a page that it shares, in int8 and bfloat16.
float cached() {
  using keys_of = nn::keys<nn::int8_by<>, heads, key, d_k>;
  nn::kv_cache<key, nn::paged<4>, keys_of, nn::values<bfloat16, heads, key, d_v>> cache(0.1F);
  const tensor<float, key, heads, d_k> k(key{3});
  cache.append(k, tensor<float, key, heads, d_v>(key{3}));
  auto draft = cache;
  draft.append(k, tensor<float, key, heads, d_v>(key{3}));
  const tensor<float, seq, heads, d_k> q(seq{1});
  const auto y = nn::attend(draft, [&](const auto& keys) { return scores<d_k>(q, keys); });
  return evaluate(sum<seq, heads, d_v>(y));
}

void in_a_context(int steps) {
  dimwise::context threads;
  std::optional<dimwise::use_context> used;
  if (steps > 1) { used.emplace(threads); }
  for (int i = 0; i < steps; ++i) {
    std::cout << i;
    if (i == 3) { used.reset(); }
  }
}

int on_ranks() {
  return ranks::run([](const ranks::communicator& world) {
    float values[3] = {1, 2, 3};
    world.all_reduce(values, 3, "values");
    world.permute(values, 1, 0, values + 1, 1, 0, "values").wait();
  });
}

}  // namespace demo

int main(int count, char** names) {
  demo::in_a_context(count);
  return demo::attention<float>() + demo::attention<double>() + demo::losses() + demo::cached() +
             demo::model(names[count - 1]) >
         static_cast<float>(demo::on_ranks());
}
