// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/expr.hpp -- expr of tracked elements: an expression of tracked operands, whose adjoint is a virtual
// function.
//
// Layer: grad. It holds the formula, which sends gradients, and the same formula of plain operands, which is evaluated.
// Tests: tests/grad/written.test.cpp
#pragma once

#include <dimwise/eval/written/expr.hpp>
#include <dimwise/grad/operations/send.hpp>
#include <dimwise/grad/record/erased.hpp>

namespace dimwise {

namespace detail {

// The record that the tensors of an expression belong to; 0 where all are constants.
inline constexpr std::uint64_t several_records = ~std::uint64_t{0};
template <class N>
std::uint64_t record_of(const N& n) {
  if constexpr (!is_tracked<N>) {
    return 0;
  } else if constexpr (is_tensor<N>) {
    return n.origin() == nullptr ? 0 : n.origin()->record();
  } else if constexpr (is_erased<N>) {
    return n.formula().record();
  } else {
    std::uint64_t all = 0;
    n.each_child([&](const auto& x) {
      const std::uint64_t one = record_of(x);
      if (one != 0) { all = all == 0 || all == one ? one : several_records; }
    });
    return all;
  }
}

// The formula of a tracked `expr`.
template <class T, class... D>
class erased_tracked : public counted_formula {
 public:
  using gradient_type = typename gradient_of_value<T, D...>::type;
  using plain_type = expr<T, shape<D...>>;

  erased_tracked(const plain_type& plain, std::uint64_t record) : plain_(plain), record_(record) {}
  [[nodiscard]] const plain_type& plain() const { return plain_; }
  [[nodiscard]] const auto& extents() const { return plain_.extents(); }
  [[nodiscard]] std::uint64_t record() const { return record_; }
  // Whether its tensors are part of the record of that number; throws `gradient_error` where they are part of another.
  [[nodiscard]] bool has_origin(std::uint64_t record) const { return record_ != 0 && belongs_to(record_, record); }
  virtual void send(const gradient_type& g) const = 0;

 private:
  plain_type plain_;
  std::uint64_t record_;
};
template <class E, class T, class... D>
class erased_tracked_formula final : public erased_tracked<T, D...> {
 public:
  using typename erased_tracked<T, D...>::gradient_type;
  explicit erased_tracked_formula(const E& formula)
      : erased_tracked<T, D...>(untracked_of(formula), record_of(formula)), formula_(formula) {}
  void send(const gradient_type& g) const override { send_gradient(formula_, g); }

 private:
  E formula_;
};
template <class T, class... D>
struct formula_of_elements<tracked<T>, shape<D...>> {
  using type = erased_tracked<T, D...>;
  template <class E>
  static const type* made_of(const E& value) {
    return new erased_tracked_formula<E, T, D...>(value);
  }
};

// The gradient that has arrived at the formula of an `expr`.
template <class T, class... D>
class arrived_at final : public arrived_gradient {
 public:
  explicit arrived_at(const expr<tracked<T>, shape<D...>>& x) : arrived_gradient(x.formula().number()), to_(x) {}
  template <class G>
  void add(const G& g) {
    gradient_of_value<T, D...>::add(static_cast<recorded_value<T>&>(*sum_), g);
  }
  void send() override {
    auto& arrived = static_cast<recorded_value<T>&>(*sum_);
    to_.formula().send(gradient_of_value<T, D...>::of_elements(arrived.taken(), to_.extents()));
  }

 private:
  expr<tracked<T>, shape<D...>> to_;
  origin_pointer sum_ = new_recorded_value<T>(0, value_axes_of<shape<D...>>, &of_one_statement);
};

template <class T, class... D>
struct adjoint_of<expr<tracked<T>, shape<D...>>> {
  template <class G>
  static void send(const expr<tracked<T>, shape<D...>>& x, const G& g) {
    if (x.formula().record() == 0) { return; }
    if (erased_gradients* const all = erased_gradients::current(); all != nullptr) {
      add(*all, x, g);
    } else {
      erased_gradients own;
      add(own, x, g);
      own.send();
    }
  }

 private:
  template <class G>
  static void add(erased_gradients& all, const expr<tracked<T>, shape<D...>>& x, const G& g) {
    auto* arrived = static_cast<arrived_at<T, D...>*>(all.find(x.formula().number()));
    if (arrived == nullptr) {
      owner first(new arrived_at<T, D...>(x));
      arrived = first.get();
      all.add(static_cast<owner<arrived_at<T, D...>>&&>(first));
    }
    arrived->add(g);
  }
};

template <class T, class Shape>
struct untracked_operand<expr<tracked<T>, Shape>> {
  static const expr<T, Shape>& of(const expr<tracked<T>, Shape>& x) { return x.formula().plain(); }
};

template <class T, class Shape>
said explained_operation(const expr<tracked<T>, Shape>& n, derivation& d) {
  return explained_operation(n.formula().plain(), d);
}

}  // namespace detail

}  // namespace dimwise
