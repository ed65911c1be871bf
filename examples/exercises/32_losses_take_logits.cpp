// 32  A loss takes logits
//
// Training compares the model's logits with the next tokens. `cross_entropy` normalises the logits itself. With
// probabilities it would normalise twice, and the model would learn slowly and badly. The mark `normalised<vocab>`
// records the first time.
//
// FAILS: ERROR_R5_already_normalised, line 19
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<1> {};
struct vocab : choice_dim<2> {};

int main() {
  tensor<float, seq, vocab> logits({1, 0});
  tensor<id<vocab>, seq> tokens({id<vocab>(0)});
  tensor loss = cross_entropy<vocab>(softmax<vocab>(logits), tokens).mean();
  expect(near(loss, {0.313262F}), "minus the log-probability of the right token");
}
