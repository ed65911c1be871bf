// tests/conformance/attention.cpp -- see attention.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "attention_chain.hpp"

#include <limits>

namespace conformance {

using namespace dimwise;

tensor<float, batch, kv_heads, shared_by, seq, d_v> attend(const queries& q, const keys& k, const values& v, const between_scores_and_softmax& how) {
  using context = tensor<float, batch, kv_heads, shared_by, seq, d_v>;
  return with_scores(q, k, how, [&](const auto& s) -> context {
    const auto y = contract<key>(softmax<key>(s), v);
    if (how.sink) { return y * left_by_sink(s, how); }
    return y;
  });
}

void hide(between_scores_and_softmax& how, const of_scores<bool>& visible) {
  how.visible = how.visible ? of_scores<bool>(map([](bool a, bool b) { return a && b; }, *how.visible, visible)) : visible;
}

void take_additive(between_scores_and_softmax& how, const of_scores<float>& mask) {
  constexpr float hidden = -std::numeric_limits<float>::infinity();
  how.bias = map([](float x) { return x == hidden ? 0.0F : x; }, mask);
  hide(how, map([](float x) { return x != hidden; }, mask));
}

of_scores<bool> window_from(const tensor<std::int64_t, batch>& first_query, std::ptrdiff_t left, std::ptrdiff_t right, const of_scores<bool>& like) {
  const auto query_at = counted(seq{like.extents().extent<seq>()});
  const auto key_at = counted(key{like.extents().extent<key>()});
  const auto distance = broadcast_like(query_at, like) + broadcast_like(first_query, like) - broadcast_like(key_at, like);
  const auto near = [=](std::int64_t d) { return (left < 0 || d <= left) && (right < 0 || -d <= right); };
  return permute<batch, kv_heads, shared_by, seq, key>(map(near, distance));
}

}  // namespace conformance
