// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/tensor.hpp -- the tensor: its shape is its type, and copies share memory until one is written.
//
// Layer: tensor.
// Tests: tests/tensor/tensor.test.cpp, tests/compile_fail/assign/
//
//   tensor<float, batch, seq, d_model> x(batch{2}, seq{5});      // run-time extents; static ones are known
//   tensor p = softmax<key>(…);                                  // dimensions and marks deduced
#pragma once

#include <dimwise/tensor/checks/construction.hpp>
#include <dimwise/tensor/checks/deduction.hpp>
#include <dimwise/tensor/checks/indexing.hpp>
#include <dimwise/tensor/memory/storage.hpp>
#include <dimwise/tensor/refused_shape.hpp>

#include <initializer_list>
#include <span>

namespace dimwise {

/// An owning tensor: elements of type T over the named dimensions, row-major in the order of its type, 64-byte aligned.
///
/// Copies share memory until one of them is written. Small tensors with static extents do not allocate. Assignment
/// replaces the value and the run-time extents. The type checks R17; construction from an expression checks R3–R9.
template <class T, class... DimsAndMarks>
class tensor : public detail::shaped_as<shape<DimsAndMarks...>> {
 public:
  using shape_type = shape<DimsAndMarks...>;
  using value_type = T;
  using extents_type = detail::extents_for<shape_type>;
  using axes = detail::axes_for<shape_type>;

 private:
  using dims = detail::dims_t<shape_type>;
  using lists_type = typename detail::lists<T, dims::size>::type;
  using lists = detail::list_reader<T, dims>;

 public:
  /// A tensor of zeros; run-time extents are 0 until a value is assigned. It allocates at the first use of its
  /// elements: most parameters are constructed this way, and then loaded or initialised.
  tensor() noexcept {
    if constexpr (!is_shared) { detail::fill_elements(storage_.write(), size(), T{}); }
  }

  /// A tensor of zeros with these run-time extents in any order; static extents may be omitted (R15).
  template <class... Extents>
    requires(sizeof...(Extents) > 0 && detail::gives_extents<shape_type, Extents...>)
  explicit tensor(const Extents&... given) : tensor(detail::given_extents<extents_type>(given...)) {}

  template <class... Extents, class Error = detail::extents_error<shape_type, Extents...>>
    requires(sizeof...(Extents) > 0 && (dimension_type<Extents> && ...) &&
             !detail::gives_extents<shape_type, Extents...>)
  explicit tensor(const Extents&... given) DIMWISE_DETAIL_REFUSED(Error);

  template <std::integral... Number, class Error = ERROR_R15_run_time_extents_are_given_once<shape_type>>
    requires(sizeof...(Number) > 0 && !detail::is_plain_number<shape_type>)
  explicit tensor(Number... numbers) DIMWISE_DETAIL_REFUSED(Error);
  template <std::integral... Number, class Error = ERROR_R15_run_time_extents_are_given_once<shape_type>>
    requires(sizeof...(Number) > 0)
  explicit tensor(std::span<const T> values, Number... numbers) DIMWISE_DETAIL_REFUSED(Error);
  template <std::integral... Number, class Error = ERROR_R15_run_time_extents_are_given_once<shape_type>>
    requires(sizeof...(Number) > 0)
  explicit tensor(std::initializer_list<T> values, Number... numbers) DIMWISE_DETAIL_REFUSED(Error);
  /// Rejects other arguments: elements that do not convert to T, missing extents, extents of another shape.
  template <class Error = ERROR_R15_tensor_is_made_from_elements_and_extents<shape_type>>
  explicit tensor(...) DIMWISE_DETAIL_REFUSED(Error);
#if defined(DIMWISE_DETAIL_CONSTRUCTORS_SAY)
  template <class Error = ERROR_R15_tensor_is_made_from_elements_and_extents<shape_type>>
  explicit tensor(const detail::any_object&, ...) DIMWISE_DETAIL_REFUSED(Error);
#endif

