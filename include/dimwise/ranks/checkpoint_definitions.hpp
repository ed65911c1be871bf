// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/checkpoint_definitions.hpp -- the parts of all ranks, and sending them to the rank that writes
// (support/library.hpp).
//
// Layer: ranks.
#pragma once

#include <dimwise/ranks/checkpoint.hpp>
#include <dimwise/ranks/messages/fields_definitions.hpp>
#include <dimwise/ranks/messages/gather_texts.hpp>
#include <dimwise/ranks/messages/hash_elements.hpp>
#include <dimwise/ranks/messages/whole_arrays_definitions.hpp>
#include <dimwise/support/text_warning.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <utility>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks::detail {

// A part of an array on one of the ranks that has it: its `parameter`-th binding. `hash` is that of its elements if
// several stages have them.
struct part_on_rank {
  std::size_t rank;
  std::size_t parameter;
  packed_part part;
  std::uint64_t hash;
};
// An array of the file, with its parts in the order of the ranks. A stage has all of them.
struct array_of_ranks {
  io::stored_array array{};
  std::string words{};
  std::size_t rank = 0;  // the first one that has it
  std::size_t stage = 0;
  bool is_tied = false;
  std::vector<part_on_rank> parts{};
};

inline std::string type_and_extents(const array_of_ranks& of) {
  return std::string(io::name_of(of.array.type)) + " " + io::detail::listed(of.array.extents) +
         (of.words.empty() ? "" : " (" + of.words + ")") + " on rank " + std::to_string(of.rank);
}

inline const communicator* stages_of(const ranks_of_file& ranks) {
  for (const ranks_along& along : ranks.axes) {
    if (along.axis == ranks.stage_axis) { return &along.ranks; }
  }
  return nullptr;
}

// Throws on all ranks if one rank of a stage has an array that another one does not have.
inline void check_same_names(const std::string& title, const io::bindings& file, const ranks_of_file& ranks) {
  const communicator* const stages = stages_of(ranks);
  fields mine;
  mine.add(stages == nullptr ? 0 : stages->rank());
  for (const auto& b : file.list().all) { mine.add(b->names.front()); }
  struct names_of_stage {
    std::map<std::string, std::size_t> all{};  // and the first rank that has it
    std::map<std::size_t, std::set<std::string>> of_ranks{};
  };
  std::map<std::size_t, names_of_stage> of_stages;
  const std::vector<std::string> texts = gather_texts(ranks.world, mine.text(), "the names of the arrays");
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    fields of(texts[rank]);
    auto& [all, of_ranks] = of_stages[of.number()];
    std::set<std::string>& names = of_ranks[rank];
    while (of.has_more()) { all.emplace(*names.insert(of.words()).first, rank); }
  }
  std::vector<std::string> lines;
  for (const auto& [stage, names] : of_stages) {
    for (const auto& [name, first] : names.all) {
      const auto without = std::find_if(names.of_ranks.begin(), names.of_ranks.end(),
                                        [&, &name = name](const auto& one) { return !one.second.contains(name); });
      if (without == names.of_ranks.end()) { continue; }
      lines.push_back(io::detail::printable(name) + " is an array of rank " + std::to_string(first) +
                      ", but not of rank " + std::to_string(without->first));
    }
  }
  if (!lines.empty()) { throw io::file_error(title + io::detail::text_of_mismatches(lines)); }
}

