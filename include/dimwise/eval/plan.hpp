// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/plan.hpp -- plan(expr): how an expression would be evaluated, as a value and in words.
//
// Layer: eval. Asks what compute.hpp asks, in the same order, and computes nothing.
// Tests: tests/eval/plan.test.cpp
//
//   std::cout << plan(contract<key>(softmax<key>(scores<d_k>(q, k)), v)).text();   // attention    heads[8] seq[5] d_v[64]
#pragma once

#include <string>
#include <vector>

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/expr/explain.hpp>

namespace dimwise {

/// One pass over memory: what runs, and what it gives.
struct plan_step {
  plan_kind kind = plan_kind::plain;
  std::string operation;  ///< as it is called in the expression, with what is done in the same pass
  std::string result;     ///< its dimensions and extents
};

/// How an expression is evaluated: its steps in the order in which they run.
class evaluation_plan {
 public:
  [[nodiscard]] const std::vector<plan_step>& steps() const { return steps_; }
  /// How many steps are of one kind.
  [[nodiscard]] std::size_t operator[](plan_kind k) const {
    std::size_t n = 0;
    for (const plan_step& s : steps_) { n += s.kind == k ? 1U : 0U; }
    return n;
  }
  /// One line for each step: kind, operation, result.
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const plan_step& s : steps_) {
      const std::string kind = name_of(s.kind);
      all += kind + std::string(kind.size() < 10 ? 10 - kind.size() : 1, ' ') + s.operation + " -> " + s.result + '\n';
    }
    return all;
  }
  void add(plan_step s) { steps_.push_back(static_cast<plan_step&&>(s)); }

 private:
  std::vector<plan_step> steps_;
};

namespace detail {

template <class N>
std::string operation_of(const N&) {
  if constexpr (requires { typename N::left_type; }) {
    return "contract over " + joined_names(names_in_list<typename N::over>::get());
  } else if constexpr (requires { N::how::name; }) {
    return N::how::name;
  } else if constexpr (requires { N::function::name; }) {
    return N::function::name;
  } else if constexpr (requires { typename N::mask_type; }) {
    return "mask";
  } else if constexpr (requires { typename N::bias_type; }) {
    return "biased";
  } else {
    return "formula";
  }
}

template <class X>
inline constexpr bool is_operand = operand<X>;  // a name that members called `operand` do not hide

// Walks an expression as compute.hpp does.
class planner {
 public:
  explicit planner(evaluation_plan& to) : to_(to) {}

  // `n` as an operand: its axes, and memory of its size where it would have a buffer.
  template <class N>
  lowered<compute_t<float, value_of<N>>> operand(const N& n) {
    using T = compute_t<float, value_of<N>>;
    if constexpr (is_leaf<N>) {
      return lower_leaf<T>(n);
    } else if constexpr (only_looks<N>) {
      auto x = operand(n.inner());
      if constexpr (requires { n.look(); }) { take_step(x, n.inner(), n.extents(), n.look(), result_axes<axes_for<shape_of<N>>>{}); }
      return x;
    } else {
      auto buffer = buffer_for<T>(n);
      visit(n, target_of(buffer, n));
      return buffer;
    }
  }

  // `n` computed into a place with these axes.
  template <class N, class T>
  void visit(const N& n, [[maybe_unused]] target<T> to) {
    if constexpr (only_looks<N>) {
      (void)operand(n);
      add(plan_kind::look, "copy", n);
    } else if constexpr (!has_kernels<compute_t<float, value_of<N>>>) {
      others(n, to);
    } else {
#if !defined(DIMWISE_PLAIN_ONLY)
      with_kernels(n, to);
#endif
    }
  }

 private:
  template <class N>
  void add(plan_kind k, std::string operation, const N& n) {
    to_.add({k, static_cast<std::string&&>(operation), describe(n)});
  }

