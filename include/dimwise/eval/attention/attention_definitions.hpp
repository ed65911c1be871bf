// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/attention_definitions.hpp -- the heads of an attention, one after the other.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/eval/plan/plan.test.cpp, tests/eval/attention/attention.test.cpp
#pragma once

#include <dimwise/eval/attention/attention.hpp>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY void attend_heads(attention_chain& pieces, const attention_size& size, const attention_heads& of,
                                         kernels::attention_call& call, const attention_run& run) {
  auto& layout = call.layout;
  aligned_vector<kernels::attention_head> heads;
  aligned_vector<float> slopes;
  heads.resize(size.heads);
  if (!pieces.slopes.empty()) { slopes.resize(size.heads); }
  call.heads = heads.data();
  call.count = size.heads;
  call.group = size.group;
  each_document(pieces.query_documents, pieces.key_documents, {0, layout.queries, 0, layout.keys},
                [&](const attended_part& part) {
    const auto i0 = static_cast<std::ptrdiff_t>(part.first_query);
    const auto j0 = static_cast<std::ptrdiff_t>(part.first_key);
    layout.queries = part.queries;
    layout.keys = part.keys;
    layout.window.offset = pieces.window.offset + i0 - j0;
    call.few_queries = few_queries(layout.queries, call.group);
    std::size_t at = 0;
    kernels::for_each_row(nest_over(of.rank, of.extents, of.strides),
                          [&](const std::ptrdiff_t(&o)[attention_heads::roles], std::size_t many,
                              const std::ptrdiff_t(&s)[attention_heads::roles]) {
      for (std::size_t i = 0; i < many; ++i, ++at) {
        const auto j = static_cast<std::ptrdiff_t>(i);
        kernels::attention_head& h = heads[at];
        h = kernels::attention_head{};
        h.q = of.q + o[0] + j * s[0] + i0 * layout.q_row;
        of.k.point(h.k, h.k_quantised, o[1] + j * s[1] + j0 * layout.k_row, layout.k_row, o[8] + j * s[8]);
        of.v.point(h.v, h.v_quantised, o[2] + j * s[2] + j0 * layout.v_row, layout.v_row, o[9] + j * s[9]);
        h.out = of.to.data + o[3] + j * s[3] + i0 * layout.out_row;
        if (of.sums != nullptr) { h.lse = of.sums->data + o[10] + j * s[10] + i0 * layout.lse_query; }
        if (pieces.has_bias) {
          h.bias = pieces.bias.data + o[4] + j * s[4] + i0 * layout.bias_query + j0 * layout.bias_key;
        }
        if (pieces.allow.data != nullptr) {
          h.allow = pieces.allow.data + o[5] + j * s[5] + i0 * layout.allow_query + j0 * layout.allow_key;
        }
        if (!pieces.lengths.empty()) {
          const auto length = static_cast<std::size_t>(pieces.lengths[static_cast<std::size_t>(o[6] + j * s[6])]);
          h.visible_keys = length < part.first_key ? 0 : length - part.first_key;
        }
        if (!slopes.empty()) { slopes[at] = pieces.slopes[static_cast<std::size_t>(o[7] + j * s[7])]; }
      }
    });
    call.score.soft_cap = pieces.cap;
    call.score.slopes = slopes.empty() ? nullptr : slopes.data();
    call.score.distance = pieces.distance + j0 - i0;
    pieces.function.describe(call.score);
    run.run(run.self, call, part);
  });
}

}  // namespace dimwise::detail
