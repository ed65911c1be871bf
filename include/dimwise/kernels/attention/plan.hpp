// dimwise/kernels/attention/plan.hpp -- the division of attention into tasks, strips and blocks, and a worker's
// buffers.
//
// Layer: kernels. Includes: attention/tile.hpp, attention/types.hpp.
// Tests: tests/kernels/attention/forward.test.cpp
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/tile.hpp>
#include <dimwise/kernels/attention/types.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/min_max.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

/// Keys in a block: 16 tiles of 6. The scores of a strip (24 KB on AVX-512) stay in the L1 cache.
inline constexpr std::size_t block_keys = 96;

/// Strips that share one pass over the keys: enough queries to amortise reading K and V from a distant cache, as long
/// as their q and out stay in the L2 cache.
template <class Arch>
[[nodiscard]] constexpr std::size_t strips_per_task(const layout_for<Arch>& layout) noexcept {
  constexpr std::size_t queries = 256;
  constexpr std::size_t cache_elements = (std::size_t{1} << 18) / sizeof(element_of<Arch>);
  const std::size_t strip_elements = strip_width<Arch> * (layout.head_dim + layout.value_dim);
  const std::size_t wanted = (queries + strip_width<Arch> - 1) / strip_width<Arch>;
  const std::size_t fitting = strip_elements == 0 ? wanted : cache_elements / strip_elements;
  const std::size_t present = (layout.queries + strip_width<Arch> - 1) / strip_width<Arch>;
  return max<std::size_t>(min(min(wanted, fitting), present), 1);
}

/// The buffers of one worker in its share of the scratch.
template <class Arch>
struct attention_buffers {
  static constexpr std::size_t width = strip_width<Arch>;

  element_of<Arch>* q;
  element_of<Arch>* out;
  element_of<Arch>* maximum;
  element_of<Arch>* reference;
  element_of<Arch>* sum;
  element_of<Arch>* scores;
  element_of<Arch>* added;
  element_of<Arch>* k;
  element_of<Arch>* v;
  element_of<Arch>* rescale;
  element_of<Arch>* unused_maximum;

  [[nodiscard]] static constexpr std::size_t padded(std::size_t elements) noexcept { return (elements + 15) / 16 * 16; }
  [[nodiscard]] static constexpr std::size_t element_count(const layout_for<Arch>& layout,
                                                           std::size_t strips) noexcept {
    return strips * width * (layout.head_dim + layout.value_dim + 3) + 2 * block_keys * width +
           padded(block_keys * layout.head_dim) + padded(block_keys * layout.value_dim) + 2 * width;
  }

  attention_buffers(element_of<Arch>* at, const layout_for<Arch>& layout, std::size_t strips) noexcept
      : q(at),
        out(q + strips * width * layout.head_dim),
        maximum(out + strips * width * layout.value_dim),
        reference(maximum + strips * width),
        sum(reference + strips * width),
        scores(sum + strips * width),
        added(scores + block_keys * width),
        k(added + block_keys * width),
        v(k + padded(block_keys * layout.head_dim)),
        rescale(v + padded(block_keys * layout.value_dim)),
        unused_maximum(rescale + width) {}
};

/// Queries [begin, end) of a head; a null head means no task.
template <class Arch>
struct task_place {
  const head_for<Arch>* head = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// K and V of one block, in place or copied, and properties of V.
template <class Arch>
struct key_block {
  std::size_t begin;
  std::size_t end;
  const element_of<Arch>* k;
  const element_of<Arch>* v;
  std::ptrdiff_t k_row;
  std::ptrdiff_t v_row;
  enum class finite { unknown, yes, no } values = finite::unknown;
};

/// The keys [begin, end) that some query of a strip sees.
struct key_range {
  std::size_t begin;
  std::size_t end;
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
