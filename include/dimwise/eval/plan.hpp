// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/plan.hpp -- plan(expr): how an expression would be evaluated, as a value and in words.
//
// Layer: eval. Follows compute.hpp with layouts in the place of memory (eval/layout.hpp).
// Tests: tests/eval/plan.test.cpp
//
//   std::cout << plan(contract<key>(softmax<key>(scores<d_k>(q, k)), v)).text();   // attention    heads[8] seq[5] d_v[64]
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/eval/layout.hpp>
#include <dimwise/expr/explain.hpp>

#include <string>
#include <vector>

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
  } else if constexpr (is_concat<N>) {
    return "concat";
  } else if constexpr (is_stack<N>) {
    return "stack";
  } else if constexpr (holds_table<N>) {
    return "gather";
  } else {
    return class_in_words<N>();
  }
}

template <class X>
inline constexpr bool is_operand = operand<X>;  // a name that members called `operand` do not hide

// Walks an expression as compute.hpp does, with layouts instead of memory: every decision is the evaluator's own function.
class planner {
 public:
  explicit planner(evaluation_plan& to) : to_(to) {}

  // `n` as an operand that is computed in C.
  template <class C, class N>
  operand_layout operand(const N& n) {
    if constexpr (is_leaf<N>) {
      return layout_in<C>(n);
    } else if constexpr (only_looks<N>) {
      if constexpr (requires { n.mask(); }) {
        mask(n.mask());
      } else {
        (void)operand<C>(n.inner());
      }
      return layout_in<C>(n);
    } else {
      const operand_layout buffer = buffer_layout(n);
      visit<C>(n, buffer.axes);
      return buffer;
    }
  }

  // `n` computed into a place with these axes.
  template <class C, class N>
  void visit(const N& n, [[maybe_unused]] const axis* to) {
    if constexpr (only_looks<N>) {
      (void)operand<C>(n);
      add(plan_kind::look, "copy", n);
    } else {
#if !defined(DIMWISE_PLAIN_ONLY)
      if constexpr (has_kernels<compute_t<C, value_of<N>>> || (has_kernels<C> && element_kernel<N>::known)) {
        if (!plainly) { return with_kernels(n, to); }
      }
#endif
      others<C>(n, to);
    }
  }

 private:
  template <class N>
  void add(plan_kind k, std::string operation, const N& n) {
    to_.add({k, static_cast<std::string&&>(operation), describe(n)});
  }

  // Whatever no kernel covers: its operands, then the loops.
  template <class C, class N>
  void others(const N& n, const axis* to) {
    reads<C>(n, to);
    if constexpr (!is_constant<N>) { add(plan_kind::plain, operation_of(n), n); }
  }
  template <class C, class Shape, class How, class Over, class E>
  void others(const rowwise<Shape, How, Over, E>& n, const axis* to) {
    const operand_layout x = operand<C>(n.inner());
    const row_loops<axes_for<Shape>, axes_for<shape_of<E>>, axes_of_list_t<Over>> loops(to, x.axes);
    if (!loops.inside.empty()) {
      add(rows_have_kernel<C, How>(loops) ? plan_kind::rows : plan_kind::plain, How::name, n);
    }
  }
  // The operands that the plain loops of a node read.
  template <class C, class N>
  void reads(const N& n, const axis*) {
    if constexpr (requires { n.left(); }) {
      (void)operand<C>(n.left());
      (void)operand<C>(n.right());
    } else if constexpr (requires { n.table(); }) {
      (void)operand<C>(n.table());
      (void)operand<C>(n.ids());
    } else if constexpr (requires { n.inner(); }) {
      (void)operand<C>(n.inner());
    } else if constexpr (requires { typename N::operands; }) {
      each_operand<C>(n, std::make_index_sequence<N::operands::size>{});
    }
    if constexpr (requires { n.mask(); }) { mask(n.mask()); }
    if constexpr (requires { n.bias(); }) { bias<C>(n.bias()); }
    if constexpr (requires { n.scale(); }) { scale<C>(n.scale()); }
    if constexpr (requires { n.angles(); }) { angles<C>(n.angles()); }
  }
  template <class C, class N, std::size_t... I>
  void each_operand(const N& n, std::index_sequence<I...>) {
    ((void)operand<C>(n.template get<I>()), ...);
  }
  // What is reduced under a mask is not masked first.
  template <class C, class Shape, class U, class How, class Over, class Inner, class E, class M>
  void reads(const reduction<Shape, U, How, Over, masked_node<Inner, E, M>>& n, const axis*) {
    (void)operand<C>(n.inner().inner());
    mask(n.inner().mask());
  }
  // Parts are computed where they belong.
  template <class C>
  auto in_place() {
    return [this](const auto& part, std::ptrdiff_t, const axis* axes) {
      if constexpr (only_looks<std::remove_cvref_t<decltype(part)>>) {
        (void)this->template operand<C>(part);
      } else {
        this->template visit<C>(part, axes);
      }
    };
  }
  template <class C, class Shape, class Whole, class Parts, class... X>
  void reads(const joined<Shape, Whole, Parts, X...>& n, const axis* to) {
    each_joined(n, to, in_place<C>(), std::index_sequence_for<X...>{});
  }
  template <class C, class Shape, class D, class... X>
  void reads(const stacked<Shape, D, X...>& n, const axis* to) {
    each_stacked(n, to, in_place<C>(), std::index_sequence_for<X...>{});
  }
  template <class M>
  void mask(const M& m) {
    if constexpr (is_pair<M>) {
      mask(m.left());
      mask(m.right());
    } else if constexpr (is_padding<M>) {
      own(m.lengths());
    } else if constexpr (requires { m.elements(); }) {
      own(m.elements());
    } else if constexpr (requires { m.inner(); }) {
      mask(m.inner());
    }
  }
  // What is computed in its own type, whatever reads it.
  template <class N>
  void own(const N& n) {
    (void)operand<working_t<N>>(n);
  }
  template <class C, class B>
  void bias(const B& b) {
    if constexpr (is_operand<B>) {
      (void)operand<C>(b);
    } else if constexpr (requires { b.table(); }) {
      (void)operand<C>(b.table());
    }
  }
  template <class C, class S>
  void scale(const S& s) {
    if constexpr (is_operand<S>) { (void)operand<C>(s); }
  }
  template <class C, class A>
  void angles(const A& a) {
    if constexpr (requires { a.positions; }) { (void)operand<C>(a.positions); }
    if constexpr (requires { a.cosines; }) {
      (void)operand<C>(a.cosines);
      (void)operand<C>(a.sines);
    }
  }

#if !defined(DIMWISE_PLAIN_ONLY)
  template <class N>
  void with_kernels(const N& n, const axis* to) {
    others<float>(n, to);
  }

