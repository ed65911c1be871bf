// dimwise/kernels/attention_gradient/plan.hpp -- the blocking of the backward pass of attention, and a worker's
// buffers.
//
// Layer: kernels. Includes: attention/plan.hpp.
// Tests: tests/kernels/attention_gradient/backward.test.cpp
//
// Two levels: K, V and their gradients for a *span* of keys stay in the L2 cache while all queries pass in *panels* of
// a few strips; the weights of a panel and a *block* of keys stay in the L1 cache. Only O(queries) is re-read per span,
// so a head that exceeds the L2 cache costs no more per pair than a small one.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/layout.hpp>
#include <dimwise/kernels/attention/plan.hpp>
#include <dimwise/kernels/attention/tile.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/gradient_table.hpp>

#include <cstddef>

// A value that a switch does not handle fails to compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

template <class Arch>
using gradient_call_for = attention_gradient_call_of<element_of<Arch>>;
template <class Arch>
using gradient_head_for = attention_gradient_head_of<element_of<Arch>>;

/// The features of a row, rounded up to whole registers.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t whole_registers(std::size_t features) noexcept {
  return (features + lanes<Arch> - 1) / lanes<Arch> * lanes<Arch>;
}

/// The blocking of one problem, which depends on its extents alone.
template <class Arch>
struct gradient_plan {
  static constexpr std::size_t width = strip_width<Arch>;
  /// The approximate number of queries in a panel: more lengthen the sums over queries and enlarge the weights of a
  /// block.
  static constexpr std::size_t panel_queries = 64;
  static constexpr std::size_t strips = panel_queries / width;
  static constexpr std::size_t queries = strips * width;
  /// Elements of K, V and their gradients that stay in the L2 cache.
  static constexpr std::size_t span_elements = (std::size_t{400} << 10) / sizeof(element_of<Arch>);
  static constexpr std::size_t most_blocks = 8;

  std::size_t span = 0;            ///< keys in a span, a multiple of `block`
  std::size_t block = block_keys;  ///< keys in a block, a multiple of a tile

  [[gnu::always_inline]] explicit constexpr gradient_plan(const layout_for<Arch>& layout) noexcept {
    const std::size_t of_key = 2 * (whole_registers<Arch>(layout.head_dim) + whole_registers<Arch>(layout.value_dim));
    const std::size_t keys = max<std::size_t>(layout.keys, 1);
    const std::size_t fitting = max<std::size_t>(of_key == 0 ? most_blocks : span_elements / of_key / block_keys, 1);
    const std::size_t most = min(fitting, most_blocks) * block_keys;
    // Spans and blocks of nearly equal extents.
    const std::size_t spans = (keys + most - 1) / most;
    const std::size_t each = (keys + spans - 1) / spans;
    const std::size_t blocks = (each + block_keys - 1) / block_keys;
    block = min<std::size_t>(((each + blocks - 1) / blocks + tile_rows<Arch> - 1) / tile_rows<Arch> * tile_rows<Arch>,
                             block_keys);
    span = blocks * block;
  }
};

/// The buffers of one worker in its share of the scratch.
template <class Arch>
class gradient_buffers {
 public:
  using plan = gradient_plan<Arch>;

  enum part : unsigned char {
    q,           ///< scaled, [strip][feature, width]
    d_out,       ///< [strip][feature, width]
    d_q,         ///< [strip][feature, width]
    q_rows,      ///< [query, features in whole registers]
    d_out_rows,  ///< the same
    lse,         ///< one for each query of the panel
    delta,       ///< of the panel: d_out . out - d_lse
    p,           ///< weights, [strip][key, width]
    d_s,         ///< gradients of scores
    derivative,  ///< the derivative of the function of scores
    added,       ///< to the scores of one strip and block
    unused,      ///< maxima that are not read
    factor,      ///< one number for each query of a strip
    k,           ///< [key, feature] of a span
    v,
    d_k,  ///< [key, features in whole registers] of a span
    d_v,
    deltas,  ///< for each query of each head of a group
    parts
  };

  [[nodiscard]] static constexpr std::size_t element_count(const layout_for<Arch>& layout, std::size_t group) noexcept {
    std::size_t total = 0;
    for (std::size_t i = 0; i < parts; ++i) total += elements_of(static_cast<part>(i), layout, group);
    return total;
  }

  [[gnu::always_inline]] gradient_buffers(element_of<Arch>* at, const layout_for<Arch>& layout,
                                          std::size_t group) noexcept {
    for (std::size_t i = 0; i < parts; ++i) {
      start_[i] = at;
      at += elements_of(static_cast<part>(i), layout, group);
    }
  }

  [[nodiscard, gnu::always_inline]] element_of<Arch>* operator[](part i) const noexcept { return start_[i]; }

