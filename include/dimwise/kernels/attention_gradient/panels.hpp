// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/attention_gradient/panels.hpp -- the buffers of a task of the attention backward pass: spans of keys
// and panels of queries.
//
// Layer: kernels. Includes: the other headers of attention_gradient/.
// Tests: tests/kernels/attention_gradient/backward.test.cpp
#pragma once

#include <dimwise/kernels/attention/mask.hpp>
#include <dimwise/kernels/attention/pack.hpp>
#include <dimwise/kernels/attention/sight.hpp>
#include <dimwise/kernels/attention/types.hpp>
#include <dimwise/kernels/attention_gradient/plan.hpp>
#include <dimwise/kernels/attention_gradient/rows.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/gradient_table.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

template <class Arch>
class attention_gradient_task;

/// The operands of a task, in its buffers: keys and values of a span, and panels of queries.
template <class Arch>
class gradient_panels {
 public:
  using buffers = gradient_buffers<Arch>;

  gradient_panels(const gradient_call_for<Arch>& call, element_of<Arch>* scratch, std::size_t group) noexcept
      : call_(call), layout_(call.forth.layout), cut_(layout_), at_(scratch, layout_, group) {}

 private:
  template <class>
  friend class attention_gradient_task;

  static constexpr std::size_t width = strip_width<Arch>;
  using plan = gradient_plan<Arch>;

  [[nodiscard]] const head_for<Arch>& head(std::size_t i) const noexcept { return call_.forth.heads[i]; }
  [[nodiscard]] const gradient_head_for<Arch>& gradient(std::size_t i) const noexcept { return call_.gradients[i]; }
  [[nodiscard]] element_of<Arch>* strip_of(typename buffers::part panel, std::size_t s,
                                           std::size_t features) const noexcept {
    return at_[panel] + s * width * features;
  }
  [[nodiscard]] std::size_t key_features() const noexcept { return whole_registers<Arch>(layout_.head_dim); }
  [[nodiscard]] std::size_t value_features() const noexcept { return whole_registers<Arch>(layout_.value_dim); }

  struct key_span {
    std::size_t begin;
    std::size_t end;
  };

  [[nodiscard]] std::size_t queries() const noexcept { return layout_.queries; }

  [[nodiscard]] element_of<Arch>* deltas_of(std::size_t h) const noexcept {
    return at_[buffers::deltas] + (h - first_head_) * queries();
  }

  // Calls f for the query panels of a head in this part.
  template <class F>
  [[gnu::always_inline]] void each_panel(std::size_t h, const F& f) const noexcept {
    const std::size_t panels = (queries() + plan::queries - 1) / plan::queries;
    for (std::size_t i = 0; i < panels; ++i) {
      if (((h - first_head_) * panels + i) % parts_ != part_) continue;
      f(query_range{i * plan::queries, min((i + 1) * plan::queries, queries())});
    }
  }

  // d_out . out - d_lse of each query; writes 0 to the gradients of queries that see no key, which no span visits.
  void prepare(std::size_t h, element_of<Arch>* deltas) const noexcept {
    const gradient_head_for<Arch>& g = gradient(h);
    const attention_gradient_layout& l = call_.layout;
    const matrix_view<const element_of<Arch>> d_out{g.d_out, l.d_out_row, l.d_out_feature};
    const matrix_view<const element_of<Arch>> out{head(h).out, layout_.out_row, layout_.out_feature};
    const matrix_view<element_of<Arch>> d_q{g.d_q, l.d_q_row, l.d_q_feature};
    const head_window window(layout_, head(h));
    each_panel(h, [&](const query_range& panel) __attribute__((always_inline)) {
      dot_rows<Arch>({d_out.at(panel.begin), d_out.row, d_out.feature}, {out.at(panel.begin), out.row, out.feature},
                     panel.end - panel.begin, layout_.value_dim, deltas + panel.begin);
      for (std::size_t i = panel.begin; g.d_lse != nullptr && i < panel.end; ++i)
        deltas[i] -= g.d_lse[static_cast<std::ptrdiff_t>(i) * l.d_lse_query];
      const key_range seen = window.keys_of(panel);
      if (g.d_q == nullptr || seen.begin < seen.end) return;
      for (std::size_t i = panel.begin; i < panel.end; ++i) {
        for (std::size_t c = 0; c < layout_.head_dim; ++c) *d_q.at(i, c) = 0;
      }
    });
  }

  template <class Element>
  [[nodiscard]] static Element* from_row(Element* base, std::ptrdiff_t stride, std::size_t index) noexcept {
    return base == nullptr ? nullptr : base + static_cast<std::ptrdiff_t>(index) * stride;
  }

  // Copies the keys and values of a span, and records which blocks are finite.
  void fetch(const head_for<Arch>& of, const key_span& span) noexcept {
    const std::size_t count = span.end - span.begin;
    copy_rows<Arch>({from_row(of.k, layout_.k_row, span.begin), layout_.k_row, layout_.k_feature}, count,
                    layout_.head_dim, at_[buffers::k]);
    copy_rows<Arch>({from_row(of.v, layout_.v_row, span.begin), layout_.v_row, layout_.v_feature}, count,
                    layout_.value_dim, at_[buffers::v]);
    for (std::size_t b = 0; b * cut_.block < count; ++b) {
      const std::size_t keys = min(cut_.block, count - b * cut_.block);
      finite_[b] = finite_rows(at_[buffers::k] + b * cut_.block * layout_.head_dim, layout_.head_dim, keys) &&
                   finite_rows(at_[buffers::v] + b * cut_.block * layout_.value_dim, layout_.value_dim, keys);
    }
  }
  [[nodiscard]] static bool finite_rows(const element_of<Arch>* from, std::size_t features, std::size_t rows) noexcept {
    return all_finite<Arch>(from, static_cast<std::ptrdiff_t>(features), rows, features);
  }

