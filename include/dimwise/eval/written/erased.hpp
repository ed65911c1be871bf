// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/written/erased.hpp -- what is behind an `expr`: a formula that evaluates, plans and explains itself by
// virtual functions.
//
// Layer: eval. Formulas are immutable and counted, and have numbers: a formula's number is larger than those of all
// formulas that it holds. So a walk in the order of the numbers needs no recursion. One evaluation computes a formula
// once, however often it is used (`erased_values`).
// Tests: tests/eval/written/
#pragma once

#include <dimwise/eval/pass.hpp>
#include <dimwise/expr/parts.hpp>
#include <dimwise/support/library.hpp>
#include <dimwise/tensor/memory/counted.hpp>
#include <dimwise/tensor/memory/owner.hpp>

#include <cstdint>
#include <vector>

namespace dimwise::detail {

struct planning_pass;  // eval/plan/plan.hpp
class counted_formula;
class erased_base;
class erased_values;

// A number for each formula, from 1.
DIMWISE_DETAIL_LIBRARY std::uint64_t next_formula_number();
// Deletes a formula without owners, and those that have no owners then, without recursion.
DIMWISE_DETAIL_LIBRARY void destroy_formula(const counted_formula* e);

// A formula with owners and a number.
class counted_formula {
 public:
  counted_formula() = default;
  counted_formula(const counted_formula&) = delete;
  counted_formula& operator=(const counted_formula&) = delete;
  virtual ~counted_formula() = default;

  [[nodiscard]] std::uint64_t number() const { return number_; }
  void add_owner() const { owners_.add(); }
  void drop_owner() const {
    if (owners_.drop()) { destroy_formula(this); }
  }

 private:
  friend void destroy_formula(const counted_formula* e);
  const std::uint64_t number_ = next_formula_number();
  mutable owner_count owners_{};
  mutable const counted_formula* next_ = nullptr;  // of those that wait for their end
};

// An owner of a formula. Moving copies: it always has one.
template <class Formula>
class formula_handle {
 public:
  // Of a formula that was just made.
  explicit formula_handle(const Formula* made) : formula_(made) {}
  formula_handle(const formula_handle& other) : formula_(other.formula_) { formula_->add_owner(); }
  formula_handle& operator=(const formula_handle& other) {
    other.formula_->add_owner();
    formula_->drop_owner();
    formula_ = other.formula_;
    return *this;
  }
  ~formula_handle() { formula_->drop_owner(); }
  [[nodiscard]] const Formula& operator*() const { return *formula_; }

 private:
  const Formula* formula_;
};

// A formula that is used, and how many formulas hold each other from the last one that is in memory down to it.
struct erased_use {
  const erased_base* formula;
  unsigned depth;
};

// The common base of formulas of all types.
class erased_base : public counted_formula {
 public:
  // Appends the formulas that this one holds, as often as it holds them.
  virtual void list_held(std::vector<erased_use>& to, unsigned depth) const = 0;
  // Computes the value, or its layout, and adds it to `to`.
  virtual void keep(evaluation_pass& pass, bool in_double, erased_values& to) const = 0;
  virtual void keep(planning_pass& pass, bool in_double, erased_values& to) const = 0;
  [[nodiscard]] virtual said explained(derivation& d) const = 0;
};

// The type that real numbers are computed in, as an argument of virtual functions.
template <class C>
struct computed_in {};
template <class C>
inline constexpr bool is_in_double = std::is_same_v<C, double>;

// A formula of this element type and shape. It is read and written in float or in double.
template <class T, class Shape>
class erased : public erased_base {
 public:
  using float_type = compute_t<float, T>;
  using double_type = compute_t<double, T>;

  explicit erased(const extents_for<Shape>& e) : extents_(e) {}
  [[nodiscard]] const extents_for<Shape>& extents() const { return extents_; }

