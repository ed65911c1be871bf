// tests/conformance/attention/scores.cpp -- the stages before the context, one stored after the other; see
// attention.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "masks.hpp"

namespace conformance {

using namespace dimwise;

namespace {

of_scores<float> before_masks(stage which, const queries& q, const keys& k, const between_scores_and_softmax& how) {
  const of_scores<float> s = plain(scaled(contract<d_k>(q, k), how.scale));
  if (which == stage::product) { return s; }
  const of_scores<float> capped = how.cap == 0 ? s : of_scores<float>(tanh(s * (1 / how.cap)) * how.cap);
  if (which == stage::capped || !how.bias) { return capped; }
  return plain(biased(capped, *how.bias));
}

template <class S>
auto all_masked(const S& s, const queries& q, const keys& k, const between_scores_and_softmax& how) {
  const extents_of_scores of(q, k);
  return masked(s, nearby(of, how) & padding<key>(lengths_or_all(of, how)) & allow(visible_or_all(of, how)));
}

}  // namespace

of_scores<float> scores_at(stage which, const queries& q, const keys& k, const between_scores_and_softmax& how) {
  const auto s = before_masks(which, q, k, how);
  if (which == stage::product || which == stage::capped) { return s; }
  const auto hidden = all_masked(s, q, k, how);
  if (which == stage::masked) { return plain(hidden); }
  const of_scores<float> weights = plain(softmax<key>(hidden));
  if (how.sink) { return weights * left_by_sink(q, k, how); }
  return weights;
}

share_of_scores left_by_sink(const queries& q, const keys& k, const between_scores_and_softmax& how) {
  return sigmoid(logsumexp<key>(all_masked(before_masks(stage::masked, q, k, how), q, k, how)) - *how.sink);
}

}  // namespace conformance
