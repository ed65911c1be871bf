// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/attention.hpp -- the strategy of fused attention: softmax of scores contracted with values,
// head by head.
//
// Layer: eval. Gives the kernel the strides of every role, and one entry for every head.
// Tests: tests/eval/plan/plan.test.cpp, tests/eval/attention/attention.test.cpp
#pragma once

#include <dimwise/eval/attention/documents.hpp>
#include <dimwise/eval/attention/kernel.hpp>
#include <dimwise/eval/attention/layout.hpp>
#include <dimwise/eval/attention/pieces.hpp>
#include <dimwise/eval/attention/rows.hpp>
#include <dimwise/support/library.hpp>

namespace dimwise::detail {

// Queries times a scale of their own, in a buffer: far fewer numbers than the scores, and no score costs a
// multiplication more.
template <class Axes>
void scale_queries(lowered<float>& q, kernels::operation f, const lowered<float>& factor,
                   const std::ptrdiff_t* factor_strides) {
  lowered<float> scaled;
  for (std::size_t i = 0; i < Axes::size; ++i) { scaled.axes[i].extent = q.axes[i].extent; }
  scaled.buffer.resize(checked_contiguous<Axes>(scaled.axes, sizeof(float), "scaled"));
  std::ptrdiff_t strides[3][max_rank] = {};
  for (std::size_t i = 0; i < Axes::size; ++i) {
    strides[0][i] = scaled.axes[i].stride;
    strides[1][i] = q.axes[i].stride;
    strides[2][i] = factor_strides[i];
  }
  const kernels::active_kernels& table = kernels::active();
  float* const to = scaled.buffer.data();
  kernels::for_each_row(nest_over(Axes::size, scaled.axes, strides),
                        [&](const std::ptrdiff_t(&o)[3], std::size_t n, const std::ptrdiff_t(&s)[3]) {
    const bool in_one = s[0] == 1 && s[1] == 1 && (s[2] == 0 || s[2] == 1);
    const std::size_t many = in_one ? n : 1;
    for (std::size_t i = 0; i < n; i += many) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      table.zip(f, many, q.data + o[1] + j * s[1], 1, factor.data + o[2] + j * s[2], in_one ? s[2] : 0,
                to + o[0] + j * s[0]);
    }
  });
  q = static_cast<lowered<float>&&>(scaled);
  q.data = q.buffer.data();
}

// What is done with a call, for every document or once.
struct attention_run {
  void (*run)(const void* self, const kernels::attention_call& call, const attended_part& part);
  const void* self;

  template <class Run>
  static attention_run of(const Run& f) {
    return {[](const void* function, const kernels::attention_call& call, const attended_part& part) {
      (*static_cast<const Run*>(function))(call, part);
    }, &f};
  }
};

// Where the heads of an attention are, without names: the loops over them, and how far each role moves.
struct attention_heads {
  static constexpr std::size_t roles = 11;
  std::size_t rank;
  const axis* extents;
  std::ptrdiff_t (&strides)[roles][max_rank];  // q, k, v, result, bias, mask, lengths, slopes, scales of k and v, sums
  const float* q;
  attended_memory k;
  attended_memory v;
  target<float> to;
  const target<float>* sums;
};

// Calls `run` with every head in `call`.
DIMWISE_DETAIL_LIBRARY void attend_heads(attention_chain& pieces, const attention_size& size, const attention_heads& of,
                                         kernels::attention_call& call, const attention_run& run);

// What one attention reads, in the order in which it is computed.
template <class N, class Pass>
struct attention_operands {
  using match = attention_match<N>;
  using roles = typename match::roles;
  using k_rows = attended_rows<typename roles::key_type, typename roles::key>;
  using v_rows = attended_rows<typename roles::value_type, typename roles::key>;

  attention_pieces<roles, Pass>& pieces;
  lowered<float> q;
  k_rows k;
  v_rows v;

  template <class Product>
  attention_operands(attention_pieces<roles, Pass>& of_scores, const N& n, const Product& product,
                     bool kernel_rounds = false)
      : pieces(of_scores),
        q(read_rounded(pieces.pass, roles::query_of(product), kernel_rounds)),
        k(pieces.pass, roles::key_of(product), kernel_rounds),
        v(pieces.pass, match::values(n), kernel_rounds) {}
};

