// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/stored.hpp -- elements that kernels read as they are stored: keys, values, weights.
//
// Layer: eval. One small function for each type of node puts them in memory.
// Tests: tests/eval/records.test.cpp, tests/eval/plan/quantised.test.cpp, tests/nn/cache/bfloat16.test.cpp
#pragma once

#include <dimwise/eval/pass.hpp>
#include <dimwise/eval/records/record.hpp>
#include <dimwise/expr/elements/widen.hpp>

namespace dimwise::detail {

template <class Pass, class N>
struct stored_of_node;

#if !defined(DIMWISE_PLAIN_ONLY)

// As a product reads them (records/stored_definitions.hpp). A template: header-only programs with float weights
// compile no kernel for others.
template <class C>
bool multiply_quantised(walk& w, const record<C>& r, const product_chain_of_records& chain, std::size_t place,
                        target<C> to);

template <class Pass, class X>
void read_stored(Pass& pass, const X& node, stored_elements& to) {
  auto x = read<float>(pass, node);
  to.layout = x;
  to.data = x.data;
  if (x.buffer.empty()) { return; }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(x.data);
  const auto viewed = static_cast<std::size_t>(x.data - x.buffer.data());
  to.copied.resize((x.buffer.size() - viewed) * sizeof(value_of<X>));
  for (std::size_t i = 0; i < to.copied.size(); ++i) { to.copied.data()[i] = bytes[i]; }
  to.data = to.copied.data();
}

// Numbers, with one scale for all features of a row or without.
template <class Pass, class Shape, class Packed, class X, class... Scale>
struct stored_of_node<Pass, widened_node<Shape, Packed, X, Scale...>> {
  using N = widened_node<Shape, Packed, X, Scale...>;
  using all = axes_for<Shape>;
  using element = value_of<X>;
  using last_axis = element_t<all::size - 1, all>;
  using scale_axes = join_t<axes_for<shape_of<Scale>>...>;
  static constexpr bool is_packed = !std::is_same_v<Packed, nothing>;

  // Features are contiguous in memory, and all keys have one scale.
  static bool read_rows([[maybe_unused]] walk& w, [[maybe_unused]] const void* node, [[maybe_unused]] name_of key,
                        [[maybe_unused]] stored_rows& to) {
    if constexpr ((is_packed && !std::is_same_v<last_axis, Packed>) || !is_feature<last_axis>) {
      return false;
    } else {
      if (name_list_of<scale_axes>.place_of(key) >= 0) { return false; }
      const N& n = *static_cast<const N*>(node);
      Pass pass = pass_of<Pass>(w);
      read_stored(pass, n.template child<0>(), to.elements);
      axis& last = to.elements.layout.axes[all::size - 1];
      if (last.stride != 1) { return false; }
      if constexpr (is_packed) { last.extent = n.extents().template extent<Packed>(); }
      to.data = {to.elements.data, format_of<element>};
      to.data.kernels = kernels::active().stored_rows;
      to.bytes = sizeof(element);
      if constexpr (sizeof...(Scale) == 1) {
        to.scale = read<float>(pass, n.template child<1>());
        to.scale_axes = name_list_of<scale_axes>;
        to.data.scale = to.scale.data;
        to.data.scale_feature = stride_of<last_axis, scale_axes>(to.scale);
      }
      return true;
    }
  }
  static void read_weights(walk& w, const void* node, stored_elements& numbers, stored_elements&) {
    Pass pass = pass_of<Pass>(w);
    read_stored(pass, static_cast<const N*>(node)->template child<0>(), numbers);
  }
  static constexpr stored_weights weights = {format_of<element>, sizeof(element),           nullptr, nullptr,
                                             &read_weights,      &multiply_quantised<float>};
  static constexpr const stored_weights* weights_if_any() {
    if constexpr (!is_packed && sizeof...(Scale) == 0 && in_memory<X>) {
      return &weights;
    } else {
      return nullptr;
    }
  }
  static constexpr stored_facts_of_record value = {
      !is_packed && sizeof...(Scale) == 0 && std::is_same_v<element, bfloat16>, &read_rows, weights_if_any()};
};
template <class Shape, class Packed, class X, class... Scale>
inline constexpr bool is_stored_node<widened_node<Shape, Packed, X, Scale...>> = true;

// Numbers with a scale of 16 bits for each block, which are weights alone: rows of both are in one order.
template <class Pass, class Shape, class Packed, class Along, class X, class Scale>
struct stored_of_node<Pass, widened_blocks_node<Shape, Packed, Along, X, Scale>> {
  using N = widened_blocks_node<Shape, Packed, Along, X, Scale>;

  static void read_weights(walk& w, const void* node, stored_elements& numbers, stored_elements& scales) {
    const N& n = *static_cast<const N*>(node);
    Pass pass = pass_of<Pass>(w);
    read_stored(pass, n.template child<0>(), numbers);
    read_stored(pass, n.template child<1>(), scales);
  }
  static constexpr stored_weights weights = {format_of<value_of<X>>,
                                             sizeof(value_of<X>),
                                             std::is_same_v<Packed, nothing> ? nullptr : &dimension_name<Packed>,
                                             &name_list_of<axes_of_list_t<Along>>,
                                             &read_weights,
                                             &multiply_quantised<float>};
  static constexpr stored_facts_of_record value = {false, nullptr, &weights};
};
template <class Shape, class Packed, class Along, class X, class Scale>
  requires(in_memory<X> && in_memory<Scale> && std::is_same_v<value_of<Scale>, float16>)
inline constexpr bool is_stored_node<widened_blocks_node<Shape, Packed, Along, X, Scale>> = std::is_same_v<
    join_t<difference_t<axes_for<Shape>, axes_of_list_t<Along>>, list<typename scaled_blocks<Scale>::dimension>>,
    axes_for<shape_of<Scale>>>;

#endif

}  // namespace dimwise::detail

#if !defined(DIMWISE_PLAIN_ONLY)
#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/records/stored_definitions.hpp>
#endif
#if DIMWISE_DETAIL_HAS_LIBRARY
namespace dimwise::detail {
DIMWISE_DETAIL_LIBRARY_TEMPLATE bool multiply_quantised<float>(walk&, const record<float>&,
                                                               const product_chain_of_records&, std::size_t,
                                                               target<float>);
}  // namespace dimwise::detail
#endif
#endif
