// dimwise/kernels/attention/task.hpp -- one task of attention: a few strips of queries of one head against all keys.
//
// Layer: kernels. Includes: the other headers of attention/.
// Tests: tests/kernels/attention/forward.test.cpp
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/float_numbers.hpp>
#include <dimwise/kernels/attention/mask.hpp>
#include <dimwise/kernels/attention/pack.hpp>
#include <dimwise/kernels/attention/plan.hpp>
#include <dimwise/kernels/attention/sight.hpp>
#include <dimwise/kernels/attention/softmax.hpp>
#include <dimwise/kernels/attention/tile.hpp>
#include <dimwise/kernels/attention/types.hpp>
#include <dimwise/kernels/attention/upcoming.hpp>
#include <dimwise/kernels/decode/prefetch_rows.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/quantised/rows.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

template <class Arch, class Score, class Numbers = float_numbers<Arch>>
class attention_task {
 public:
  attention_task(const layout_for<Arch>& layout, const head_for<Arch>& head, std::size_t head_index,
                 const attention_buffers<Arch>& buffers, const Score& score) noexcept
      : layout_(layout),
        head_(head),
        window_(layout, head),
        head_index_(head_index),
        buffers_(buffers),
        score_(score) {}

  /// Computes the rows [begin, end) of the output, at most as many strips as the buffers have; `next` is the worker's
  /// likely next task.
  void run(std::size_t begin, std::size_t end, const task_place<Arch>& next) noexcept {
    go_over_keys(begin, end, next);
    // A key with a score of -inf has weight 0, but 0 times a value that is not finite is NaN. A NaN that no score
    // explains is therefore recomputed without such keys.
    leaves_out_ = is_spoiled(begin, end);
    if (leaves_out_) go_over_keys(begin, end, next);
    for (std::size_t s = 0; s < strips_of(begin, end); ++s) finish_strip(s, strip_at(s, begin, end));
  }

 private:
  static constexpr std::size_t width = strip_width<Arch>;
  static constexpr bool packs = Numbers::in_lane > 1;
  using lanes_type = typename Numbers::lanes_type;

  [[nodiscard]] std::size_t lanes_of_features() const noexcept {
    return (layout_.head_dim + Numbers::in_lane - 1) / Numbers::in_lane;
  }

  [[nodiscard]] static std::size_t strips_of(std::size_t begin, std::size_t end) noexcept {
    return (end - begin + width - 1) / width;
  }

  [[nodiscard]] static query_range strip_at(std::size_t s, std::size_t begin, std::size_t end) noexcept {
    return {begin + s * width, min(begin + (s + 1) * width, end)};
  }

  // The sums of weights and of weighted values over all visible keys.
  void go_over_keys(std::size_t begin, std::size_t end, const task_place<Arch>& next) const noexcept {
    const std::size_t strips = strips_of(begin, end);
    key_range all{layout_.keys, 0};
    for (std::size_t s = 0; s < strips; ++s) {
      start_strip(s, begin, end);
      const key_range seen = window_.keys_of(strip_at(s, begin, end));
      all = {min(all.begin, seen.begin), max(all.end, seen.end)};
    }
    const bool shared = strips > 1;
    for (std::size_t j = all.begin / block_keys * block_keys; j < all.end; j += block_keys) {
      key_block<Arch> block = fetch(j, min(j + block_keys, all.end), shared);
      readings ahead{block.end < all.end ? rows_of_keys<Arch>(layout_, head_, block.end)
                                         : rows_of_task<Arch>(layout_, head_, window_, {begin, end}, next),
                     {}};
      for (std::size_t s = 0; s < strips; ++s) {
        const bool last = s + 1 == strips;
        ahead.of_block.spread((strips - s) * value_tiles());
        ahead.of_strip =
            rows_of_bias<Arch>(layout_, head_, strip_at(last ? 0 : s + 1, begin, end), last ? block.end : j);
        ahead.of_strip.spread(value_tiles());
        advance(s, strip_at(s, begin, end), block, ahead);
      }
    }
  }

  // Whether a weighted sum is not finite although its sum of weights is.
  [[nodiscard]] bool is_spoiled(std::size_t begin, std::size_t end) const noexcept {
    bool spoiled = false;
    for (std::size_t s = 0; s < strips_of(begin, end); ++s) {
      const query_range queries = strip_at(s, begin, end);
      const element_of<Arch>* const out = buffers_.out + s * width * layout_.value_dim;
      spoiled = spoiled ||
                !sums_are_finite<Arch>(out, buffers_.sum + s * width, queries.end - queries.begin, layout_.value_dim);
    }
    return spoiled;
  }