// The size of an attention by its nodes, before anything is read.
template <class Roles, class N, class Product>
attention_size size_before_reading(const axis* loops, const N& n, const Product& product) {
  axis q[max_rank];
  axis v[max_rank];
  axis_extents<typename Roles::q_axes>::write(Roles::query_of(product).extents(), q);
  axis_extents<typename Roles::v_axes>::write(attention_match<N>::values(n).extents(), v);
  return size_of_attention<Roles>(loops, q, v);
}

// The strategy.
template <class N>
struct fused_attention {
  static constexpr bool matches = attention_match<N>::matches;

  // False, and nothing done, where the kernel would give something else. `sums`, where it is given, takes log Σ exp of
  // every row of scores; it has the axes SumAxes.
  template <class SumAxes = list<>, class Pass>
  static bool run(Pass& pass, const N& n, target<float> to, const target<float>* sums = nullptr) {
    using match = attention_match<N>;
    using roles = typename match::roles;
    const auto& softmax = roles::chain::find(match::weights(n));
    const auto& scores = softmax.template child<0>();
    attention_pieces<roles, Pass> pieces(pass);
    pieces.collect(scores);
    if (!pieces.fit()) { return false; }
    const auto& product = score_chain<typename roles::chain::scores>::find(scores);
    axis loops[max_rank];
    axis_extents<typename roles::loops>::write(n.extents(), loops);
    const attention_size size = size_before_reading<roles>(loops, n, product);
    const attention_kernel<roles::in_bfloat16> in(size);
    attention_operands<N, Pass> x(pieces, n, product, in.rounds());
    if (size.empty()) { return true; }
    pass.note(size.kind(), n, [&] { return "softmax of scores, contracted with values" + in.words(); });
    if constexpr (Pass::computes) {
      const auto kernel = [&](const kernels::attention_call& call, const attended_part&) {
        if (call.layout.queries > 0) { in.attend(call, pass.cx.runner()); }
      };
      attend<SumAxes>(x, size, loops, to, sums, attention_run::of(kernel));
    }
    return true;
  }

 protected:
  template <class SumAxes, class Operands>
  static void attend(Operands& x, const attention_size& size, const axis* extents, target<float> to,
                     const target<float>* sums, const attention_run& run) {
    using roles = typename Operands::roles;
    using result = typename attention_match<N>::result;
    using key_axis = list<typename roles::key>;
    if constexpr (roles::chain::counts.factors > 0) {
      scale_queries<typename roles::q_axes>(x.q, x.pieces.by_factor, x.pieces.factor, x.pieces.factor_strides);
    }
    kernels::attention_call call;
    auto& layout = call.layout;
    layout = layout_of<roles, result>(x.q.axes, x.k.axes(), x.v.axes(), to.axes);
    using w_axes = typename roles::w_axes;
    layout.bias_query = stride_along<typename roles::row, w_axes>(x.pieces.bias_strides);
    layout.bias_key = stride_along<key_axis, w_axes>(x.pieces.bias_strides);
    layout.allow_query = stride_along<typename roles::row, w_axes>(x.pieces.allow_strides);
    layout.allow_key = stride_along<key_axis, w_axes>(x.pieces.allow_strides);
    layout.scale = x.pieces.scale;
    layout.window = x.pieces.window;

    using loops = typename roles::loops;
    std::ptrdiff_t strides[attention_heads::roles][max_rank] = {};
    along_loops<loops, typename roles::q_axes>(x.q.axes, strides[0]);
    along_loops<loops, typename roles::k_axes>(x.k.axes(), strides[1]);
    along_loops<loops, typename roles::v_axes>(x.v.axes(), strides[2]);
    along_loops<loops, result>(to.axes, strides[3]);
    along_loops<loops, w_axes>(x.pieces.bias_strides, strides[4]);
    along_loops<loops, w_axes>(x.pieces.allow_strides, strides[5]);
    along_loops<loops, w_axes>(x.pieces.length_strides, strides[6]);
    along_loops<loops, w_axes>(x.pieces.slope_strides, strides[7]);
    along_loops<loops, typename Operands::k_rows::scale_axes>(x.k.scale_at(), strides[8]);
    along_loops<loops, typename Operands::v_rows::scale_axes>(x.v.scale_at(), strides[9]);
    if (sums != nullptr) {
      layout.lse_query = axis_of<typename roles::row, SumAxes>(sums->axes).stride;
      along_loops<loops, SumAxes>(sums->axes, strides[10]);
    }
    attend_heads(x.pieces, size, {loops::size, extents, strides, x.q.data, x.k.memory(), x.v.memory(), to, sums}, call,
                 run);
    x.pieces.function.rethrow();
  }
};

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/attention/attention_definitions.hpp>
#endif
