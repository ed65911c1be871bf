// SPDX-License-Identifier: BSL-1.0
// dimwise/text/models/bpe_merges.hpp -- the merges of byte-pair encoding (Sennrich et al. 2016): the pair of lowest
// rank is merged repeatedly.
//
// Layer: text. A word of n symbols costs O(n log n), because a text without spaces is one word; short words are
// scanned.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/models/lookup.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

namespace dimwise::text {

/// Merges of pairs of symbols, in the order of their ranks.
class pair_merges {
 public:
  using symbol = std::uint32_t;

  /// Returns false if the pair already has a rank.
  bool add(symbol left, symbol right, symbol made) {
    return add(left, right, made, static_cast<std::uint32_t>(ranks_.size()));
  }
  /// The same with a rank, which several pairs may have.
  bool add(symbol left, symbol right, symbol made, std::uint32_t rank) { return ranks_.add(left, right, {rank, made}); }
  void reserve(std::size_t count) { ranks_.reserve(count); }
  /// The number of pairs.
  [[nodiscard]] std::size_t size() const { return ranks_.size(); }

  /// Applies all merges to the symbols from `begin`; of equal ranks the leftmost is merged first.
  void merge(std::vector<symbol>& symbols, std::size_t begin) const {
    if (symbols.size() - begin <= scanned) {
      merge_short(symbols, begin);
    } else {
      merge_long(symbols, begin);
    }
  }

 private:
  struct merge_of {
    std::uint32_t rank;
    symbol made;
  };
  static constexpr std::size_t scanned = 40;
  static constexpr std::uint32_t no_rank = std::numeric_limits<std::uint32_t>::max();

  void merge_short(std::vector<symbol>& symbols, std::size_t begin) const {
    const std::size_t n = symbols.size() - begin;
    if (n < 2) { return; }
    symbol* const s = symbols.data() + begin;
    merge_of next[scanned];  // the merge of a symbol with the next
    const auto of = [&](symbol a, symbol b) {
      const merge_of* const found = ranks_.find(a, b);
      return found == nullptr ? merge_of{no_rank, 0} : *found;
    };
    for (std::size_t i = 0; i + 1 < n; ++i) { next[i] = of(s[i], s[i + 1]); }
    std::size_t left = n;
    while (left > 1) {
      std::size_t best = 0;
      for (std::size_t i = 1; i + 1 < left; ++i) { best = next[i].rank < next[best].rank ? i : best; }
      if (next[best].rank == no_rank) { break; }
      s[best] = next[best].made;
      for (std::size_t i = best + 1; i + 1 < left; ++i) {
        s[i] = s[i + 1];
        next[i - 1] = next[i];
      }
      --left;
      if (best + 1 < left) { next[best] = of(s[best], s[best + 1]); }
      if (best > 0) { next[best - 1] = of(s[best - 1], s[best]); }
    }
    symbols.resize(begin + left);
  }

  void merge_long(std::vector<symbol>& all, std::size_t begin) const {
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    symbol* const symbols = all.data() + begin;
    const std::size_t n = all.size() - begin;
    std::vector<std::size_t> next(n);
    std::vector<std::size_t> previous(n);
    std::vector<bool> gone(n, false);
    for (std::size_t i = 0; i < n; ++i) {
      next[i] = i + 1 < n ? i + 1 : none;
      previous[i] = i > 0 ? i - 1 : none;
    }
    // rank, index and both symbols; pairs that have changed since are skipped
    using candidate = std::tuple<std::uint32_t, std::size_t, symbol, symbol>;
    std::priority_queue<candidate, std::vector<candidate>, std::greater<>> queue;
    const auto offer = [&](std::size_t i) {
      if (i == none || next[i] == none) { return; }
      if (const merge_of* const found = ranks_.find(symbols[i], symbols[next[i]])) {
        queue.emplace(found->rank, i, symbols[i], symbols[next[i]]);
      }
    };
    for (std::size_t i = 0; i + 1 < n; ++i) { offer(i); }
    while (!queue.empty()) {
      const auto [rank, i, left, right] = queue.top();
      queue.pop();
      if (gone[i] || next[i] == none || symbols[i] != left || symbols[next[i]] != right) { continue; }
      const std::size_t old = next[i];
      symbols[i] = ranks_.find(left, right)->made;
      gone[old] = true;
      next[i] = next[old];
      if (next[i] != none) { previous[next[i]] = i; }
      offer(previous[i]);
      offer(i);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (!gone[i]) { symbols[kept++] = symbols[i]; }
    }
    all.resize(begin + kept);
  }

  detail::pair_table<merge_of> ranks_{};
};

}  // namespace dimwise::text
