// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/widen.hpp -- elements of 16, 8 or 4 bits as floats: what is stored is narrow, what is computed is float.
//
// Layer: expr. Fused attention reads such keys and values in the bits that they are stored in.
// Tests: tests/nn/cache_stored.test.cpp
//
//   scores<d_k>(q, widened(k))                    k: bfloat16 or float16
//   scores<d_k>(q, dequantised(k, scale))         k: int8, times a scale
#pragma once

#include <cstdint>

#include <dimwise/expr/numbers.hpp>
#include <dimwise/tensor/view.hpp>

namespace dimwise {

/// A feature whose elements lie two in a byte: the dimension of the bytes.
template <class F>
struct half : dimension<F::abilities, F::static_extent == at_run_time ? at_run_time : (F::static_extent + 1) / 2> {
  using dimension<F::abilities, F::static_extent == at_run_time ? at_run_time : (F::static_extent + 1) / 2>::dimension;
};

namespace detail {

struct no_scale {};

// Two elements to a byte.
constexpr extent_t bytes_of_pairs(extent_t features) { return features / 2 + features % 2; }

// Packed: the feature of the result whose bytes the operand has, else nothing.
template <class Shape, class X, class Scale, class Packed>
class widened_node : public node<Shape, float> {
 public:
  using inner_type = X;
  using scale_type = Scale;
  using packed = Packed;
  widened_node(const X& x, const Scale& scale, extents_for<Shape> e) : node<Shape, float>(static_cast<extents_for<Shape>&&>(e)), inner_(x), scale_(scale) {}
  [[nodiscard]] const X& inner() const { return inner_; }
  [[nodiscard]] const Scale& scale() const { return scale_; }

 private:
  X inner_;
  Scale scale_;
};

template <class X, class Scale>
inline constexpr bool scales = is_subset<dims_t<shape_of<Scale>>, dims_t<shape_of<X>>> && std::is_same_v<value_of<Scale>, float>;
template <class Shape, class From, class To>
using with_dimension_t = make_shape_t<replace_t<dims_t<Shape>, From, list<To>>, marks_t<Shape>>;

}  // namespace detail

namespace words {

/// Elements of 16 bits as floats, exactly.
///
///   [D…]  ->  [D…]
template <operand X>
  requires(detail::is_half_precision<detail::value_of<X>>)
[[nodiscard]] auto widened(const X& x) {
  return detail::widened_node<detail::shape_of<X>, X, detail::no_scale, detail::nothing>(x, {}, x.extents());
}

/// Whole numbers of 8 bits times a scale, one for all or along some of their dimensions.
///
///   [D…] x [subset]  ->  [D…]
template <operand X, operand Scale>
  requires(std::is_same_v<detail::value_of<X>, std::int8_t> && detail::scales<X, Scale>)
[[nodiscard]] auto dequantised(const X& x, const Scale& scale) {
  using shape = detail::shape_of<X>;
  return detail::widened_node<shape, X, Scale, detail::nothing>(
      x, scale, detail::carry<typename detail::extents_for<shape>::atoms>("dequantised", x.extents(), scale.extents()));
}

/// Whole numbers of 4 bits, two in a byte along F, times a scale.
///
///   dequantised<F>(x, scale):  [half<F>, rest] x [subset of F, rest]  ->  [F, rest]
template <class F, operand X, operand Scale>
  requires(std::is_same_v<detail::value_of<X>, int4_pair> && detail::is_in<half<F>, detail::dims_t<detail::shape_of<X>>>)
[[nodiscard]] auto dequantised(const X& x, const Scale& scale, const F& features = F{}) {
  using shape = detail::with_dimension_t<detail::shape_of<X>, half<F>, F>;
  static_assert(detail::is_subset<detail::dims_t<detail::shape_of<Scale>>, detail::dims_t<shape>>, "R8: the scale has a dimension that the numbers lack");
  detail::extents_of<detail::list<F>> given;
  given.set(features);
  auto e = detail::carry<typename detail::extents_for<shape>::atoms>("dequantised", given, x.extents(), scale.extents());
  if (detail::bytes_of_pairs(e.template extent<F>()) != x.extents().template extent<half<F>>()) {
    detail::raise<extent_error>(error{} << "dequantised: dimension " << detail::dimension_name<F>() << " has extent " << e.template extent<F>() << ", but "
                                        << x.extents().template extent<half<F>>() << " bytes lie along it (R15)");
  }
  return detail::widened_node<shape, X, Scale, F>(x, scale, e);
}

}  // namespace words

}  // namespace dimwise
