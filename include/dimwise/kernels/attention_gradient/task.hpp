// dimwise/kernels/attention_gradient/task.hpp -- one task of the attention backward pass: heads that share a sum.
//
// Layer: kernels. Includes: the other headers of attention_gradient/.
// Tests: tests/kernels/attention_gradient/backward.test.cpp
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/mask.hpp>
#include <dimwise/kernels/attention/pack.hpp>
#include <dimwise/kernels/attention/sight.hpp>
#include <dimwise/kernels/attention/softmax.hpp>
#include <dimwise/kernels/attention/tile.hpp>
#include <dimwise/kernels/attention/types.hpp>
#include <dimwise/kernels/attention_gradient/panels.hpp>
#include <dimwise/kernels/attention_gradient/plan.hpp>
#include <dimwise/kernels/attention_gradient/rows.hpp>
#include <dimwise/kernels/attention_gradient/tile.hpp>
#include <dimwise/kernels/attention_gradient/weights.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/gradient_table.hpp>
#include <dimwise/kernels/math.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

/// -slope |distance|, the part of a score function whose derivative is 1.
template <class Arch>
struct distance_score {
  const score_function* what;

  [[nodiscard, gnu::always_inline]] bool any() const noexcept { return what->slopes != nullptr; }
  [[gnu::always_inline]] floats<Arch> operator()(const floats<Arch>& scores,
                                                 const score_place<Arch>& place) const noexcept {
    const ints<Arch> distance = place.key - place.query + ints<Arch>(clamp_to_int32(what->distance));
    return scores - broadcast<Arch>(what->slopes[place.head]) * magnitude<Arch>(to_floats<Arch>(distance));
  }
};

/// Scores of doubles have no slopes and no functions.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline auto score_by_distance(const score_function& what) noexcept {
  if constexpr (in_doubles<Arch>) return identity_score{};
  else return distance_score<Arch>{&what};
}

template <class Arch>
class attention_gradient_task : gradient_panels<Arch> {
 public:
  using gradient_panels<Arch>::gradient_panels;

  /// All queries of a range of heads; heads that share keys and values read them together.
  void run(const head_range& heads) noexcept {
    for (std::size_t first = heads.begin; first < heads.end;) {
      std::size_t last = first + 1;
      while (last < heads.end && same_keys(call_, first, last)) ++last;
      const bool onto_k = first > heads.begin && gradient(first).d_k == gradient(first - 1).d_k;
      const bool onto_v = first > heads.begin && gradient(first).d_v == gradient(first - 1).d_v;
      run_group({first, last}, onto_k, onto_v);
      first = last;
    }
  }

  /// Every `parts`th panel of queries of heads that share keys and values. Writes their contributions to the gradients
  /// of keys and values to `sums`: rows in whole registers, those of d_k, then those of d_v.
  void run_part(const head_range& heads, std::size_t part, std::size_t parts, element_of<Arch>* sums) noexcept {
    part_ = part;
    parts_ = parts;
    sums_ = sums;
    run_group(heads, false, false);
  }

 private:
  using panels = gradient_panels<Arch>;
  using panels::at_;
  using panels::call_;
  using panels::cut_;
  using panels::each_panel;
  using panels::finite_;
  using panels::first_head_;
  using panels::gradient;
  using panels::head;
  using panels::key_features;
  using panels::layout_;
  using panels::part_;
  using panels::parts_;
  using panels::strip_at;
  using panels::strip_of;
  using panels::strips_of;
  using panels::value_features;
  using panels::width;
  using typename panels::buffers;
  using typename panels::key_span;
  using typename panels::plan;

  void run_group(const head_range& heads, bool onto_k, bool onto_v) noexcept {
    first_head_ = heads.begin;
    for (std::size_t h = heads.begin; h < heads.end; ++h) this->prepare(h, this->deltas_of(h));
    const std::size_t visible = head_window(layout_, head(heads.begin)).visible_keys();
    for (std::size_t begin = 0; begin < layout_.keys; begin += cut_.span) {
      const std::size_t end = min(begin + cut_.span, layout_.keys);
      const key_span span{begin, max(min(end, visible), begin)};
      this->fetch(head(heads.begin), span);
      clear_elements<Arch>(at_[buffers::d_k], (end - begin) * key_features());
      clear_elements<Arch>(at_[buffers::d_v], (end - begin) * value_features());
      for (std::size_t h = heads.begin; h < heads.end; ++h) meet_queries(h, span, this->deltas_of(h));
      if (sums_ != nullptr) {
        element_of<Arch>* const of_values = sums_ + layout_.keys * key_features();
        copy_elements<Arch>(at_[buffers::d_k], (end - begin) * key_features(), sums_ + begin * key_features());
        copy_elements<Arch>(at_[buffers::d_v], (end - begin) * value_features(), of_values + begin * value_features());
        continue;
      }
      const attention_gradient_layout& to = call_.layout;
      write_rows<Arch>(at_[buffers::d_k], end - begin, layout_.head_dim, layout_.scale, onto_k,
                       {this->from_row(gradient(heads.begin).d_k, to.d_k_row, begin), to.d_k_row, to.d_k_feature});
      write_rows<Arch>(at_[buffers::d_v], end - begin, layout_.value_dim, 1.0F, onto_v,
                       {this->from_row(gradient(heads.begin).d_v, to.d_v_row, begin), to.d_v_row, to.d_v_feature});
    }
  }

