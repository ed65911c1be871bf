// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/tracked.hpp -- tensors whose origin is recorded.
//
// Layer: grad. Storing is all that is recorded: `tensor y = expr;` with a tracked operand keeps the expression, which
// shares what it reads (grad/record/stored_formula.hpp).
// Tests: tests/grad/tracked.test.cpp
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/grad/record/recorded_value.hpp>
#include <dimwise/grad/record/stored_formula.hpp>
#include <dimwise/tensor/memory/owner.hpp>

#include <cstdint>

namespace dimwise {

/// The element type of tensors whose origin is recorded; there are no values of it.
template <class T>
struct tracked {
  using value_type = T;
  tracked() = delete;
};

namespace detail {

// `float norm = sum<d_model>(square(m));` in a loss: the gradient would end at the number.
template <class T, class... Dims>
struct read_as_a_number {};
template <class T>
struct read_as_a_number<T> {
  template <one_value Value,
            class Error = ERROR_R21_declared_type_drops_the_gradient<op::assign, declared<Value>, computed<tracked<T>>>>
  operator Value() const DIMWISE_DETAIL_REFUSED(Error);
};
template <class T>
struct stored_as<tracked<T>> : read_as_a_number<T> {};

template <class Shape, class Axes = axes_for<make_shape_t<dims_t<Shape>, list<>>>>
inline constexpr value_axes value_axes_of = {name_list_of<Axes>, facts_of_axes<Axes>::at, axes_of_shape<Shape>()};

// The gradient of a value as a tensor: the value's dimensions, and no marks.
template <class T, class... DimsAndMarks>
struct gradient_of_value {
  using type = tensor_of<T, make_shape_t<dims_t<shape<DimsAndMarks...>>, list<>>>;

  /// Adds what arrives, which has the dimensions in any order.
  template <class G>
  static void add(recorded_value<T>& to, const G& g) {
    static_assert(same_set<dims_t<shape_of<G>>, dims_t<shape_of<type>>> && marks_t<shape_of<G>>::size == 0,
                  "dimwise: an adjoint gives a gradient of other dimensions than the value has");
    if constexpr (fits<T, value_of<G>>) {
      add_stored(to, g);
    } else {  // numbers in double met a value in float: `check_gradient` compiles such losses
      add_stored(to, make_node<shape_of<G>, T>(apply<fn::as_real<T>>{}, g.extents(), g));
    }
  }
  /// What has arrived; `e` are the extents of the value.
  template <class Extents>
  static type whole(recorded_value<T>& from, const Extents& e) {
    return of_elements(from.whole(), e);
  }
  template <class Extents>
  static type of_elements(const shared_storage<T>& elements, const Extents& e) {
    const typename type::extents_type own = merge_extents<typename type::extents_type::atoms>("gradient", e);
    if constexpr (in_shared_storage<type>) {
      return type::sharing(own, elements);
    } else {
      type g = type::for_overwriting(own);
      copy_elements(elements.read(), g.size(), g.overwrite());
      return g;
    }
  }

 private:
  // One function for all formulas that send here.
  [[gnu::noinline]] static void add_stored(recorded_value<T>& to, const type& g) {
    if constexpr (in_shared_storage<type>) {
      to.add(g.handle(), g.size());
    } else {
      to.add(shared_copy(g.data(), g.size()), g.size());
    }
  }
};

// What has arrived at a value, for a function that sends it on.
template <class T, class... DimsAndMarks>
class arrived_value {
  using of_value = gradient_of_value<T, DimsAndMarks...>;

 public:
  using gradient_type = typename of_value::type;
  using extents_type = extents_for<shape<DimsAndMarks...>>;

  arrived_value(recorded_value<T>& from, const extents_type& e) : from_(from), extents_(e) {}
  [[nodiscard]] const axes_of_mesh* mesh() const { return from_.axes().mesh; }
  [[nodiscard]] gradient_type taken() { return of_value::of_elements(from_.taken(), extents_); }
  /// The same in two sums, for each one that arrived.
  template <class Whole, class Terms>
  void take_in_terms(const named_axis& along, const Whole& take_whole, const Terms& take_terms) {
    const gradient_in_terms<T> all = from_.taken_in_terms(along);
    if (all.has_other) {
      const auto other = of_value::of_elements(all.other, extents_);
      all.are_terms ? take_whole(other) : take_terms(other);
    }
    const auto g = of_value::of_elements(all.at_hand, extents_);
    all.are_terms ? take_terms(g) : take_whole(g);
  }

 private:
  recorded_value<T>& from_;
  const extents_type& extents_;
};

// The action of a value whose gradient a function of its own sends: `Kept::send(arrived_value&)`.
template <class Kept, class T, class... DimsAndMarks>
struct kept_by_own {
  Kept kept;
  extents_for<shape<DimsAndMarks...>> extents;

