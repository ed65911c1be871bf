// 11  Softmax never goes over the batch
//
// `importance` has one score per token of each sentence. `softmax(dim=0)` would run in PyTorch and normalise over the
// batch: the weights of a sentence would depend on the other sentences. Batch elements are independent; softmax takes
// positions or choices.
//
// FAILS: ERROR_R13_softmax_takes_attendable_or_choice, line 19
// FROM: softmax over batch*output rows
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct batch : batch_dim<2> {};
struct seq : position_dim<2> {};

int main() {
  tensor<float, batch, seq> importance({1, 0, 3, 3});
  tensor weights = softmax<batch>(importance);
  expect(near(weights, {0.731059F, 0.268941F, 0.5F, 0.5F}), "the weights of each sentence sum to one");
}
