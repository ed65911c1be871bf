// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/weight.hpp -- parameter types of weights: floats, 16-bit floats, or quantized blocks of 8 or 4 bits.
//
// Layer: nn. `T` of a module selects the format of its weights and thereby its product kernels. bfloat16 weights round
// the other operand to bfloat16, quantized weights quantize it to 8 bits in blocks, and float16 weights leave it as is.
// Tests: tests/nn/weight.test.cpp
//
//   nn::linear<nn::from<d_model>, nn::to<hidden>, nn::with_bias, nn::int8_blocks> up;
//   up.weight.assign(values);        // floats; stored as 8-bit integers with one scale per 32 of them
#pragma once

#include <dimwise/nn/layers/kinds.hpp>
#include <dimwise/nn/parameters/initialise.hpp>
#include <dimwise/support/math.hpp>

#include <cstdint>
#include <limits>

namespace dimwise::nn {

/// Quantized formats: integers of 8 or 4 bits in blocks of 32 neighbours along the inputs, with a 16-bit scale per
/// block. GGUF calls these Q8_0 and Q4_0.
struct int8_blocks;
struct int4_blocks;

namespace detail {

// The element type of the other parameters and activations: biases, norms.
template <class T>
using activations_t = std::conditional_t<is_blocks<T> || stored_element<T>, float, T>;

// The dimensions of a stored row: 4-bit integers are paired along the last one.
template <class Kind, class... I>
struct numbers_in {
  using element = std::int8_t;
  using dims = list<I...>;
};
template <class... I>
struct numbers_in<int4_blocks, I...> {
  using element = int4_pair;
  using last = element_t<sizeof...(I) - 1, list<I...>>;
  using dims = replace_t<list<I...>, last, list<half<last>>>;
};

}  // namespace detail

/// A quantized weight from I… to O… in blocks of 32 along I…, whose last dimension is contiguous. It is a parameter;
/// `dequantised()` is an operand.
template <class Kind, class Outputs, class Inputs>
class block_weight;
template <class Kind, class... O, class... I>
class block_weight<Kind, detail::list<O...>, detail::list<I...>> {
  static_assert(detail::is_blocks<Kind>, "dimwise: blocks are int8_blocks or int4_blocks");
  using facts = detail::numbers_in<Kind, I...>;

 public:
  using value_type = Kind;
  using shape_type = shape<O..., I...>;
  using extents_type = detail::extents_for<shape_type>;
  using numbers_type =
      detail::tensor_of<typename facts::element,
                        detail::make_shape_t<detail::join_t<detail::list<O...>, typename facts::dims>, detail::list<>>>;
  using scales_type = tensor<float16, O..., blocks<I...>>;

  block_weight() = default;

  /// The integers, O… before I…; 4-bit integers are packed two to a byte.
  [[nodiscard]] const numbers_type& numbers() const& { return numbers_; }
  [[nodiscard]] numbers_type numbers() const&& { return numbers_; }
  /// The scale of each block.
  [[nodiscard]] const scales_type& scales() const& { return scales_; }
  [[nodiscard]] scales_type scales() const&& { return scales_; }
  [[nodiscard]] const extents_type& extents() const& { return extents_; }
  [[nodiscard]] extents_type extents() const&& { return extents_; }
  /// The number of elements.
  [[nodiscard]] std::size_t size() const { return rows() * columns(); }
  /// The size in bytes, scales included.
  [[nodiscard]] std::size_t bytes() const {
    return numbers_.size() * sizeof(typename facts::element) + scales_.size() * sizeof(float16);
  }

  /// The weight as floats: [O…, I…].
  [[nodiscard]] auto dequantised() const {
    if constexpr (std::is_same_v<Kind, int8_blocks>) {
      return dimwise::dequantised(numbers_, scales_);
    } else if constexpr (std::is_same_v<Kind, int4_blocks>) {
      using last = typename facts::last;
      return dimwise::dequantised<last>(numbers_, scales_, last{extents_.template extent<last>()});
    } else {
      static_assert(dimwise::detail::is_handled<Kind>, "dimwise: blocks of this kind have no numbers");
    }
  }
  /// The rows of these ids, as floats: [ids, I…].
  template <class Choice, class Ids>
  [[nodiscard]] auto gathered(const Ids& ids) const {
    using namespace detail::functions;
    if constexpr (std::is_same_v<Kind, int8_blocks>) {
      return dequantised_of(gather<Choice>(numbers_, ids), gather<Choice>(scales_, ids));
    } else if constexpr (std::is_same_v<Kind, int4_blocks>) {
      using last = typename facts::last;
      return dequantised_of<last>(gather<Choice>(numbers_, ids), gather<Choice>(scales_, ids),
                                  last{extents_.template extent<last>()});
    } else {
      static_assert(dimwise::detail::is_handled<Kind>, "dimwise: blocks of this kind have no rows");
    }
  }

