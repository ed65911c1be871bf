// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/written/expr.hpp -- expr: an expression whose type can be written.
//
// Layer: eval.
// Tests: tests/eval/written/, tests/compile_fail/written/
//
//   expr<float, shape<seq, d_k>> normalised_queries(const tensor<float, seq, d_k>& q);   // compiled in its own file
//   expr h = x;                                                                          // element type and shape of x
//   for (std::size_t i = 0; i < n; ++i) { h = step(h); }
#pragma once

#include <dimwise/eval/plan/plan.hpp>
#include <dimwise/eval/written/erased.hpp>
#include <dimwise/expr/explain/explain.hpp>
#include <dimwise/expr/rearrange/restride.hpp>

namespace dimwise {

namespace detail {

// An operand in the order and with the marks of a shape that it can be assigned to.
template <class Shape, class E>
decltype(auto) in_shape(const E& x) {
  if constexpr (std::is_same_v<shape_of<E>, Shape>) {
    return (x);
  } else if constexpr (std::is_same_v<dims_t<shape_of<E>>, dims_t<Shape>>) {
    return make_with_marks<Shape>(x);
  } else {
    return make_restride<accepted<Shape>>(x, views::regroup{}, "assign");
  }
}

// The formula of an `expr`.
template <class T, class Shape, class E>
class erased_formula final : public erased<T, Shape> {
 public:
  using typename erased<T, Shape>::float_type;
  using typename erased<T, Shape>::double_type;

  explicit erased_formula(const E& formula) : erased<T, Shape>(formula.extents()), formula_(formula) {}

  void list_held(std::vector<erased_use>& to, unsigned depth) const override {
    each_erased(formula_, [&](const auto& x) { to.push_back({&x.formula(), depth}); });
  }
  [[nodiscard]] said explained(derivation& d) const override { return detail::explained(formula_, d); }

  lowered<float_type> read(evaluation_pass& pass, computed_in<float>, bool as_weights) const override {
    return read_in<float>(pass, as_weights);
  }
  lowered<double_type> read(evaluation_pass& pass, computed_in<double>, bool as_weights) const override {
    return read_in<double>(pass, as_weights);
  }
  lowered<float_type> read(planning_pass& pass, computed_in<float>, bool as_weights) const override {
    return read_in<float>(pass, as_weights);
  }
  lowered<double_type> read(planning_pass& pass, computed_in<double>, bool as_weights) const override {
    return read_in<double>(pass, as_weights);
  }
  void write(evaluation_pass& pass, computed_in<float>, target<float_type> to) const override {
    write_in<float>(pass, to);
  }
  void write(evaluation_pass& pass, computed_in<double>, target<double_type> to) const override {
    write_in<double>(pass, to);
  }
  void write(planning_pass& pass, computed_in<float>, target<float_type> to) const override {
    write_in<float>(pass, to);
  }
  void write(planning_pass& pass, computed_in<double>, target<double_type> to) const override {
    write_in<double>(pass, to);
  }

 private:
  // Comparisons and ids are computed in the type of their operands, and numbers in no narrower type than their own.
  template <class C>
  using in = std::common_type_t<C, typename compute_in<T, E>::type>;
  template <class C>
  static constexpr bool narrows = real_element<T> && !std::is_same_v<C, in<C>>;

  template <class C, class Pass>
  lowered<compute_t<C, T>> read_in(Pass& pass, [[maybe_unused]] bool as_weights) const {
    if constexpr (narrows<C>) {
      return narrowed<C, Pass>(read_in<in<C>>(pass, as_weights));
    } else {
      if constexpr (gives_hidden_weights<E> || may_give_hidden_weights<E>) {
        if (as_weights) {
          auto x = detail::read<in<C>, true>(pass, formula_);
          if constexpr (gives_hidden_weights<E>) { x.hides = true; }
          return x;
        }
      }
      return detail::read<in<C>>(pass, formula_);
    }
  }
  template <class C, class Pass>
  void write_in(Pass& pass, target<compute_t<C, T>> to) const {
    if constexpr (narrows<C>) {
      const auto x = read_in<C>(pass, false);
      if constexpr (Pass::computes) { copy_axes<C>(axes_for<Shape>::size, x.axes, to.axes, x.axes, to.data, x.data); }
    } else {
      detail::write<in<C>>(pass, formula_, to);
    }
  }
  // −0 stays −0.
  template <class C, class Pass, class Wide>
  static lowered<C> narrowed(const lowered<Wide>& from) {
    lowered<C> x{from, nullptr, {}, nullptr, from.hides};
    make_contiguous(x.axes, axes_for<Shape>::size);
    x.first = 0;
    allocate<Pass, C, axes_for<Shape>>(x, "evaluate");
    if constexpr (Pass::computes) {
      copy_axes<C>(axes_for<Shape>::size, x.axes, x.axes, from.axes, x.buffer.data(), from.data);
    }
    return x;
  }