  void start_strip(std::size_t s, std::size_t begin, std::size_t end) const noexcept {
    const query_range queries = strip_at(s, begin, end);
    const element_of<Arch>* q = head_.q + static_cast<std::ptrdiff_t>(queries.begin) * layout_.q_row;
    // Folds the scale into q once: it would cost a multiplication per score, and q.k could overflow where the scaled
    // product does not.
    const matrix_view<const element_of<Arch>> rows{q, layout_.q_row, layout_.q_feature};
    element_of<Arch>* const strip = buffers_.q + s * width * layout_.head_dim;
    Numbers::pack_strip(rows, queries.end - queries.begin, layout_.head_dim, Numbers::scale_of_queries(layout_.scale),
                        strip);
    const floats<Arch> none(-infinity);
    for (std::size_t i = 0; i < queries.end - queries.begin; i += lanes<Arch>) {
      store_aligned<Arch>(buffers_.maximum + s * width + i, none);
      store_aligned<Arch>(buffers_.reference + s * width + i, none);
      store_aligned<Arch>(buffers_.sum + s * width + i, floats<Arch>(0.0F));
      element_of<Arch>* const out = buffers_.out + s * width * layout_.value_dim + i;
      for (std::size_t c = 0; c < layout_.value_dim; ++c) store_aligned<Arch>(out + c * width, floats<Arch>(0.0F));
    }
  }

  [[nodiscard]] key_block<Arch> fetch(std::size_t begin, std::size_t end, bool shared) const noexcept {
    const matrix_view<const element_of<Arch>> k{head_.k, layout_.k_row, layout_.k_feature};
    const matrix_view<const element_of<Arch>> v{head_.v, layout_.v_row, layout_.v_feature};
    key_block<Arch> block{begin, end, nullptr, nullptr, k.row, v.row};
    if constexpr (packs) {
      if (head_.k_quantised.format == number_format::float32) block.k = k.at(begin);
      if (head_.v_quantised.format == number_format::float32) block.v = v.at(begin);
      pack(block, {block.k, k.row, k.feature}, {block.v, v.row, v.feature});
    } else {
      fetch_rows(block.k, block.k_row, k, head_.k_quantised, block, layout_.head_dim, shared, buffers_.k);
      fetch_rows(block.v, block.v_row, v, head_.v_quantised, block, layout_.value_dim, shared, buffers_.v);
    }
    return block;
  }

  void fetch_rows(const element_of<Arch>*& at, std::ptrdiff_t& row, const matrix_view<const element_of<Arch>>& from,
                  [[maybe_unused]] const quantised_data& stored, const key_block<Arch>& block, std::size_t features,
                  bool shared, element_of<Arch>* copy) const noexcept {
    const std::size_t count = block.end - block.begin;
    if constexpr (!in_doubles<Arch>) {
      if (stored.format != number_format::float32) {
        stored.kernels->widen(stored, block.begin, count, 0, features, copy);
        at = copy;
        row = static_cast<std::ptrdiff_t>(features);
        return;
      }
    }
    at = from.at(block.begin);
    if (reads_in_place<Arch>(from, features, shared)) return;
    copy_rows<Arch>({at, from.row, from.feature}, count, features, copy);
    at = copy;
    row = static_cast<std::ptrdiff_t>(features);
  }

  void pack(key_block<Arch>& block, const matrix_view<const element_of<Arch>>& k,
            const matrix_view<const element_of<Arch>>& v) const noexcept {
    const std::size_t count = block.end - block.begin;
    if (k.data == nullptr) {
      Numbers::pack_keys(head_.k_quantised, block.begin, count, layout_.head_dim, buffers_.k);
    } else {
      Numbers::pack_keys(k, count, layout_.head_dim, buffers_.k);
    }
    if (v.data == nullptr) {
      Numbers::pack_values(head_.v_quantised, block.begin, count, layout_.value_dim, buffers_.v);
    } else {
      Numbers::pack_values(v, count, layout_.value_dim, buffers_.v);
    }
    block.k = buffers_.k;
    block.k_row = static_cast<std::ptrdiff_t>(lanes_of_features());
    block.v = buffers_.v;
    block.v_row = static_cast<std::ptrdiff_t>(layout_.value_dim);
  }

  struct readings {
    reading_list of_block;
    reading_list of_strip;
  };
  [[nodiscard]] std::size_t value_tiles() const noexcept {
    return (layout_.value_dim + tile_rows<Arch> - 1) / tile_rows<Arch>;
  }

