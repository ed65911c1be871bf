// 32  A loss takes logits: a solution
//
// HINT: Remove the softmax.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<1> {};
struct vocab : choice_dim<2> {};

int main() {
  tensor<float, seq, vocab> logits({1, 0});
  tensor<id<vocab>, seq> tokens({id<vocab>(0)});
  tensor loss = cross_entropy<vocab>(logits, tokens).mean();
  expect(near(loss, {0.313262F}), "minus the log-probability of the right token");
}
