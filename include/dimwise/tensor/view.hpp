// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/view.hpp -- views: typed dimensions over borrowed memory, with strides.
//
// Layer: tensor. A view does not own: its memory must outlive the view and every expression formed from it.
// Tests: tests/tensor/view.test.cpp
//
//   tensor_view<const float, seq, d_k> k(buffer, seq{n});
//   tensor_view<float, seq, d_k>       y(pointer, strides{96, 1}, seq{n});
#pragma once

#include <dimwise/tensor/tensor.hpp>

#include <array>
#include <span>

namespace dimwise {

namespace detail {

template <class D, class Axes>
concept run_time_axis = is_in<D, Axes> && D::static_extent == at_run_time;

}  // namespace detail

/// Strides in elements, one per dimension of a view in the order of its type; a composite has one per factor.
template <std::size_t Rank>
struct strides {
  std::array<std::ptrdiff_t, Rank> at;
};
template <class... Number>
strides(Number...) -> strides<sizeof...(Number)>;

/// A borrowed tensor: elements of `T` or `const T` with strides, over a span, a pointer, or a tensor.
///
/// Expressions read the memory when they are evaluated. Assignment to a mutable view writes into its memory: extents
/// must agree (`extent_error`), and all checks and computations precede the first write.
template <class T, class... DimsAndMarks>
class tensor_view : public detail::shaped_as<shape<DimsAndMarks...>>,
                    public detail::stored_base<std::remove_const_t<T>, detail::stored_t<shape<DimsAndMarks...>>>::type {
 public:
  using shape_type = shape<DimsAndMarks...>;
  using value_type = std::remove_const_t<T>;
  using extents_type = detail::extents_for<shape_type>;
  using axes = detail::axes_for<shape_type>;
  static constexpr std::size_t rank = axes::size;

  /// Views contiguous elements; throws `extent_error` if their number differs from that of the extents (R15). Rejects
  /// temporary containers, which would be destroyed before the view.
  // A separate template parameter: g++ 12 prefers `tensor_view(...)` to a conversion of a container to a span.
  template <class Elements, class... Extents>
    requires(std::convertible_to<Elements, std::span<T>> && !operand<Elements> &&
             (std::is_lvalue_reference_v<Elements> || std::ranges::enable_borrowed_range<std::remove_cv_t<Elements>>) &&
             detail::gives_extents<shape_type, Extents...>)
  explicit tensor_view(Elements&& elements, const Extents&... given)
      : tensor_view(std::span<T>(elements).data(), given...) {
    detail::check_count(std::span<T>(elements).size(), size_of(*this), "tensor_view");
  }
  /// Views contiguous elements at a pointer.
  template <class... Extents>
    requires(detail::gives_extents<shape_type, Extents...>)
  explicit tensor_view(T* elements, const Extents&... given)
      : data_(elements), extents_(detail::given_extents<extents_type>(given...)) {
    set_extents();
    detail::make_contiguous(axes_.data(), rank);
  }
  /// Views elements with strides.
  template <class... Extents>
    requires(detail::gives_extents<shape_type, Extents...>)
  explicit tensor_view(T* elements, const strides<rank>& by, const Extents&... given)
      : data_(elements), extents_(detail::given_extents<extents_type>(given...)) {
    set_extents();
    for (std::size_t i = 0; i < rank; ++i) { axes_[i].stride = by.at[i]; }
  }
  /// Views the current elements of a tensor, which must outlive the view.
  tensor_view(const tensor<value_type, DimsAndMarks...>& whole)
    requires std::is_const_v<T>
      : data_(whole.data()), extents_(whole.extents()), kept_(whole.handle().kept()) {
    set_extents();
    detail::make_contiguous(axes_.data(), rank);
  }
  template <class Error = ERROR_R3_view_and_tensor_differ_in_type<shape_type>>
  tensor_view(const tensor<value_type, DimsAndMarks...>&& temporary, Error* = nullptr) DIMWISE_DETAIL_REFUSED(Error);
  tensor_view(tensor<value_type, DimsAndMarks...>& whole)
    requires(!std::is_const_v<T>)
      : data_(whole.data()), extents_(whole.extents()) {
    set_extents();
    detail::make_contiguous(axes_.data(), rank);
  }

  /// A read-only view of the same elements.
  tensor_view(const tensor_view<value_type, DimsAndMarks...>& writable)
    requires std::is_const_v<T>
      : data_(writable.data()), extents_(writable.extents()), axes_(writable.layout()) {}

  /// Rejects other arguments: elements of another type, missing extents, extents of another shape.
  template <class Error = ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents<shape_type>>
  explicit tensor_view(...) DIMWISE_DETAIL_REFUSED(Error);
#if defined(DIMWISE_DETAIL_CONSTRUCTORS_SAY)
  template <class Error = ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents<shape_type>>
  explicit tensor_view(const detail::any_object&, ...) DIMWISE_DETAIL_REFUSED(Error);
#endif
  /// Rejects expressions, and tensors of other dimensions, order or elements: evaluate or `permute` them first.
  template <class Other, class Error = ERROR_R3_view_and_tensor_differ_in_type<shape_type, Other>>
  tensor_view(const detail::shaped_as<Other>& other, Error* = nullptr) DIMWISE_DETAIL_REFUSED(Error);
  tensor_view(const detail::already_refused& other);  // implicit: its operand is the only error

  tensor_view(const tensor_view&) = default;
  /// Writes the elements of another view into this view's memory.
  tensor_view& operator=(const tensor_view& value)
    requires(!std::is_const_v<T>)
  {
    assign_value(*this, value);
    return *this;
  }
  /// Evaluates into this view's memory; the extents must agree.
  template <operand E>
    requires(!std::is_const_v<T> && !std::same_as<E, tensor_view> && detail::fits<T, detail::value_of<E>> &&
             allowed<rule::assign<shape_type, detail::shape_of<E>>>)
  tensor_view& operator=(const E& value) {
    assign_value(*this, value);
    return *this;
  }
  template <operand E, class Verdict = rule::assign<shape_type, detail::shape_of<E>>>
    requires refused<Verdict>
  Verdict operator=(const E& value);
  template <operand E, class Error = detail::operand_elements_error<T, E>>
    requires((std::is_const_v<T> || !detail::fits<T, detail::value_of<E>>) &&
             allowed<rule::assign<shape_type, detail::shape_of<E>>>)
  Error operator=(const E& value);
  template <class Number>
    requires(!std::is_const_v<T> && detail::number_for<Number, shape_type, T>)
  tensor_view& operator=(const Number& value) {
    return *this = tensor<value_type, DimsAndMarks...>(value);
  }
  template <class Other, class Error = detail::assigned_error<shape_type, Other>>
    requires(!operand<Other> && !std::convertible_to<const Other&, tensor_view> &&
             (std::is_const_v<T> || !detail::number_for<Other, shape_type, T>))
  Error operator=(const Other& value);

  /// For modules: contiguous elements with known extents.
  [[nodiscard]] static tensor_view over(std::span<T> elements, const extents_type& e) {
    tensor_view result(elements.data(), e);
    detail::check_count(elements.size(), size_of(result), "tensor_view");
    return result;
  }

  /// The first element, the number of elements, the extents, and extent and stride of each axis.
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_of(*this); }
  using detail::other_names::size;  // with an argument
  [[nodiscard]] const extents_type& extents() const& { return extents_; }
  [[nodiscard]] extents_type extents() const&& { return extents_; }
  [[nodiscard]] const std::array<detail::axis, rank + 1>& layout() const& { return axes_; }
  [[nodiscard]] std::array<detail::axis, rank + 1> layout() const&& { return axes_; }

