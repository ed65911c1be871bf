// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/plan/static.hpp -- formulas whose extents the compiler knows: planned by the compiler, one call per
// product.
//
// Layer: eval. Products and attention of tensors, as in `tensor y = …;`. What the other plans compute
// from axes and strides when the program runs is a constant here: nothing is allocated, no axis is looked at.
// Tests: tests/eval/plan/static.test.cpp
#pragma once

#include <dimwise/eval/attention/layout.hpp>
#include <dimwise/eval/attention/numbers.hpp>
#include <dimwise/eval/kernels/product.hpp>
#include <dimwise/eval/strategies.hpp>

#include <array>

namespace dimwise::detail {

// Elements of a buffer between two products, which is on the stack, and problems of one product.
inline constexpr std::size_t most_static_elements = 4096;
inline constexpr std::size_t most_static_problems = 32;

template <class Axes>
struct static_extents;
template <class... A>
struct static_extents<list<A...>> {
  static constexpr bool known = ((A::static_extent != at_run_time) && ...);
  static constexpr std::array<axis, sizeof...(A) + 1> axes{axis{A::static_extent, 0}...};
  static constexpr std::array<axis, sizeof...(A) + 1> contiguous() {
    auto all = axes;
    make_contiguous(all.data(), sizeof...(A));
    return all;
  }
  static constexpr std::size_t size = (A::static_extent * ... * std::size_t{1});
};

// Axes with the extents of `Axes` and the strides of other axes of the same names.
template <class Axes, class From, std::size_t N>
constexpr auto named_axes(const std::array<axis, N>& from) {
  auto all = static_extents<Axes>::axes;
  std::ptrdiff_t strides[max_rank] = {};
  align<Axes, From>(from.data(), strides);
  for (std::size_t i = 0; i < Axes::size; ++i) { all[i].stride = strides[i]; }
  return all;
}

// A node's elements with constant axes: `axes`, and `data(n)`, which is valid as long as this object.
template <class N>
struct static_operand {
  static constexpr bool known = false;
};
template <class T, class... D>
struct static_operand<tensor<T, D...>> {
  using own = axes_for<shape<D...>>;
  static constexpr bool known =
      std::is_same_v<untracked_t<T>, float> && static_extents<own>::known && static_extents<own>::size > 0;
  static constexpr auto axes = static_extents<own>::contiguous();
  static const float* data(context&, const tensor<T, D...>& n) { return untracked_of(n).data(); }
};
// Views of the same elements: other marks, another name, another order.
template <class How>
inline constexpr bool is_static_view = is_any_of<How, views::marks, views::regroup>;
template <class From, class To>
inline constexpr bool is_static_view<views::rename<From, To>> =
    axes_of<From>::type::size == 1 && axes_of<To>::type::size == 1;
template <class Shape, class How, class E>
  requires(static_operand<E>::known && is_static_view<How>)
struct static_operand<restride<Shape, How, E>> : static_operand<E> {
  static constexpr auto axes = std::is_same_v<How, views::regroup>
                                   ? named_axes<axes_for<Shape>, axes_for<shape_of<E>>>(static_operand<E>::axes)
                                   : static_operand<E>::axes;
  const float* data(context& cx, const restride<Shape, How, E>& n) {
    return static_operand<E>::data(cx, n.template child<0>());
  }
};

// The offsets of the pointers of a nest, of the first `Count` of its iterations.
template <std::size_t Count, std::size_t K>
constexpr auto offsets_of(const kernels::loop_nest<K>& nest) {
  std::array<std::array<std::ptrdiff_t, K>, Count> at{};
  std::size_t i = 0;
  kernels::walk_rows(nest, [&](const std::ptrdiff_t(&o)[K], std::size_t many, const std::ptrdiff_t(&s)[K]) {
    for (std::size_t j = 0; j < many && i < Count; ++j, ++i) {
      for (std::size_t x = 0; x < K; ++x) { at[i][x] = o[x] + static_cast<std::ptrdiff_t>(j) * s[x]; }
    }
  });
  return at;
}

// How a node is computed when its result has these constant axes; `known` is false where the other plans take over.
template <class N, auto To>
struct static_plan {
  static constexpr bool known = false;
};

// A buffer on the stack for what a product or an attention gives.
template <class Shape, class Over, class A, class B>
struct static_operand<contraction<Shape, Over, A, B>> {
  using node_type = contraction<Shape, Over, A, B>;
  using order = typename buffer_order<node_type>::type;
  static constexpr auto axes = named_axes<axes_for<Shape>, order>(static_extents<order>::contiguous());
  static constexpr std::size_t size = static_extents<order>::size;
  static constexpr bool known =
      static_extents<order>::known && size > 0 && size <= most_static_elements&& static_plan<node_type, axes>::known;

