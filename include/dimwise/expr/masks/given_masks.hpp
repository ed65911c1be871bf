// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/masks/given_masks.hpp -- masks that hold tensors: lengths (`padding`), truth values (`allow`, `block`).
//
// Layer: expr.
// Tests: tests/expr/masks/mask.test.cpp, tests/compile_fail/mask/
//
//   masked(scores<d_k>(q, k), padding<key>(lengths))
#pragma once

#include <dimwise/expr/masks/position_masks.hpp>

namespace dimwise {

/// Keys before each sequence's length are visible.
template <class K, class Lengths>
class padding_mask : public detail::mask_tag {
 public:
  using facts = detail::mask_facts<detail::join_t<detail::dims_t<detail::shape_of<Lengths>>, detail::list<K>>,
                                   detail::list<K>, false, detail::taken_t<detail::shape_of<Lengths>>>;
  static constexpr const char* name = "padding";

  /// The mask of these lengths, as `padding` makes it.
  explicit padding_mask(const Lengths& lengths) : lengths_(lengths) {}
  /// The lengths that were given.
  [[nodiscard]] const Lengths& lengths() const { return lengths_; }
  template <class F>
  void each_child(const F& f) const {
    f(lengths_);
  }
  template <class Extents>
  void check(const Extents& e, const char* operation) const {
    (void)detail::merge_extents<detail::union_t<typename Extents::atoms, typename Lengths::extents_type::atoms>>(
        operation, e, lengths_.extents());
  }

 private:
  Lengths lengths_;
};

namespace detail {

// Lengths are whole numbers for each of some parallel dimensions.
template <class L>
inline constexpr bool are_lengths =
    std::is_integral_v<value_of<L>> && !std::is_same_v<value_of<L>, bool> && filter<dims_t<shape_of<L>>>::all_parallel;

// Lengths count the elements of a whole dimension.
template <class K>
using padding_of_part = ERROR_R24_operation_goes_over_a_shard<op::padding, over<about_t<K>>>;

}  // namespace detail

namespace no_adl {

/// Keys before the length of their sequence are visible: `padding<key>(lengths)`, `lengths` a tensor of whole numbers
/// over parallel dimensions. Throws `extent_error` when evaluated with a length beyond the keys.
template <class K, operand L>
  requires(detail::are_lengths<L> && !detail::is_sharded<K>)
[[nodiscard]] auto padding(const L& lengths) {
  return padding_mask<K, L>(lengths);
}
template <class K, operand L,
          class Error = ERROR_R7_lengths_are_no_whole_numbers_over_parallel_dimensions<
              op::padding, over<detail::about_t<K>>, detail::operand_t<detail::shape_of<L>>>>
  requires(!detail::are_lengths<L>)
Error padding(const L& lengths);
/// One length for all.
template <class K, std::integral N>
  requires(!detail::is_sharded<K>)
[[nodiscard]] auto padding(N length) {
  return padding_mask<K, tensor<std::ptrdiff_t>>(tensor<std::ptrdiff_t>({static_cast<std::ptrdiff_t>(length)}));
}
template <class K, operand L, class Error = detail::padding_of_part<K>>
  requires(detail::are_lengths<L> && detail::is_sharded<K>)
Error padding(const L& lengths);
template <class K, std::integral N, class Error = detail::padding_of_part<K>>
  requires(detail::is_sharded<K>)
Error padding(N length);
DIMWISE_DETAIL_MISUSED(padding)

}  // namespace no_adl

namespace detail {

template <class T>
inline constexpr bool is_bool = std::is_same_v<T, bool>;

}  // namespace detail

/// A mask given as a tensor of bool: visible where true.
template <class E>
class given_mask : public detail::mask_tag {
 public:
  // Documents are kept apart only by a mask that has both sides of a packed dimension; its content is the user's.
  using facts =
      detail::mask_facts<detail::dims_t<detail::shape_of<E>>,
                         typename detail::alternatives_in<detail::dims_t<detail::shape_of<E>>>::type,
                         (detail::filter<detail::axes_of_list_t<detail::dims_t<detail::shape_of<E>>>>::packed > 1),
                         detail::taken_t<detail::shape_of<E>>>;
  static constexpr const char* name = "allow";
  /// The mask of these elements, as `allow` makes it.
  explicit given_mask(const E& e) : elements_(e) {}
  /// The elements that were given.
  [[nodiscard]] const E& elements() const { return elements_; }
  template <class F>
  void each_child(const F& f) const {
    f(elements_);
  }
  template <class Extents>
  void check(const Extents& e, const char* operation) const {
    (void)detail::merge_extents<detail::union_t<typename Extents::atoms, typename detail::extents_type_of<E>::atoms>>(
        operation, e, elements_.extents());
  }