 private:
  [[nodiscard]] static constexpr std::size_t elements_of(part i, const layout_for<Arch>& l,
                                                         std::size_t group) noexcept {
    const std::size_t elements = exact_elements_of(i, l, group);
    return (elements + 15) / 16 * 16;
  }
  [[nodiscard]] static constexpr std::size_t exact_elements_of(part i, const layout_for<Arch>& l,
                                                               std::size_t group) noexcept {
    const plan cut(l);
    switch (i) {
      case q:
      case d_q:
        return plan::queries * l.head_dim;
      case d_out:
        return plan::queries * l.value_dim;
      case q_rows:
        return plan::queries * whole_registers<Arch>(l.head_dim);
      case d_out_rows:
        return plan::queries * whole_registers<Arch>(l.value_dim);
      case lse:
      case delta:
        return plan::queries;
      case p:
      case d_s:
      case derivative:
        return plan::queries * block_keys;
      case added:
        return plan::width * block_keys;
      case unused:
      case factor:
        return plan::width;
      case k:
        return cut.span * l.head_dim;
      case v:
        return cut.span * l.value_dim;
      case d_k:
        return cut.span * whole_registers<Arch>(l.head_dim);
      case d_v:
        return cut.span * whole_registers<Arch>(l.value_dim);
      case deltas:
      case parts:
        break;
    }
    return group * l.queries;
  }

  element_of<Arch>* start_[parts];
};

/// A range of neighbouring heads.
struct head_range {
  std::size_t begin;
  std::size_t end;
};

/// Whether two heads read the same keys and values and write the same gradients.
template <class T>
[[nodiscard, gnu::always_inline]] inline bool same_keys(const attention_gradient_call_of<T>& call, std::size_t a,
                                                        std::size_t b) noexcept {
  const attention_head_of<T>& x = call.forth.heads[a];
  const attention_head_of<T>& y = call.forth.heads[b];
  return x.k == y.k && x.v == y.v && x.visible_keys == y.visible_keys &&
         call.gradients[a].d_k == call.gradients[b].d_k && call.gradients[a].d_v == call.gradients[b].d_v;
}

/// Whether the gradients of two neighbouring heads are added into one sum.
template <class T>
[[nodiscard, gnu::always_inline]] inline bool share_a_sum(const attention_gradient_head_of<T>& a,
                                                          const attention_gradient_head_of<T>& b) noexcept {
  return (a.d_k != nullptr && a.d_k == b.d_k) || (a.d_v != nullptr && a.d_v == b.d_v) ||
         (a.d_bias != nullptr && a.d_bias == b.d_bias);
}

/// The heads of one task: those that share sums with their neighbours.
template <class T>
[[nodiscard, gnu::always_inline]] inline head_range heads_from(const attention_gradient_call_of<T>& call,
                                                               std::size_t begin) noexcept {
  std::size_t end = begin + 1;
  while (end < call.forth.count && share_a_sum(call.gradients[end - 1], call.gradients[end])) ++end;
  return {begin, end};
}
template <class T>
[[nodiscard, gnu::always_inline]] inline head_range heads_of_task(const attention_gradient_call_of<T>& call,
                                                                  std::size_t task) noexcept {
  head_range heads{0, 0};
  for (std::size_t i = 0; i <= task; ++i) heads = heads_from(call, heads.end);
  return heads;
}

/// The tasks of a call and the parts of each; they depend on the problem alone.
template <class Arch>
struct gradient_tasks {
  static constexpr std::size_t enough = 8;                         ///< tasks that keep several threads busy
  static constexpr std::size_t wanted = 16;                        ///< parts of all tasks, where there are fewer
  static constexpr std::size_t least_work = std::size_t{1} << 22;  ///< multiply-adds of a product in a part
  static constexpr std::size_t spare_elements = std::size_t{1} << 20;

  std::size_t tasks = 0;
  std::size_t longest = 1;           ///< heads of a task
  std::size_t parts = 1;             ///< of each task
  std::size_t elements_of_part = 0;  ///< sums of a part

  [[gnu::always_inline]] explicit gradient_tasks(const gradient_call_for<Arch>& call) noexcept {
    const layout_for<Arch>& l = call.forth.layout;
    bool one_group = true;
    for (std::size_t begin = 0; begin < call.forth.count; ++tasks) {
      const head_range heads = heads_from(call, begin);
      for (std::size_t h = heads.begin; h < heads.end; ++h)
        one_group = one_group && call.gradients[h].d_bias == nullptr && same_keys(call, heads.begin, h);
      longest = max(longest, heads.end - heads.begin);
      begin = heads.end;
    }
    if (tasks == 0 || tasks >= enough || !one_group) return;
    // Each part has sums for all keys: together at most the size of the gradients of the queries, or a few megabytes.
    const std::size_t of_part = l.keys * (whole_registers<Arch>(l.head_dim) + whole_registers<Arch>(l.value_dim));
    const std::size_t memory = max(spare_elements, call.forth.count * l.queries * l.head_dim);
    const std::size_t panels =
        longest * ((l.queries + gradient_plan<Arch>::queries - 1) / gradient_plan<Arch>::queries);
    const std::size_t work = longest * l.queries * l.keys * (l.head_dim + l.value_dim) / 2;
    const std::size_t fitting = min(memory / max<std::size_t>(tasks * of_part, 1), work / least_work);
    parts = min(min((wanted + tasks - 1) / tasks, panels), fitting);
    if (parts < 2) parts = 1;
    else elements_of_part = (of_part + 15) / 16 * 16;
  }
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail

#pragma GCC diagnostic pop