  /// Copies `values` in memory order; throws `extent_error` if their number differs from that of the extents.
  // A separate template parameter: g++ 12 prefers `tensor(...)` to a conversion of a container to a span.
  // Extents first: compilers try these constructors wherever a tensor is made, and conversions are slow to check.
  template <class Values, class... Extents>
    requires(detail::gives_extents<shape_type, Extents...> && !operand<Values> &&
             std::convertible_to<Values, std::span<const T>>)
  explicit tensor(const Values& values, const Extents&... given)
      : tensor(detail::given_extents<extents_type>(given...), std::span<const T>(values)) {}
  template <class... Extents>
    requires(detail::gives_extents<shape_type, Extents...>)
  explicit tensor(std::initializer_list<T> values, const Extents&... given)
      : tensor(detail::given_extents<extents_type>(given...), std::span<const T>(values.begin(), values.size())) {}
  /// Converts the elements of a container, span or array. Floating-point elements accept any number, rounded; integers
  /// accept types whose values they can represent; ids accept integers and throw `index_error` for negative ones.
  template <class Range, class... Extents>
    requires(detail::gives_extents<shape_type, Extents...> && detail::elements_for<Range, T> &&
             !std::convertible_to<const Range&, std::span<const T>>)
  explicit tensor(const Range& values, const Extents&... given)
      : tensor(detail::given_extents<extents_type>(given...), detail::count_of(values), "tensor(values, …)") {
    detail::check_elements<T>(values);
    detail::write_elements(values, storage_.write());
  }
  /// Copies elements; their number is the extent of the only dimension.
  template <detail::elements_for<T> Range>
    requires(dims::size == 1 && detail::deduces_extents<dims> && !detail::gives_extents<shape_type>)
  explicit tensor(const Range& values) : tensor(values, only_extent(detail::count_of(values))) {}
  /// Nested lists with one level per dimension determine the run-time extents: `{{1, 2, 3}, {4, 5, 6}}`. Throws
  /// `extent_error` if lists of one level differ in length, or from a static extent.
  tensor(lists_type values)  // implicit: a list of elements is a tensor
    requires(detail::deduces_extents<dims>)
      : tensor(lists::measured(values), unwritten{}) {
    lists::write(values, storage_.write());
  }
  template <class... Extents>
    requires(dims::size > 1 && sizeof...(Extents) > 0 && detail::gives_extents<shape_type, Extents...>)
  explicit tensor(lists_type values, const Extents&... given)
      : tensor(lists::checked(values, detail::given_extents<extents_type>(given...)), unwritten{}) {
    lists::write(values, storage_.write());
  }
  /// A tensor without dimensions from a number.
  template <detail::number_for<shape_type, T> Number>
  explicit tensor(const Number& value) : tensor(std::span<const Number>(&value, 1)) {}
  template <class Error = ERROR_R15_tensor_is_made_from_elements_and_extents<shape_type>>
    requires(dims::size != 2 || !detail::deduces_extents<dims>)
  tensor(std::initializer_list<std::initializer_list<T>> values) DIMWISE_DETAIL_REFUSED(Error);
  template <class Error = ERROR_R15_tensor_is_made_from_elements_and_extents<shape_type>>
    requires(dims::size != 3 || !detail::deduces_extents<dims>)
  tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values) DIMWISE_DETAIL_REFUSED(Error);

  /// Evaluates an expression, or copies a view or a tensor of another dimension order.
  template <operand E>
    requires(!std::same_as<E, tensor> && detail::fits<T, detail::value_of<E>> &&
             allowed<rule::assign<shape_type, detail::shape_of<E>>>)
  tensor(const E& value)  // implicit: `tensor<float, seq, d_k> y = expr;` evaluates
      : tensor(detail::merge_extents<typename extents_type::atoms>("assign", value.extents()), unwritten{}) {
    compute_value(*this, value);
  }
  template <class Computed, class Verdict = rule::assign<shape_type, Computed>>
    requires refused<Verdict>
  tensor(const detail::shaped_as<Computed>& value, Verdict* = nullptr) DIMWISE_DETAIL_REFUSED(Verdict);
  template <operand E, class Error = detail::operand_elements_error<T, E>>
    requires(!detail::fits<T, detail::value_of<E>> && allowed<rule::assign<shape_type, detail::shape_of<E>>>)
  tensor(const E& value, Error* = nullptr) DIMWISE_DETAIL_REFUSED(Error);
  // `tensor<float, seq> y = values;`: explicit constructors are preferred, since their references are less qualified.
  template <detail::elements_in Range, class Error = ERROR_R15_tensor_is_made_from_elements_and_extents<shape_type>>
  tensor(const volatile Range& values, Error* = nullptr) DIMWISE_DETAIL_REFUSED(Error);
  tensor(const detail::already_refused& value);  // implicit: its operand is the only error