 private:
  E elements_;
};

/// A tensor of bool that is true where something is hidden; `allow_of` turns it into a mask.
template <class E>
class block_mask {
 public:
  /// The mask of these elements, as `block` makes it.
  explicit block_mask(const E& e) : elements_(e) {}
  block_mask(const block_mask&) = default;  // moving copies
  block_mask& operator=(const block_mask&) = default;
  ~block_mask() = default;
  [[nodiscard]] const E& elements() const { return elements_; }

 private:
  E elements_;
};

namespace detail {

template <class M>
inline constexpr bool is_block_mask = false;
template <class E>
inline constexpr bool is_block_mask<block_mask<E>> = true;
// What is given for a mask by mistake: a tensor of bool that does not say what true means, a tensor of 0 and 1 or of
// lengths, a mask of the other polarity.
template <class M>
inline constexpr bool is_unclear_mask = is_block_mask<M>;
template <operand M>
inline constexpr bool is_unclear_mask<M> = std::is_integral_v<value_of<M>>;
template <class M>
concept unclear_mask = is_unclear_mask<M>;

template <class Op, class M, class... X>
struct unclear_mask_error {};
template <class Op, operand M, class... X>
struct unclear_mask_error<Op, M, X...> {
  using type = ERROR_R7_given_mask_is_a_tensor_of_bool<Op, operand_t<shape_of<M>>>;
};
template <class Op, operand M, class... X>
  requires is_bool<value_of<M>>
struct unclear_mask_error<Op, M, X...> {
  using type = error_with_t<ERROR_R7_mask_needs_a_polarity_allow_or_block, Op, shape_of<X>..., shape_of<M>>;
};
template <class Op, class E, class... X>
struct unclear_mask_error<Op, block_mask<E>, X...> {
  using type = error_with_t<ERROR_R7_block_mask_needs_allow_of, Op, shape_of<X>..., shape_of<E>>;
};
// The error of a call whose mask is the operand or block mask M, with the operands X before it; no type for others.
template <class Op, class M, class... X>
using unclear_mask_error_t = typename unclear_mask_error<Op, M, X...>::type;

}  // namespace detail

namespace no_adl {

/// The mask that `elements`, a tensor of bool, says: visible where true.
template <operand E>
  requires(detail::is_bool<detail::value_of<E>>)
[[nodiscard]] auto allow(const E& elements) {
  return given_mask<E>(elements);
}
template <operand E,
          class Error = ERROR_R7_given_mask_is_a_tensor_of_bool<op::allow, detail::operand_t<detail::shape_of<E>>>>
  requires(!detail::is_bool<detail::value_of<E>>)
Error allow(const E& elements);
DIMWISE_DETAIL_MISUSED(allow)
/// The opposite polarity, hidden where true, as PyTorch's `key_padding_mask` means it.
template <operand E>
  requires(detail::is_bool<detail::value_of<E>>)
[[nodiscard]] auto block(const E& elements) {
  return block_mask<E>(elements);
}

template <operand E,
          class Error = ERROR_R7_given_mask_is_a_tensor_of_bool<op::block, detail::operand_t<detail::shape_of<E>>>>
  requires(!detail::is_bool<detail::value_of<E>>)
Error block(const E& elements);
DIMWISE_DETAIL_MISUSED(block)

}  // namespace no_adl

}  // namespace dimwise
