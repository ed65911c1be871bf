// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/checkpoint_definitions.hpp -- the places of the ranks' parts in whole arrays, and sending them to the
// rank that writes (support/library.hpp).
//
// Layer: ranks.
#pragma once

#include <dimwise/ranks/checkpoint.hpp>
#include <dimwise/ranks/messages/gather_texts.hpp>
#include <dimwise/support/text_warning.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <set>
#include <utility>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks::detail {

inline std::string name_in_text(dimwise::detail::text name) {
  std::string shown;
  dimwise::detail::say_name(name, [&](char c) { shown += c; });
  return shown;
}

// The parameters that are bound to one array.
using bound_list = std::vector<io::detail::bound_parameter*>;

// Gives the arrays of bound parameters their whole extents, and finds this rank's parts in them.
class whole_arrays {
 public:
  // All ranks call it with the same bindings.
  whole_arrays(const io::bindings& file, const std::vector<ranks_along>& axes) : axes_(axes) {
    for (const auto& b : file.list().all) { place(*b); }
  }
  // What is wrong, on this rank.
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  // Whether this rank writes its part: it is the first one of those that have the same.
  [[nodiscard]] bool is_first_with(const io::detail::bound_parameter& b) const {
    return std::all_of(axes_.begin(), axes_.end(),
                       [&](const ranks_along& along) { return along.ranks.rank() == 0 || divides(b, along.axis); });
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

  void place(io::detail::bound_parameter& b) {
    if (b.how.shards.empty()) { return; }
    std::vector<io::detail::shard_place> places;
    const std::string name = io::detail::printable(b.names.front());
    for (const io::detail::sharded_step& s : b.how.shards) {
      if (b.widened || s.divisions.empty()) {
        lines_.push_back(name + ": " + s.words + " has no place in an array of this order");
        return;
      }
      for (const io::detail::shard_division& d : s.divisions) {
        if (ranks_of(d.axis) == nullptr) {
          lines_.push_back(name + ": the mesh has no axis " + name_in_text(d.axis->name) + ", which divides " +
                           name_in_text(s.whole_name()));
          return;
        }
      }
      places.push_back(place_of(s, b.how.steps[s.step].count, name));
    }
    b.how.place_in_whole(places);
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
// The numbers of a part, for other ranks.
inline std::vector<std::uint64_t> numbers_of(const packed_part& part, bool is_sent) {
  std::vector<std::uint64_t> numbers{is_sent ? 1U : 0U, part.elements, part.how.begin};
  for (const io::detail::step& s : part.how.steps) {
    numbers.insert(numbers.end(), {std::uint64_t{s.count}, std::uint64_t{s.stride}, std::uint64_t{s.file_stride}});
  }
  return numbers;
}
inline packed_part part_of(const std::uint64_t* numbers, std::size_t steps) {
  packed_part part;
  part.elements = static_cast<std::size_t>(numbers[1]);
  part.how.begin = static_cast<std::size_t>(numbers[2]);
  for (std::size_t i = 0; i < steps; ++i) {
    const std::uint64_t* const s = numbers + 3 + 3 * i;
    part.how.steps.push_back(
        {static_cast<std::size_t>(s[0]), static_cast<std::size_t>(s[1]), static_cast<std::size_t>(s[2])});
  }
  return part;
}

// Writes a parameter of all ranks into the array on rank 0; the other ranks have no array.
inline void gather_parameter(io::detail::bound_parameter& b, bool is_mine, std::byte* array, std::size_t element,
                             const communicator& world) {
  const bool writes = world.rank() == 0;
  if (b.how.shards.empty()) {
    if (writes) { b.write(array); }
    return;
  }
  const packed_part own = packed(b.how);
  const std::vector<std::uint64_t> numbers = numbers_of(own, is_mine);
  std::vector<std::uint64_t> of_all(numbers.size() * world.size());
  const std::vector<std::size_t> counts(world.size(), numbers.size());
  world.all_gather(numbers.data(), of_all.data(), counts.data(), "the parts of " + b.names.front());
  if (writes && is_mine) { b.write(array); }
  std::vector<std::byte> block;
  const std::string text = "a part of " + b.names.front();
  for (std::size_t r = 1; r < world.size(); ++r) {
    const std::uint64_t* const sent = of_all.data() + r * numbers.size();
    if (sent[0] == 0) { continue; }
    const packed_part part = part_of(sent, own.how.steps.size());
    const bool sends = world.rank() == r;
    block.resize(sends || writes ? part.elements * element : 0);
    if (sends) {  // without the strides of the array, the parameter's elements follow each other
      io::detail::arrangement in_array = b.how;
      for (std::size_t i = 0; i < b.how.steps.size(); ++i) { b.how.steps[i].file_stride = own.how.steps[i].stride; }
      b.how.begin = 0;
      b.write(block.data());
      b.how = std::move(in_array);
    }
    world
        .permute(sends ? block.data() : nullptr, sends ? block.size() : 0, sends ? std::size_t{0} : no_rank,
                 writes ? block.data() : nullptr, writes ? block.size() : 0, writes ? r : no_rank, text)
        .wait();
    if (!writes) { continue; }
    io::detail::each_run(part.how, [&](std::size_t place, std::size_t there, const io::detail::step& run) {
      for (std::size_t i = 0; i < run.count; ++i) {
        std::memcpy(array + (place + i) * element, block.data() + (there + i * run.stride) * element, element);
      }
    });
  }
}

// The arrays of a file, each with the parameters that are its parts.
struct arrays_of_file {
  std::vector<io::stored_array> arrays{};
  std::map<std::string, bound_list> parts{};
};
inline arrays_of_file list_arrays(const io::detail::file_parameters& own, const io::bindings& file,
                                  std::vector<std::string>& lines) {
  arrays_of_file all;
  std::map<std::string, std::vector<bool>> written;
  std::set<const void*> bound;
  for (const auto& b : file.list().all) {
    const std::string& name = b->names.front();
    bound.insert(b->parameter);
    if (!b->has_extents()) { lines.push_back(name + " has other extents than those bound"); }
    bound_list& parts = all.parts[name];
    std::vector<bool>& is_there = written[name];
    if (parts.empty()) {
      all.arrays.push_back({name, b->type(), b->how.extents});
      is_there.resize(b->how.parts);
    } else if (parts.front()->type() != b->type() || parts.front()->how.extents != b->how.extents ||
               is_there.size() != b->how.parts) {
      lines.push_back(name + " is bound to parameters of other extents or elements");
      continue;
    }
    if (is_there[b->how.part]) {
      lines.push_back(name + " is bound to two parameters; a file has one array of a name");
    }
    is_there[b->how.part] = true;
    parts.push_back(b.get());
  }
  for (const auto& [name, is_there] : written) {
    const auto missing = std::find(is_there.begin(), is_there.end(), false);
    if (missing != is_there.end()) {
      lines.push_back("part " + std::to_string(missing - is_there.begin()) + " of " + name +
                      " is not bound to a parameter");
    }
  }
  for (std::size_t i = 0; i < own.count(); ++i) {
    if (!bound.contains(own.at(i))) { lines.push_back(own.name(i) + " is not bound to an array"); }
  }
  return all;
}

DIMWISE_DETAIL_LIBRARY void save_whole(const io::detail::file_parameters& own, const std::filesystem::path& path,
                                       const io::bindings& file, const std::map<std::string, std::string>& metadata,
                                       bool has_dimensions, const communicator& world,
                                       const std::vector<ranks_along>& axes) {
  const whole_arrays placed(file, axes);
  std::vector<std::string> lines = placed.lines();
  const arrays_of_file all = list_arrays(own, file, lines);
  throw_together(world, path.string() + ": the model cannot be written:", lines);
  std::map<std::string, std::string> texts = metadata;
  if (has_dimensions) {
    for (const auto& b : file.list().all) {
      texts.emplace(io::detail::dimensions_key + b->names.front(), b->how.words);
    }
  }

  std::vector<std::byte> array;
  std::size_t gathered = 0;
  const auto gather = [&](const io::stored_array& a) {
    ++gathered;
    const std::size_t size = *io::bytes_of(a.type, *io::count_of(a.extents));
    const std::size_t element = *io::bytes_of(a.type, 1);
    array.assign(world.rank() == 0 ? size : 0, std::byte{0});
    for (io::detail::bound_parameter* const b : all.parts.at(a.name)) {
      gather_parameter(*b, placed.is_first_with(*b), array.data(), element, world);
    }
    return std::span<const std::byte>(array);
  };
  std::string failure;
  if (world.rank() == 0) {
    try {
      io::detail::write_arrays(path, all.arrays, texts, gather);
    } catch (const io::file_error& e) { failure = e.what(); }
  }
  // The other ranks, and rank 0 after a failed write: the ranks call the same collectives.
  const std::vector<const io::stored_array*> order = io::detail::in_file_order(all.arrays);
  while (gathered < order.size()) { (void)gather(*order[gathered]); }
  for (const std::string& one : gather_texts(world, failure, "the result of a write")) {
    if (!one.empty()) { throw io::file_error(one); }
  }
}

DIMWISE_DETAIL_LIBRARY void load_parts(const io::detail::file_parameters& own, const io::archive& from,
                                       const io::bindings& file, io::rounding how, const communicator& world,
                                       const std::vector<ranks_along>& axes) {
  const whole_arrays placed(file, axes);
  std::vector<std::string> lines = placed.lines();
  // A parameter without a place is compared neither: its array has other extents.
  if (lines.empty()) { lines = io::detail::compared(own, from, file, how); }
  throw_together(world, from.title() + ": the file does not fit the model:", lines);
  io::detail::load_bound({}, from, file);
}

}  // namespace dimwise::ranks::detail
DIMWISE_DETAIL_TEXT_END;
