// SPDX-License-Identifier: BSL-1.0
// dimwise/models/pooling.hpp -- the poolings of sentence-transformers, which reduce token features to one vector.
//
// Layer: models. A pooling is a type. All but the first token and the maximum are weighted sums of tokens.
// Tests: tests/models/encoders/bert.test.cpp
//
//   const auto model = models::read_bert<models::bert_dims, models::max_pooling>("folder");
#pragma once

#include <dimwise/nn/layers.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>

namespace dimwise::models {

/// The mean of the tokens (Reimers and Gurevych 2019).
struct mean_pooling {};
/// The first token.
struct first_pooling {};
/// BERT's pooler: a learned map of the first token.
struct mapped_pooling {};
/// The maximum over tokens of every feature.
struct max_pooling {};
/// The sum of n tokens over √n.
struct mean_sqrt_pooling {};
/// The weighted mean in which token t, counted from 1, has weight t (Muennighoff 2022).
struct weighted_mean_pooling {};
/// The last token.
struct last_pooling {};

/// A pooling without parameters as a run-time value.
enum class pooling_kind : unsigned char { first, max, mean, mean_sqrt, weighted_mean, last };

namespace detail {

template <class Pooling>
inline constexpr bool takes_first = std::is_same_v<Pooling, first_pooling> || std::is_same_v<Pooling, mapped_pooling>;
template <class Pooling>
inline constexpr bool is_pooling =
    takes_first<Pooling> || std::is_same_v<Pooling, mean_pooling> || std::is_same_v<Pooling, max_pooling> ||
    std::is_same_v<Pooling, mean_sqrt_pooling> || std::is_same_v<Pooling, weighted_mean_pooling> ||
    std::is_same_v<Pooling, last_pooling>;

// Writes the weight of each of `all` tokens; tokens outside [begin, end) do not count. For the maximum it writes
// summands instead of weights, 0 and −∞.
template <class Pooling>
void write_token_weights(float* to, std::size_t begin, std::size_t end, std::size_t all) {
  static_assert(is_pooling<Pooling> && !takes_first<Pooling>);
  const auto n = static_cast<double>(end > begin ? end - begin : 0);
  std::fill_n(to, all, std::is_same_v<Pooling, max_pooling> ? -std::numeric_limits<float>::infinity() : 0.0F);
  for (std::size_t t = begin; t < end; ++t) {
    if constexpr (std::is_same_v<Pooling, mean_pooling>) {
      to[t] = static_cast<float>(1 / n);
    } else if constexpr (std::is_same_v<Pooling, mean_sqrt_pooling>) {
      to[t] = static_cast<float>(1 / std::sqrt(n));
    } else if constexpr (std::is_same_v<Pooling, weighted_mean_pooling>) {
      const double sum = n * static_cast<double>(begin + 1 + end) / 2;
      to[t] = static_cast<float>(static_cast<double>(t + 1) / sum);
    } else if constexpr (std::is_same_v<Pooling, max_pooling>) {
      to[t] = 0;
    } else {
      static_assert(std::is_same_v<Pooling, last_pooling>);
      to[t] = t + 1 == end ? 1.0F : 0.0F;
    }
  }
}
inline void write_token_weights(pooling_kind how, float* to, std::size_t begin, std::size_t end, std::size_t all) {
  switch (how) {
    case pooling_kind::first:
      std::fill_n(to, all, 0.0F);
      if (all > 0) { *to = 1; }
      return;
    case pooling_kind::max:
      return write_token_weights<max_pooling>(to, begin, end, all);
    case pooling_kind::mean:
      return write_token_weights<mean_pooling>(to, begin, end, all);
    case pooling_kind::mean_sqrt:
      return write_token_weights<mean_sqrt_pooling>(to, begin, end, all);
    case pooling_kind::weighted_mean:
      return write_token_weights<weighted_mean_pooling>(to, begin, end, all);
    case pooling_kind::last:
      return write_token_weights<last_pooling>(to, begin, end, all);
  }
}

// Throws `extent_error` unless each of `texts` rows of `width` tokens has a length.
inline void check_lengths(const char* operation, const std::span<const int> lengths, std::size_t texts,
                          std::size_t width) {
  if (lengths.size() != texts) {
    dimwise::detail::raise<extent_error>(error{} << operation << ": " << lengths.size() << " lengths for " << texts
                                                 << " texts");
  }
  for (std::size_t i = 0; i < texts; ++i) {
    if (lengths[i] < 0 || static_cast<std::size_t>(lengths[i]) > width) {
      dimwise::detail::raise<extent_error>(error{} << operation << ": text " << i << " has the length " << lengths[i]
                                                   << ", its row has " << width << " tokens");
    }
  }
}

// The vectors of texts of these lengths; `write_weights(to, end, all)` writes the weights of the tokens of one text.
template <class Batch, class Seq, class D, class Write>
[[nodiscard]] tensor<float, Batch, D> pooled_texts(const tensor<float, Batch, Seq, D>& x,
                                                   const tensor<int, Batch>& lengths, bool takes_max,
                                                   const Write& write_weights) {
  const auto n = extent_in<Seq>(x);
  check_lengths("pooled", lengths.values(), extent_in<Batch>(x).extent(), n.extent());
  tensor<float, Batch, Seq> counts(extent_in<Batch>(x), n);
  float* to = counts.overwrite();
  for (const int length : lengths.values()) {
    write_weights(to, static_cast<std::size_t>(length), n.extent());
    to += n.extent();
  }
  if (takes_max) { return max<Seq>(x + counts); }
  return sum<Seq>(x * counts, padding<Seq>(lengths));
}

// The vectors of texts with length 1. Throws `number_error` for one without a direction.
template <class D, class X>
[[nodiscard]] X of_length_one(const X& x) {
  const X scaled = x / sqrt(sum<D>(x * x));
  const tensor squares = sum<D>(scaled * scaled);
  const auto each = squares.values();
  for (std::size_t i = 0; i < each.size(); ++i) {
    if (!(each[i] > 0.5F)) {  // NaN, or 0 after an overflow of squares
      dimwise::detail::raise<number_error>(error{} << "embedded: the vector of text " << i
                                                   << " has no direction: its length is 0, infinite or NaN");
    }
  }
  return scaled;
}

}  // namespace detail

}  // namespace dimwise::models