  static void send(void* kept, recorded* value) {
    const owner<const kept_by_own> owned(static_cast<const kept_by_own*>(kept));
    if (value == nullptr) { return; }
    arrived_value<T, DimsAndMarks...> arrived(static_cast<recorded_value<T>&>(*value), owned->extents);
    owned->kept.send(arrived);
  }
};

// Rejects an operation without an adjoint (grad/operations/send.hpp).
template <class X>
void ask_for_adjoints();

}  // namespace detail

/// A tensor whose origin is recorded while `value_and_gradient` computes a loss. It is made from a plain tensor, which
/// is a constant then, or stored from an expression. `value()` are its elements.
template <class T, class... DimsAndMarks>
class tensor<tracked<T>, DimsAndMarks...> : public detail::shaped_as<shape<DimsAndMarks...>>,
                                            public detail::read_as_a_number<T, DimsAndMarks...> {
 public:
  using shape_type = shape<DimsAndMarks...>;
  using value_type = tracked<T>;
  using extents_type = detail::extents_for<shape_type>;
  using axes = detail::axes_for<shape_type>;
  using plain_type = tensor<T, DimsAndMarks...>;

  /// Zeros, a constant.
  tensor() = default;
  /// Zeros with these run-time extents, a constant: `tensor<T, batch, d_model> state(batch{2});` of a generic module
  /// (R15).
  template <class... Extents>
    requires(sizeof...(Extents) > 0 && detail::gives_extents<shape_type, Extents...>)
  explicit tensor(const Extents&... given) : value_(given...) {}
  template <class... Extents, class Error = ERROR_R15_run_time_extents_are_given_once<shape_type, over<Extents...>>>
    requires(sizeof...(Extents) > 0 && (dimension_type<Extents> && ...) &&
             !detail::gives_extents<shape_type, Extents...>)
  explicit tensor(const Extents&... given) DIMWISE_DETAIL_REFUSED(Error);
  /// A constant without dimensions from a number.
  template <detail::number_for<shape_type, T> Number>
  explicit tensor(const Number& value) : value_(value) {}
  /// A constant of this value.
  tensor(const plain_type& value) : value_(value) {}  // implicit: a constant
  /// A value with its record, as evaluation makes it.
  tensor(const plain_type& value, detail::origin_pointer origin)
      : value_(value), origin_(static_cast<detail::origin_pointer&&>(origin)) {}

  /// The value of an expression, which is recorded where it has tracked operands. Throws `gradient_error` where one of
  /// them was recorded by another call.
  template <operand E>
    requires(!std::same_as<E, tensor> && !std::same_as<E, plain_type> &&
             detail::fits<tracked<T>, detail::value_of<E>> && allowed<rule::assign<shape_type, detail::shape_of<E>>>)
  tensor(const E& value) {  // implicit: `tensor y = expr;` evaluates
    detail::ask_for_adjoints<E>();
    detail::evaluation_pass pass{current_context()};
    [[maybe_unused]] const detail::values_read_by<T, detail::evaluation_pass, E> once(pass, value);
    const extents_type e = detail::merge_extents<typename extents_type::atoms>("assign", value.extents());
    if constexpr (is_planned<E>()) {
      value_ = plain_type::for_overwriting(e);
      store(detail::planned_when_compiled<plain_type>(pass.cx, value, value_), detail::formula_type_of<T, E>, &value);
    } else {
      store_in(e, detail::formula_type_of<T, E>, &value);
    }
  }
  template <class Computed, class Verdict = rule::assign<shape_type, Computed>>
    requires refused<Verdict>
  tensor(const detail::shaped_as<Computed>& value, Verdict* = nullptr) DIMWISE_DETAIL_REFUSED(Verdict);
  template <operand E, class Error = detail::operand_elements_error<tracked<T>, E>>
    requires(!detail::fits<tracked<T>, detail::value_of<E>> && allowed<rule::assign<shape_type, detail::shape_of<E>>>)
  tensor(const E& value, Error* = nullptr) DIMWISE_DETAIL_REFUSED(Error);
  tensor(const detail::already_refused& value);  // implicit: what it came from is the only mistake

  /// The value without its record, its extents, its number of elements.
  [[nodiscard]] const plain_type& value() const& { return value_; }
  [[nodiscard]] plain_type value() const&& { return value_; }  // shares the elements
  [[nodiscard]] const extents_type& extents() const& { return value_.extents(); }
  [[nodiscard]] extents_type extents() const&& { return value_.extents(); }
  [[nodiscard]] std::size_t size() const { return value_.size(); }
  using detail::other_names::size;  // with an argument
  /// Whether this value is part of the record of that number; throws `gradient_error` where it is part of another one.
  [[nodiscard]] bool has_origin(std::uint64_t record) const {
    return origin_.get() != nullptr && detail::belongs_to(origin_->record(), record);
  }
  /// The record; null for a constant.
  [[nodiscard]] detail::recorded_value<T>* origin() const {
    return static_cast<detail::recorded_value<T>*>(origin_.get());
  }
  /// Becomes this value, with a record of its own and no formula.
  void track(const plain_type& value, std::uint64_t record) {
    value_ = value;
    origin_ = detail::new_recorded_value<T>(record, detail::value_axes_of<shape_type>);
  }
  [[nodiscard]] const detail::origin_pointer& origin_owner() const { return origin_; }

 private:
  // Whether a plan of the compiler computes E. Attention by a kernel keeps what the backward pass reads.
  template <class E>
  static consteval bool is_planned() {
#if !defined(DIMWISE_PLAIN_ONLY)
    if constexpr (detail::static_assignment<plain_type, E>::known) { return !detail::attention_match<E>::matches; }
#endif
    return false;
  }
  // One function for all formulas.
  [[gnu::noinline]] void store_in(const extents_type& e, const detail::formula_type<T>& type, const void* formula) {
    value_ = plain_type::for_overwriting(e);
    store(false, type, formula);
  }
  void store(bool are_computed, const detail::formula_type<T>& type, const void* formula) {
    const detail::shared_storage<T>* shared = nullptr;
    if constexpr (detail::in_shared_storage<plain_type>) { shared = &value_.handle(); }
    const detail::stored_elements_of<T> to{detail::value_axes_of<shape_type>, value_.size(), value_.fresh_elements(),
                                           are_computed, shared};
    origin_ = detail::store_formula<T>(type, formula, to);
  }

  plain_type value_{};
  detail::origin_pointer origin_{};  // of a recorded_value<T>
};

namespace detail {

// Where the gradient of a stored tensor goes, without the tensor's elements.
template <class Tensor>
class gradient_target;
template <class T, class... DimsAndMarks>
class gradient_target<tensor<tracked<T>, DimsAndMarks...>> {
 public:
  explicit gradient_target(const tensor<tracked<T>, DimsAndMarks...>& x) : origin_(x.origin_owner()) {}
  /// Adds what a function of its own sends: complete, unless a `gradient_ranks::root` says otherwise.
  template <class G>
  void add(const G& g) const {
    if (origin_.get() == nullptr) { return; }
    gradient_of_value<T, DimsAndMarks...>::add(static_cast<recorded_value<T>&>(*origin_), g);
  }

