// 38  A loss without padding
//
// The sentences of a batch have different lengths, and a loss must not average over their padding: it would train the
// model to predict padding. A loss takes a mask over the dimensions of its targets. Here these are batch and seq; `key`
// is a dimension of attention scores.
//
// FAILS: ERROR_R22_weights_have_other_dimensions, line 23
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct batch : batch_dim<2> {};
struct seq : position_dim<2> {};
struct key : prime<seq> {};
struct vocab : choice_dim<2> {};

int main() {
  const tensor<float, batch, seq, vocab> logits({1, 0, 1, 0, 1, 0, 9, -9});
  const id<vocab> first(0), second(1);
  const tensor<id<vocab>, batch, seq> targets({first, first, first, second});
  const tensor<int, batch> lengths({2, 1});
  tensor loss = cross_entropy<vocab>(logits, targets, padding<key>(lengths)).mean();
  expect(near(loss, {0.313262F}), "the mean over three tokens");
}
