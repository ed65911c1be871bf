// tests/conformance/attention_scores.cpp -- the stages before the context; see attention.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "attention_chain.hpp"

namespace conformance {

using namespace dimwise;

of_scores<float> scores_at(stage which, const queries& q, const keys& k, const between_scores_and_softmax& how) {
  between_scores_and_softmax so_far = how;
  if (which == stage::product) { so_far.cap = 0; }
  if (which == stage::product || which == stage::capped) {
    so_far = {.scale = so_far.scale, .cap = so_far.cap};
  }
  return with_scores(q, k, so_far, [&](const auto& s) -> of_scores<float> {
    if (which != stage::weights) { return plain(s); }
    if (how.sink) { return plain(softmax<key>(s) * left_by_sink(s, how)); }
    return plain(softmax<key>(s));
  });
}

}  // namespace conformance