  // Whatever no kernel covers: its operands, then the loops.
  template <class N, class T>
  void others(const N& n, target<T> to) {
    reads(n, to);
    if constexpr (!is_constant<N>) { add(plan_kind::plain, operation_of(n), n); }
  }
  // The operands that the plain loops of a node read.
  template <class N, class T>
  void reads(const N& n, const target<T>&) {
    if constexpr (requires { n.left(); }) {
      (void)operand(n.left());
      (void)operand(n.right());
    } else if constexpr (requires { n.table(); }) {
      (void)operand(n.table());
      (void)operand(n.ids());
    } else if constexpr (requires { n.inner(); }) {
      (void)operand(n.inner());
    } else if constexpr (requires { typename N::operands; }) {
      each_operand(n, std::make_index_sequence<N::operands::size>{});
    }
    if constexpr (requires { n.mask(); }) { mask(n.mask()); }
    if constexpr (requires { n.bias(); }) { bias(n.bias()); }
    if constexpr (requires { n.scale(); }) { scale(n.scale()); }
    if constexpr (requires { n.angles(); }) { angles(n.angles()); }
  }
  template <class N, std::size_t... I>
  void each_operand(const N& n, std::index_sequence<I...>) {
    ((void)operand(n.template get<I>()), ...);
  }
  // What is reduced under a mask is not masked first.
  template <class Shape, class U, class How, class Over, class Inner, class E, class M, class T>
  void reads(const reduction<Shape, U, How, Over, masked_node<Inner, E, M>>& n, const target<T>&) {
    (void)operand(n.inner().inner());
    mask(n.inner().mask());
  }
  // Parts are computed where they belong.
  auto in_place() {
    return [this](const auto& part, const auto& place) {
      if constexpr (only_looks<std::remove_cvref_t<decltype(part)>>) {
        (void)operand(part);
      } else {
        visit(part, place);
      }
    };
  }
  template <class Shape, class Whole, class Parts, class... X, class T>
  void reads(const joined<Shape, Whole, Parts, X...>& n, const target<T>& to) {
    each_joined(n, to, in_place(), std::index_sequence_for<X...>{});
  }
  template <class Shape, class D, class... X, class T>
  void reads(const stacked<Shape, D, X...>& n, const target<T>& to) {
    each_stacked(n, to, in_place(), std::index_sequence_for<X...>{});
  }
  template <class M>
  void mask(const M& m) {
    if constexpr (is_pair<M>) {
      mask(m.left());
      mask(m.right());
    } else if constexpr (is_padding<M>) {
      (void)operand(m.lengths());
    } else if constexpr (requires { m.elements(); }) {
      (void)operand(m.elements());
    } else if constexpr (requires { m.inner(); }) {
      mask(m.inner());
    }
  }
  template <class B>
  void bias(const B& b) {
    if constexpr (is_operand<B>) {
      (void)operand(b);
    } else if constexpr (requires { b.table(); }) {
      (void)operand(b.table());
    }
  }
  template <class S>
  void scale(const S& s) {
    if constexpr (is_operand<S>) { (void)operand(s); }
  }
  template <class A>
  void angles(const A& a) {
    if constexpr (requires { a.positions; }) { (void)operand(a.positions); }
    if constexpr (requires { a.cosines; }) {
      (void)operand(a.cosines);
      (void)operand(a.sines);
    }
  }

#if !defined(DIMWISE_PLAIN_ONLY)
  template <class N, class T>
  void with_kernels(const N& n, target<T> to) {
    others(n, to);
  }

  template <class Shape, class Over, class A, class B>
  void with_kernels(const contraction<Shape, Over, A, B>& n, target<float> to) {
    using N = contraction<Shape, Over, A, B>;
    using result = axes_of_list_t<typename product_facts<Over, list<>, shape_of<A>, shape_of<B>>::result>;
    if constexpr (attends_left<N>) {
      attention<Over, result>(n, n.left(), n.right());
    } else if constexpr (attends_right<N>) {
      attention<Over, result>(n, n.right(), n.left());
    } else if constexpr (!gives_hidden_weights<A> && !gives_hidden_weights<B>) {
      (void)operand(n.left());
      (void)operand(n.right());
      add(worth_a_kernel(n) ? plan_kind::product : plan_kind::plain, operation_of(n), n);
    } else {
      others(n, to);
    }
  }

  template <class Over, class Result, class N, class W, class V>
  void attention(const N& n, const W& weights, const V& values) {
    using roles = attention_roles<Over, Result, W, V>;
    const auto& scores = roles::chain::find(weights).inner();
    changes(scores);
    const auto& product = score_chain<typename roles::chain::scores>::find(scores);
    const auto q = operand(roles::query_of(product));
    attended<typename roles::key>(roles::key_of(product));
    attended<typename roles::key>(values);
    axis extents[max_rank];
    axis_extents<typename roles::loops>::write(n.extents(), extents);
    std::size_t heads = 1;
    std::size_t group = 1;
    for (std::size_t i = 0; i < roles::loops::size; ++i) { (i < roles::shared_heads::size ? heads : group) *= extents[i].extent; }
    const std::size_t queries = axis_of<typename roles::row, typename roles::q_axes>(q.axes).extent;
    add(few_queries(queries, group) ? plan_kind::decode : plan_kind::attention, "softmax of scores, contracted with values", n);
  }
  // Keys or values: what is stored in fewer bits is read as it lies, where the kernel can.
  template <class Key, class N>
  void attended(const N& n) {
    (void)operand(n);
  }
  template <class Key, class Shape, class X, class Scale, class Packed>
  void attended(const widened_node<Shape, X, Scale, Packed>& n) {
    const auto stored = operand(n.inner());
    if (attended_rows<widened_node<Shape, X, Scale, Packed>, Key>::reads_stored(stored.axes)) {
      scale(n.scale());
    } else {
      (void)operand(n);
    }
  }
  // Biases and masks of elements are computed before the kernel takes them.
  template <class S>
  void changes(const S& n) {
    if constexpr (requires { typename S::left_type; }) {
      return;
    } else if constexpr (requires { n.inner(); }) {
      changes(n.inner());
    } else if constexpr (requires { n.template get<0>(); }) {
      changes(n.template get<0>());
    }
    if constexpr (requires { n.mask(); }) { mask(n.mask()); }
    if constexpr (requires { n.bias(); }) { bias(n.bias()); }
  }

