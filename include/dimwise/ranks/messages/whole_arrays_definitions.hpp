// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/whole_arrays_definitions.hpp -- whole arrays of a file, and the places of a rank's
// parts in them.
//
// Layer: ranks.
#pragma once

#include <dimwise/ranks/checkpoint.hpp>
#include <dimwise/ranks/messages/gather_texts.hpp>
#include <dimwise/support/text_warning.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks::detail {

inline std::string name_in_text(dimwise::detail::text name) {
  std::string shown;
  dimwise::detail::say_name(name, [&](char c) { shown += c; });
  return shown;
}

// Gives the arrays of bound parameters their whole extents, and finds this rank's parts in them.
class whole_arrays {
 public:
  // All ranks call it with the same bindings.
  whole_arrays(const io::bindings& file, const ranks_of_file& ranks)
      : axes_(ranks.axes), stage_axis_(ranks.stage_axis) {
    std::vector<std::vector<io::detail::shard_place>> places;
    for (const auto& b : file.list().all) { places.push_back(places_of(*b)); }
    file.list().place_in_whole(places);
  }
  // The errors on this rank.
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  // Whether this rank writes its part: it is the first one of those that have the same.
  [[nodiscard]] bool is_first_with(const io::detail::bound_parameter& b) const {
    return std::all_of(axes_.begin(), axes_.end(), [&](const ranks_along& along) {
      return along.ranks.rank() == 0 || along.axis == stage_axis_ || divides(b, along.axis);
    });
  }

 private:
  static bool divides(const io::detail::bound_parameter& b, dimwise::detail::axis_key axis) {
    const auto& shards = b.how.shards;
    return std::any_of(shards.begin(), shards.end(), [&](const io::detail::sharded_step& s) {
      return std::any_of(s.divisions.begin(), s.divisions.end(), [&](const auto& d) { return d.axis == axis; });
    });
  }
  [[nodiscard]] const communicator* ranks_of(dimwise::detail::axis_key axis) const {
    const auto found = std::find_if(axes_.begin(), axes_.end(), [&](const auto& one) { return one.axis == axis; });
    return found == axes_.end() ? nullptr : &found->ranks;
  }

  // Empty if no rank divides it, or if something is wrong.
  std::vector<io::detail::shard_place> places_of(const io::detail::bound_parameter& b) {
    std::vector<io::detail::shard_place> places;
    const std::string name = io::detail::printable(b.names.front());
    for (const io::detail::sharded_step& s : b.how.shards) {
      if (s.divisions.empty()) {
        lines_.push_back(name + ": " + s.words + " has no place in an array of this order");
        return {};
      }
      for (const io::detail::shard_division& d : s.divisions) {
        if (ranks_of(d.axis) == nullptr) {
          lines_.push_back(name + ": the mesh has no axis " + name_in_text(d.axis->name) + ", which divides " +
                           name_in_text(s.whole_name()));
          return {};
        }
      }
      places.push_back(place_of(s, b.how.steps[s.step].count, name));
    }
    return places;
  }
  io::detail::shard_place place_of(const io::detail::sharded_step& s, std::size_t here, const std::string& name) {
    io::detail::shard_place at{s.whole_extent, 0, 1};
    if (s.whole_extent == at_run_time) {
      auto sum = static_cast<std::int64_t>(here);
      for (auto d = s.divisions.rbegin(); d != s.divisions.rend(); ++d) {
        ranks_of(d->axis)->all_reduce(&sum, 1, "the extent of a divided dimension");
      }
      at.whole = static_cast<std::size_t>(sum);
    }
    std::size_t extent = at.whole;
    for (const io::detail::shard_division& d : s.divisions) {
      const communicator& ranks = *ranks_of(d.axis);
      const std::size_t rank = ranks.rank();
      const std::size_t count = ranks.size();
      const std::size_t more = extent % count;
      const std::size_t before = d.striped ? rank : rank * (extent / count) + std::min(rank, more);
      at.first += at.distance * before;
      at.distance *= d.striped ? count : 1;
      extent = extent / count + (rank < more ? 1 : 0);
    }
    if (extent != here) {
      lines_.push_back(name + ": this rank has " + std::to_string(here) + " of " + name_in_text(s.whole_name()) + "[" +
                       std::to_string(at.whole) + "], its part has the extent " + std::to_string(extent));
    }
    return at;
  }

  const std::vector<ranks_along>& axes_;
  dimwise::detail::axis_key stage_axis_;
  std::vector<std::string> lines_{};
};

// Throws on all ranks if one of them has lines. A line that not all ranks have is after the number of the first rank
// that has it.
inline void throw_together(const communicator& world, const std::string& title, const std::vector<std::string>& lines) {
  std::string mine;
  for (const std::string& line : lines) { mine += line + '\n'; }
  const std::vector<std::string> of_all = gather_texts(world, mine, "mismatches");
  std::vector<std::string> merged;
  std::map<std::string, std::size_t> known;  // how many ranks have a line
  for (const std::string& text : of_all) {
    std::set<std::string> of_rank;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      of_rank.insert(text.substr(at, text.find('\n', at) - at));
    }
    for (const std::string& line : of_rank) { ++known[line]; }
  }
  std::set<std::string> said;
  for (std::size_t r = 0; r < of_all.size(); ++r) {
    const std::string& text = of_all[r];
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const std::string line = text.substr(at, text.find('\n', at) - at);
      if (!said.insert(line).second) { continue; }
      merged.push_back(known[line] == of_all.size() ? line : "rank " + std::to_string(r) + ": " + line);
    }
  }
  if (!merged.empty()) { throw io::file_error(title + io::detail::text_of_mismatches(merged)); }
}

// A rank's part of an array as one block of memory, and where its elements are in the array.
struct packed_part {
  io::detail::arrangement how{};  // from the block (`stride`) to the array (`file_stride`)
  std::size_t elements = 0;
};
inline packed_part packed(const io::detail::arrangement& how) {
  packed_part part;
  part.how.begin = how.begin;
  part.how.steps = how.steps;
  part.elements = 1;
  for (std::size_t i = how.steps.size(); i-- > 0;) {
    part.how.steps[i].stride = part.elements;
    part.elements *= how.steps[i].count;
  }
  return part;
}

// This rank's part as one block of memory.
inline void write_packed(io::detail::bound_parameter& b, const packed_part& part, std::vector<std::byte>& block) {
  block.resize(part.elements * *io::bytes_of(b.type(), 1));
  // Without the strides of the array, the parameter's elements follow each other.
  io::detail::arrangement in_array = b.how;
  for (std::size_t i = 0; i < b.how.steps.size(); ++i) { b.how.steps[i].file_stride = part.how.steps[i].stride; }
  b.how.begin = 0;
  b.write(block.data());
  b.how = std::move(in_array);
}

}  // namespace dimwise::ranks::detail
DIMWISE_DETAIL_TEXT_END;