  // Processes one strip with one block.
  void advance(std::size_t s, const query_range& queries, key_block<Arch>& block, readings& ahead) const noexcept {
    const key_range seen = window_.keys_of(queries);
    std::size_t begin = max(seen.begin, block.begin);
    const std::size_t end = min(seen.end, block.end);
    if (begin >= end) return;
    // Key lanes are aligned to the block. A key that only fills its lane weighs 0, on the right as well.
    begin -= (begin - block.begin) % Numbers::in_lane;
    score_edit<Arch> edit{head_index_,
                          static_cast<std::ptrdiff_t>(queries.begin),
                          static_cast<std::ptrdiff_t>(begin),
                          layout_.window,
                          {}};
    if (!add(queries, begin, end, edit.added)) return;
    const sight<Arch> of = window_.sight_of<Arch>(queries, begin, end);
    const element_of<Arch>* const k = row_at(block.k, block.k_row, begin - block.begin);
    const element_of<Arch>* const v = row_at(block.v, block.v_row, (begin - block.begin) / Numbers::in_lane);
    const bool hides = edit.added.hides || changes_scores(score_) || leaves_out_;
    const bool at_edge = score_block(s, k, block.k_row, end - begin, of, edit);
    add_values(s, v, of.some, of.vectors, (hides || at_edge) && !values_finite(block), block, ahead);
  }

  // Computes the logits of `count` keys. Returns whether some of the pairs are outside the window.
  [[nodiscard]] bool score_block(std::size_t s, const element_of<Arch>* k, std::ptrdiff_t k_row, std::size_t count,
                                 const sight<Arch>& of, score_edit<Arch> edit) const noexcept {
    const element_of<Arch>* const q = buffers_.q + s * width * layout_.head_dim;
    element_of<Arch>* const maximum = buffers_.maximum + s * width;
    // Added numbers that hide no pair are added in the tile's registers.
    added_scores<Arch> added;
    if constexpr (packs) added.scale = Numbers::scale_of_scores(layout_.scale);
    if (!edit.added.hides && !changes_scores(score_)) {
      added.data = edit.added.data;
      added.each_query = edit.added.each_query;
      edit.added = {};
    }
    const bool changes = edit.added.data != nullptr || changes_scores(score_);
    bool at_edge = false;
    score_tile_place at{0, 0, 0, 0};
    for (; at.key < count; at.key += at.keys) {
      at.keys = tile_step<Arch>(count - at.key);
      while (of.some.end[at.first] <= at.key) ++at.first;
      while (at.last < of.vectors && of.some.begin[at.last] < at.key + at.keys) ++at.last;
      if (packs && at.last <= at.first) continue;  // a key that only fills its lane
      const bool edge = of.whole.begin[at.last - 1] > at.key || of.whole.end[at.first] < at.key + at.keys;
      const std::size_t lane = at.first * lanes<Arch>;
      score_rows<Arch, lanes_type>(at.keys, at.last - at.first, q + lane, row_at(k, k_row, at.key), k_row,
                                   lanes_of_features(), buffers_.scores + at.key * width + lane,
                                   (changes || edge ? buffers_.unused_maximum : maximum) + lane,
                                   added.at(at.key, lane));
      if (changes || edge) edit_tile<Arch>(buffers_.scores, at, edge, edit, score_, maximum);
      at_edge = at_edge || edge;
    }
    return at_edge;
  }

  // The bias and mask of a strip and a block; returns false if they hide all of it.
  [[nodiscard]] bool add(const query_range& queries, std::size_t begin, std::size_t end,
                         added_scores<Arch>& to) const noexcept {
    if (head_.bias == nullptr && head_.allow == nullptr) return true;
    to.data = buffers_.added;
    to.each_query =
        (head_.bias != nullptr && layout_.bias_query != 0) || (head_.allow != nullptr && layout_.allow_query != 0);
    const visible seen = to.each_query
                             ? pack_added_pairs<Arch>(layout_, head_, queries.begin, queries.end - queries.begin, begin,
                                                      end - begin, buffers_.added)
                             : pack_added_keys<Arch>(layout_, head_, begin, end - begin, buffers_.added);
    to.hides = seen != visible::all;
    return seen != visible::none;
  }

  // Checked only if a key may be hidden. 0 * infinity is NaN, so a hidden value that is not finite must be skipped, not
  // multiplied by 0.
  [[nodiscard]] bool values_finite(key_block<Arch>& block) const noexcept {
    if (block.values == key_block<Arch>::finite::unknown) {
      block.values = has_finite_values(block) ? key_block<Arch>::finite::yes : key_block<Arch>::finite::no;
    }
    return block.values == key_block<Arch>::finite::yes;
  }