  template <class Shape, class Over, class A, class B>
  void with_kernels(const contraction<Shape, Over, A, B>& n, const axis* to) {
    using N = contraction<Shape, Over, A, B>;
    using result = axes_of_list_t<typename product_facts<Over, list<>, shape_of<A>, shape_of<B>>::result>;
    if constexpr (attends_left<N>) {
      attention<Over, result>(n, n.left(), n.right());
    } else if constexpr (attends_right<N>) {
      attention<Over, result>(n, n.right(), n.left());
    } else if (worth_a_kernel(n)) {
      reads<float>(n, to);
      add(plan_kind::product, operation_of(n), n);
    } else {
      others<float>(n, to);
    }
  }

  template <class Over, class Result, class N, class W, class V>
  void attention(const N& n, const W& weights, const V& values) {
    using roles = attention_roles<Over, Result, W, V>;
    const auto& scores = roles::chain::find(weights).inner();
    changes(scores);
    const auto& product = score_chain<typename roles::chain::scores>::find(scores);
    const operand_layout q = operand<float>(roles::query_of(product));
    attended<typename roles::key>(roles::key_of(product));
    attended<typename roles::key>(values);
    axis loops[max_rank];
    axis_extents<typename roles::loops>::write(n.extents(), loops);
    axis held[max_rank];
    axis_extents<typename roles::v_axes>::write(values.extents(), held);
    const attention_size size = size_of_attention<roles>(loops, q.axes, held);
    if (!size.empty()) { add(size.kind(), "softmax of scores, contracted with values", n); }
  }
  // Keys or values: what is stored in fewer bits is read as it lies, where the kernel can.
  template <class Key, class N>
  void attended(const N& n) {
    (void)operand<float>(n);
  }
  template <class Key, class Shape, class X, class Scale, class Packed>
  void attended(const widened_node<Shape, X, Scale, Packed>& n) {
    const operand_layout stored = operand<float>(n.inner());
    if (attended_rows<widened_node<Shape, X, Scale, Packed>, Key>::reads_stored(stored.axes)) {
      scale<float>(n.scale());
    } else {
      (void)operand<float>(n);
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
      constexpr std::size_t at = scores_place<S>;
      changes(n.template get<at>());
      if constexpr (S::operands::size == 2) { (void)operand<float>(n.template get<1 - at>()); }
    }
    if constexpr (requires { n.mask(); }) { mask(n.mask()); }
    if constexpr (requires { n.bias(); }) { bias<float>(n.bias()); }
  }