  [[nodiscard]] static std::size_t strips_of(const query_range& panel) noexcept {
    return (panel.end - panel.begin + width - 1) / width;
  }
  [[nodiscard]] static query_range strip_at(const query_range& panel, std::size_t s) noexcept {
    return {panel.begin + s * width, min(panel.begin + (s + 1) * width, panel.end)};
  }

  // Both layouts of q and d_out; returns whether all their elements are finite. If not, a query whose d_out is all 0 is
  // marked by a log-sum-exp of +inf and contributes nothing: its output was discarded, and it may be NaN.
  [[nodiscard]] bool start_panel(std::size_t h, const query_range& panel,
                                 const element_of<Arch>* deltas) const noexcept {
    const head_for<Arch>& of = head(h);
    const gradient_head_for<Arch>& g = gradient(h);
    const std::size_t rows = panel.end - panel.begin;
    const matrix_view<const element_of<Arch>> q{from_row(of.q, layout_.q_row, panel.begin), layout_.q_row,
                                                layout_.q_feature};
    const matrix_view<const element_of<Arch>> d_out{from_row(g.d_out, call_.layout.d_out_row, panel.begin),
                                                    call_.layout.d_out_row, call_.layout.d_out_feature};
    copy_padded<Arch>(q, rows, layout_.head_dim, at_[buffers::q_rows]);
    copy_padded<Arch>(d_out, rows, layout_.value_dim, at_[buffers::d_out_rows]);
    for (std::size_t s = 0; s < strips_of(panel); ++s) {
      const query_range strip = strip_at(panel, s);
      const std::size_t first = strip.begin - panel.begin;
      const std::size_t count = strip.end - strip.begin;
      pack_strip<Arch>({at_[buffers::q_rows] + first * key_features(), static_cast<std::ptrdiff_t>(key_features()), 1},
                       count, layout_.head_dim, layout_.scale, strip_of(buffers::q, s, layout_.head_dim));
      pack_strip<Arch>(
          {at_[buffers::d_out_rows] + first * value_features(), static_cast<std::ptrdiff_t>(value_features()), 1},
          count, layout_.value_dim, 1.0F, strip_of(buffers::d_out, s, layout_.value_dim));
      clear_elements<Arch>(strip_of(buffers::d_q, s, layout_.head_dim), width * layout_.head_dim);
    }
    element_of<Arch>* const lse = at_[buffers::lse];
    element_of<Arch>* const delta = at_[buffers::delta];
    element_of<Arch> others = 0;
    for (std::size_t i = 0; i < plan::queries; ++i) {
      const std::size_t query = panel.begin + min(i, rows - 1);
      const element_of<Arch> sum = of.lse[static_cast<std::ptrdiff_t>(query) * layout_.lse_query];
      // A row that sees no key has logits of -inf alone: any finite number avoids -inf - -inf, which is NaN.
      lse[i] = sum == -infinity ? 0.0F : sum;
      delta[i] = deltas[query];
      others += (lse[i] - lse[i]) + (delta[i] - delta[i]);
    }
    if (others == 0 && finite_rows(at_[buffers::q_rows], key_features(), rows) &&
        finite_rows(at_[buffers::d_out_rows], value_features(), rows)) {
      return true;
    }
    for (std::size_t i = 0; i < plan::queries; ++i) {
      const std::size_t row = min(i, rows - 1);
      const std::size_t query = panel.begin + row;
      bool discarded =
          g.d_lse == nullptr || g.d_lse[static_cast<std::ptrdiff_t>(query) * call_.layout.d_lse_query] == 0;
      for (std::size_t c = 0; c < value_features(); ++c)
        discarded = discarded && at_[buffers::d_out_rows][row * value_features() + c] == 0;
      if (discarded) lse[i] = infinity;
      else if (lse[i] == infinity) lse[i] = infinity - infinity;
    }
    return false;
  }

  void write_queries(std::size_t h, const query_range& panel, bool onto) const noexcept {
    const attention_gradient_layout& to = call_.layout;
    for (std::size_t s = 0; s < strips_of(panel); ++s) {
      const query_range strip = strip_at(panel, s);
      const std::size_t rows = strip.end - strip.begin;
      write_strip<Arch>(strip_of(buffers::d_q, s, layout_.head_dim), rows, layout_.head_dim, layout_.scale, onto,
                        {from_row(gradient(h).d_q, to.d_q_row, strip.begin), to.d_q_row, to.d_q_feature});
    }
  }

  const gradient_call_for<Arch>& call_;
  const layout_for<Arch>& layout_;
  plan cut_;
  buffers at_;
  std::size_t first_head_ = 0;
  std::size_t part_ = 0;
  std::size_t parts_ = 1;
  bool finite_[plan::most_blocks] = {};
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