  const float* data(context& cx, const node_type& n) {
    static_plan<node_type, axes>::run(cx, n, &elements_[0]);
    return &elements_[0];
  }

 private:
  alignas(alignment) float elements_[known ? size : 1];
};

// ---- products ------------------------------------------------------------------------------------------------------

template <class Shape, class Over, class A, class B, auto To>
  requires(static_operand<A>::known && static_operand<B>::known &&
           !attention_match<contraction<Shape, Over, A, B>>::matches)
struct static_plan<contraction<Shape, Over, A, B>, To> {
 private:
  static constexpr const product_form& form = form_of<contraction<Shape, Over, A, B>>;
  static constexpr product_plan plan =
      plan_product(sort_axes(form, static_operand<A>::axes.data(), static_operand<B>::axes.data(), To.data()));
  static constexpr std::size_t count = plan.call.count;

 public:
  static constexpr std::size_t work = plain_work(form, static_operand<A>::axes.data(), To.data());
  static constexpr bool known = work >= least_product && plan.sums.rank == 0 && count <= most_static_problems;

  static void run(context& cx, const contraction<Shape, Over, A, B>& n, float* to) {
    static_operand<A> left;
    static_operand<B> right;
    const float* const a = left.data(cx, n.template child<0>());
    const float* const b = right.data(cx, n.template child<1>());
    // Where the matrices of each problem begin: of the result, a, b.
    static constexpr auto at = offsets_of<count>(plan.problems);
    kernels::product_call::pointers problems[at.size()];
    for (std::size_t i = 0; i < at.size(); ++i) {
      const float* const x = a + at[i][1];
      const float* const y = b + at[i][2];
      problems[i] = {plan.exchanged ? y : x, plan.exchanged ? x : y, to + at[i][0], nullptr};
    }
    kernels::product_call call = plan.call;
    call.problems = &problems[0];
    cx.count(plan_kind::product);
    const kernels::active_kernels& table = kernels::active();
    if (!table.product_small(call)) {
      table.product(call, scratch(table.product_bytes(call, cx.runner().worker_count())).data(), cx.runner());
    }
  }
};

// ---- attention -----------------------------------------------------------------------------------------------------

template <class N, auto To>
struct static_attention {
 private:
  using match = attention_match<N>;
  using roles = typename match::roles;
  using V = typename roles::value_type;
  using Q = typename roles::query_type;
  using K = typename roles::key_type;
  static constexpr chain_counts counts = roles::chain::counts;
  using loops = typename roles::loops;
  static constexpr bool operands_known =
      static_operand<Q>::known && static_operand<K>::known && static_operand<V>::known;
  static constexpr std::size_t count = static_extents<loops>::size;

 public:
  static constexpr bool known =
      operands_known && counts.lengths + counts.documents + counts.allows + counts.biases + counts.slopes == 0 &&
      !counts.capped && count > 0 && count <= most_static_problems;

