// dimwise/kernels/attention/sight.hpp -- the keys that a query, a strip or a register of queries sees by position.
//
// Layer: kernels. Includes: attention/plan.hpp.
// Tests: tests/kernels/attention/forward.test.cpp, tests/kernels/attention_gradient/backward.test.cpp
//
//   head_window window(layout, head);
//   const key_range seen = window.keys_of({first_query, last_query + 1});
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/layout.hpp>
#include <dimwise/kernels/attention/plan.hpp>
#include <dimwise/kernels/attention/tile.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

struct query_range {
  std::size_t begin;
  std::size_t end;
};

/// The visible keys of a strip.
template <class Arch>
struct sight {
  std::size_t vectors;
  keys_per_vector<Arch> some;   ///< keys that some query of the vector sees
  keys_per_vector<Arch> whole;  ///< keys that every query of the vector sees
};

/// Calls f(from, run, first, count) for runs of keys that begin at `from` for each of the vectors [first, first +
/// count): at the left edge of a window only some vectors see a key. `run.end` counts from `from`.
template <class Arch, class F>
[[gnu::always_inline]] inline void each_run(const keys_per_vector<Arch>& keys, std::size_t vectors,
                                            const F& f) noexcept {
  std::size_t from = 0;
  std::size_t first = 0;
  for (std::size_t last = 0; from < keys.begin[vectors - 1];) {
    while (first < vectors && keys.end[first] <= from) ++first;
    if (first == vectors) return;
    while (keys.begin[last] <= from) ++last;
    const std::size_t to = min(keys.begin[last], keys.end[first]);
    if (first < last) {
      keys_per_vector<Arch> run{};
      for (std::size_t i = 0; i < last - first; ++i) run.end[i] = to - from;
      f(from, run, first, last - first);
    }
    from = to;
  }
  while (first < vectors && keys.end[first] < from) ++first;
  if (first == vectors) return;
  keys_per_vector<Arch> rest{};
  for (std::size_t i = first; i < vectors; ++i) rest.end[i - first] = keys.end[i] - from;
  f(from, rest, first, vectors - first);
}

/// The window and the padding of one head.
class head_window {
 public:
  template <class T>
  [[gnu::always_inline]] head_window(const attention_layout_of<T>& layout, const attention_head_of<T>& head) noexcept
      // A window that ends before it begins shows nothing, which the ranges of strips and registers would not
      // represent.
      : window_(layout.window),
        visible_(layout.window.before + layout.window.after < 0 ? 0 : min(layout.keys, head.visible_keys)) {}

  [[nodiscard, gnu::always_inline]] std::size_t visible_keys() const noexcept { return visible_; }

  /// The first key that `query` sees, and the end of its range, limited to the visible keys.
  [[nodiscard, gnu::always_inline]] std::size_t begin_of(std::size_t query) const noexcept {
    return clamp_key(static_cast<std::ptrdiff_t>(query) + window_.offset - window_.before);
  }
  [[nodiscard, gnu::always_inline]] std::size_t end_of(std::size_t query) const noexcept {
    return clamp_key(static_cast<std::ptrdiff_t>(query) + window_.offset + window_.after + 1);
  }
  [[nodiscard, gnu::always_inline]] key_range keys_of(const query_range& queries) const noexcept {
    return {begin_of(queries.begin), end_of(queries.end - 1)};
  }

  /// The keys among [begin, end), counted from `begin`, that `queries` (at most one strip) see.
  template <class Arch>
  [[nodiscard, gnu::always_inline]] sight<Arch> sight_of(const query_range& queries, std::size_t begin,
                                                         std::size_t end) const noexcept {
    const auto within = [&](std::size_t key)
                            __attribute__((always_inline)) { return max(min(key, end), begin) - begin; };
    sight<Arch> seen{(queries.end - queries.begin + lanes<Arch> - 1) / lanes<Arch>, {}, {}};
    for (std::size_t v = 0; v < seen.vectors; ++v) {
      const std::size_t first = queries.begin + v * lanes<Arch>;
      const std::size_t last = min(first + lanes<Arch>, queries.end) - 1;
      seen.some.begin[v] = within(begin_of(first));
      seen.some.end[v] = within(end_of(last));
      seen.whole.begin[v] = within(begin_of(last));
      seen.whole.end[v] = within(end_of(first));
    }
    return seen;
  }

 private:
  [[nodiscard, gnu::always_inline]] std::size_t clamp_key(std::ptrdiff_t key) const noexcept {
    return key < 0 ? 0 : min(static_cast<std::size_t>(key), visible_);
  }

  const key_window& window_;
  std::size_t visible_;
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