  virtual lowered<float_type> read(evaluation_pass& pass, computed_in<float> in, bool as_weights) const = 0;
  virtual lowered<double_type> read(evaluation_pass& pass, computed_in<double> in, bool as_weights) const = 0;
  virtual lowered<float_type> read(planning_pass& pass, computed_in<float> in, bool as_weights) const = 0;
  virtual lowered<double_type> read(planning_pass& pass, computed_in<double> in, bool as_weights) const = 0;
  virtual void write(evaluation_pass& pass, computed_in<float> in, target<float_type> to) const = 0;
  virtual void write(evaluation_pass& pass, computed_in<double> in, target<double_type> to) const = 0;
  virtual void write(planning_pass& pass, computed_in<float> in, target<float_type> to) const = 0;
  virtual void write(planning_pass& pass, computed_in<double> in, target<double_type> to) const = 0;

  void keep(evaluation_pass& pass, bool in_double, erased_values& to) const override { keep_of(pass, in_double, to); }
  void keep(planning_pass& pass, bool in_double, erased_values& to) const override { keep_of(pass, in_double, to); }

 private:
  template <class Pass>
  void keep_of(Pass& pass, bool in_double, erased_values& to) const;

  extents_for<Shape> extents_;
};

// ---- values that are computed once ----------------------------------------------------------------------------------

// The value of a formula in memory.
class kept_value {
 public:
  kept_value() = default;
  kept_value(const kept_value&) = delete;
  kept_value& operator=(const kept_value&) = delete;
  virtual ~kept_value() = default;
};
template <class T>
class kept_elements final : public kept_value {
 public:
  explicit kept_elements(lowered<T>&& x) : x_(static_cast<lowered<T>&&>(x)) {}
  [[nodiscard]] const lowered<T>& elements() const { return x_; }

 private:
  lowered<T> x_;
};

using kept_owner = owner<const kept_value>;

// The values of formulas during one evaluation or plan, or during a backward pass, which keeps them all.
class erased_values {
 public:
  // The thread's current values until the end of this object, if `is_current`.
  erased_values(bool keeps_all, bool is_current);
  erased_values(const erased_values&) = delete;
  erased_values& operator=(const erased_values&) = delete;
  ~erased_values();
  // Null outside evaluations of an `expr`.
  [[nodiscard]] static erased_values* current();
  [[nodiscard]] bool keeps_all() const { return keeps_all_; }

  // The value of the formula with this number; null if it has none yet.
  [[nodiscard]] const kept_value* find(std::uint64_t number, bool in_double) const;
  void add(std::uint64_t number, bool in_double, kept_owner value);
  // The formulas below `held` whose values are needed before the one that holds them, in order: those that are used
  // more than once, and some of a long chain, so that evaluation does not recurse deeply.
  [[nodiscard]] std::vector<const erased_base*> missing_below(std::vector<erased_use> held, bool in_double) const;

 private:
  struct entry {
    std::uint64_t number;
    bool in_double;
    kept_owner value;
  };
  [[nodiscard]] std::vector<entry>::const_iterator place_of(std::uint64_t number, bool in_double) const;

