// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/decode/task.hpp -- one part of a KV cache against the query rows of a group.
//
// Layer: kernels. Includes: decode/plan.hpp, decode/block.hpp, attention/types.hpp, exp.hpp.
// Tests: tests/kernels/decode/attention.test.cpp
#pragma once

#include <dimwise/kernels/attention/pack.hpp>
#include <dimwise/kernels/attention/plan.hpp>
#include <dimwise/kernels/attention/softmax.hpp>
#include <dimwise/kernels/attention/types.hpp>
#include <dimwise/kernels/decode/block.hpp>
#include <dimwise/kernels/decode/plan.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/exp.hpp>
#include <dimwise/kernels/quantised/rows.hpp>

#include <cstddef>
#include <type_traits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

template <class Arch, class Score>
class decode_task {
 public:
  decode_task(const attention_layout& layout, const decode_plan<Arch>& plan, const attention_head* heads,
              std::size_t first_head, float* worker, float* part, const Score& score) noexcept
      : layout_(layout),
        plan_(plan),
        heads_(heads),
        first_head_(first_head),
        q_(worker),
        scores_(q_ + plan.rows * plan.q_row),
        rescale_(scores_ + plan.rows * decode_score_row),
        k_copy_(rescale_ + plan.statistics),
        v_copy_(k_copy_ + plan.block_keys * plan.q_row),
        maximum_(part),
        sum_(maximum_ + plan.statistics),
        out_(sum_ + plan.statistics),
        score_(score) {}

  /// Computes maximum, sum and unscaled output of every row over the keys of one part.
  void run(std::size_t part) noexcept {
    go_over_keys(part);
    // As in attention: a NaN that no score explains is recomputed without the keys with a score of -inf.
    leaves_out_ = is_spoiled();
    if (leaves_out_) go_over_keys(part);
  }

 private:
  static constexpr std::size_t part_keys = decode_plan<Arch>::part_keys;
  static constexpr float hidden = -infinity;

  void go_over_keys(std::size_t part) noexcept {
    start();
    converts_keys_ = converts(heads_->k_quantised);
    converts_values_ = converts(heads_->v_quantised) && has_finite_scale(heads_->v_quantised, layout_.value_dim);
    if (converts_keys_ && !scale_queries()) {
      converts_keys_ = false;
      start();
    }
    const std::size_t visible = min(layout_.keys, heads_->visible_keys);
    const std::size_t begin = max(part * part_keys, clamp_key(first_seen(0), visible));
    const std::size_t end = min((part + 1) * part_keys, clamp_key(last_seen(layout_.queries - 1) + 1, visible));
    // Rows in place are read once if their queries fit the registers: then long turns of K and V are the fastest.
    const bool once = plan_.rows <= decode_rows_at_once;
    key_step_ = once && (converts_keys_ || in_place(heads_->k_quantised, layout_.k_feature)) ? plan_.turn_keys
                                                                                             : plan_.block_keys;
    value_step_ = once && (converts_values_ || in_place(heads_->v_quantised, layout_.v_feature)) ? plan_.turn_keys
                                                                                                 : plan_.block_keys;
    for (std::size_t j = begin; j < end; j += plan_.turn_keys) advance(j, min(end - j, plan_.turn_keys), end);
    scale_output();
  }

  // Whether a weighted sum is not finite although its sum of weights is.
  [[nodiscard]] bool is_spoiled() const noexcept {
    for (std::size_t r = 0; r < plan_.rows; ++r) {
      if (sum_[r] != sum_[r]) continue;
      floats<Arch> zeros(0.0F);
      for (std::size_t c = 0; c < plan_.out_row; c += lanes<Arch>) {
        zeros = fma<Arch>(load_aligned<Arch>(out_ + r * plan_.out_row + c), floats<Arch>(0.0F), zeros);
      }
      if (xsimd::any(is_nan<Arch>(zeros))) return true;
    }
    return false;
  }

