// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/tracked.hpp -- tensors whose origin is recorded.
//
// Layer: grad. Storing is all that is recorded: `tensor y = expr;` with a tracked operand keeps the expression, which
// shares what it reads. A formula is differentiated by its type (grad/operations/adjoint.hpp).
// Tests: tests/grad/tracked.test.cpp
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/grad/operations/attention.hpp>
#include <dimwise/grad/record/adjoints.hpp>
#include <dimwise/grad/record/erased.hpp>
#include <dimwise/grad/record/recorded.hpp>
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

// The gradient of a stored value: the sum of what arrives, over all ranks that have a term of it.
template <class T, class... DimsAndMarks>
class recorded_value : public recorded_gradient {
 public:
  using gradient_type = tensor_of<T, make_shape_t<dims_t<shape<DimsAndMarks...>>, list<>>>;
  static constexpr const axes_of_mesh* own_axes = axes_of_shape<shape<DimsAndMarks...>>();

  explicit recorded_value(std::uint64_t record) : recorded_gradient(record, own_axes) {}
  /// Of a value to which one statement sends.
  recorded_value(std::uint64_t record, const axes_of_mesh& sums) : recorded_gradient(record, &sums) {}

  /// Adds what arrives: the value's dimensions in any order, and no marks.
  template <class G>
  void add(const G& g) {
    static_assert(same_set<dims_t<shape_of<G>>, dims_t<shape<DimsAndMarks...>>> && marks_t<shape_of<G>>::size == 0,
                  "dimwise: an adjoint gives a gradient of other dimensions than the value has");
    if constexpr (fits<T, value_of<G>>) {
      take(gradient_type(g));
    } else {  // numbers in double met a value in float: `check_gradient` compiles such losses
      add(make_node<shape_of<G>, T>(apply<fn::as_real<T>>{}, g.extents(), g));
    }
  }
  void add_record(const gradient_in_record& g, const void* extents) final {
    this->meet();
    const auto& e = *static_cast<const typename gradient_type::extents_type*>(extents);
    if constexpr (std::is_same_v<decltype(gradient_.handle()), const shared_storage<T>&>) {
      if (const shared_storage<T>* const all = this->arrived() ? nullptr : shared_elements<T>(g, name_list_of<axes>)) {
        gradient_ = gradient_type::sharing(e, *all);
        return this->set_arrived(true);
      }
    }
    auto sum = gradient_type::for_overwriting(e);
    axis to[max_rank];
    axis_extents<axes>::write_contiguous(e, to);
    const gradient_type& before = gradient_;  // const: `data()` for writing would copy it
    write_gradient<T>(g, name_list_of<axes>, {sum.fresh_elements(), to}, this->arrived() ? before.data() : nullptr);
    gradient_ = static_cast<gradient_type&&>(sum);
    this->set_arrived(true);
  }
  [[nodiscard]] const gradient_type& gradient() {
    this->complete();
    return gradient_;
  }
  // The gradient that arrived. It is moved out, so that its memory is free as soon as it was sent on.
  [[nodiscard]] gradient_type taken() {
    this->complete();
    gradient_type g = gradient_;
    gradient_ = gradient_type();
    this->set_arrived(false);
    return g;
  }
  // The same in two sums: what is complete, and the terms that the ranks along an axis have, for each one that arrived.
  template <class Whole, class Terms>
  void take_in_terms(const named_axis& along, const Whole& take_whole, const Terms& take_terms) {
    this->complete(gradient_ranks::bit_of(along));
    const bool terms_at_hand = this->holds_terms() || gradient_ranks::is_left(along);
    if (const auto* const other = static_cast<const T*>(this->other_sum())) {
      gradient_type waiting = gradient_type::for_overwriting(gradient_.extents());
      copy_elements(other, waiting.size(), waiting.overwrite());
      terms_at_hand ? take_whole(waiting) : take_terms(waiting);
    }
    this->drop();
    const gradient_type g = this->taken();
    terms_at_hand ? take_terms(g) : take_whole(g);
  }

 private:
  using axes = typename gradient_type::axes;

  // One function for all formulas that send here.
  [[gnu::noinline]] void take(gradient_type g) {
    this->meet();
    if (this->arrived()) {
      const gradient_type& before = gradient_;
      const auto& fresh = static_cast<const gradient_type&>(g);
      auto sum = gradient_type::for_overwriting(before.extents());
      add_gradients(current_context(), sum.size(), fresh.size(), sum.fresh_elements(), before.data(), fresh.data());
      gradient_ = static_cast<gradient_type&&>(sum);
    } else {
      gradient_ = static_cast<gradient_type&&>(g);
      this->set_arrived(true);
    }
  }
  gradient_elements elements() override {
    constexpr auto type = std::is_same_v<T, float>    ? gradient_elements::type::float32
                          : std::is_same_v<T, double> ? gradient_elements::type::float64
                                                      : gradient_elements::type::other;
    return {gradient_.overwrite(), gradient_.size(), sizeof(T), type};
  }

  gradient_type gradient_{};
};

