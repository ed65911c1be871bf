// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/parameters/part_list_definitions.hpp -- the members of a list of parameters (support/library.hpp).
//
// Layer: nn.
#pragma once

#include <dimwise/nn/parameters/part_list.hpp>

namespace dimwise::nn::detail {

DIMWISE_DETAIL_LIBRARY std::string part_list::path(std::size_t to, const std::vector<std::size_t>* first) const {
  if (to == outermost) { return {}; }
  const place& here = path_[to];
  std::string text = path(here.outer, first);
  if (!text.empty()) { text += '.'; }
  if (here.member != nullptr) { return text.append(here.member); }
  std::size_t number = here.number;
  std::size_t list = 0;
  for (std::size_t s = 0; first != nullptr && s < sequences_.size(); ++s) {
    if (!is_member(sequences_[s].path)) { continue; }
    if (sequences_[s].path == here.outer) { number += (*first)[list]; }
    ++list;
  }
  return text.append(std::to_string(number));
}
DIMWISE_DETAIL_LIBRARY std::string part_list::name(std::size_t i) const { return path(parts_[i].path); }
DIMWISE_DETAIL_LIBRARY std::vector<part_list::member_list> part_list::member_lists() const {
  std::vector<member_list> all;
  for (const sequence& s : sequences_) {
    if (is_member(s.path)) { all.push_back({path_[s.path].member, s.length}); }
  }
  return all;
}
DIMWISE_DETAIL_LIBRARY std::string part_list::name(std::size_t i, const std::vector<std::size_t>& first) const {
  return path(parts_[i].path, &first);
}
DIMWISE_DETAIL_LIBRARY const char* part_list::member(std::size_t i) const {
  std::size_t at = parts_[i].path;
  if (at == outermost) { return nullptr; }
  while (path_[at].outer != outermost) { at = path_[at].outer; }
  return path_[at].member;
}

DIMWISE_DETAIL_LIBRARY void part_list::check_same_lengths(const part_list& other) const {
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    check_same_length(path(sequences_[i].path), sequences_[i].length, other.sequences_[i].length);
  }
}

DIMWISE_DETAIL_LIBRARY void part_list::enter(const char* member) {
  path_.push_back({here_, member, 0});
  here_ = path_.size() - 1;
}
DIMWISE_DETAIL_LIBRARY void part_list::enter(std::size_t number) {
  path_.push_back({here_, nullptr, number});
  here_ = path_.size() - 1;
}
DIMWISE_DETAIL_LIBRARY void part_list::add_sequence(std::size_t length) { sequences_.push_back({length, here_}); }
DIMWISE_DETAIL_LIBRARY void part_list::add(const void* parameter, const void* facts, bool flag) {
  parts_.push_back({const_cast<void*>(parameter), facts, flag, here_});
}

}  // namespace dimwise::nn::detail
