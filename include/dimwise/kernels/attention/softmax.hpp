// dimwise/kernels/attention/softmax.hpp -- the online softmax: weights of a block, with the running maximum and sum.
//
// Layer: kernels. Includes: exp.hpp, attention/tile.hpp, attention/types.hpp.
// Tests: tests/kernels/attention/forward.test.cpp
//
// Milakov and Gimelshein (2018): weights are relative to the maximum so far, and sums relative to an older maximum are
// multiplied by exp(older - newer). A hidden key has the score -inf.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/tile.hpp>
#include <dimwise/kernels/attention/types.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/exp.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <math.h>  // NOLINT(modernize-deprecated-headers): functions of <cmath> are inline and would leak
#include <type_traits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

/// The steps from scale * q.k to the logit, for one strip and one block of keys.
template <class Arch>
struct score_edit {
  std::size_t head;
  std::ptrdiff_t first_query;
  std::ptrdiff_t first_key;
  key_window window;
  added_scores<Arch> added;
};

/// Part of a block of scores: keys [key, key + keys) for the vectors [first, last).
struct score_tile_place {
  std::size_t key;
  std::size_t keys;
  std::size_t first;
  std::size_t last;
};

[[nodiscard, gnu::always_inline]] constexpr std::int32_t clamp_to_int32(std::ptrdiff_t value) noexcept {
  constexpr std::ptrdiff_t limit = std::ptrdiff_t{1} << 30;
  return static_cast<std::int32_t>(value < -limit ? -limit : value > limit ? limit : value);
}

template <class Arch, class Score>
[[gnu::always_inline]] inline void change_each(element_of<Arch>* scores, const score_tile_place& at,
                                               const Score& score) noexcept {
  if constexpr (requires { score.each(scores, at.keys); }) {
    if (at.last - at.first == tile_vectors<Arch>) return score.each(scores, at.keys * strip_width<Arch>);
    for (std::size_t j = 0; j < at.keys; ++j) {
      score.each(scores + j * strip_width<Arch> + at.first * lanes<Arch>, (at.last - at.first) * lanes<Arch>);
    }
  }
}

// The edits in a pass over the registers of a tile besides finding the maximum. They are template parameters, because
// the pass is short.
template <class Arch, bool Changes, bool Hides, class Score>
[[gnu::noinline]] void edit_registers(element_of<Arch>* block, const score_tile_place& at, bool at_window_edge,
                                      const score_edit<Arch>& edit, Score score, element_of<Arch>* maximum) noexcept {
  using vec = floats<Arch>;
  const vec hidden(-infinity);
  const added_scores<Arch> added = edit.added;
  const std::ptrdiff_t diagonal = edit.first_key - edit.first_query - edit.window.offset;
  for (std::size_t v = at.first; v < at.last; ++v) {
    const std::size_t first_lane = v * lanes<Arch>;
    const ints<Arch> lane = lane_indices<Arch>() + ints<Arch>(static_cast<std::int32_t>(first_lane));
    const ints<Arch> query = lane + ints<Arch>(clamp_to_int32(edit.first_query));
    vec top = load_aligned<Arch>(maximum + first_lane);
    for (std::size_t row = at.key; row < at.key + at.keys; ++row) {
      const auto key = static_cast<std::ptrdiff_t>(row);
      element_of<Arch>* const place = block + row * strip_width<Arch> + first_lane;
      vec s = load_aligned<Arch>(place);
      if constexpr (Changes)
        s = score(s, score_place<Arch>{query, ints<Arch>(clamp_to_int32(edit.first_key + key)), edit.head});
      if constexpr (Hides) {
        if (added.data != nullptr) {
          const vec more = added.each_query ? load_aligned<Arch>(added.data + row * strip_width<Arch> + first_lane)
                                            : vec(added.data[row]);
          s = s + more;
          if (added.hides) s = select<Arch>(more == hidden, hidden, s);
        }
        if (at_window_edge) {
          const ints<Arch> first_seen(clamp_to_int32(key + diagonal - edit.window.after));
          const ints<Arch> last_seen(clamp_to_int32(key + diagonal + edit.window.before));
          s = select<Arch>(as_mask<Arch>(lane < first_seen), hidden, s);
          s = select<Arch>(as_mask<Arch>(lane > last_seen), hidden, s);
        }
      }
      if constexpr (Changes || Hides) store_aligned<Arch>(place, s);
      top = max_skip_nan<Arch>(s, top);
    }
    store_aligned<Arch>(maximum + first_lane, top);
  }
}