  /// Takes the values and extents of an expression with the same dimensions. A tensor without dimensions also takes a
  /// number.
  template <operand E>
    requires(!std::same_as<E, tensor> && detail::fits<T, detail::value_of<E>> &&
             allowed<rule::assign<shape_type, detail::shape_of<E>>>)
  tensor& operator=(const E& value) {
    return *this = tensor(value);  // an exception keeps the old value
  }
  template <operand E, class Verdict = rule::assign<shape_type, detail::shape_of<E>>>
    requires refused<Verdict>
  Verdict operator=(const E& value);
  template <operand E, class Error = detail::operand_elements_error<T, E>>
    requires(!detail::fits<T, detail::value_of<E>> && allowed<rule::assign<shape_type, detail::shape_of<E>>>)
  Error operator=(const E& value);
  template <detail::number_for<shape_type, T> Number>
  tensor& operator=(const Number& value) {
    return *this = tensor(value);
  }
  /// Rejects numbers and containers: use `fill` for a number, and `assign` for elements.
  template <class Other, class Error = detail::assigned_error<shape_type, Other>>
    requires(!operand<Other> && !std::convertible_to<const Other&, tensor> && !detail::number_for<Other, shape_type, T>)
  Error operator=(const Other& value);

  /// A copy shares the elements; it allocates only after `data()` was called for writing. If allocation throws
  /// `std::bad_alloc`, an assignment changes nothing.
  tensor(const tensor&) = default;
  tensor& operator=(const tensor& other) noexcept(std::is_nothrow_copy_constructible_v<storage>) {
    if (this != &other) {
      storage copy(other.storage_);  // copies first: only this may throw
      extents_ = other.extents_;
      storage_ = static_cast<storage&&>(copy);
    }
    return *this;
  }
  [[gnu::always_inline]] ~tensor() = default;
  /// Takes the elements of `other`, which becomes like `tensor()`: run-time extents of 0, and zeros that are allocated
  /// at their first use. A small tensor with static extents keeps its elements.
  tensor(tensor&& other) noexcept : extents_(other.extents_), storage_(static_cast<storage&&>(other.storage_)) {
    other.leave();
  }
  tensor& operator=(tensor&& other) noexcept {
    if (this != &other) {
      extents_ = other.extents_;
      storage_ = static_cast<storage&&>(other.storage_);
      other.leave();
    }
    return *this;
  }

  /// The elements in memory order.
  [[nodiscard, gnu::always_inline]] const T* data() const& {
    if (const T* const p = storage_.read(); !is_shared || p != nullptr) { return p; }
    storage_.refill(size());
    return storage_.read();
  }
  /// The elements for writing. Expressions formed later copy this tensor, until `seal`.
  [[nodiscard]] T* data() & {
    if (T* const p = storage_.hand_out(); !is_shared || p != nullptr) { return p; }
    storage_.refill(size());
    return storage_.hand_out();
  }
  template <class Error = ERROR_R3_elements_of_a_temporary_are_gone<shape_type>>
  Error data() const&&;
  /// Ends writing through `data()`: expressions share this tensor again.
  void seal() { storage_.seal(); }
  /// The elements in memory order, their number, and the extents.
  [[nodiscard]] std::span<const T> values() const& { return {data(), size()}; }
  template <class Error = ERROR_R3_elements_of_a_temporary_are_gone<shape_type>>
  Error values() const&&;
  [[nodiscard, gnu::always_inline]] std::size_t size() const { return checked_size(extents_); }
  using detail::other_names::size;  // with an argument
  [[nodiscard, gnu::always_inline]] const extents_type& extents() const& { return extents_; }
  [[nodiscard]] extents_type extents() const&& { return extents_; }

