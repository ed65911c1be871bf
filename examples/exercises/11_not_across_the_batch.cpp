// 11  Not across the batch
//
// A tensor [batch, seq] of importances, and weights for the words of each sentence. `softmax(dim=0)` runs, and lets the
// sentences compete with each other: what one sentence gets depends on its neighbours in the batch. A batch is for
// things side by side; softmax takes positions or alternatives.
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
