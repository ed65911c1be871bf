// SPDX-License-Identifier: BSL-1.0
// 21_pitfalls_mistakes -- three common mistakes of attention code, compiled by the compiler that built this program.
//
// A missing scale, a mask after softmax, heads that do not divide the width. With plain arrays the first two run and
// give wrong weights; the third fails at run time, if there is an assertion.
#include "support/mistakes.hpp"

int main() { return examples::show_all({"missing_scale", "mask_after_softmax", "heads_do_not_divide"}); }