  std::vector<entry> entries_{};  // sorted
  bool keeps_all_;
  bool is_current_;
  erased_values* outer_ = nullptr;
};

template <class T, class Shape>
template <class Pass>
void erased<T, Shape>::keep_of(Pass& pass, bool in_double, erased_values& to) const {
  const auto kept = [&](auto&& x) {
    using elements = std::remove_cvref_t<decltype(*x.data)>;
    to.add(number(), in_double, kept_owner(new kept_elements<elements>(static_cast<lowered<elements>&&>(x))));
  };
  if (in_double) {
    kept(read(pass, computed_in<double>{}, true));
  } else {
    kept(read(pass, computed_in<float>{}, true));
  }
}

// Whether an expression, or a mask in it, holds an `expr`.
template <class N>
inline constexpr bool holds_erased = is_erased<N>;
template <class Op, class Shape, class T, class... X>
inline constexpr bool holds_erased<node<Op, Shape, T, X...>> = (holds_erased<X> || ...);
template <class X>
inline constexpr bool holds_erased<parts<X>> = holds_erased<X>;
template <template <class...> class M, class... X>
  requires(mask<M<X...>> || position_bias<M<X...>>)
inline constexpr bool holds_erased<M<X...>> = (holds_erased<X> || ...);

// f(e) for each `expr` that an expression holds.
template <class N, class F>
void each_erased(const N& n, const F& f) {
  if constexpr (is_erased<N>) {
    f(n);
  } else if constexpr (holds_erased<N>) {
    n.each_child([&](const auto& x) { each_erased(x, f); });
  }
}

// While it lives, the values of the formulas below `n` are computed once.
template <class C, class Pass>
class values_below {
 public:
  template <class N>
  values_below(Pass& pass, const N& n)
      : own_(false, !(Pass::computes && erased_values::current() != nullptr && erased_values::current()->keeps_all())) {
    std::vector<erased_use> held;
    if constexpr (is_erased<N>) {
      untracked_of(n).formula().list_held(held, 1);
    } else {
      each_erased(n, [&](const auto& x) { held.push_back({&untracked_of(x).formula(), 1}); });
    }
    erased_values& values = *erased_values::current();
    for (const erased_base* e : values.missing_below(static_cast<std::vector<erased_use>&&>(held), is_in_double<C>)) {
      e->keep(pass, is_in_double<C>, values);
    }
  }

 private:
  erased_values own_;
};

// The same for code that reads operands by a pass of its own: it lives as long as what was read.
struct no_values_below {
  template <class Pass, class N>
  no_values_below(const Pass&, const N&) {}
};
template <class C, class Pass, class N>
using values_read_by = either_t<holds_erased<N>, values_below<C, Pass>, no_values_below>;

// The memory of a value that is kept; of one that is not read as weights, without −0 as a hidden weight.
template <class T, class Axes>
lowered<T> read_kept(const kept_value& value, bool as_weights) {
  const lowered<T>& from = static_cast<const kept_elements<T>&>(value).elements();
  lowered<T> x;
  static_cast<operand_layout&>(x) = from;
  x.data = from.data;
  x.derived = from.derived;
  x.hides = from.hides;
  if constexpr (std::is_floating_point_v<T>) {
    if (x.hides && !as_weights) {
      make_dense<T, Axes>(x);
      for (T& weight : x.buffer) { weight += T(0); }
      x.hides = false;
    }
  }
  return x;
}

template <class C, bool AsWeights, class Pass, class N>
lowered<compute_t<C, value_of<N>>> read_erased(Pass& pass, const N& n) {
  if (erased_values* const values = erased_values::current(); values != nullptr) {
    const std::uint64_t number = n.formula().number();
    if (values->keeps_all() && values->find(number, is_in_double<C>) == nullptr) {  // an adjoint reads it first
      const values_below<C, Pass> once(pass, n);
      n.formula().keep(pass, is_in_double<C>, *values);
    }
    if (const kept_value* const kept = values->find(number, is_in_double<C>); kept != nullptr) {
      return read_kept<compute_t<C, value_of<N>>, axes_for<shape_of<N>>>(*kept, AsWeights);
    }
  }
  return n.formula().read(pass, computed_in<C>{}, AsWeights);
}

template <class C, class Pass, class N>
void write_erased(Pass& pass, const N& n, target<compute_t<C, value_of<N>>> to) {
  using T = compute_t<C, value_of<N>>;
  if (const erased_values* const values = erased_values::current(); values != nullptr) {
    if (const kept_value* const kept = values->find(n.formula().number(), is_in_double<C>); kept != nullptr) {
      const auto x = read_kept<T, axes_for<shape_of<N>>>(*kept, false);
      pass.note(plan_kind::copy, n, [] { return std::string("copy"); });
      if constexpr (Pass::computes) {
        copy_axes<T>(axes_for<shape_of<N>>::size, x.axes, to.axes, x.axes, to.data, x.data);
      }
      return;
    }
  }
  n.formula().write(pass, computed_in<C>{}, to);
}

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/written/erased_definitions.hpp>
#endif