 private:
  static constexpr auto layout_of_roles() {
    return layout_of<roles, typename match::result>(static_operand<Q>::axes.data(), static_operand<K>::axes.data(),
                                                    static_operand<V>::axes.data(), To.data());
  }
  // Where q, k, v and the result of each head begin.
  static constexpr auto places_of_heads() {
    std::ptrdiff_t strides[4][max_rank] = {};
    align<loops, typename roles::q_axes>(static_operand<Q>::axes.data(), strides[0]);
    align<loops, typename roles::k_axes>(static_operand<K>::axes.data(), strides[1]);
    align<loops, typename roles::v_axes>(static_operand<V>::axes.data(), strides[2]);
    align<loops, typename match::result>(To.data(), strides[3]);
    return offsets_of<count>(nest_over(loops::size, static_extents<loops>::axes.data(), strides));
  }

 public:
  // False, and nothing done, where the kernel would give something else.
  static bool run(context& cx, const N& n, float* to) {
    const auto& softmax = roles::chain::find(match::weights(n));
    const auto& product = score_chain<typename roles::chain::scores>::find(softmax.template child<0>());
    plain_score_pieces pieces;
    pieces.collect(softmax.template child<0>());
    if (!pieces.fit()) { return false; }
    static_operand<Q> queries;
    static_operand<K> keys;
    static_operand<V> held;
    const float* const q = queries.data(cx, roles::query_of(product));
    const float* const k = keys.data(cx, roles::key_of(product));
    const float* const v = held.data(cx, match::values(n));
    static constexpr auto at = places_of_heads();
    kernels::attention_head heads[count];
    for (std::size_t i = 0; i < count; ++i) {
      heads[i].q = q + at[i][0];
      heads[i].k = k + at[i][1];
      heads[i].v = v + at[i][2];
      heads[i].out = to + at[i][3];
    }
    static constexpr kernels::attention_layout layout = layout_of_roles();
    kernels::attention_call call;
    call.layout = layout;
    call.layout.scale = pieces.scale;
    call.layout.window = pieces.window;
    call.heads = &heads[0];
    call.count = count;
    static constexpr attention_size size = size_of_attention<roles>(
        static_extents<loops>::axes.data(), static_operand<Q>::axes.data(), static_operand<V>::axes.data());
    call.group = size.group;
    call.few_queries = size.kind() == plan_kind::decode;
    cx.count(size.kind());
    const kernels::active_kernels& table = kernels::active();
    if (!table.attention_small(call)) {
      table.attention(call, scratch(table.attention_bytes(call, cx.runner().worker_count())).data(), cx.runner());
    }
    return true;
  }
};

template <class Shape, class Over, class A, class B, auto To>
  requires(attention_match<contraction<Shape, Over, A, B>>::matches)
struct static_plan<contraction<Shape, Over, A, B>, To> {
  using node = contraction<Shape, Over, A, B>;
  using attention = static_attention<node, To>;
  static constexpr bool known = attention::known;
  static void run(context& cx, const node& n, float* to) {
    if (attention::run(cx, n, to)) { return; }
    axis axes[max_rank];
    for (std::size_t i = 0; i < To.size(); ++i) { axes[i] = To[i]; }
    evaluation_pass pass{cx};
    write<float>(pass, n, target<float>{to, &axes[0]});
  }
};

// `tensor<float, D…> y = n;`: the result's axes as the node calls them.
template <class Y, class N>
struct static_assignment {
  static constexpr bool known = false;
};
template <class... D, class Shape, class Over, class A, class B>
  requires(static_extents<axes_for<shape<D...>>>::known && static_extents<axes_for<shape<D...>>>::size > 0 &&
           static_extents<axes_for<Shape>>::known)
struct static_assignment<tensor<float, D...>, contraction<Shape, Over, A, B>> {
  static constexpr auto to =
      named_axes<axes_for<Shape>, axes_for<shape<D...>>>(static_extents<axes_for<shape<D...>>>::contiguous());
  using plan = static_plan<contraction<Shape, Over, A, B>, to>;
  static constexpr bool known = plan::known;
};

}  // namespace dimwise::detail