 private:
  origin_pointer origin_;
};
template <class T, class... D>
gradient_target(const tensor<tracked<T>, D...>&) -> gradient_target<tensor<tracked<T>, D...>>;

template <class Tensor>
struct gradient_of_stored;
template <class T, class... D>
struct gradient_of_stored<tensor<tracked<T>, D...>> : gradient_of_value<T, D...> {};
// What has arrived at a stored tensor that was recorded.
template <class T, class... D>
auto gradient_at(const tensor<tracked<T>, D...>& x) {
  return gradient_of_value<T, D...>::whole(*x.origin(), x.extents());
}
// Adds to it, unless the tensor is a constant.
template <class T, class... D, class G>
void add_gradient(const tensor<tracked<T>, D...>& x, const G& g) {
  if (x.origin() != nullptr) { gradient_of_value<T, D...>::add(*x.origin(), g); }
}
// The tensor with a record of its own, and no formula.
template <class T, class... D, class... Sums>
tensor<tracked<T>, D...> recorded_leaf(const tensor<T, D...>& value, std::uint64_t record, const Sums&... sums) {
  return {value, new_recorded_value<T>(record, value_axes_of<shape<D...>>, sums...)};
}

// The value with what sends its gradient: `kept.send(arrived_value&)`.
template <class T, class... D, class Kept>
tensor<tracked<T>, D...> recorded_by_own(const tensor<T, D...>& value, gradient_record& record, Kept kept) {
  using kept_type = kept_by_own<Kept, T, D...>;
  const tensor<tracked<T>, D...> recorded = recorded_leaf(value, record.number());
  recorded.origin()->keep(new kept_type{static_cast<Kept&&>(kept), value.extents()}, &kept_type::send);
  record.add(recorded.origin_owner());
  return recorded;
}
// `value`, which was computed from the stored tensors `from`, by a function that has no formula: `kept.send(value)`
// takes the gradient of the value (`arrived_value`) and adds what it is for `from` to their targets. A constant if none
// of them is recorded.
template <class T, class... D, class Kept, class... From>
tensor<tracked<T>, D...> recorded_with(const tensor<T, D...>& value, const Kept& kept, const From&... from) {
  gradient_record* const record = gradient_record::current();
  const std::uint64_t number = record == nullptr ? 0 : record->number();
  bool any = false;  // every one is looked at
  ((any = from.has_origin(number) || any), ...);
  if (!any) { return value; }
  return recorded_by_own(value, *record, kept);
}

}  // namespace detail

namespace no_adl {

/// The value of `x` as a constant: no gradient goes through it.
template <operand X>
[[nodiscard]] auto detached(const X& x) {
  return tensor(detail::untracked_of(x));
}

}  // namespace no_adl

}  // namespace dimwise