/// Converts the scores of a tile to logits in place, while they are in registers or L1; raises `maximum`. `block` has
/// the scores of the block.
template <class Arch, class Score>
[[gnu::always_inline]] inline void edit_tile(element_of<Arch>* block, const score_tile_place& at, bool at_window_edge,
                                             const score_edit<Arch>& edit, const Score& score,
                                             element_of<Arch>* maximum) noexcept {
  if (changes_scores(score)) change_each<Arch>(block + at.key * strip_width<Arch>, at, score);
  const bool hides = at_window_edge || edit.added.data != nullptr;
  if (changes_registers(score)) {
    if constexpr (!std::is_same_v<Score, identity_score>) {
      if (hides) return edit_registers<Arch, true, true>(block, at, at_window_edge, edit, score, maximum);
      return edit_registers<Arch, true, false>(block, at, at_window_edge, edit, score, maximum);
    }
  }
  if (hides) return edit_registers<Arch, false, true>(block, at, at_window_edge, edit, score, maximum);
  edit_registers<Arch, false, false>(block, at, at_window_edge, edit, score, maximum);
}

/// The running softmax of one strip, a lane per query.
template <class Arch>
struct softmax_state {
  element_of<Arch>* maximum;    ///< of all logits up to and including the current block
  element_of<Arch>* reference;  ///< the maximum that `sum` and the output are relative to
  element_of<Arch>* sum;        ///< of weights
};

/// Converts logits to weights in place; updates `sum` and writes the factor of the previous output to `rescale`.
///
/// `MarkHidden` writes -0 for a score of -inf and +0 for a weight that underflowed. A value of infinity or NaN is then
/// skipped for the former, and gives NaN for the latter, as in the plain formula.
template <class Arch, bool MarkHidden>
[[gnu::noinline]] void weigh(element_of<Arch>* scores, const keys_per_vector<Arch>& keys, std::size_t vectors,
                             const softmax_state<Arch>& state, element_of<Arch>* rescale) noexcept {
  using vec = floats<Arch>;
  const vec hidden(-infinity);
  for (std::size_t v = 0; v < vectors; ++v) {
    const std::size_t first_lane = v * lanes<Arch>;
    const vec maximum = load_aligned<Arch>(state.maximum + first_lane);
    // A row that has seen no key: any finite number avoids -inf - -inf, which is NaN.
    const vec against = select<Arch>(maximum == hidden, vec(0.0F), maximum);
    const vec factor = exp_nonpositive<Arch>(load_aligned<Arch>(state.reference + first_lane) - against);
    vec sum(0.0F);
    element_of<Arch>* at = scores + keys.begin[v] * strip_width<Arch> + first_lane;
    for (std::size_t j = keys.begin[v]; j < keys.end[v]; ++j, at += strip_width<Arch>) {
      const vec logit = load_aligned<Arch>(at);
      vec weight = exp_nonpositive<Arch>(logit - against);
      if constexpr (MarkHidden) weight = select<Arch>(logit == hidden, vec(-0.0F), weight);
      store_aligned<Arch>(at, weight);
      sum = sum + weight;
    }
    store_aligned<Arch>(state.reference + first_lane, maximum);
    store_aligned<Arch>(state.sum + first_lane, fma<Arch>(load_aligned<Arch>(state.sum + first_lane), factor, sum));
    store_aligned<Arch>(rescale + first_lane, factor);
  }
}

