// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/elements/widen.hpp -- elements of 16, 8 or 4 bits as floats: what is stored is narrow, what is computed
// is float.
//
// Layer: expr. Fused attention reads such keys and values in the bits that they are stored in.
// Tests: tests/nn/cache/bfloat16.test.cpp
//
//   scores<d_k>(q, widened(k))                    k: bfloat16 or float16
//   scores<d_k>(q, dequantised(k, scale))         k: int8, times a scale
//   contract<d_model>(x, dequantised(w, scale))   w: int8; scale: along blocks<d_model>, one for 32 features
#pragma once

#include <dimwise/expr/elements/numbers.hpp>
#include <dimwise/expr/node.hpp>
#include <dimwise/expr/operation.hpp>
#include <dimwise/expr/untracked.hpp>

#include <cstdint>

namespace dimwise {

/// The dimension of the bytes of a feature that has two elements in a byte.
template <class F>
struct half : dimension<F::abilities, F::static_extent == at_run_time ? at_run_time : (F::static_extent + 1) / 2> {
  using dimension<F::abilities, F::static_extent == at_run_time ? at_run_time : (F::static_extent + 1) / 2>::dimension;
};

/// How many neighbours share one scale.
inline constexpr extent_t block_extent = 32;

/// The dimension of the scales of D…: one for 32 elements that are neighbours where D… are one row, the last fastest.
/// The last block may be shorter.
template <class... D>
struct blocks : dimension<detail::merged_abilities({D::abilities...}),
                          detail::block_count(detail::product({D::static_extent...}))> {
  using dimension<detail::merged_abilities({D::abilities...}),
                  detail::block_count(detail::product({D::static_extent...}))>::dimension;
};

namespace detail {

// Two elements to a byte.
constexpr extent_t bytes_of_pairs(extent_t features) { return features / 2 + features % 2; }

// Stored elements as floats, times a scale where there is a second child. `Packed` is the feature of the result whose
// bytes the operand has, else `nothing`.
template <class Packed>
struct widen {
  static constexpr const char* name = "widened";
  using packed = Packed;
};
template <class Shape, class Packed, class X, class... Scale>
using widened_node = node<widen<Packed>, Shape, float, X, Scale...>;

// The same where one scale serves a block of neighbours along `Along`.
template <class Packed, class Along>
struct widen_blocks {
  static constexpr const char* name = "dequantised";
  using packed = Packed;
  using along = Along;
};
template <class Shape, class Packed, class Along, class X, class Scale>
using widened_blocks_node = node<widen_blocks<Packed, Along>, Shape, float, X, Scale>;

// The dimensions whose blocks a scale is for; empty where it is for single elements.
template <class Dims>
struct blocks_among {
  using type = list<>;
};
template <class First, class... Rest>
struct blocks_among<list<First, Rest...>> : blocks_among<list<Rest...>> {};
template <class... D, class... Rest>
struct blocks_among<list<blocks<D...>, Rest...>> {
  using type = list<D...>;
  using dimension = blocks<D...>;
};
template <class Scale>
using scaled_blocks = blocks_among<dims_t<shape_of<Scale>>>;
template <class Scale>
inline constexpr bool scales_blocks = scaled_blocks<Scale>::type::size > 0;

// Whether F is the fastest dimension of a block, along which each byte holds two numbers.
template <class F, class Along>
inline constexpr bool ends_in = true;
template <class F, class First, class Second, class... Rest>
inline constexpr bool ends_in<F, list<First, Second, Rest...>> = ends_in<F, list<Second, Rest...>>;
template <class F, class Last>
inline constexpr bool ends_in<F, list<Last>> = std::is_same_v<F, Last>;

// The shape of a scale as if it had one number for each element.
template <class Scale, class Blocks = scaled_blocks<Scale>>
struct scale_shape {
  using type = shape_of<Scale>;
};
template <class Scale, class Blocks>
  requires(Blocks::type::size > 0)
struct scale_shape<Scale, Blocks> {
  using type = make_shape_t<replace_t<dims_t<shape_of<Scale>>, typename Blocks::dimension, typename Blocks::type>,
                            marks_t<shape_of<Scale>>>;
};

template <class Shape, class From, class To>
using with_dimension_t = make_shape_t<replace_t<dims_t<Shape>, From, list<To>>, marks_t<Shape>>;

// A scale has dimensions of what it scales (R8), and none of which the other has one element alone (R18).
template <class Shape, class Scale>
consteval auto judge_dequantised() {
  if constexpr (any_masked<Scale>) {
    return answer<ERROR_R7_masked_values_are_given_to_a_function<op::dequantised, lhs_t<Shape>, rhs_t<Scale>>>{};
  } else if constexpr (indexed_meets<Shape, Scale>) {
    return answer<ERROR_R18_single_element_meets_its_whole_dimension<op::dequantised, lhs_t<Shape>, rhs_t<Scale>>>{};
  } else if constexpr (!is_subset<dims_t<Scale>, dims_t<Shape>>) {
    return answer<ERROR_R8_neither_has_all_dimensions_of_the_other<op::dequantised, lhs_t<Shape>, rhs_t<Scale>>>{};
  } else {
    return answer<accepted<with_indexed_t<Shape, Scale>>>{};
  }
}
template <class Shape, class Scale>
using scale_verdict = typename decltype(judge_dequantised<Shape, Scale>())::type;
template <class Shape, class Scale>
using dequantised_verdict =
    of_constants<op::dequantised, scale_verdict<Shape, typename scale_shape<Scale>::type>, Scale>;
// One float for elements; of blocks also a number of 16 bits.
template <class T>
concept scale_of_floats = operand<T> && (std::is_same_v<untracked_t<value_of<T>>, float> ||
                                         (scales_blocks<T> && is_half_precision<value_of<T>>));

// R15: as many scales as there are blocks.
template <class Along, class Extents, class ScaleExtents>
void check_blocks(const Extents& e, const ScaleExtents& scale) {
  [&]<class... D>(list<D...>) {
    const extent_t needed = block_count((e.template extent<D>() * ... * extent_t{1}));
    if (scale.template extent<blocks<D...>>() != needed) {
      raise<extent_error>(error{} << "dequantised: dimension " << dimension_name<blocks<D...>>() << " has extent "
                                  << scale.template extent<blocks<D...>>() << ", but its dimensions have " << needed
                                  << " blocks of " << block_extent << " elements (R15)");
    }
  }(Along{});
}
template <class Shape, class Packed, class Extents, operand X, operand Scale>
auto make_widened(Extents e, const X& x, const Scale& scale) {
  if constexpr (scales_blocks<Scale>) {
    using along = typename scaled_blocks<Scale>::type;
    check_blocks<along>(e, scale.extents());
    return widened_blocks_node<Shape, Packed, along, X, Scale>({}, e, x, scale);
  } else {
    return widened_node<Shape, Packed, X, Scale>({}, e, x, scale);
  }
}

// ---- the calls ------------------------------------------------------------------------------------------------------

namespace calls {

struct widened {
  template <operand X>
    requires(is_half_precision<value_of<X>>)
  static auto judge(list<>, const X&) -> accepted<shape_of<X>>;
  template <class Verdict, operand X>
  static auto make(list<>, const X& x) {
    return widened_node<shape_of<X>, nothing, X>({}, x.extents(), x);
  }
};
template <class F, class X, class Scale>
inline constexpr bool unpacks = std::is_same_v<value_of<X>, int4_pair> && is_in<half<F>, dims_t<shape_of<X>>> &&
                                ends_in<F, typename scaled_blocks<Scale>::type>;
template <class F, class X, class Scale>
using unpacked_verdict = dequantised_verdict<with_dimension_t<shape_of<X>, half<F>, F>, Scale>;
struct dequantised {
  template <operand X, scale_of_floats Scale>
    requires(std::is_same_v<value_of<X>, std::int8_t>)
  static auto judge(list<>, const X&, const Scale&) -> dequantised_verdict<shape_of<X>, Scale>;
  template <class Verdict, operand X, scale_of_floats Scale>
    requires(std::is_same_v<value_of<X>, std::int8_t>)
  static auto make(list<>, const X& x, const Scale& scale) {
    using shape = typename Verdict::shape;
    return make_widened<shape, nothing>(extents_from<shape>("dequantised", x.extents(), scale.extents()), x, scale);
  }
  template <class Named, operand X, scale_of_floats Scale, class F>
    requires(begins<Named, list<F>> && unpacks<F, X, Scale>)
  static auto judge(Named, const X&, const Scale&, const F&) -> unpacked_verdict<F, X, Scale>;
  template <class F, operand X, scale_of_floats Scale>
    requires unpacks<F, X, Scale>
  static auto judge(list<F>, const X&, const Scale&)
      -> without_extent_t<op::dequantised, F, unpacked_verdict<F, X, Scale>>;
  template <class Verdict, class Named, operand X, scale_of_floats Scale, class F = first_t<Named>>
  static auto make(Named, const X& x, const Scale& scale, const F& features = {}) {
    using shape = typename Verdict::shape;
    auto e = extents_from<shape>("dequantised", one_extent(features), x.extents(), scale.extents());
    if (bytes_of_pairs(e.template extent<F>()) != x.extents().template extent<half<F>>()) {
      raise<extent_error>(error{} << "dequantised: dimension " << dimension_name<F>() << " has extent "
                                  << e.template extent<F>() << ", but " << x.extents().template extent<half<F>>()
                                  << " bytes are along it (R15)");
    }
    return make_widened<shape, F>(e, x, scale);
  }
};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// Elements of 16 bits as floats, exactly.
///
///   widened(x):  [D…]  ->  [D…]
DIMWISE_DETAIL_OPERATION(widened)

/// Whole numbers of 8 bits, or of 4 bits, two in a byte along F, times a scale: one for all or along some of their
/// dimensions (R8, R18).
///
///   dequantised(x, scale):      [D…] x [subset]                            ->  [D…]
///   dequantised<F>(x, scale):   [half<F>, rest] x [subset of F, rest]      ->  [F, rest]
///
/// A run-time extent of F is given: `dequantised<F>(x, scale, F{n})`. A scale along `blocks<D…>`, a float or of 16
/// bits, has one number for 32 neighbours along D…. Throws `extent_error` for another number of bytes or blocks (R15).
DIMWISE_DETAIL_OPERATION(dequantised)

}  // namespace no_adl

}  // namespace dimwise