  [[nodiscard]] bool has_finite_values(const key_block<Arch>& block) const noexcept {
    return Numbers::all_finite(block.v, block.v_row, block.end - block.begin, layout_.value_dim);
  }

  // The lanes that hold these keys.
  [[nodiscard]] static keys_per_vector<Arch> lanes_of_keys(keys_per_vector<Arch> keys, std::size_t vectors) noexcept {
    if constexpr (packs) {
      for (std::size_t i = 0; i < vectors; ++i) {
        const bool none = keys.begin[i] >= keys.end[i];
        keys.end[i] = (keys.end[i] + Numbers::in_lane - 1) / Numbers::in_lane;
        keys.begin[i] = none ? keys.end[i] : keys.begin[i] / Numbers::in_lane;
      }
    }
    return keys;
  }

  void add_values(std::size_t s, const element_of<Arch>* v, const keys_per_vector<Arch>& keys, std::size_t vectors,
                  bool skip_hidden, const key_block<Arch>& block, readings& ahead) const noexcept {
    const softmax_state<Arch> state{buffers_.maximum + s * width, buffers_.reference + s * width,
                                    buffers_.sum + s * width};
    element_of<Arch>* const out = buffers_.out + s * width * layout_.value_dim;
    if (skip_hidden) {
      Numbers::template weigh<true>(buffers_.scores, keys, vectors, state, buffers_.rescale);
      for (std::size_t c = 0; c < layout_.value_dim; ++c) {
        element_of<Arch>* const sums = out + c * width;
        Numbers::add_marked_keys(buffers_.scores, v + c, block.v_row, keys, vectors, sums, buffers_.rescale);
      }
      return;
    }
    Numbers::template weigh<false>(buffers_.scores, keys, vectors, state, buffers_.rescale);
    each_run<Arch>(lanes_of_keys(keys, vectors), vectors,
                   [&](std::size_t from, const keys_per_vector<Arch>& run, std::size_t first, std::size_t count)
                       __attribute__((always_inline)) {
      add_products(v, from, run, first, count, out, block.v_row, ahead);
      // The previous sums are now relative to the new maximum.
      for (std::size_t i = first; i < first + count; ++i)
        store_aligned<Arch>(buffers_.rescale + i * lanes<Arch>, floats<Arch>(1.0F));
    });
  }

  // out += the values of the keys from `from` on, times their weights, for `vectors` vectors from `first` on.
  void add_products(const element_of<Arch>* v, std::size_t from, const keys_per_vector<Arch>& keys, std::size_t first,
                    std::size_t vectors, element_of<Arch>* out, std::ptrdiff_t v_row, readings& ahead) const noexcept {
    const std::size_t lane = first * lanes<Arch>;
    for (std::size_t c = 0; c < layout_.value_dim;) {
      const std::size_t rows = tile_step<Arch>(layout_.value_dim - c);
      ahead.of_strip.ask();
      ahead.of_block.ask();
      value_rows<Arch, lanes_type>(rows, vectors, buffers_.scores + from * width + lane, row_at(v, v_row, from) + c,
                                   v_row, keys, out + c * width + lane, buffers_.rescale + lane);
      c += rows;
    }
  }

  void finish_strip(std::size_t s, const query_range& queries) const noexcept {
    const std::size_t rows = queries.end - queries.begin;
    const element_of<Arch>* const sum = buffers_.sum + s * width;
    invert_sums<Arch>(sum, rows, buffers_.rescale);
    element_of<Arch>* const out = head_.out + static_cast<std::ptrdiff_t>(queries.begin) * layout_.out_row;
    unpack_strip<Arch>(buffers_.out + s * width * layout_.value_dim, buffers_.rescale, rows, layout_.value_dim,
                       {out, layout_.out_row, layout_.out_feature});
    if (head_.lse == nullptr) return;
    for (std::size_t i = 0; i < rows; ++i) {
      head_.lse[static_cast<std::ptrdiff_t>(queries.begin + i) * layout_.lse_query] =
          buffers_.maximum[s * width + i] + log_of_sum<Arch>(sum[i]);
    }
  }

  const layout_for<Arch>& layout_;
  const head_for<Arch>& head_;
  head_window window_;
  std::size_t head_index_;
  const attention_buffers<Arch>& buffers_;
  const Score& score_;
  bool leaves_out_ = false;  ///< skips all keys with a score of -inf
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
