// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/layers/pack_weights.hpp -- packs the weights of a model for the product kernel before its first use.
//
// Layer: nn. A product of many rows packs a weight at its second use. A program that answers requests packs its model
// when it starts, so that the first request is as fast as later ones. The packed copy belongs to the elements: a write
// drops it, so no product reads old weights.
// Tests: tests/nn/pack_weights.test.cpp, tests/compile_fail/nn/
//
//   const auto model = models::read_gpt2(folder);
//   nn::pack_weights(model);
#pragma once

#include <dimwise/nn/layers/linear.hpp>
#include <dimwise/nn/parameters.hpp>
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/kernels/packed_weights.hpp>
#endif

#include <cstddef>
#include <string>

namespace dimwise::op {
struct pack_weights;
}  // namespace dimwise::op

namespace dimwise::nn {

namespace detail {

template <class M>
inline constexpr bool is_linear = false;
template <class From, class To, class Bias, class T>
inline constexpr bool is_linear<linear<From, To, Bias, T>> = true;

// The bytes of the packed copy of a weight from I…. One without a slot is written through an address, or lies inside
// its object and is too small to be packed.
template <class... I, class T, class... D>
std::size_t pack_weight_of([[maybe_unused]] const std::string& name, list<I...>,
                           [[maybe_unused]] const tensor<T, D...>& weight) {
#if !defined(DIMWISE_PLAIN_ONLY)
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    const std::size_t size = weight.size();
    const T* const elements = weight.data();
    if (size * sizeof(T) <= inline_bytes) { return 0; }
    derived_slot* const slot = weight.derived();
    if (slot == nullptr) {
      raise<error>(error{} << "pack_weights: `" << name.c_str()
                           << ".weight` may still be written through data(); call its seal() first");
    }
    const std::size_t inputs = (weight.extents().template extent<I>() * ... * std::size_t{1});
    return pack_weight(*slot, inputs, size / inputs, elements);
  }
#endif
  return 0;
}

template <class... I, class... O, class Bias, class T>
std::size_t pack_linear(const std::string& name, const linear<from<I...>, to<O...>, Bias, T>& layer) {
  if constexpr (is_tensor<decltype(layer.weight)>) {
    return pack_weight_of(name, list<I...>{}, layer.weight);
  } else {
    return 0;
  }
}

template <class M>
std::size_t pack_modules(const std::string& name, const M& m) {
  std::size_t bytes = 0;
  if constexpr (is_linear<M>) {
    bytes = pack_linear(name, m);
  } else if constexpr (is_sequence<M>) {
    for (std::size_t i = 0; i < m.size(); ++i) { bytes += pack_modules(joined_name(name, i), m[i]); }
  } else if constexpr (modules<M>) {
    each_index<part_count<M>()>([&](auto i) { bytes += pack_modules(part_name<i, M>(name), part_at<i>(m)); });
  }
  return bytes;
}

}  // namespace detail

/// Packs the weights of float and double of all linear layers in `m`, and returns the bytes of the packed copies, which
/// take as much memory as the weights.
///
/// A product of 16 or more rows packs a weight at its second use; after this call the first one finds it packed.
/// Results have the same bits. A write to a weight drops its packed copy. Throws `error` if a weight may still be
/// written through `data()`; then the weights before it are packed. Rejects types that are not modules (R21).
template <detail::modules M>
std::size_t pack_weights(const M& m) {
  return detail::pack_modules(std::string(), m);
}
template <class M, class Error = detail::not_a_module<op::pack_weights, M>>
  requires(!detail::modules<M>)
Error pack_weights(const M& m);

}  // namespace dimwise::nn
