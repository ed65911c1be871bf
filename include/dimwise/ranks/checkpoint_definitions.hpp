// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/checkpoint_definitions.hpp -- the places of the ranks' parts in whole arrays, and sending them to the
// rank that writes (support/library.hpp).
//
// Layer: ranks.
#pragma once

#include <dimwise/ranks/checkpoint.hpp>
#include <dimwise/ranks/messages/gather_texts.hpp>
#include <dimwise/ranks/messages/hash_elements.hpp>
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

// Texts and numbers in one text, for other ranks.
class fields {
 public:
  fields() = default;
  explicit fields(std::string from) : text_(std::move(from)) {}
  void add(std::uint64_t number) { text_ += std::to_string(number) + ' '; }
  void add(const std::string& text) {
    add(text.size());
    text_ += text;
  }
  [[nodiscard]] bool has_more() const { return at_ < text_.size(); }
  [[nodiscard]] std::size_t number() {
    std::size_t n = 0;
    while (text_[at_] != ' ') { n = 10 * n + static_cast<std::size_t>(text_[at_++] - '0'); }
    ++at_;
    return n;
  }
  [[nodiscard]] std::string words() {
    const std::size_t length = number();
    at_ += length;
    return text_.substr(at_ - length, length);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_{};
  std::size_t at_ = 0;
};

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