  [[nodiscard]] static constexpr std::size_t padded(std::size_t floats) noexcept {
    return decode_plan<Arch>::padded(floats);
  }
  [[nodiscard]] std::ptrdiff_t first_seen(std::size_t query) const noexcept {
    return static_cast<std::ptrdiff_t>(query) + layout_.window.offset - layout_.window.before;
  }
  [[nodiscard]] std::ptrdiff_t last_seen(std::size_t query) const noexcept {
    return static_cast<std::ptrdiff_t>(query) + layout_.window.offset + layout_.window.after;
  }
  [[nodiscard]] static std::size_t clamp_key(std::ptrdiff_t key, std::size_t visible) noexcept {
    return key < 0 ? 0 : min(static_cast<std::size_t>(key), visible);
  }

  // Whether rows are converted in registers: an advantage while few query rows share them.
  [[nodiscard]] bool converts(const quantised_data& stored) const noexcept {
    constexpr std::size_t most_rows = 8;
    return plan_.rows <= most_rows && bytes_in_register(stored.format) > 0;
  }
  [[nodiscard]] static bool in_place(const quantised_data& stored, std::ptrdiff_t feature) noexcept {
    return stored.format == number_format::float32 && feature == 1;
  }
  [[nodiscard]] static float scale_of(const quantised_data& stored, std::size_t c) noexcept {
    return stored.scale == nullptr ? 1.0F : stored.scale[static_cast<std::ptrdiff_t>(c) * stored.scale_feature];
  }
  [[nodiscard]] static bool has_finite_scale(const quantised_data& stored, std::size_t features) noexcept {
    float zero = 0.0F;
    for (std::size_t c = 0; c < features; ++c) zero += scale_of(stored, c) * 0.0F;
    return zero == 0.0F;
  }

  // Multiplies queries by the scales of the features of keys; returns false if that is not finite.
  [[nodiscard]] bool scale_queries() const noexcept {
    const quantised_data& k = heads_->k_quantised;
    if (k.scale == nullptr || k.scale_feature == 0) return has_finite_scale(k, 1);
    float zero = 0.0F;
    for (std::size_t r = 0; r < plan_.rows; ++r) {
      float* const q = q_ + r * plan_.q_row;
      for (std::size_t c = 0; c < layout_.head_dim; ++c) {
        q[c] *= scale_of(k, c);
        zero += q[c] * 0.0F;
      }
    }
    return zero == 0.0F;
  }
  void scale_output() const noexcept {
    const quantised_data& v = heads_->v_quantised;
    if (!converts_values_ || v.scale == nullptr) return;
    for (std::size_t r = 0; r < plan_.rows; ++r) {
      for (std::size_t c = 0; c < layout_.value_dim; ++c) out_[r * plan_.out_row + c] *= scale_of(v, c);
    }
  }

  // Row r of a group is query r % queries of its head r / queries.
  void start() const noexcept {
    for (std::size_t r = 0; r < plan_.rows; ++r) {
      const attention_head& head = heads_[r / layout_.queries];
      const float* q = head.q + static_cast<std::ptrdiff_t>(r % layout_.queries) * layout_.q_row;
      copy_rows<Arch>({q, layout_.q_row, layout_.q_feature}, 1, layout_.head_dim, q_ + r * plan_.q_row);
      for (std::size_t c = layout_.head_dim; c < plan_.q_row; ++c) q_[r * plan_.q_row + c] = 0.0F;
      for (std::size_t c = 0; c < plan_.q_row; c += lanes<Arch>) {
        float* const at = q_ + r * plan_.q_row + c;
        store_aligned<Arch>(at, load_aligned<Arch>(at) * floats<Arch>(layout_.scale));
      }
      maximum_[r] = hidden;
      sum_[r] = 0.0F;
    }
    for (std::size_t i = 0; i < plan_.rows * plan_.out_row; ++i) out_[i] = 0.0F;
  }