  /// The `count` elements along D from the element `from` on, as a view of the same memory. The position of its first
  /// element is that of `count` if given, otherwise it follows from this view. `count` provides the documents of packed
  /// positions.
  /// Throws `extent_error` if the elements exceed the extent of D.
  template <class D>
    requires(detail::run_time_axis<D, axes>)
  [[nodiscard]] tensor_view within(detail::given_count from, const D& count) const {
    const std::size_t first = from.checked("within");
    tensor_view result = *this;
    detail::slot& s = result.extents_.template of_atom<D>();
    if (first > s.extent || count.extent() > s.extent - first) {
      detail::raise<extent_error>(error{} << "within: " << count.extent() << " elements of dimension "
                                          << detail::dimension_name<D>() << " from " << first
                                          << " on exceed its extent " << s.extent << " (R18)");
    }
    s.extent = count.extent();
    if (count.given_origin() != detail::unknown_origin) {
      s.origin = count.given_origin();
    } else if (s.origin != detail::unknown_origin) {
      s.origin = detail::first_after<D>(s.origin, first, "within");
    }
    if constexpr (detail::has_documents<D>) {
      result.extents_.template documents<D>() = segments();  // the documents of the whole view end elsewhere
      if constexpr (requires { count.documents(); }) { result.extents_.template documents<D>() = count.documents(); }
    }
    detail::axis& along = result.axes_[detail::index_in<D, axes>];
    along.extent = count.extent();
    result.data_ += detail::times(along.stride, first);
    return result;
  }

