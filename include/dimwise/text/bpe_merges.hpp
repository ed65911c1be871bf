// SPDX-License-Identifier: BSL-1.0
// dimwise/text/bpe_merges.hpp -- byte-pair encoding (Sennrich et al. 2016): the pair of the lowest rank is merged,
// again and again.
//
// Layer: text. A word of n symbols costs O(n log n): texts without spaces are words, too.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace dimwise::text {

/// Merges of pairs of symbols, in the order in which they were learned.
class bpe_merges {
 public:
  using symbol = std::uint32_t;

  /// False where the pair has a rank already.
  bool add(symbol left, symbol right, symbol made) {
    return ranks_.emplace(std::pair(left, right), std::pair(static_cast<std::uint32_t>(ranks_.size()), made)).second;
  }
  /// The number of pairs.
  [[nodiscard]] std::size_t size() const { return ranks_.size(); }

  /// The symbols after all merges; of equal ranks the left one is merged first.
  [[nodiscard]] std::vector<symbol> merged(std::vector<symbol> symbols) const {
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    const std::size_t n = symbols.size();
    std::vector<std::size_t> next(n);
    std::vector<std::size_t> previous(n);
    std::vector<bool> gone(n, false);
    for (std::size_t i = 0; i < n; ++i) {
      next[i] = i + 1 < n ? i + 1 : none;
      previous[i] = i > 0 ? i - 1 : none;
    }
    // rank, place, and the two symbols: a pair that has changed since is passed over
    using candidate = std::tuple<std::uint32_t, std::size_t, symbol, symbol>;
    std::priority_queue<candidate, std::vector<candidate>, std::greater<>> queue;
    const auto offer = [&](std::size_t i) {
      if (i == none || next[i] == none) { return; }
      const auto found = ranks_.find({symbols[i], symbols[next[i]]});
      if (found != ranks_.end()) { queue.emplace(found->second.first, i, symbols[i], symbols[next[i]]); }
    };
    for (std::size_t i = 0; i + 1 < n; ++i) { offer(i); }
    while (!queue.empty()) {
      const auto [rank, i, left, right] = queue.top();
      queue.pop();
      if (gone[i] || next[i] == none || symbols[i] != left || symbols[next[i]] != right) { continue; }
      const std::size_t old = next[i];
      symbols[i] = ranks_.at({left, right}).second;
      gone[old] = true;
      next[i] = next[old];
      if (next[i] != none) { previous[next[i]] = i; }
      offer(previous[i]);
      offer(i);
    }
    std::vector<symbol> all;
    for (std::size_t i = 0; i < n; ++i) {
      if (!gone[i]) { all.push_back(symbols[i]); }
    }
    return all;
  }

 private:
  std::map<std::pair<symbol, symbol>, std::pair<std::uint32_t, symbol>> ranks_{};
};

/// The former name of `bpe_merges`.
using pair_merges [[deprecated("use bpe_merges")]] = bpe_merges;

}  // namespace dimwise::text
