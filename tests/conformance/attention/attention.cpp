// tests/conformance/attention/attention.cpp -- see attention.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "masks.hpp"

#include <limits>

namespace conformance {

using namespace dimwise;

namespace {

// Each combination of what is optional is an expression of its own type: that is what fused attention is chosen by.
template <class S, class Next>
auto with_masks(const S& s, const extents_of_scores& of, const between_scores_and_softmax& how, Next next) {
  if (how.visible || how.lengths) {
    return next(masked(s, nearby(of, how) & padding<key>(lengths_or_all(of, how)) & allow(visible_or_all(of, how))));
  }
  if (how.left < 0 && how.right == 0) {
    return next(masked(s, causal<seq, key>(starting_at(of.rows, how.first_query), of.columns)));
  }
  if (how.left >= 0 || how.right >= 0) { return next(masked(s, nearby(of, how))); }
  return next(s);
}

}  // namespace

context attend(const queries& q, const keys& k, const values& v, const between_scores_and_softmax& how) {
  const extents_of_scores of(q, k);
  const auto average = [&](const auto& s) -> context { return contract<key>(softmax<key>(s), v); };
  const auto biased_and_masked = [&](const auto& s) {
    if (how.bias) { return with_masks(biased(s, *how.bias), of, how, average); }
    return with_masks(s, of, how, average);
  };
  const auto s = scaled(contract<d_k>(q, k), how.scale);
  const context y = how.cap == 0 ? biased_and_masked(s) : biased_and_masked(tanh(s * (1 / how.cap)) * how.cap);
  if (how.sink) { return y * left_by_sink(q, k, how); }
  return y;
}

void hide(between_scores_and_softmax& how, const of_scores<bool>& visible) {
  how.visible =
      how.visible ? of_scores<bool>(map([](bool a, bool b) { return a && b; }, *how.visible, visible)) : visible;
}

void take_additive(between_scores_and_softmax& how, const of_scores<float>& mask) {
  constexpr float hidden = -std::numeric_limits<float>::infinity();
  how.bias = map([](float x) { return x == hidden ? 0.0F : x; }, mask);
  hide(how, map([](float x) { return x != hidden; }, mask));
}

of_scores<bool> window_from(const tensor<std::int64_t, batch>& first_query, std::ptrdiff_t left, std::ptrdiff_t right,
                            const of_scores<bool>& like) {
  const auto query_at = counted(seq{like.extents().extent<seq>()});
  const auto key_at = counted(key{like.extents().extent<key>()});
  const auto distance =
      broadcast_like(query_at, like) + broadcast_like(first_query, like) - broadcast_like(key_at, like);
  const auto near = [=](std::int64_t d) { return (left < 0 || d <= left) && (right < 0 || -d <= right); };
  return permute<batch, kv_heads, shared_by, seq, key>(map(near, distance));
}

}  // namespace conformance