  E formula_;
};

// The formula of an `expr` of these elements, made of an expression; grad/expr.hpp has that of tracked ones.
template <class T, class Shape>
struct formula_of_elements {
  using type = erased<T, Shape>;
  template <class E>
  static const type* made_of(const E& value) {
    return new erased_formula<T, Shape, E>(value);
  }
};

template <class Shape>
inline constexpr bool is_shape = false;
template <class... D>
inline constexpr bool is_shape<shape<D...>> = true;
template <class Shape>
using no_shape_error = ERROR_R1_expr_names_a_shape<over<Shape>>;
template <class T, class Shape>
inline constexpr bool is_refused<expr<T, Shape>> = true;
template <class T, class... D>
inline constexpr bool is_refused<expr<T, shape<D...>>> = !valid_tensor<T, D...>;

}  // namespace detail

/// An expression of this element type and shape, whatever its formula: a handle, so copies share the formula. With
/// tracked elements, values and gradients are those of the formula; where it is used several times, its gradient is
/// sent once.
/// Reports types that are not shapes (R1, R17).
template <class T, class Shape>
class expr : public detail::refused_members<detail::is_shape<Shape>> {
 public:
  using value_type = T;
  /// Takes anything: the type is the only mistake.
  template <class... Any>
  expr(const Any&...);  // implicit
  static_assert(detail::holds<detail::is_shape<Shape>, detail::no_shape_error<Shape>>,
                "R1: an expr names an element type and a shape, as expr<float, shape<seq, d_k>>");
};
template <class T, class... DimsAndMarks>
  requires(!detail::valid_tensor<T, DimsAndMarks...>)
class expr<T, shape<DimsAndMarks...>> : public detail::refused_members<detail::valid_tensor<T, DimsAndMarks...>> {
 public:
  using value_type = T;
  /// Takes anything: the type is the only mistake.
  template <class... Any>
  expr(const Any&...);  // implicit
  static_assert(detail::holds<detail::valid_tensor<T, DimsAndMarks...>, detail::shape_error<T, DimsAndMarks...>>,
                "R1, R17: a shape names dimensions, each once");
};
template <class T, class... DimsAndMarks>
  requires(detail::valid_tensor<T, DimsAndMarks...>)
class expr<T, shape<DimsAndMarks...>> : public detail::shaped_as<shape<DimsAndMarks...>>,
                                        public detail::expression_base,
                                        public detail::stored_base<T, detail::stored_t<shape<DimsAndMarks...>>>::type {
  using formula_of = detail::formula_of_elements<T, shape<DimsAndMarks...>>;
  using formula_type = typename formula_of::type;

 public:
  using shape_type = shape<DimsAndMarks...>;
  using value_type = T;
  using extents_type = detail::extents_for<shape_type>;

  /// The expression that is a tensor of zeros, a constant; run-time extents are 0.
  expr() : expr(tensor<detail::untracked_t<T>, DimsAndMarks...>()) {}
  /// An operand with these dimensions in any order and these marks, and elements that convert without loss (the rules
  /// of assignment: R3 to R9, R13); plain operands are constants beside tracked ones. Nothing is computed.
  template <operand E>
    requires(!std::same_as<E, expr> && detail::fits<T, detail::value_of<E>> &&
             allowed<rule::assign<shape_type, detail::shape_of<E>>>)
  expr(const E& value)  // implicit: as in `tensor y = value;`
      : formula_(formula_of::made_of(detail::in_shape<shape_type>(value))) {}
  template <class Computed, class Verdict = rule::assign<shape_type, Computed>>
    requires refused<Verdict>
  expr(const detail::shaped_as<Computed>& value, Verdict* = nullptr) DIMWISE_DETAIL_REFUSED(Verdict);
  template <operand E, class Error = detail::operand_elements_error<T, E>>
    requires(!detail::fits<T, detail::value_of<E>> && allowed<rule::assign<shape_type, detail::shape_of<E>>>)
  expr(const E& value, Error* = nullptr) DIMWISE_DETAIL_REFUSED(Error);
  expr(const detail::already_refused& value);  // implicit: its operand is the only error

  /// The run-time extents.
  [[nodiscard]] const extents_type& extents() const { return formula().extents(); }
  /// For the evaluator and the backward pass: the formula, and its children, of which a handle has none.
  [[nodiscard]] const formula_type& formula() const { return *formula_; }
  template <class F>
  void each_child(const F&) const {}

  /// The number, or the truth, that an expression without dimensions is: it is evaluated.
  operator T() const  // implicit: as for a tensor, no mark may be dropped
    requires(detail::is_plain_number<shape_type> && !detail::is_tracked_type<T>)
  {
    return tensor<T>(*this);
  }

 private:
  detail::formula_handle<formula_type> formula_;
};

/// Deduces element type, dimensions and marks: `expr h = x;`.
template <class T, class... DimsAndMarks>
expr(const detail::stored_as<T, DimsAndMarks...>&) -> expr<T, shape<DimsAndMarks...>>;
template <class T, class... DimsAndMarks>
expr(const tensor<T, DimsAndMarks...>&) -> expr<T, shape<DimsAndMarks...>>;
expr(const detail::already_refused&) -> expr<float, shape<>>;

namespace detail {

// A formula that is used more than once is explained once.
template <class T, class Shape>
said explained_operation(const expr<T, Shape>& n, derivation& d) {
  return d.once(n.formula().number(), [&] { return n.formula().explained(d); });
}

}  // namespace detail

}  // namespace dimwise