// The arrays of this rank, and what it writes of them.
inline std::string text_of_parts(const io::detail::file_parameters& own, const io::bindings& file,
                                 const whole_arrays& placed, const ranks_of_file& ranks) {
  const communicator* const stages = stages_of(ranks);
  std::set<const void*> tied;
  for (std::size_t i = 0; i < own.count(); ++i) {
    if (dimwise::detail::is_among_tied(ranks.tied, own.member(i))) { tied.insert(own.at(i)); }
  }
  fields all;
  for (std::size_t k = 0; k < file.list().all.size(); ++k) {
    const io::detail::bound_parameter& b = *file.list().all[k];
    all.add(b.names.front());
    all.add(static_cast<std::uint64_t>(b.type()));
    all.add(b.how.extents.size());
    for (const std::size_t extent : b.how.extents) { all.add(extent); }
    all.add(b.how.parts == 1 ? b.how.words : std::string());  // parts of one array have other words
    all.add(stages == nullptr ? 0 : stages->rank());
    all.add(tied.contains(b.parameter) ? 1 : 0);
    all.add(placed.is_first_with(b) ? 1 : 0);
    all.add(k);
    const packed_part part = packed(b.how);
    std::vector<std::byte> elements;
    if (tied.contains(b.parameter)) { write_packed(*file.list().all[k], part, elements); }
    all.add(hash_elements(elements.data(), elements.size()));
    all.add(part.elements);
    all.add(part.how.begin);
    all.add(part.how.steps.size());
    for (const io::detail::step& step : part.how.steps) {
      all.add(step.count);
      all.add(step.stride);
      all.add(step.file_stride);
    }
  }
  return all.text();
}
// The arrays that all ranks write, by their names. Lines about arrays that two stages have, and about those that two
// ranks have with other extents, elements or dimensions.
inline std::map<std::string, array_of_ranks> arrays_of_ranks(const std::vector<std::string>& texts,
                                                             std::vector<std::string>& lines) {
  std::map<std::string, array_of_ranks> all;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    for (fields of(texts[rank]); of.has_more();) {
      array_of_ranks one;
      one.array.name = of.words();
      one.array.type = static_cast<io::element_type>(of.number());
      one.array.extents.resize(of.number());
      for (std::size_t& extent : one.array.extents) { extent = of.number(); }
      one.words = of.words();
      one.rank = rank;
      one.stage = of.number();
      one.is_tied = of.number() != 0;
      const bool is_written = of.number() != 0;
      part_on_rank part{rank, of.number(), {}, of.number()};
      part.part.elements = of.number();
      part.part.how.begin = of.number();
      part.part.how.steps.resize(of.number());
      for (io::detail::step& step : part.part.how.steps) {
        step.count = of.number();
        step.stride = of.number();
        step.file_stride = of.number();
      }
      array_of_ranks& known = all.try_emplace(one.array.name, one).first->second;
      if (known.array.type != one.array.type || known.array.extents != one.array.extents || known.words != one.words) {
        lines.push_back(io::detail::printable(one.array.name) + " is " + type_and_extents(known) + ", and " +
                        type_and_extents(one));
      }
      if (known.stage != one.stage && !(known.is_tied && one.is_tied)) {
        const std::string line = io::detail::printable(one.array.name) + " is an array of stage " +
                                 std::to_string(known.stage) + " and of stage " + std::to_string(one.stage);
        if (lines.empty() || lines.back() != line) { lines.push_back(line); }  // once, and not for each part
      }
      for (const part_on_rank& other : known.parts) {
        if (known.stage == one.stage || !is_written || other.part.how.begin != part.part.how.begin) { continue; }
        if (other.part.elements != part.part.elements || other.hash == part.hash) { continue; }
        lines.push_back(io::detail::printable(one.array.name) + " has other elements on rank " + std::to_string(rank) +
                        " than on rank " + std::to_string(other.rank) + "; tied parameters are copies of one another");
      }
      if (one.stage < known.stage) { known = one; }
      if (is_written && one.stage == known.stage) { known.parts.push_back(std::move(part)); }
    }
  }
  return all;
}

// Writes an array of all ranks on rank 0. All ranks take part in each message: after messages between two ranks alone,
// an exception ends the communicator.
inline void gather_array(const array_of_ranks& from, const io::bindings& file, std::byte* array,
                         const communicator& world) {
  const bool writes = world.rank() == 0;
  const std::size_t element = *io::bytes_of(from.array.type, 1);
  const std::string text = "a part of " + from.array.name;
  std::vector<std::byte> block;
  for (const part_on_rank& one : from.parts) {
    if (one.rank == 0) {
      if (writes) { file.list().all[one.parameter]->write(array); }
      continue;
    }
    const packed_part& part = one.part;
    const bool sends = world.rank() == one.rank;
    block.resize(sends || writes ? part.elements * element : 0);
    if (sends) { write_packed(*file.list().all[one.parameter], part, block); }
    world
        .permute(sends ? block.data() : nullptr, sends ? block.size() : 0, sends ? std::size_t{0} : no_rank,
                 writes ? block.data() : nullptr, writes ? block.size() : 0, writes ? one.rank : no_rank, text)
        .wait();
    if (!writes) { continue; }
    io::detail::each_run(part.how, [&](std::size_t place, std::size_t there, const io::detail::step& run) {
      for (std::size_t i = 0; i < run.count; ++i) {
        std::memcpy(array + (place + i) * element, block.data() + (there + i * run.stride) * element, element);
      }
    });
  }
}

// The errors in the bindings of this rank.
inline void check_bindings(const io::detail::file_parameters& own, const io::bindings& file,
                           std::vector<std::string>& lines) {
  struct parts_of_array {
    const io::detail::bound_parameter* first;
    std::vector<bool> is_there;
  };
  std::map<std::string, parts_of_array> arrays;
  std::set<const void*> bound;
  for (const auto& b : file.list().all) {
    const std::string& name = b->names.front();
    bound.insert(b->parameter);
    if (!b->has_extents()) { lines.push_back(name + " has other extents than those bound"); }
    auto& [first, is_there] =
        arrays.try_emplace(name, parts_of_array{b.get(), std::vector<bool>(b->how.parts)}).first->second;
    if (first->type() != b->type() || first->how.extents != b->how.extents || is_there.size() != b->how.parts) {
      lines.push_back(name + " is bound to parameters of other extents or elements");
      continue;
    }
    if (is_there[b->how.part]) {
      lines.push_back(name + " is bound to two parameters; a file has one array of a name");
    }
    is_there[b->how.part] = true;
  }
  for (const auto& [name, parts] : arrays) {
    const auto missing = std::find(parts.is_there.begin(), parts.is_there.end(), false);
    if (missing != parts.is_there.end()) {
      lines.push_back("part " + std::to_string(missing - parts.is_there.begin()) + " of " + name +
                      " is not bound to a parameter");
    }
  }
  for (std::size_t i = 0; i < own.count(); ++i) {
    if (!bound.contains(own.at(i))) { lines.push_back(own.name(i) + " is not bound to an array"); }
  }
}