  // Processes all queries of a head with the keys of a span.
  void meet_queries(std::size_t h, const key_span& span, const element_of<Arch>* deltas) noexcept {
    const head_window window(layout_, head(h));
    each_panel(h, [&](const query_range& panel) __attribute__((always_inline)) {
      const key_range seen = window.keys_of(panel);
      if (max(seen.begin, span.begin) >= min(seen.end, span.end)) return;
      const bool finite = this->start_panel(h, panel, deltas);
      for (std::size_t b = 0; span.begin + b * cut_.block < span.end; ++b) {
        const std::size_t first = span.begin + b * cut_.block;
        const key_span block{first, min(first + cut_.block, span.end)};
        if (max(seen.begin, block.begin) >= min(seen.end, block.end)) continue;
        meet_block(h, window, panel, span, block, finite && finite_[b]);
      }
      // The first span of these queries writes their gradients, later spans add to them.
      if (gradient(h).d_q != nullptr) this->write_queries(h, panel, seen.begin < span.begin);
    });
  }

  // Processes a panel with a block of keys; `finite` means that products with hidden pairs are 0.
  void meet_block(std::size_t h, const head_window& window, const query_range& panel, const key_span& span,
                  const key_span& block, bool finite) noexcept {
    const std::size_t strips = strips_of(panel);
    const std::size_t keys = block.end - block.begin;
    for (std::size_t tile = 0; tile < most_tiles; ++tile) {
      for (std::size_t s = 0; s < strips; ++s) ranges_[tile][s] = {};
    }
    const element_of<Arch>* const k = at_[buffers::k] + (block.begin - span.begin) * layout_.head_dim;
    const element_of<Arch>* const v = at_[buffers::v] + (block.begin - span.begin) * layout_.value_dim;
    for (std::size_t s = 0; s < strips; ++s) {
      const query_range strip = strip_at(panel, s);
      const sight<Arch> of = window.template sight_of<Arch>(strip, block.begin, block.end);
      if (!weigh_strip(h, s, strip, block, of, k, v, finite)) continue;
      if (gradient(h).d_bias != nullptr) add_bias(h, s, strip, block, of);
      if (has_slopes()) multiply_slopes(s, keys);
      if (gradient(h).d_q != nullptr) add_keys(s, k, of, finite);
    }
    element_of<Arch>* const d_k = at_[buffers::d_k] + (block.begin - span.begin) * key_features();
    element_of<Arch>* const d_v = at_[buffers::d_v] + (block.begin - span.begin) * value_features();
    const row_panel<Arch> q{at_[buffers::q_rows], static_cast<std::ptrdiff_t>(key_features())};
    const row_panel<Arch> d_out{at_[buffers::d_out_rows], static_cast<std::ptrdiff_t>(value_features())};
    std::size_t tile = 0;
    for (std::size_t key = 0, rows = 0; key < keys; key += rows, ++tile) {
      rows = tile_step<Arch>(keys - key);
      const weight_panel<Arch> p{at_[buffers::p] + key * width, block_keys * width, &ranges_[tile][0], strips};
      const weight_panel<Arch> d_s{at_[buffers::d_s] + key * width, block_keys * width, &ranges_[tile][0], strips};
      if (!finite) {
        sum_seen(rows, p, d_s, q, d_out, d_k + key * key_features(), d_v + key * value_features());
        continue;
      }
      if (gradient(h).d_v != nullptr)
        add_row_sums<Arch>(rows, value_features(), p, d_out, d_v + key * value_features(), d_out.row);
      if (gradient(h).d_k != nullptr)
        add_row_sums<Arch>(rows, key_features(), d_s, q, d_k + key * key_features(), q.row);
    }
  }