  // Processes the keys [begin, begin + keys); the part ends at `end`.
  void advance(std::size_t begin, std::size_t keys, std::size_t end) const noexcept {
    for (std::size_t j = 0; j < keys; j += key_step_) score_rows(begin + j, min(keys - j, key_step_), j, end);
    const bool changed = changes_scores(score_);
    bool edits = leaves_out_ || changed;
    for (std::size_t r = 0; r < plan_.rows; ++r) {
      const attention_head& head = heads_[r / layout_.queries];
      const std::size_t query = r % layout_.queries;
      const bool edge = static_cast<std::ptrdiff_t>(begin) < first_seen(query) ||
                        static_cast<std::ptrdiff_t>(begin + keys) - 1 > last_seen(query);
      if (edge || head.bias != nullptr || head.allow != nullptr || changed) {
        edit_row(r, head, begin, keys);
        edits = true;
      }
    }
    for (std::size_t r = 0; r < plan_.rows; ++r) edits ? weigh_row<true>(r, keys) : weigh_row<false>(r, keys);
    // Values that may be skipped are widened to be searched for infinities and NaN.
    const std::size_t step = edits && converts_values_ ? plan_.block_keys : value_step_;
    for (std::size_t j = 0; j < keys; j += step) {
      add_rows(begin + j, min(keys - j, step), j, end, edits);
      // The previous sums are now relative to the new maximum.
      for (std::size_t r = 0; r < plan_.rows; ++r) rescale_[r] = 1.0F;
    }
  }

  // K or V of some keys, widened and gathered to `copy` where necessary.
  [[nodiscard]] static matrix_view<const float> read(const quantised_data& stored, matrix_view<const float> rows,
                                                     std::size_t begin, std::size_t keys, std::size_t end,
                                                     std::size_t features, float* copy) noexcept {
    if (stored.format != number_format::float32) return widened(stored, begin, keys, end, features, copy);
    rows.data = rows.at(begin);
    gather(rows, keys, features, copy);
    return rows;
  }

  // The lines of the rows of K or V from `key` on.
  [[nodiscard]] next_lines lines_of(const quantised_data& stored, const matrix_view<const float>& rows, std::size_t key,
                                    std::size_t features) const noexcept {
    if (stored.format == number_format::float32 && rows.feature == 1 &&
        rows.row == static_cast<std::ptrdiff_t>(features))
      return {reinterpret_cast<const char*>(rows.at(key)), 64};
    if (converts(stored) && stored.row == static_cast<std::ptrdiff_t>(features)) {
      return {static_cast<const char*>(stored.data) + key * features * bytes_in_register(stored.format), 64};
    }
    return {reinterpret_cast<const char*>(scores_), 0};
  }
  [[nodiscard]] next_lines keys_from(std::size_t key) const noexcept {
    return lines_of(heads_->k_quantised, {heads_->k, layout_.k_row, layout_.k_feature}, key, layout_.head_dim);
  }
  [[nodiscard]] next_lines values_from(std::size_t key) const noexcept {
    return lines_of(heads_->v_quantised, {heads_->v, layout_.v_row, layout_.v_feature}, key, layout_.value_dim);
  }

  // K or V for the query rows from `r` on. The first of them prefetch rows that are not in a copy.
  [[nodiscard]] static float_rows<Arch> rows_for(std::size_t r, const matrix_view<const float>& rows, bool in_place,
                                                 std::size_t features) noexcept {
    return {rows.data, rows.row, r == 0 && in_place ? decode_further(features, rows.row) : 0};
  }

  // Low-precision rows, widened to floats in `copy`.
  [[nodiscard]] static matrix_view<const float> widened(const quantised_data& from, std::size_t begin, std::size_t rows,
                                                        std::size_t end, std::size_t features, float* copy) noexcept {
    from.kernels->widen(from, begin, rows, min(end - begin - rows, rows), features, copy);
    return {copy, static_cast<std::ptrdiff_t>(features), 1};
  }

