// SPDX-License-Identifier: BSL-1.0
// 26_train_embedding -- trains the notebook's embedding and attention to predict the next token.
//
// 00_notebook uses the notebook's random weights. Here they are the initial weights: the model learns to predict the
// next token of the sentence, and the embedding is trained together with the attention.
//
//   26_train_embedding [seed_notebook.dwpack]
#include "support/pack.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

namespace learning {

using namespace dimwise;

struct vocab : choice_dim<6> {};      // the six tokens of the embedding
struct seq : position_dim<> {};       // tokens of the sentence
struct key : prime<seq> {};           // the same tokens, as keys
struct d_model : feature_dim<16> {};  // features of a token
struct d_k : feature_dim<24> {};      // features of queries and keys
struct d_v : feature_dim<28> {};      // features of values

const std::vector<std::string> sentence = {"Life", "is", "short", "eat", "dessert", "first"};

// [model]
// The notebook's head, with logits from the context vector and from the token itself: without the latter, tokens with
// the same attention would have the same logits. T is tracked while a gradient is computed.
template <class T = float>
struct reader {
  using table = nn::embedding<vocab, d_model, T>;
  using finds = tensor<T, d_k, d_model>;
  using gives = tensor<T, d_v, d_model>;
  using from_context = tensor<T, d_v, vocab>;
  using from_word = tensor<T, d_model, vocab>;
  BOOST_HANA_DEFINE_STRUCT(reader, (table, words), (finds, w_q), (finds, w_k), (gives, w_v), (from_context, output),
                           (from_word, own));

  [[nodiscard]] auto operator()(const tensor<id<vocab>, seq>& text) const {
    const tensor x = words(text);
    const auto k = rename<seq, key>(contract<d_model>(x, w_k));
    const auto v = rename<seq, key>(contract<d_model>(x, w_v));
    const auto s = masked(scores<d_k>(contract<d_model>(x, w_q), k), causal<seq, key>{});
    const tensor context = contract<key>(softmax<key>(s), v);
    return contract<d_v>(context, output) + contract<d_model>(x, own);
  }
};
// [/model]

reader<> of_the_notebook(const dimwise_test::pack& data) {
  const auto numbers = [&](const char* name) { return data.at(std::string("single_head/weight.") + name).as<float>(); };
  reader<> r;
  r.words.table = tensor<float, vocab, d_model>(numbers("embedding"));
  r.w_q = tensor<float, d_k, d_model>(numbers("W_query"));
  r.w_k = tensor<float, d_k, d_model>(numbers("W_key"));
  r.w_v = tensor<float, d_v, d_model>(numbers("W_value"));
  return r;
}

// The predicted next token of each token, and the number of correct ones.
std::size_t show(const reader<>& model, const tensor<id<vocab>, seq>& text) {
  const tensor expected = argmax<vocab>(model(text));
  const auto word = [&](id<vocab> i) {
    std::size_t at = 0;
    while (std::as_const(text).data()[at] != i) { ++at; }
    return sentence[at];
  };
  std::size_t right = 0;
  for (std::size_t i = 0; i + 1 < sentence.size(); ++i) {
    const std::string said = word(expected.data()[i]);
    right += said == sentence[i + 1] ? 1U : 0U;
    std::printf("  behind %-8s %s\n", sentence[i].c_str(), said.c_str());
  }
  return right;
}

int run(const dimwise_test::pack& data) {
  const auto places = data.at("single_head/input.sentence_int").converted<std::size_t>();
  const tensor<id<vocab>, seq> text(places, seq{sentence.size()});
  reader<> model = of_the_notebook(data);
  const auto before = model;

  adamw optimiser(model, {.rate = 0.02});
  double first = 0;
  double last = 0;
  for (int step = 0; step < 100; ++step) {
    const auto [loss, gradient] =
        value_and_gradient(model, [&](const auto& m) { return next_word_loss<seq>(m(text), text); });
    optimiser.step(model, clip_norm(gradient, 1.0));
    if (step == 0) { first = static_cast<double>(loss); }
    last = static_cast<double>(loss);
    if (step % 25 == 0) { std::printf("step %2d: loss %.2f\n", step, static_cast<double>(loss)); }
  }
  std::printf("after 100: loss %.2f, of six equally likely words it is %.2f\n\n", last, std::log(6.0));
  std::printf("The word that the model expects:\n");
  const std::size_t right = show(model, text);

  // The last token has no successor, and earlier tokens do not attend to it: its gradient is 0.
  const tensor moved = sqrt(sum<d_model>(square(model.words.table - before.words.table)));
  std::printf("\nHow far each word's embedding has moved:\n");
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    std::printf("  %-8s %.1f\n", sentence[i].c_str(), static_cast<double>(moved.data()[places[i]]));
  }
  const bool learned = right + 1 == sentence.size() && last < first / 10;
  std::printf("\n%zu of %zu words are right: %s\n", right, sentence.size() - 1, learned ? "learned" : "NOT LEARNED");
  return learned ? 0 : 1;
}

}  // namespace learning

int main(int count, char** arguments) try {
  return learning::run(dimwise_test::pack(count > 1 ? arguments[1] : dimwise_test::data_file("seed_notebook.dwpack")));
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