  template <class Shape, class T, class F, class... X>
  void with_kernels(const elementwise<Shape, T, F, X...>& n, const axis* to) {
    using N = elementwise<Shape, T, F, X...>;
    if constexpr (norm_chain<N>::matches) {
      return norm(n, to);
    } else if constexpr (product_chain<N>::matches) {
      const auto& product = product_chain<N>::find(n);
      if (worth_a_kernel(product)) {
        reads<float>(product, to);
        added pieces{*this};
        product_chain<N>::collect(n, pieces);
        return add(plan_kind::product, operation_of(product) + pieces.in_words(), n);
      }
    }
    if constexpr (is_number_power<N>) {
      if (is_square(n)) {
        const operand_layout x = operand<float>(n.template get<0>());
        kernels::loop_nest<2> nest;
        using base = element_t<0, typename N::operands>;
        return add(elements_fit<Shape, base>(n.extents(), to, nest, x) ? plan_kind::map : plan_kind::plain, F::name, n);
      }
      others<float>(n, to);
    } else if constexpr (is_map<N> || is_zip<N> || element_kernel<N>::known) {
      elements(n, to, std::index_sequence_for<X...>{});
    } else {
      others<float>(n, to);
    }
  }
  template <class Shape, class T, class F, class... X, std::size_t... I>
  void elements(const elementwise<Shape, T, F, X...>& n, const axis* to, std::index_sequence<I...>) {
    const operand_layout x[] = {operand<float>(n.template get<I>())...};
    kernels::loop_nest<1 + sizeof...(X)> nest;
    add(elements_fit<Shape, X...>(n.extents(), to, nest, x[I]...) ? plan_kind::map : plan_kind::plain, F::name, n);
  }
  template <class Shape, class E, class M>
  void with_kernels(const masked_node<Shape, E, M>& n, const axis* to) {
    const operand_layout x = operand<float>(n.inner());
    mask(n.mask());
    kernels::loop_nest<3> nest;
    add(mask_fits(n, to, nest, x, mask_layout(n.mask(), n.extents())) ? plan_kind::map : plan_kind::plain, "mask", n);
  }
  template <class Shape, class E, class B>
  void with_kernels(const biased_node<Shape, E, B>& n, const axis* to) {
    const operand_layout b = operand<float>(n.bias());
    biased<Shape, E, axes_for<shape_of<B>>>(n, to, b);
  }
  template <class Shape, class E, class B>
  void with_kernels(const position_biased_node<Shape, E, B>& n, const axis* to) {
    bias<float>(n.bias());
    operand_layout b;
    axis_extents<bias_axes<B>>::write(n.extents(), b.axes);
    make_contiguous(b.axes, bias_axes<B>::size);
    biased<Shape, E, bias_axes<B>>(n, to, b);
  }
  template <class Shape, class E, class BiasAxes, class N>
  void biased(const N& n, const axis* to, const operand_layout& b) {
    const operand_layout x = operand<float>(n.inner());
    kernels::loop_nest<3> nest;
    add(bias_fits<Shape, E, BiasAxes>(n.extents(), to, nest, x, b) ? plan_kind::map : plan_kind::plain, operation_of(n),
        n);
  }
  template <class Shape, class T, class How, class Over, class E>
  void with_kernels(const reduction<Shape, T, How, Over, E>& n, const axis* to) {
    if constexpr (is_fold<reduction<Shape, T, How, Over, E>>) {
      const operand_layout x = operand<float>(n.inner());
      const row_loops<axes_for<Shape>, axes_for<shape_of<E>>, axes_of_list_t<Over>> loops(to, x.axes);
      add(fold_fits(loops) ? plan_kind::rows : plan_kind::plain, How::name, n);
    } else {
      others<float>(n, to);
    }
  }
  // What a product's chain adds, in the place of `chain_pieces`.
  struct added {
    planner& plan;
    bool bias = false;
    bool residual = false;
    kernels::function activation = kernels::function::none;
    template <bool IsResidual, class X>
    void add(const X& x) {
      (void)plan.operand<float>(x);
      (IsResidual ? residual : bias) = true;
    }
    [[nodiscard]] std::string in_words() const {
      return std::string(bias ? ", plus a bias" : "") +
             (activation == kernels::function::none ? "" : ", through a function") +
             (residual ? ", plus a residual" : "");
    }
  };
  template <class N>
  void norm(const N& n, const axis* to) {
    using chain = norm_chain<N>;
    using rows = typename chain::norm;
    const operand_layout x = operand<float>(chain::find(n).inner());
    const operand_layout gamma = operand<float>(chain::gamma(n));
    operand_layout beta;
    if constexpr (chain::shifted) { beta = operand<float>(chain::beta(n)); }
    const row_loops<axes_for<shape_of<N>>, axes_for<shape_of<typename rows::inner_type>>,
                    axes_of_list_t<typename rows::over>>
        loops(to, x.axes);
    if (loops.inside.empty()) { return; }
    const bool fast = norm_fits(loops, gamma, chain::shifted ? &beta : nullptr);
    add(fast ? plan_kind::rows : plan_kind::plain,
        std::string(rows::how::name) + (chain::shifted ? ", times gamma, plus beta" : ", times gamma"), n);
  }
#endif

  evaluation_plan& to_;
};

}  // namespace detail

namespace no_adl {

/// How `evaluate(value)` would compute a float32 expression, step by step; no element is read or written, and no memory of their
/// number is used.
///
/// `plans_run()` counts what has run instead.
template <expression E>
  requires std::is_same_v<detail::value_of<E>, float>
[[nodiscard]] evaluation_plan plan(const E& value) {
  using axes = detail::axes_for<detail::shape_of<E>>;
  evaluation_plan result;
  detail::axis to[detail::max_rank];
  detail::axis_extents<axes>::write(value.extents(), to);
  detail::make_contiguous(to, axes::size);
  detail::planner(result).visit<float>(value, to);
  return result;
}

}  // namespace no_adl

}  // namespace dimwise
