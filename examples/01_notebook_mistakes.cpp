// SPDX-License-Identifier: BSL-1.0
// 01_notebook_mistakes -- four mistakes that the notebook makes, given to the compiler that built this program.
//
// Shows what the compiler says to each: real output, produced now. Where tensors are arrays of numbers, such lines run
// and give wrong weights. The wrong programs are in examples/mistakes, the corrected line beside the wrong one.
#include "support/mistakes.hpp"

int main() {
  return examples::show_all({"heads_against_heads", "softmax_over_heads", "values_not_moved", "feature_for_token"});
}
