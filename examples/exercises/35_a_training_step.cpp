// 35  A training step
//
// The last one compiles, runs and learns. It predicts the next word, and becomes too good: its attention sees the word
// that it shall predict. What you know by now says what is missing. The last check changes the last word and looks
// whether earlier predictions change.
//
// FAILS: when it runs, line 47
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<4> {};
struct key : prime<seq> {};
struct vocab : choice_dim<3> {};
struct d_model : feature_dim<4> {};
using sentence = tensor<id<vocab>, seq>;

// Words in, logits of the next word out.
template <class Model>
auto logits(const Model& model, const sentence& words) {
  const auto& [table, output] = model;
  const tensor x = gather<vocab>(table, words);
  const auto s = scores<d_model>(x, rename<seq, key>(x));
  const tensor y = x + contract<key>(softmax<key>(s), rename<seq, key>(x));
  return contract<d_model>(y, output);
}

int main() {
  std::tuple model(some<tensor<float, vocab, d_model>>(1), some<tensor<float, d_model, vocab>>(2));
  const sentence words({id<vocab>(0), id<vocab>(1), id<vocab>(2), id<vocab>(0)});
  sgd optimiser(model, {.rate = 0.3});
  float first = 0, last = 0;
  for (int n = 0; n < 20; ++n) {
    const auto [loss, slope] =
        value_and_gradient(model, [&](const auto& m) { return next_word_loss<seq>(logits(m, words), words); });
    optimiser.step(model, slope);
    (n == 0 ? first : last) = static_cast<float>(loss);
  }
  expect(last < 0.7F * first, "it learns");
  sentence other = words;
  other.set(id<vocab>(1), id<seq>(3));
  const tensor before = logits(model, words);
  const tensor after = logits(model, other);
  const id<seq> second(1);
  const id<vocab> third(2);
  expect(before(second, third) == after(second, third), "a later word changes no earlier prediction");
}
