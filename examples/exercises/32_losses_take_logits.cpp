// 32  A loss takes logits
//
// Training compares the model's logits with the next words. `cross_entropy` normalises by itself; who gives it
// probabilities normalises twice, and the model learns slowly and badly. The type remembers that these sum to one.
//
// FAILS: ERROR_R5_already_normalised, line 18
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<1> {};
struct vocab : choice_dim<2> {};

int main() {
  tensor<float, seq, vocab> logits({1, 0});
  tensor<id<vocab>, seq> words({id<vocab>(0)});
  tensor loss = cross_entropy<vocab>(softmax<vocab>(logits), words).mean();
  expect(near(loss, {0.313262F}), "minus the logarithm of what the right word gets");
}