  /// Quantizes these values by rounding to nearest: the scale of each block is set by its largest magnitude and rounded
  /// to 16 bits. Throws `number_error` if a value is not finite or too large for a scale; then nothing changes.
  void assign(const tensor<float, O..., I...>& values) { assign(values.data(), values.extents()); }
  /// Quantizes floats in the order of that tensor.
  void assign(const float* values, const extents_type& e);

 private:
  [[nodiscard]] std::size_t rows() const { return (extents_.template extent<O>() * ... * std::size_t{1}); }
  [[nodiscard]] std::size_t columns() const { return (extents_.template extent<I>() * ... * std::size_t{1}); }

  extents_type extents_;
  numbers_type numbers_;
  scales_type scales_;
};

namespace detail {

// The integers of a block and its scale; `largest` is the maximum magnitude of an integer.
struct quantised_block {
  float16 scale;
  int numbers[block_extent];
};
template <class Kind>
quantised_block quantise_block(const float* values, std::size_t count) {
  constexpr bool four = std::is_same_v<Kind, int4_blocks>;
  static_assert(four || std::is_same_v<Kind, int8_blocks>, "dimwise: blocks of this kind have no scale");
  float farthest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!(math::fabs(values[i]) <= std::numeric_limits<float>::max())) {
      raise<number_error>(error{} << "a weight in blocks: a value is not finite");
    }
    if (math::fabs(values[i]) > math::fabs(farthest)) { farthest = values[i]; }
  }
  quantised_block block;
  // In 4 bits the value of largest magnitude maps to −8, because +8 is not representable.
  block.scale = static_cast<float16>(four ? farthest / -8.0F : math::fabs(farthest) / 127.0F);
  const auto scale = static_cast<float>(block.scale);
  if (!(math::fabs(scale) <= std::numeric_limits<float>::max())) {
    raise<number_error>(error{} << "a weight in blocks: a value is too large for a scale of 16 bits");
  }
  for (std::size_t i = 0; i < block_extent; ++i) {
    block.numbers[i] = i >= count ? 0 : quantised_number(values[i], scale, four ? -8 : -127, four ? 7 : 127);
  }
  return block;
}

template <class... O, class... I, class T>
auto stored_weight(list<O...>, list<I...>, std::type_identity<T>) {
  if constexpr (is_blocks<T>) {
    return std::type_identity<block_weight<T, list<O...>, list<I...>>>{};
  } else if constexpr (stored_element<T>) {
    return std::type_identity<tensor<T, O..., I...>>{};  // one row of inputs per output, the layout of decoding
  } else {
    return std::type_identity<tensor<T, I..., O...>>{};
  }
}
// The type of a weight from I to O in the format T.
template <class T, class I, class O>
using weight_of = typename decltype(stored_weight(O{}, I{}, std::type_identity<T>{}))::type;

// The type of an embedding table: one row of features per alternative, which is also used in tied output products.
template <class T, class Choice, class Model>
using table_of = std::conditional_t<is_blocks<T>, block_weight<T, list<Choice>, list<Model>>, tensor<T, Choice, Model>>;

template <class W>
inline constexpr bool is_block_weight = false;
template <class Kind, class O, class I>
inline constexpr bool is_block_weight<block_weight<Kind, O, I>> = true;