  void sum_seen(std::size_t rows, const weight_panel<Arch>& p, const weight_panel<Arch>& d_s, const row_panel<Arch>& q,
                const row_panel<Arch>& d_out, element_of<Arch>* d_k, element_of<Arch>* d_v) const noexcept {
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t s = 0; s < p.strips; ++s) {
        const element_of<Arch>* const weights = p.data + s * p.strip_step + r * width;
        const element_of<Arch>* const gradients = d_s.data + s * p.strip_step + r * width;
        const auto first = static_cast<std::ptrdiff_t>(s * width);
        sum_seen_rows<Arch>(weights, weights, p.ranges[s], {d_out.data + first * d_out.row, d_out.row},
                            value_features(), d_v + r * value_features());
        sum_seen_rows<Arch>(weights, gradients, p.ranges[s], {q.data + first * q.row, q.row}, key_features(),
                            d_k + r * key_features());
      }
    }
  }

  // Weights and gradients of scores of one strip and block; returns false if a mask hides all of them.
  [[nodiscard]] bool weigh_strip(std::size_t h, std::size_t s, const query_range& strip, const key_span& block,
                                 const sight<Arch>& of, const element_of<Arch>* k, const element_of<Arch>* v,
                                 bool finite) noexcept {
    score_edit<Arch> edit{
        h, static_cast<std::ptrdiff_t>(strip.begin), static_cast<std::ptrdiff_t>(block.begin), layout_.window, {}};
    if (!add(head(h), strip, block, edit.added)) return false;
    const auto distance = score_by_distance<Arch>(call_.forth.score);
    const bool edits_scores = changes_scores(distance);
    const bool slopes = has_slopes();
    // Added numbers that hide no pair are added in the tile's registers.
    added_scores<Arch> added;
    if (!edit.added.hides && !edits_scores && !slopes) {
      added = edit.added;
      edit.added = {};
    }
    const bool changes = edit.added.data != nullptr || edits_scores;
    const bool may_hide = edit.added.hides || !finite;
    element_of<Arch>* const p = at_[buffers::p] + s * block_keys * width;
    element_of<Arch>* const d_s = at_[buffers::d_s] + s * block_keys * width;
    element_of<Arch>* const derivative = at_[buffers::derivative] + s * block_keys * width;
    const element_of<Arch>* const lse = at_[buffers::lse] + s * width;
    const element_of<Arch>* const delta = at_[buffers::delta] + s * width;
    const std::size_t keys = block.end - block.begin;
    score_tile_place at{0, 0, 0, 0};
    for (std::size_t tile = 0; at.key < keys; at.key += at.keys, ++tile) {
      at.keys = tile_step<Arch>(keys - at.key);
      while (at.first < of.vectors && of.some.end[at.first] <= at.key) ++at.first;
      while (at.last < of.vectors && of.some.begin[at.last] < at.key + at.keys) ++at.last;
      if (at.first >= at.last) continue;
      const std::size_t lane = at.first * lanes<Arch>;
      ranges_[tile][s] = {lane, min(at.last * lanes<Arch>, strip.end - strip.begin)};
      const bool edge = of.whole.begin[at.last - 1] > at.key || of.whole.end[at.first] < at.key + at.keys;
      score_rows<Arch>(at.keys, at.last - at.first, strip_of(buffers::q, s, layout_.head_dim) + lane,
                       k + at.key * layout_.head_dim, static_cast<std::ptrdiff_t>(layout_.head_dim), layout_.head_dim,
                       p + at.key * width + lane, at_[buffers::unused], from(added, at.key, lane));
      if constexpr (!in_doubles<Arch>) {
        if (slopes) shape_scores(p, derivative, at);
      }
      if (changes || edge) edit_tile<Arch>(p, at, edge, edit, distance, at_[buffers::unused]);
      score_rows<Arch>(at.keys, at.last - at.first, strip_of(buffers::d_out, s, layout_.value_dim) + lane,
                       v + at.key * layout_.value_dim, static_cast<std::ptrdiff_t>(layout_.value_dim),
                       layout_.value_dim, d_s + at.key * width + lane, at_[buffers::unused], {});
      if (may_hide || edge || slopes) weigh_gradients<Arch, true>(p, d_s, at, lse, delta);
      else weigh_gradients<Arch, false>(p, d_s, at, lse, delta);
    }
    return true;
  }

  [[nodiscard]] bool has_slopes() const noexcept {
    return !in_doubles<Arch> && (call_.forth.score.own != nullptr || call_.forth.score.soft_cap != 0);
  }

  // Applies the user's function of scores, then the soft cap.
  void shape_scores(element_of<Arch>* scores, element_of<Arch>* derivative, const score_tile_place& at) const noexcept {
    const score_function& what = call_.forth.score;
    if (what.own != nullptr) {
      for (std::size_t j = at.key; j < at.key + at.keys; ++j) {
        const std::size_t place = j * width + at.first * lanes<Arch>;
        call_.own_derivative(what.context, scores + place, derivative + place, (at.last - at.first) * lanes<Arch>);
      }
    }
    if (what.soft_cap != 0) cap_scores<Arch>(scores, derivative, at, soft_cap_of{what.soft_cap}, what.own != nullptr);
  }

  [[nodiscard]] static added_scores<Arch> from(added_scores<Arch> added, std::size_t key, std::size_t lane) noexcept {
    if (added.data != nullptr) added.data += added.each_query ? key * width + lane : key;
    return added;
  }

  // The bias and mask of a strip and a block; returns false if they hide all of it.
  [[nodiscard]] bool add(const head_for<Arch>& of, const query_range& strip, const key_span& block,
                         added_scores<Arch>& to) const noexcept {
    if (of.bias == nullptr && of.allow == nullptr) return true;
    to.data = at_[buffers::added];
    to.each_query =
        (of.bias != nullptr && layout_.bias_query != 0) || (of.allow != nullptr && layout_.allow_query != 0);
    const visible seen =
        to.each_query ? pack_added_pairs<Arch>(layout_, of, strip.begin, strip.end - strip.begin, block.begin,
                                               block.end - block.begin, at_[buffers::added])
                      : pack_added_keys<Arch>(layout_, of, block.begin, block.end - block.begin, at_[buffers::added]);
    to.hides = seen != visible::all;
    return seen != visible::none;
  }

  // Multiplies the gradients of the scores by the derivatives of the score functions.
  void multiply_slopes(std::size_t s, std::size_t keys) const noexcept {
    const std::size_t panel = s * block_keys * width;
    std::size_t tile = 0;
    for (std::size_t key = 0, rows = 0; key < keys; key += rows, ++tile) {
      rows = tile_step<Arch>(keys - key);
      const lane_range& range = ranges_[tile][s];
      apply_derivatives<Arch>(at_[buffers::p] + panel, at_[buffers::d_s] + panel, at_[buffers::derivative] + panel,
                              {key, rows, range.begin / lanes<Arch>, (range.end + lanes<Arch> - 1) / lanes<Arch>});
    }
  }

  // The gradient of the bias is that of the logits.
  void add_bias(std::size_t h, std::size_t s, const query_range& strip, const key_span& block,
                const sight<Arch>& of) const noexcept {
    element_of<Arch>* const d_s = at_[buffers::d_s] + s * block_keys * width;
    const std::size_t keys = block.end - block.begin;
    // Elements that no tile computes are 0.
    for (std::size_t v = 0; v < of.vectors; ++v) {
      const lane_range seen{of.some.begin[v], max(of.some.begin[v], of.some.end[v])};
      for (std::size_t j = 0; j < keys; ++j) {
        if (j < seen.begin || j >= seen.end) store_aligned<Arch>(d_s + j * width + v * lanes<Arch>, floats<Arch>(0.0F));
      }
    }
    const attention_gradient_layout& to = call_.layout;
    element_of<Arch>* const data = gradient(h).d_bias + static_cast<std::ptrdiff_t>(strip.begin) * to.d_bias_query +
                                   static_cast<std::ptrdiff_t>(block.begin) * to.d_bias_key;
    add_bias_gradient<Arch>(d_s, strip.end - strip.begin, keys, {data, to.d_bias_query, to.d_bias_key});
  }

  // The gradient of the queries of one strip: the keys of a block times the gradients of their scores.
  void add_keys(std::size_t s, const element_of<Arch>* k, const sight<Arch>& of, bool finite) const noexcept {
    element_of<Arch>* const d_q = strip_of(buffers::d_q, s, layout_.head_dim);
    const element_of<Arch>* const d_s = at_[buffers::d_s] + s * block_keys * width;
    const auto row = static_cast<std::ptrdiff_t>(layout_.head_dim);
    if (!finite) {
      const element_of<Arch>* const p = at_[buffers::p] + s * block_keys * width;
      for (std::size_t c = 0; c < layout_.head_dim; ++c)
        add_seen_keys<Arch>(p, d_s, k + c, row, of.some, of.vectors, d_q + c * width);
      return;
    }
    for (std::size_t i = 0; i < width; i += lanes<Arch>)
      store_aligned<Arch>(at_[buffers::factor] + i, floats<Arch>(1.0F));
    each_run<Arch>(of.some, of.vectors,
                   [&](std::size_t first_key, const keys_per_vector<Arch>& run, std::size_t first, std::size_t count)
                       __attribute__((always_inline)) {
      const std::size_t lane = first * lanes<Arch>;
      for (std::size_t c = 0; c < layout_.head_dim;) {
        const std::size_t rows = tile_step<Arch>(layout_.head_dim - c);
        value_rows<Arch>(rows, count, d_s + first_key * width + lane,
                         k + static_cast<std::ptrdiff_t>(first_key) * row + c, row, run, d_q + c * width + lane,
                         at_[buffers::factor] + lane);
        c += rows;
      }
    });
  }

  static constexpr std::size_t most_tiles = block_keys / tile_rows<Arch> + 4;

  element_of<Arch>* sums_ = nullptr;
  lane_range ranges_[most_tiles][plan::strips] = {};
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