  // Non-contiguous features are first copied to a contiguous buffer.
  static void gather(matrix_view<const float>& from, std::size_t rows, std::size_t features, float* copy) noexcept {
    if (from.feature == 1) return;
    copy_rows<Arch>(from, rows, features, copy);
    from = {copy, static_cast<std::ptrdiff_t>(features), 1};
  }

  // Scores of a block of keys, at `place` of the rows of scores.
  void score_rows(std::size_t begin, std::size_t keys, std::size_t place, std::size_t end) const noexcept {
    float* const scores = scores_ + place;
    const query_rows q{q_, plan_.q_row, plan_.rows};
    next_lines ahead = values_from(begin);
    if (converts_keys_)
      return heads_->k_quantised.kernels->score(heads_->k_quantised, begin, keys, layout_.head_dim, q, scores, ahead);
    const matrix_view<const float> all{heads_->k, layout_.k_row, layout_.k_feature};
    const matrix_view<const float> k = read(heads_->k_quantised, all, begin, keys, end, layout_.head_dim, k_copy_);
    const bool stays = in_place(heads_->k_quantised, layout_.k_feature);
    each_rows(plan_.rows, [&](auto rows, std::size_t r) __attribute__((always_inline)) {
      dot_block<Arch, decltype(rows)::value>(q.data + r * q.row, q.row, rows_for(r, k, stays, layout_.head_dim),
                                             layout_.head_dim, keys, 1.0F, scores + r * decode_score_row, ahead);
      ahead.step = 0;
    });
  }

  // Score function, bias, mask and window of one row; -inf for hidden keys.
  void edit_row(std::size_t r, const attention_head& head, std::size_t begin, std::size_t keys) const noexcept {
    float* const scores = scores_ + r * decode_score_row;
    const auto query = static_cast<std::ptrdiff_t>(r % layout_.queries);
    if constexpr (!std::is_same_v<Score, identity_score>) {
      if constexpr (requires { score_.each(scores, keys); }) score_.each(scores, keys);
      for (std::size_t j = 0; changes_registers(score_) && j < keys; j += lanes<Arch>) {
        const ints<Arch> key =
            lane_indices<Arch>() + ints<Arch>(clamp_to_int32(static_cast<std::ptrdiff_t>(begin + j)));
        const score_place<Arch> place{ints<Arch>(clamp_to_int32(query)), key, first_head_ + r / layout_.queries};
        store_aligned<Arch>(scores + j, floats<Arch>(score_(load_aligned<Arch>(scores + j), place)));
      }
    }
    const std::ptrdiff_t first = first_seen(static_cast<std::size_t>(query));
    const std::ptrdiff_t last = last_seen(static_cast<std::size_t>(query));
    for (std::size_t j = 0; j < keys; ++j) {
      const auto key = static_cast<std::ptrdiff_t>(begin + j);
      const float bias = head.bias == nullptr ? 0.0F : head.bias[query * layout_.bias_query + key * layout_.bias_key];
      const bool allowed = head.allow == nullptr || head.allow[query * layout_.allow_query + key * layout_.allow_key];
      // Not only a sum: a bias of -inf also hides a score of NaN.
      scores[j] = !allowed || bias == hidden || key < first || key > last ? hidden : scores[j] + bias;
    }
  }

