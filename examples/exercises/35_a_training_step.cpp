// 35  A training step
//
// This program compiles, runs and learns, but its loss becomes too low: its attention sees the token that it should
// predict. Find what is missing between the scores and the softmax. The queries are seq, the keys are key; a mask names
// the queries first. The last checks change one token: no earlier prediction may change, and every later one must.
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

// The logits of each next token.
template <class Model>
auto logits(const Model& model, const sentence& tokens) {
  const auto& [table, output] = model;
  const tensor x = gather<vocab>(table, tokens);
  const auto s = scores<d_model>(x, rename<seq, key>(x));
  const tensor y = x + contract<key>(softmax<key>(s), rename<seq, key>(x));
  return contract<d_model>(y, output);
}

int main() {
  std::tuple model(some<tensor<float, vocab, d_model>>(1), some<tensor<float, d_model, vocab>>(2));
  const sentence tokens({id<vocab>(0), id<vocab>(1), id<vocab>(2), id<vocab>(0)});
  sgd optimiser(model, {.rate = 0.3});
  float first = 0, last = 0;
  for (int n = 0; n < 20; ++n) {
    const auto [loss, gradient] =
        value_and_gradient(model, [&](const auto& m) { return next_word_loss<seq>(logits(m, tokens), tokens); });
    optimiser.step(model, gradient);
    (n == 0 ? first : last) = static_cast<float>(loss);
  }
  expect(last < 0.7F * first, "it learns");
  sentence other = tokens;
  other.set(id<vocab>(1), id<seq>(3));
  const tensor before = logits(model, tokens);
  const tensor after = logits(model, other);
  const id<seq> second(1);
  const id<vocab> third(2);
  expect(before(second, third) == after(second, third), "a later token changes no earlier prediction");
  other.set(id<vocab>(1), id<seq>(0));
  const tensor changed = logits(model, other);
  expect(after(second, third) != changed(second, third), "an earlier token changes a later prediction");
}