template <class E, class G>
[[gnu::always_inline]] inline void send_from(const E& formula, const G& g) {
  static_assert(is_tracked<E>, "dimwise: what a record keeps says how it sends its gradient");
  send_gradient(formula, g);
}
#if !defined(DIMWISE_PLAIN_ONLY)
template <class E, class Value, class G>
[[gnu::always_inline]] inline void send_from(kept_attention<E, Value>& kept, const G& g) {
  if (!kept.send(g)) { send_gradient(kept.formula, g); }
}
#endif
// While it lives, a statement with a value of these axes sends: what is whole and meets its shards has one term of its
// gradient on each rank.
template <bool OnRanks>
struct sender {
  explicit sender(const axes_of_mesh*) {}
};
template <>
struct sender<true> : gradient_ranks::root {
  using root::root;
};
// The action of a value of type Value that holds a Kept.
template <class Kept, class Value>
void send_kept(void* kept, recorded* value) {
  struct owner {
    Kept* kept;
    ~owner() { delete kept; }  // a std::unique_ptr is twenty more functions to compile for each formula
  } const owned{static_cast<Kept*>(kept)};
  if (value == nullptr) { return; }
  const auto g = static_cast<Value*>(value)->taken();
  [[maybe_unused]] const sender<Value::own_axes != nullptr> from(Value::own_axes);
  if constexpr (holds_erased<Kept>) {
    erased_gradients all;
    send_from(*owned.kept, g);
    all.send();
  } else {
    send_from(*owned.kept, g);
  }
}

// The action of a value whose gradient a function of its own sends: `Kept::send(value)`.
template <class Kept, class Value>
void send_by_own(void* kept, recorded* value) {
  const owner<const Kept> owned(static_cast<const Kept*>(kept));
  if (value != nullptr) { owned->send(*static_cast<Value*>(value)); }
}

// Refuses an expression of which a leaf was recorded elsewhere: its gradient would be lost.
template <class N>
bool has_origin(const N& n, std::uint64_t record) {
  if constexpr (!is_tracked<N>) {
    return false;
  } else if constexpr (is_tensor<N> || is_erased<N>) {
    return n.has_origin(record);
  } else {
    bool any = false;  // every child is looked at
    n.each_child([&](const auto& child) __attribute__((always_inline)) { any = has_origin(child, record) || any; });
    return any;
  }
}

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
  using origin_type = detail::recorded_value<T, DimsAndMarks...>;

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
    detail::gradient_record* const record = detail::gradient_record::current();
    const bool recorded = detail::has_origin(value, record == nullptr ? 0 : record->number());
    // By one kernel whether it is recorded or not: a recomputed layer has the same bits as before.
    auto fresh =
        plain_type::for_overwriting(detail::merge_extents<typename extents_type::atoms>("assign", value.extents()));
#if !defined(DIMWISE_PLAIN_ONLY)
    if constexpr (detail::may_be_attention<T, E>) {
      detail::attention_sums sums;
      if (detail::store_attention(value, fresh, sums)) {
        value_ = static_cast<plain_type&&>(fresh);
        if (recorded) {
          using kept = detail::kept_attention<E, plain_type>;
          begin(*record);
          keep(new kept{value, value_, static_cast<detail::attention_sums&&>(sums)});
        }
        return;
      }
    }
#endif
    compute_value(fresh, value);
    value_ = static_cast<plain_type&&>(fresh);
    if constexpr (detail::is_tracked<E>) {
      if (recorded) {
        begin(*record);
        keep(new E(value));
      }
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
  [[nodiscard]] origin_type* origin() const { return static_cast<origin_type*>(origin_.get()); }
  [[nodiscard]] const detail::origin_pointer& origin_owner() const { return origin_; }

 private:
  // Records the value, and then what it was computed from: nothing can throw once that is made.
  void begin(detail::gradient_record& record) {
    origin_ = detail::new_recorded<origin_type>(record.number());
    record.add(origin_);
  }
  template <class Kept>
  void keep(Kept* kept) noexcept {
    origin_->keep(kept, &detail::send_kept<Kept, origin_type>);
  }

  plain_type value_{};
  detail::origin_pointer origin_{};  // of an origin_type
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
    if (origin_.get() != nullptr) { static_cast<recorded_value<T, DimsAndMarks...>*>(origin_.get())->add(g); }
  }

 private:
  origin_pointer origin_;
};
template <class T, class... D>
gradient_target(const tensor<tracked<T>, D...>&) -> gradient_target<tensor<tracked<T>, D...>>;

// `value`, which was computed from the stored tensors `from`, by a function that has no formula: `kept.send(value)`
// takes the gradient of the value (`recorded_value::taken`) and adds what it is for `from` to their targets. A constant
// if none of them is recorded.
template <class T, class... D, class Kept, class... From>
tensor<tracked<T>, D...> recorded_with(const tensor<T, D...>& value, const Kept& kept, const From&... from) {
  gradient_record* const record = gradient_record::current();
  const std::uint64_t number = record == nullptr ? 0 : record->number();
  bool any = false;  // every one is looked at
  ((any = has_origin(from, number) || any), ...);
  if (!any) { return value; }
  const auto origin = new_recorded<recorded_value<T, D...>>(number);
  origin->keep(new Kept(kept), &send_by_own<Kept, recorded_value<T, D...>>);
  record->add(origin);
  return {value, origin};
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