  // The online softmax of one row; lanes are keys. See `weigh` for the mark.
  template <bool MarkHidden>
  [[gnu::noinline]] void weigh_row(std::size_t r, std::size_t keys) const noexcept {
    using vec = floats<Arch>;
    float* const scores = scores_ + r * decode_score_row;
    vec top(hidden);
    for (std::size_t j = keys; j < (keys + lanes<Arch> - 1) / lanes<Arch> * lanes<Arch>; ++j) scores[j] = hidden;
    for (std::size_t j = 0; j < keys; j += lanes<Arch>) top = max_skip_nan<Arch>(load_aligned<Arch>(scores + j), top);
    const float block_maximum = reduce_max_skip_nan<Arch>(top);
    const float maximum = block_maximum > maximum_[r] ? block_maximum : maximum_[r];
    const float against = maximum == hidden ? 0.0F : maximum;
    vec sum(0.0F);
    for (std::size_t j = 0; j < keys; j += lanes<Arch>) {
      const vec logit = load_aligned<Arch>(scores + j);
      vec weight = exp_nonpositive<Arch>(logit - vec(against));
      if constexpr (MarkHidden) weight = select<Arch>(logit == vec(hidden), vec(-0.0F), weight);
      store_aligned<Arch>(scores + j, weight);
      sum = sum + weight;
    }
    rescale_[r] = exp_nonpositive<Arch>(vec(maximum_[r] - against)).get(0);
    sum_[r] = sum_[r] * rescale_[r] + reduce_sum<Arch>(sum);
    maximum_[r] = maximum;
  }

  void add_rows(std::size_t begin, std::size_t keys, std::size_t place, std::size_t end, bool edits) const noexcept {
    const float* const weights = scores_ + place;
    const output_rows out{out_, plan_.out_row, plan_.rows, rescale_};
    next_lines ahead = keys_from(begin + keys);
    quantised_data stored = heads_->v_quantised;
    if (converts_values_) {
      if (!edits) return stored.kernels->add(stored, begin, keys, layout_.value_dim, weights, out, ahead);
      stored.scale = nullptr;  // the output is multiplied by it
    }
    const matrix_view<const float> all{heads_->v, layout_.v_row, layout_.v_feature};
    const matrix_view<const float> v = read(stored, all, begin, keys, end, layout_.value_dim, v_copy_);
    // As in attention: if a key may be hidden, a value that is not finite must be skipped, not multiplied by 0.
    if (edits && !all_finite<Arch>(v.data, v.row, keys, layout_.value_dim)) return add_marked_rows(v, keys, place);
    const bool stays = in_place(stored, layout_.v_feature);
    each_rows(plan_.rows, [&](auto rows, std::size_t r) __attribute__((always_inline)) {
      add_block<Arch, decltype(rows)::value>(weights + r * decode_score_row, rows_for(r, v, stays, layout_.value_dim),
                                             keys, layout_.value_dim, out.data + r * out.row, out.row, out.rescale + r,
                                             ahead);
      ahead.step = 0;
    });
  }

  // One key at a time, for values with infinities or NaN: a hidden key (-0) adds nothing.
  void add_marked_rows(const matrix_view<const float>& v, std::size_t keys, std::size_t place) const noexcept {
    for (std::size_t r = 0; r < plan_.rows; ++r) {
      float* const out = out_ + r * plan_.out_row;
      for (std::size_t c = 0; c < layout_.value_dim; ++c) out[c] *= rescale_[r];
      for (std::size_t j = 0; j < keys; ++j) {
        const float weight = scores_[r * decode_score_row + place + j];
        if (weight == 0.0F && 1.0F / weight < 0.0F) continue;
        for (std::size_t c = 0; c < layout_.value_dim; ++c) out[c] += weight * *v.at(j, c);
      }
    }
  }

  const attention_layout& layout_;
  const decode_plan<Arch>& plan_;
  const attention_head* heads_;
  std::size_t first_head_;
  float* q_;
  float* scores_;
  float* rescale_;
  float* k_copy_;
  float* v_copy_;
  float* maximum_;
  float* sum_;
  float* out_;
  const Score& score_;
  std::size_t key_step_ = 0;    ///< keys of K that are read together
  std::size_t value_step_ = 0;  ///< keys of V
  bool converts_keys_ = false;  ///< in registers
  bool converts_values_ = false;
  bool leaves_out_ = false;  ///< skips all keys with a score of -inf
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
