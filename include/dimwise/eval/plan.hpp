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
std::string operation_in_words() {
  if constexpr (operation_of<N>::name == std::string_view("contract")) {
    return "contract over " + joined_names(names_in_list<typename operation_of<N>::over>::get());
  } else if constexpr (requires { operation_of<N>::name; }) {
    return operation_of<N>::name;
  } else {
    return "map";
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
      n.each_child([this](const auto& x) { this->template read<C>(x); });
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
    if constexpr (!is_constant<N>) { add(plan_kind::plain, operation_in_words<N>(), n); }
  }
  template <class C, class Shape, class How, class Over, class E>
  void others(const rowwise<Shape, How, Over, E>& n, const axis* to) {
    const operand_layout x = operand<C>(n.template child<0>());
    const row_loops<axes_for<Shape>, axes_for<shape_of<E>>, axes_of_list_t<Over>> loops(to, x.axes);
    if (!loops.inside.empty()) {
      add(rows_have_kernel<C, How>(loops) ? plan_kind::rows : plan_kind::plain, How::name, n);
    }
  }
  // The operands that the plain loops of a node read.
  template <class C, class N>
  void reads(const N& n, const axis*) {
    n.each_child([this](const auto& x) { this->template read<C>(x); });
  }
  // An operand is computed in C; what a mask is made of in its own type.
  template <class C, class X>
  void read(const X& x) {
    if constexpr (is_operand<X>) {
      (void)operand<C>(x);
    } else {
      x.each_child([this](const auto& e) {
        using E = std::remove_cvref_t<decltype(e)>;
        if constexpr (dimwise::mask<X> && is_operand<E>) {
          this->template read<working_t<E>>(e);
        } else {
          this->template read<C>(e);
        }
      });
    }
  }
  // What is reduced under a mask is not masked first.
  template <class C, class Shape, class U, class How, class Over, class Inner, class E, class M>
  void reads(const reduction<Shape, U, How, Over, masked_node<Inner, E, M>>& n, const axis*) {
    reads<C>(n.template child<0>(), nullptr);
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
      attention<Over, result>(n, n.template child<0>(), n.template child<1>());
    } else if constexpr (attends_right<N>) {
      attention<Over, result>(n, n.template child<1>(), n.template child<0>());
    } else if (worth_a_kernel(n)) {
      reads<float>(n, to);
      add(plan_kind::product, operation_in_words<N>(), n);
    } else {
      others<float>(n, to);
    }
  }

  template <class Over, class Result, class N, class W, class V>
  void attention(const N& n, const W& weights, const V& values) {
    using roles = attention_roles<Over, Result, W, V>;
    const auto& scores = roles::chain::find(weights).template child<0>();
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
  template <class Key, class Shape, class Packed, class X, class... Scale>
  void attended(const widened_node<Shape, Packed, X, Scale...>& n) {
    const operand_layout stored = operand<float>(n.template child<0>());
    if (!attended_rows<widened_node<Shape, Packed, X, Scale...>, Key>::reads_stored(stored.axes)) {
      (void)operand<float>(n);
    } else if constexpr (sizeof...(Scale) == 1) {
      read<float>(n.template child<1>());
    }
  }
  // Biases and masks of elements are computed before the kernel takes them.
  template <class S>
  void changes(const S& n) {
    if constexpr (!is_product<S>) {
      changes(n.template child<scores_place<S>>());
      if constexpr (children_t<S>::size == 2) { read<float>(n.template child<1 - scores_place<S>>()); }
    }
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
        return add(plan_kind::product, operation_in_words<std::remove_cvref_t<decltype(product)>>() + pieces.in_words(),
                   n);
      }
    }
    if constexpr (is_number_power<N>) {
      if (is_square(n)) {
        const operand_layout x = operand<float>(n.template child<0>());
        kernels::loop_nest<2> nest;
        using base = child_t<N>;
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
    const operand_layout x[] = {operand<float>(n.template child<I>())...};
    kernels::loop_nest<1 + sizeof...(X)> nest;
    add(elements_fit<Shape, X...>(n.extents(), to, nest, x[I]...) ? plan_kind::map : plan_kind::plain, F::name, n);
  }
  template <class Shape, class E, class M>
  void with_kernels(const masked_node<Shape, E, M>& n, const axis* to) {
    const operand_layout x = operand<float>(n.template child<0>());
    read<float>(n.template child<1>());
    kernels::loop_nest<3> nest;
    add(mask_fits(n, to, nest, x, mask_layout(n.template child<1>(), n.extents())) ? plan_kind::map : plan_kind::plain,
        "mask", n);
  }
  template <class Shape, class E, class B>
  void with_kernels(const biased_node<Shape, E, B>& n, const axis* to) {
    const operand_layout b = operand<float>(n.template child<1>());
    biased<Shape, E, axes_for<shape_of<B>>>(n, to, b);
  }
  template <class Shape, class E, class B>
  void with_kernels(const position_biased_node<Shape, E, B>& n, const axis* to) {
    read<float>(n.template child<1>());
    operand_layout b;
    axis_extents<bias_axes<B>>::write(n.extents(), b.axes);
    make_contiguous(b.axes, bias_axes<B>::size);
    biased<Shape, E, bias_axes<B>>(n, to, b);
  }
  template <class Shape, class E, class BiasAxes, class N>
  void biased(const N& n, const axis* to, const operand_layout& b) {
    const operand_layout x = operand<float>(n.template child<0>());
    kernels::loop_nest<3> nest;
    add(bias_fits<Shape, E, BiasAxes>(n.extents(), to, nest, x, b) ? plan_kind::map : plan_kind::plain,
        operation_in_words<N>(), n);
  }
  template <class Shape, class T, class How, class Over, class E>
  void with_kernels(const reduction<Shape, T, How, Over, E>& n, const axis* to) {
    if constexpr (is_fold<reduction<Shape, T, How, Over, E>>) {
      const operand_layout x = operand<float>(n.template child<0>());
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
    const operand_layout x = operand<float>(chain::find(n).template child<0>());
    const operand_layout gamma = operand<float>(chain::gamma(n));
    operand_layout beta;
    if constexpr (chain::shifted) { beta = operand<float>(chain::beta(n)); }
    const row_loops<axes_for<shape_of<N>>, axes_for<shape_of<child_t<rows>>>, axes_of_list_t<typename chain::over>>
        loops(to, x.axes);
    if (loops.inside.empty()) { return; }
    const bool fast = norm_fits(loops, gamma, chain::shifted ? &beta : nullptr);
    add(fast ? plan_kind::rows : plan_kind::plain,
        std::string(chain::how::name) + (chain::shifted ? ", times gamma, plus beta" : ", times gamma"), n);
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
