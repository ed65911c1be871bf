// SPDX-License-Identifier: BSL-1.0
// 01_notebook_mistakes -- four mistakes of the notebook, compiled by the compiler that built this program.
//
// Prints the compiler's real output. With plain arrays these lines run and give wrong weights. The programs are in
// examples/mistakes, each with its wrong and its corrected line.
#include "support/mistakes.hpp"

int main() {
  return examples::show_all({"heads_against_heads", "softmax_over_heads", "values_not_moved", "feature_for_token"});
}
