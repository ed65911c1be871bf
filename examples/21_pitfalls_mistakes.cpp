// SPDX-License-Identifier: BSL-1.0
// 21_pitfalls_mistakes -- three pitfalls of every attention tutorial, given to the compiler that built this program.
//
// Shows: a missing scale, a mask after softmax, and heads that do not divide the width. Where tensors are arrays of
// numbers, the first two run and give wrong weights; the third fails when it runs, if somebody wrote the assertion.
#include "support/mistakes.hpp"

int main() { return examples::show_all({"missing_scale", "mask_after_softmax", "heads_do_not_divide"}); }