  template <class Shape, class How, class Over, class E>
  void with_kernels(const rowwise<Shape, How, Over, E>& n, target<float> to) {
    const auto x = operand(n.inner());
    const row_loops<axes_for<Shape>, axes_for<shape_of<E>>, axes_of_list_t<Over>> loops(to.axes, x.axes);
    const bool fast = has_row_kernel<How> && rows_are_contiguous(loops);
    add(fast ? plan_kind::rows : plan_kind::plain, How::name, n);
  }

  template <class Shape, class F, class... X>
  void with_kernels(const elementwise<Shape, float, F, X...>& n, target<float> to) {
    using N = elementwise<Shape, float, F, X...>;
    if constexpr (norm_chain<N>::matches) {
      return norm(n, to);
    } else if constexpr (product_chain<N>::matches) {
      const auto& product = product_chain<N>::find(n);
      if (worth_a_kernel(product)) {
        (void)operand(product.left());
        (void)operand(product.right());
        added pieces{*this};
        product_chain<N>::collect(n, pieces);
        return add(plan_kind::product, operation_of(product) + pieces.in_words(), n);
      }
    }
    constexpr bool mapped = sizeof...(X) == 1 && function_code<F> != kernels::function::none;
    constexpr bool zipped = sizeof...(X) == 2 && has_operation<F> && !(is_masked<X> || ...);
    if constexpr (mapped || zipped) {
      elements(n, to, std::index_sequence_for<X...>{});
    } else {
      others(n, to);
    }
  }
  template <class Shape, class F, class... X, std::size_t... I>
  void elements(const elementwise<Shape, float, F, X...>& n, target<float> to, std::index_sequence<I...>) {
    const std::tuple x(operand(n.template get<I>())...);
    kernels::loop_nest<1 + sizeof...(X)> nest;
    const bool fast = plan_elements<Shape, X...>(n.extents(), to, nest, std::get<I>(x)...);
    add(fast ? plan_kind::map : plan_kind::plain, F::name, n);
  }
  // What a product's chain adds, in the place of `chain_pieces`.
  struct added {
    planner& plan;
    bool bias = false;
    bool residual = false;
    kernels::function activation = kernels::function::none;
    template <bool IsResidual, class X>
    void add(const X& x) {
      (void)plan.operand(x);
      (IsResidual ? residual : bias) = true;
    }
    [[nodiscard]] std::string in_words() const {
      return std::string(bias ? ", plus a bias" : "") + (activation == kernels::function::none ? "" : ", through a function") + (residual ? ", plus a residual" : "");
    }
  };
  template <class N>
  void norm(const N& n, target<float> to) {
    using chain = norm_chain<N>;
    using rows = typename chain::norm;
    const auto x = operand(chain::find(n).inner());
    const auto gamma = operand(chain::gamma(n));
    bool contiguous = gamma.axes[0].stride == 1;
    if constexpr (chain::shifted) { contiguous = operand(chain::beta(n)).axes[0].stride == 1 && contiguous; }
    const row_loops<axes_for<shape_of<N>>, axes_for<shape_of<typename rows::inner_type>>, axes_of_list_t<typename rows::over>> loops(to.axes, x.axes);
    const bool fast = contiguous && rows_are_contiguous(loops);
    add(fast ? plan_kind::rows : plan_kind::plain, std::string(rows::how::name) + (chain::shifted ? ", times gamma, plus beta" : ", times gamma"), n);
  }
#endif

  evaluation_plan& to_;
};

}  // namespace detail

/// How `evaluate(value)` would compute a float32 expression, step by step; nothing is computed.
///
/// `plans_run()` counts what has run instead.
template <expression E>
  requires std::is_same_v<detail::value_of<E>, float>
[[nodiscard]] evaluation_plan plan(const E& value) {
  using axes = detail::axes_for<detail::shape_of<E>>;
  evaluation_plan result;
  float nowhere = 0;
  detail::axis to[detail::max_rank];
  detail::axis_extents<axes>::write(value.extents(), to);
  detail::make_contiguous(to, axes::size);
  detail::planner(result).visit(value, detail::target<float>{&nowhere, to});
  return result;
}

}  // namespace dimwise