  /// Rejects a number for an extent, and a dimension that the view lacks or whose extent the compiler knows (R1).
  template <class First, class Given,
            class Error = ERROR_R1_operation_takes_other_arguments<op::within, dimwise::over<Given>,
                                                                   detail::operand_t<shape_type>>>
    requires(!detail::refused_operand<First> && !detail::refused_operand<Given> &&
             !(std::is_convertible_v<First, std::size_t> && detail::run_time_axis<Given, axes>))
  Error within(const First& first, const Given& count) const;
  template <class First, class Given>
    requires(detail::refused_operand<First> || detail::refused_operand<Given>)
  detail::already_refused within(const First& first, const Given& count) const;
  template <class Error = ERROR_R1_operation_takes_other_arguments<op::within, detail::operand_t<shape_type>>>
  Error within(...) const;

  /// The element with these ids, one per dimension in any order; throws `index_error` out of range (R18).
  template <class... Ids>
    requires(detail::indexes_all<shape_type, Ids...>)
  [[nodiscard]] T& operator()(const Ids&... ids) const {
    return data_[detail::axis_offset<axes>::of(extents_, axes_.data(), ids...)];
  }
  template <class... Ids, class Error = detail::taken_error<shape_type, Ids...>>
    requires(!detail::indexes_all<shape_type, Ids...>)
  Error operator()(const Ids&... ids) const;
  template <class Place, class Error = detail::taken_error<shape_type, Place>>
  Error operator[](const Place& place) const;
  /// The value of a view without dimensions.
  operator value_type() const  // implicit: as for `tensor<T> y = x`, no mark may be dropped
    requires(detail::is_plain_number<shape_type>)
  {
    return *data_;
  }

 private:
  tensor_view(T* elements, const extents_type& e) : data_(elements), extents_(e) {
    set_extents();
    detail::make_contiguous(axes_.data(), rank);
  }
  void set_extents() {
    extents_.check_divided();
    detail::axis_extents<axes>::write(extents_, axes_.data(), "tensor_view");
    (void)detail::checked_size<axes>(axes_.data(), sizeof(T), "tensor_view");
  }

  T* data_ = nullptr;
  extents_type extents_;
  std::array<detail::axis, rank + 1> axes_{};
  detail::shared_storage<value_type> kept_{};  // keeps a tensor's buffer alive, which the tensor may replace at a write
};

namespace detail {

// The tensor or view type of a shape.
template <class T, class Shape>
struct stored_in;
template <class T, class... D>
struct stored_in<T, shape<D...>> {
  using tensor_type = tensor<T, D...>;
  using view_type = tensor_view<T, D...>;
};
template <class T, class Shape>
using tensor_of = typename stored_in<T, Shape>::tensor_type;
template <class T, class Shape>
using view_of = typename stored_in<T, Shape>::view_type;

template <class T, class... D>
const std::remove_const_t<T>* read_leaf(const tensor_view<T, D...>& x, axis* axes) {
  for (std::size_t i = 0; i < tensor_view<T, D...>::rank; ++i) { axes[i] = x.layout()[i]; }
  return x.data();
}

template <class X>
inline constexpr bool is_leaf = is_tensor<X>;
template <class T, class... D>
inline constexpr bool is_leaf<tensor_view<T, D...>> = true;

}  // namespace detail
}  // namespace dimwise