DIMWISE_DETAIL_LIBRARY void bind_own_of_ranks(const io::detail::file_parameters& own, io::bindings& to,
                                              const ranks_of_file& ranks) {
  const communicator* const stages = stages_of(ranks);
  if (stages == nullptr) { return io::detail::bind_own(own, to); }
  const auto lists = own.member_lists();
  std::vector<std::size_t> lengths;
  for (const auto& list : lists) { lengths.push_back(list.length); }
  std::vector<std::size_t> of_all(lengths.size() * stages->size());
  const std::vector<std::size_t> counts(stages->size(), lengths.size());
  stages->all_gather(lengths.data(), of_all.data(), counts.data(), "layers of each stage");
  std::vector<std::size_t> first(lengths.size());
  for (std::size_t k = 0; k < lists.size(); ++k) {
    if (dimwise::detail::is_among_tied(ranks.tied, lists[k].member)) { continue; }
    for (std::size_t s = 0; s < stages->rank(); ++s) { first[k] += of_all[s * lengths.size() + k]; }
  }
  for (std::size_t i = 0; i < own.count(); ++i) { own.type(i).bind(to, own.name(i, first), own.at(i)); }
}

DIMWISE_DETAIL_LIBRARY void save_whole(const io::detail::file_parameters& own, const std::filesystem::path& path,
                                       const io::bindings& file, const std::map<std::string, std::string>& metadata,
                                       bool has_dimensions, const ranks_of_file& ranks) {
  const communicator& world = ranks.world;
  const std::string title = path.string() + ": the model cannot be written:";
  check_same_names(title, file, ranks);
  const whole_arrays placed(file, ranks);
  std::vector<std::string> lines = placed.lines();
  check_bindings(own, file, lines);
  throw_together(world, title, lines);
  const std::map<std::string, array_of_ranks> all =
      arrays_of_ranks(gather_texts(world, text_of_parts(own, file, placed, ranks), "the parts of the arrays"), lines);
  if (!lines.empty()) { throw io::file_error(title + io::detail::text_of_mismatches(lines)); }  // on all ranks
  std::map<std::string, std::string> texts = metadata;
  std::vector<io::stored_array> arrays;
  for (const auto& [name, one] : all) {
    arrays.push_back(one.array);
    if (has_dimensions) { texts.emplace(io::detail::dimensions_key + name, one.words); }
  }

  std::vector<std::byte> array;
  std::size_t gathered = 0;
  const auto gather = [&](const io::stored_array& a) {
    ++gathered;
    const std::size_t size = *io::bytes_of(a.type, *io::count_of(a.extents));
    array.assign(world.rank() == 0 ? size : 0, std::byte{0});
    gather_array(all.at(a.name), file, array.data(), world);
    return std::span<const std::byte>(array);
  };
  std::string failure;
  if (world.rank() == 0) {
    try {
      io::detail::write_arrays(path, arrays, texts, gather);
    } catch (const io::file_error& e) { failure = e.what(); }
  }
  // The other ranks, and rank 0 after a failed write: the ranks call the same collectives.
  const std::vector<const io::stored_array*> order = io::detail::in_file_order(arrays);
  while (gathered < order.size()) { (void)gather(*order[gathered]); }
  for (const std::string& one : gather_texts(world, failure, "the result of a write")) {
    if (!one.empty()) { throw io::file_error(one); }
  }
}

DIMWISE_DETAIL_LIBRARY void place_all(const io::bindings& file, const ranks_of_file& ranks) {
  const whole_arrays placed(file, ranks);
  if (!placed.lines().empty()) {
    throw io::file_error("place_parts: the bindings have no place in a file:" +
                         io::detail::text_of_mismatches(placed.lines()));
  }
}

DIMWISE_DETAIL_LIBRARY void load_parts(const io::detail::file_parameters& own, const io::archive& from,
                                       const io::bindings& file, io::rounding how, const ranks_of_file& ranks) {
  const std::string title = from.title() + ": the file does not fit the model:";
  check_same_names(title, file, ranks);
  const whole_arrays placed(file, ranks);
  std::vector<std::string> lines = placed.lines();
  std::set<std::string> others;
  if (stages_of(ranks) != nullptr) {
    fields known;
    for (const std::string& name : io::detail::arrays_known(from, file)) { known.add(name); }
    for (const std::string& text : gather_texts(ranks.world, known.text(), "the arrays of each stage")) {
      for (fields names(text); names.has_more();) { others.insert(names.words()); }
    }
  }
  // A parameter without a place is compared neither: its array has other extents.
  if (lines.empty()) { lines = io::detail::compared(own, from, file, how, others); }
  throw_together(ranks.world, title, lines);
  io::detail::load_bound({}, from, file);
}

}  // namespace dimwise::ranks::detail
DIMWISE_DETAIL_TEXT_END;