  /// The element with these ids, one per dimension in any order; throws `index_error` out of range (R18).
  template <class... Ids>
    requires(detail::indexes_all<shape_type, Ids...>)
  [[nodiscard]] const T& operator()(const Ids&... ids) const& {
    const std::size_t at = detail::element_offset<axes>(extents_, ids...);
    return data()[at];
  }
  template <class... Ids>
    requires(detail::indexes_all<shape_type, Ids...>)
  [[nodiscard]] T operator()(const Ids&... ids) const&& {  // a reference would dangle
    return (*this)(ids...);
  }
  template <class... Ids, class Error = detail::taken_error<shape_type, Ids...>>
    requires(!detail::indexes_all<shape_type, Ids...>)
  Error operator()(const Ids&... ids) const;
  template <class Place, class Error = detail::taken_error<shape_type, Place>>
  Error operator[](const Place& place) const;
  /// The value of a tensor without dimensions: `float loss = evaluate(mean<batch, seq>(x));`
  operator T() const  // implicit: as for `tensor<T> y = x`, no mark may be dropped
    requires(detail::is_plain_number<shape_type>)
  {
    return *data();
  }
  /// Writes one element; throws `index_error` out of range (R18).
  template <class... Ids>
    requires(detail::indexes_all<shape_type, Ids...>)
  void set(T value, const Ids&... ids) {
    const std::size_t at = detail::element_offset<axes>(extents_, ids...);
    overwrite()[at] = value;
  }
  template <class Error = detail::taken_error<shape_type>>
  Error set(...);
  /// Sets all elements to this value.
  void fill(T value) { detail::fill_elements(overwrite(), size(), value); }
  /// Replaces all elements in memory order; throws `extent_error` if their number differs.
  void assign(std::span<const T> values) {
    detail::check_count(values.size(), size(), "assign");
    detail::copy_elements(values.data(), values.size(), overwrite());
  }
  void assign(std::initializer_list<T> values)
    requires(!std::is_same_v<T, bool>)
  {
    assign(std::span<const T>(values.begin(), values.size()));
  }
  template <std::same_as<T> Bool>
    requires std::is_same_v<T, bool>
  void assign(std::initializer_list<Bool> values) {  // `{pointer, count}` is a span, not two truth values
    assign(std::span<const T>(values.begin(), values.size()));
  }
  /// Replaces all elements from other numbers or nested lists.
  template <detail::elements_for<T> Range>
    requires(!std::convertible_to<const Range&, std::span<const T>>)
  void assign(const Range& values) {
    detail::check_count(detail::count_of(values), size(), "assign");
    detail::check_elements<T>(values);
    detail::write_elements(values, overwrite());
  }
  template <class Lists = lists>
    requires(Lists::rank > 1)
  void assign(typename Lists::lists_type values) {
    (void)lists::checked(values, extents_);
    detail::check_count(lists::count_elements(values), size(), "assign");
    lists::write(values, overwrite());
  }
  template <class Error = ERROR_R15_tensor_is_made_from_elements_and_extents<shape_type>>
  Error assign(...);

  /// For the evaluator: an uninitialised buffer with these extents.
  [[nodiscard, gnu::always_inline]] static tensor for_overwriting(const extents_type& e) {
    return tensor(e, unwritten{});
  }
  /// For the evaluator: a tensor with these extents that shares the elements of others.
  template <class Storage>
  [[nodiscard]] static tensor sharing(const extents_type& e, const Storage& elements) {
    return tensor(e, elements);
  }
  /// The elements of a buffer that was just allocated.
  [[nodiscard, gnu::always_inline]] T* fresh_elements() { return const_cast<T*>(storage_.read()); }
  [[nodiscard, gnu::always_inline]] T* overwrite() {
    if (T* const p = storage_.write(); !is_shared || p != nullptr) { return p; }
    storage_.refill(size());
    return storage_.write();
  }
  [[nodiscard, gnu::always_inline]] detail::derived_slot* derived() const { return storage_.derived(); }
  [[nodiscard, gnu::always_inline]] const auto& handle() const { return storage_; }

 private:
  static constexpr extent_t static_size = detail::static_size_of(axes{});
  using storage = typename detail::storage_for<T, static_size>::type;
  static constexpr bool is_shared = !detail::storage_for<T, static_size>::fits;
  struct unwritten {};

  tensor(const extents_type& e, const storage& elements) : extents_(e), storage_(elements) {}
  [[gnu::always_inline]] tensor(const extents_type& e, unwritten) : extents_(e), storage_(checked_size(e)) {
    extents_.check_divided();
  }
  explicit tensor(const extents_type& e) : tensor(e, unwritten{}) {
    detail::fill_elements(storage_.write(), size(), T{});
  }
  tensor(const extents_type& e, std::size_t given, const char* operation) : tensor(e, unwritten{}) {
    detail::check_count(given, size(), operation);
  }

  tensor(const extents_type& e, std::span<const T> values) : tensor(e, values.size(), "tensor(values, …)") {
    detail::copy_elements(values.data(), values.size(), storage_.write());
  }

  // Marks the tensor as moved-from: its run-time extents become 0.
  [[gnu::always_inline]] void leave() noexcept {
    if constexpr (is_shared) { extents_ = extents_type{}; }
  }
  static auto only_extent(std::size_t n) { return detail::first_t<detail::dims_t<shape_type>>{n}; }
  [[gnu::always_inline]] static std::size_t checked_size(const extents_type& e) {
    if constexpr (!is_shared) { return static_size; }
    return detail::checked_size_of<axes>(e, sizeof(T), "tensor");
  }
  extents_type extents_{};
  storage storage_{};
};

namespace detail {

// The first element and the strides of a leaf, for reading.
template <class T, class... D>
[[gnu::always_inline]] inline const T* read_leaf(const tensor<T, D...>& x, axis* axes) {
  axis_extents<axes_for<shape<D...>>>::write_contiguous(x.extents(), axes);
  return x.data();
}

}  // namespace detail
}  // namespace dimwise