namespace functions {

/// x · w over I…, with the product kernel of the weight's format.
template <class... I, input X, class W>
auto times_weight(const X& x, const W& w) {
  if constexpr (is_block_weight<W>) {
    return contract<I...>(quantised<I...>(x), w.dequantised());
  } else if constexpr (std::is_same_v<typename W::value_type, bfloat16>) {
    return contract<I...>(rounded<bfloat16>(x), widened(w));
  } else if constexpr (stored_element<typename W::value_type>) {
    return contract<I...>(x, widened(w));
  } else {
    return contract<I...>(x, w);
  }
}
/// Rounds x, which is not a weight, as required by products with weights of T.
template <class T, input X>
auto multiplied_as(const X& x) {
  if constexpr (std::is_same_v<T, bfloat16>) {
    return rounded<bfloat16>(x);
  } else {
    return x;
  }
}
/// The rows of a table for these ids.
template <class Choice, class W, input Ids>
auto looked_up(const W& table, const Ids& ids) {
  if constexpr (is_block_weight<W>) {
    return table.template gathered<Choice>(ids);
  } else if constexpr (stored_element<typename W::value_type>) {
    return widened(gather<Choice>(table, ids));
  } else {
    return gather<Choice>(table, ids);
  }
}
/// A weight as an operand of floats.
template <class W>
auto as_floats(const W& w) {
  if constexpr (is_block_weight<W>) {
    return w.dequantised();
  } else if constexpr (stored_element<typename W::value_type>) {
    return widened(w);
  } else {
    return w;
  }
}

}  // namespace functions

// Stores floats, in the order of the weight's dimensions, in a low-precision weight.
template <class W, class Extents>
void store_weight(W& w, const float* values, const Extents& e) {
  if constexpr (is_block_weight<W>) {
    w.assign(values, e);
  } else {
    W fresh = W::for_overwriting(e);
    auto* const to = fresh.overwrite();
    for (std::size_t i = 0; i < fresh.size(); ++i) { to[i] = static_cast<typename W::value_type>(values[i]); }
    w = static_cast<W&&>(fresh);
  }
}

// Draws a weight or table from I to O; low-precision weights are drawn in float first.
template <class I, class O, class W, class How, class... Extents>
void draw_weight(W& w, How& how, const Extents&... extents) {
  if constexpr (real_element<typename W::value_type>) {
    w = zeros<W>(extents...);
    draw<I, O>(w, how, extents...);
  } else {
    using drawn = tensor_of<float, typename W::shape_type>;
    drawn values = zeros<drawn>(extents...);
    draw<I, O>(values, how, extents...);
    store_weight(w, values.data(), values.extents());
  }
}

}  // namespace detail

template <class Kind, class... O, class... I>
void block_weight<Kind, detail::list<O...>, detail::list<I...>>::assign(const float* values, const extents_type& e) {
  using namespace detail;
  block_weight fresh;
  fresh.extents_ = e;
  const std::size_t n = fresh.columns();
  typename numbers_type::extents_type of_numbers;
  typename scales_type::extents_type of_scales;
  const auto set = [&]<class D>(auto& to, const D& d) {
    if constexpr (D::static_extent == at_run_time) { to.set(d); }
  };
  (set(of_numbers, O{e.template extent<O>()}), ...);
  (set(of_scales, O{e.template extent<O>()}), ...);
  const auto of_input = [&]<class D>(const D& d) {
    if constexpr (is_in<half<D>, dims_t<shape_of<numbers_type>>>) {
      set(of_numbers, half<D>{bytes_of_pairs(d.extent())});
    } else {
      set(of_numbers, d);
    }
  };
  (of_input(I{e.template extent<I>()}), ...);
  set(of_scales, blocks<I...>{block_count(n)});
  if constexpr (std::is_same_v<Kind, int4_blocks>) {
    if (e.template extent<typename facts::last>() % 2 != 0) {
      raise<extent_error>(error{} << "a weight in blocks of 4 bits: dimension "
                                  << dimension_name<typename facts::last>() << " has an odd extent (R15)");
    }
  }
  fresh.numbers_ = numbers_type::for_overwriting(of_numbers);
  fresh.scales_ = scales_type::for_overwriting(of_scales);
  auto* number = fresh.numbers_.overwrite();
  float16* scale = fresh.scales_.overwrite();
  for (std::size_t r = 0; r < fresh.rows(); ++r) {
    for (std::size_t begin = 0; begin < n; begin += block_extent, ++scale) {
      const std::size_t count = n - begin < block_extent ? n - begin : block_extent;
      const quantised_block block = quantise_block<Kind>(values + r * n + begin, count);
      *scale = block.scale;
      for (std::size_t i = 0; i < count; ++i) {
        if constexpr (std::is_same_v<Kind, int4_blocks>) {
          if (i % 2 == 0) { *number++ = int4_pair(block.numbers[i], block.numbers[i + 1]); }
        } else {
          static_assert(std::is_same_v<Kind, int8_blocks>, "dimwise: blocks of this kind are not written");
          *number++ = static_cast<std::int8_t>(block.numbers[i]);
        }
      }
    }
  }
  *this = static_cast<block_weight&&>(fresh);
}

}  // namespace dimwise::nn