/// Which weights are -0, the mark of a hidden pair.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline mask<Arch> marks_hidden(const floats<Arch>& weight) noexcept {
  return as_mask<Arch>(as_ints<Arch>(weight) == ints<Arch>(std::numeric_limits<integer_of<Arch>>::min()));
}

/// value_tile for one feature of values with infinities or NaN: a key marked as hidden adds nothing.
template <class Arch>
[[gnu::noinline]] void add_marked_keys(const element_of<Arch>* weights, const element_of<Arch>* v, std::ptrdiff_t v_row,
                                       const keys_per_vector<Arch>& keys, std::size_t vectors, element_of<Arch>* out,
                                       const element_of<Arch>* rescale) noexcept {
  for (std::size_t i = 0; i < vectors; ++i) {
    const std::size_t first_lane = i * lanes<Arch>;
    floats<Arch> acc(0.0F);
    if (rescale != nullptr) acc = load_aligned<Arch>(rescale + first_lane) * load_aligned<Arch>(out + first_lane);
    for (std::size_t j = keys.begin[i]; j < keys.end[i]; ++j) {
      const floats<Arch> weight = load_aligned<Arch>(weights + j * strip_width<Arch> + first_lane);
      const floats<Arch> value(v[static_cast<std::ptrdiff_t>(j) * v_row]);
      acc = select<Arch>(marks_hidden<Arch>(weight), acc, fma<Arch>(weight, value, acc));
    }
    store_aligned<Arch>(out + first_lane, acc);
  }
}

/// Whether the weighted sums of all rows are finite, except for rows whose sum of weights is NaN: these are NaN anyway.
template <class Arch>
[[nodiscard, gnu::noinline]] bool sums_are_finite(const element_of<Arch>* out, const element_of<Arch>* sum,
                                                  std::size_t rows, std::size_t features) noexcept {
  floats<Arch> spoiled(0.0F);
  for (std::size_t i = 0; i < rows; i += lanes<Arch>) {
    // x * 0 is NaN for infinities and NaN; several sums side by side hide the latency.
    floats<Arch> zeros[2] = {floats<Arch>(0.0F), floats<Arch>(0.0F)};
    std::size_t c = 0;
    for (; c + 2 <= features; c += 2) {
      zeros[0] = fma<Arch>(load_aligned<Arch>(out + c * strip_width<Arch> + i), floats<Arch>(0.0F), zeros[0]);
      zeros[1] = fma<Arch>(load_aligned<Arch>(out + (c + 1) * strip_width<Arch> + i), floats<Arch>(0.0F), zeros[1]);
    }
    if (c < features)
      zeros[0] = fma<Arch>(load_aligned<Arch>(out + c * strip_width<Arch> + i), floats<Arch>(0.0F), zeros[0]);
    spoiled =
        spoiled + select<Arch>(is_nan<Arch>(load_aligned<Arch>(sum + i)), floats<Arch>(0.0F), zeros[0] + zeros[1]);
  }
  return !xsimd::any(is_nan<Arch>(spoiled));
}

/// The factors that turn sums into means: 1 / sum, and 0 for a row that saw no key.
template <class Arch>
[[gnu::always_inline]] inline void invert_sums(const element_of<Arch>* sum, std::size_t rows,
                                               element_of<Arch>* inverse) noexcept {
  for (std::size_t i = 0; i < rows; i += lanes<Arch>) {
    const floats<Arch> total = load_aligned<Arch>(sum + i);
    const floats<Arch> zero(0.0F);
    store_aligned<Arch>(inverse + i, select<Arch>(total == zero, zero, floats<Arch>(1.0F) / total));
  }
}

template <class Arch>
[[nodiscard]] element_of<Arch> log_of_sum(element_of<Arch> sum) noexcept {
  if constexpr (in_doubles<Arch>) {
    return ::log(sum);
  } else {
    return ::logf(sum);
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
