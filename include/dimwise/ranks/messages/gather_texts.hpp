// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/gather_texts.hpp -- the texts of all ranks, such as the errors that each of them found.
//
// Layer: ranks.
// Tests: tests/ranks/checkpoint.test.cpp
#pragma once

#include <dimwise/ranks/messages/communicator.hpp>
#include <dimwise/support/text_warning.hpp>

#include <numeric>
#include <string>
#include <string_view>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks {

/// The text of each rank, on every rank. Every rank calls it; `what` describes the call in messages.
[[nodiscard]] inline std::vector<std::string> gather_texts(const communicator& world, const std::string& mine,
                                                           std::string_view what = "texts") {
  const std::vector<std::size_t> one(world.size(), 1);
  std::vector<std::size_t> lengths(world.size());
  const std::size_t length = mine.size();
  world.all_gather(&length, lengths.data(), one.data(), what);
  const std::size_t total = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  std::vector<std::string> texts(world.size());
  if (total == 0) { return texts; }
  std::string all(total, '\0');
  world.all_gather(mine.data(), all.data(), lengths.data(), what);
  std::size_t at = 0;
  for (std::size_t r = 0; r < texts.size(); ++r) {
    texts[r] = all.substr(at, lengths[r]);
    at += lengths[r];
  }
  return texts;
}

/// One line for each different text: alone if all ranks have it, otherwise after the first rank that has it. Empty if
/// all texts are empty.
[[nodiscard]] inline std::string merge_texts(const std::vector<std::string>& texts) {
  std::string merged;
  for (std::size_t r = 0; r < texts.size(); ++r) {
    const std::string& text = texts[r];
    bool is_new = !text.empty();
    bool is_of_all = true;
    for (std::size_t other = 0; other < texts.size(); ++other) {
      if (texts[other] != text) {
        is_of_all = false;
      } else if (other < r) {
        is_new = false;
      }
    }
    if (!is_new) { continue; }
    if (!merged.empty()) { merged += "\n"; }
    if (!is_of_all) { merged += "rank " + std::to_string(r) + " of " + std::to_string(texts.size()) + ": "; }
    merged += text;
  }
  return merged;
}

}  // namespace dimwise::ranks
DIMWISE_DETAIL_TEXT_END;
