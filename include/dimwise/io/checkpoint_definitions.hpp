// SPDX-License-Identifier: BSL-1.0
// dimwise/io/checkpoint_definitions.hpp -- comparing, loading and saving bound parameters (support/library.hpp).
//
// Layer: io.
#pragma once

#include <dimwise/io/checkpoint.hpp>

#include <algorithm>
#include <iomanip>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace dimwise::io {

namespace detail {

DIMWISE_DETAIL_LIBRARY parameter file_parameters::described(std::size_t i) const {
  axis axes[max_rank];
  type(i).write_extents(at(i), axes);
  parameter p{name(i), {}, {}, type(i).type, type(i).bytes(at(i))};
  for (std::size_t k = 0; k < type(i).rank; ++k) {
    std::string word;
    say_name(type(i).names[k](), [&](char c) { word += c; });
    p.dimensions.push_back(word);
    p.extents.push_back(axes[k].extent);
  }
  return p;
}

DIMWISE_DETAIL_LIBRARY void bind_own(const file_parameters& own, bindings& to) {
  for (std::size_t i = 0; i < own.count(); ++i) { own.type(i).bind(to, own.name(i), own.at(i)); }
}

DIMWISE_DETAIL_LIBRARY std::vector<parameter> table_of_parameters(const file_parameters& own) {
  std::vector<parameter> all;
  for (std::size_t i = 0; i < own.count(); ++i) { all.push_back(own.described(i)); }
  return all;
}

DIMWISE_DETAIL_LIBRARY std::string dimension_words(const parameter& p) {
  std::string text;
  for (std::size_t i = 0; i < p.dimensions.size(); ++i) {
    text += (i > 0 ? " " : "") + p.dimensions[i] + "[" + std::to_string(p.extents[i]) + "]";
  }
  return text;
}

// The first name of the array with the given prefix.
inline std::string first_name(const std::string& prefix, const bound_parameter& b) {
  return b.prefixed ? prefix + b.names.front() : b.names.front();
}
DIMWISE_DETAIL_LIBRARY const stored_array* find_array(const archive& from, const std::string& prefix,
                                                      const bound_parameter& b) {
  for (const std::string& name : b.names) {
    if (const stored_array* const found = from.find(b.prefixed ? prefix + name : name)) { return found; }
  }
  return nullptr;
}
DIMWISE_DETAIL_LIBRARY std::string prefix_in(const archive& from, const bindings& file) {
  std::string best;
  std::size_t most = 0;
  for (const std::string& prefix : file.list().prefixes) {
    std::size_t n = 0;
    for (const auto& b : file.list().all) { n += find_array(from, prefix, *b) != nullptr ? 1U : 0U; }
    if (n > most) { best = prefix; }
    most = std::max(most, n);
  }
  std::size_t plain = 0;
  for (const auto& b : file.list().all) { plain += find_array(from, "", *b) != nullptr ? 1U : 0U; }
  return plain >= most ? "" : best;
}

inline std::string without_prefix(const std::string& name, const std::string& prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}
inline bool is_ignored(const bindings& file, const std::string& name) {
  const auto& beginnings = file.list().ignored_beginnings;
  return file.list().ignored.contains(name) ||
         std::any_of(beginnings.begin(), beginnings.end(), [&](const auto& b) { return name.starts_with(b); });
}

DIMWISE_DETAIL_LIBRARY std::set<std::string> arrays_known(const archive& from, const bindings& file) {
  const std::string prefix = prefix_in(from, file);
  std::set<std::string> names;
  for (const auto& b : file.list().all) {
    if (const stored_array* const found = find_array(from, prefix, *b)) { names.insert(found->name); }
  }
  for (const stored_array& a : from.arrays()) {
    const std::string name = without_prefix(a.name, prefix);
    if (is_ignored(file, name) || file.list().same.contains(name)) { names.insert(a.name); }
  }
  return names;
}

inline std::string described(const stored_array& a) {
  return printable(a.name) + " (" + std::string(name_of(a.type)) + " " + listed(a.extents) + ")";
}

// Collects all mismatches between a file and a model.
class comparison {
 public:
  comparison(const archive& from, const bindings& file, rounding how, const std::set<std::string>& others)
      : from_(from), file_(file), how_(how), prefix_(prefix_in(from, file)), others_(others) {}

  std::vector<std::string> operator()(const file_parameters& parameters) {
    std::map<const void*, parameter> own;
    for (std::size_t i = 0; i < parameters.count(); ++i) { own.emplace(parameters.at(i), parameters.described(i)); }
    for (const auto& b : file_.list().all) {
      const auto p = own.find(b->parameter);
      if (p == own.end()) {
        lines_.push_back(printable(b->names.front()) + " is bound to a tensor that is not a parameter of the model");
        continue;
      }
      if (!bound_.insert(b->parameter).second) {
        lines_.push_back(p->second.name + " is bound twice, the second time to " + printable(b->names.front()));
        continue;
      }
      compare(*b, p->second);
    }
    for (const auto& [name, parts] : parts_) {
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!parts[i]) {
          lines_.push_back("part " + std::to_string(i) + " of " + printable(name) + " is not bound to a parameter");
        }
      }
    }
    for (std::size_t i = 0; i < parameters.count(); ++i) {
      if (!bound_.contains(parameters.at(i))) { lines_.push_back(parameters.name(i) + " is not bound to an array"); }
    }
    unexpected();
    return std::move(lines_);
  }

 private:
  void compare(const bound_parameter& b, const parameter& p) {
    if (b.how.parts > 1) {
      std::vector<bool>& parts = parts_[first_name(prefix_, b)];
      parts.resize(std::max(parts.size(), b.how.parts));
      parts[b.how.part] = true;
      if (told_.contains(b.names.front())) { return; }  // reports an array that several parameters share once
    }
    const std::size_t before = lines_.size();
    compare_with(find_array(from_, prefix_, b), b, p);
    if (lines_.size() > before) { told_.insert(b.names.front()); }
  }
  void compare_with(const stored_array* a, const bound_parameter& b, const parameter& p) {
    const std::string needed = p.name + " (" + b.how.words + ")";
    if (a == nullptr) {
      lines_.push_back(printable(first_name(prefix_, b)) + " is missing: " + needed + " needs " +
                       listed(b.how.extents));
      return;
    }
    used_.insert(a->name);
    if (a->extents != b.how.extents) {
      lines_.push_back(described(*a) + " does not fit " + needed + ", which needs " + listed(b.how.extents));
    } else if (!b.how.even) {
      lines_.push_back(described(*a) + " does not fit " + needed + ": an odd number of features cannot form pairs");
    } else if (const std::string why = b.unreadable(*a, how_); !why.empty()) {
      lines_.push_back(described(*a) + " " + why + " for " + needed);
    } else if (const auto said = from_.metadata().find(dimensions_key + a->name);
               said != from_.metadata().end() && said->second != b.how.words) {
      lines_.push_back(described(*a) + " has the dimensions " + printable(said->second) + ", " + needed +
                       " was expected");
    }
  }
  void unexpected() {
    for (const stored_array& a : from_.arrays()) {
      if (used_.contains(a.name)) { continue; }
      const std::string name = without_prefix(a.name, prefix_);
      if (is_ignored(file_, name)) { continue; }
      const auto tied = file_.list().same.find(name);
      if (tied == file_.list().same.end()) {
        if (others_.contains(a.name)) { continue; }
        lines_.push_back(described(a) + " is not expected: no parameter is bound to it");
        continue;
      }
      const stored_array* const as = from_.find(prefix_ + tied->second);
      if (as != nullptr && (as->type != a.type || as->extents != a.extents ||
                            !std::equal(a.bytes.begin(), a.bytes.end(), as->bytes.begin(), as->bytes.end()))) {
        lines_.push_back(described(a) + " is not the same as " + described(*as) + ", to which the model ties it");
      }
    }
  }

  const archive& from_;
  const bindings& file_;
  rounding how_;
  std::string prefix_;
  const std::set<std::string>& others_;
  std::set<std::string> used_{};
  std::vector<std::string> lines_{};
  std::set<const void*> bound_{};
  std::set<std::string> told_{};
  std::map<std::string, std::vector<bool>> parts_{};
};

DIMWISE_DETAIL_LIBRARY std::vector<std::string> compared(const file_parameters& own, const archive& from,
                                                         const bindings& file, rounding how,
                                                         const std::set<std::string>& others) {
  return comparison(from, file, how, others)(own);
}

DIMWISE_DETAIL_LIBRARY std::string text_of_mismatches(const std::vector<std::string>& lines) {
  std::string text;
  constexpr std::size_t longest = 100;  // the file of another model has very many mismatches
  for (std::size_t i = 0; i < std::min(lines.size(), longest); ++i) { text += "\n  " + lines[i]; }
  if (lines.size() > longest) { text += "\n  and " + std::to_string(lines.size() - longest) + " more differences"; }
  return text;
}

DIMWISE_DETAIL_LIBRARY void load_bound(const std::vector<std::string>& lines, const archive& from,
                                       const bindings& file) {
  if (!lines.empty()) {
    throw file_error(from.title() + ": the file does not fit the model:" + text_of_mismatches(lines));
  }
  const std::string prefix = prefix_in(from, file);
  const dimwise::detail::weights_together in_large_pages;
  std::size_t all = 0;
  for (const auto& b : file.list().all) { all += find_array(from, prefix, *b)->bytes.size(); }
  std::size_t done = 0;
  for (const auto& b : file.list().all) {
    const stored_array& array = *find_array(from, prefix, *b);
    b->read(array);
    done += array.bytes.size();
    watch_loading::report(done, all);
  }
  for (const auto& b : file.list().all) { b->commit(); }
}

DIMWISE_DETAIL_LIBRARY void save_bound(const file_parameters& own, const std::filesystem::path& path,
                                       const bindings& file, const std::map<std::string, std::string>& metadata) {
  std::vector<stored_array> arrays;
  std::map<std::string, std::size_t> places;
  std::vector<std::vector<std::byte>> memory;
  std::set<const void*> bound;
  std::map<std::string, std::vector<bool>> parts;  // the written parts of shared arrays
  for (const auto& b : file.list().all) {
    const std::string& name = b->names.front();
    const auto refuse = [&](const std::string& what) { throw file_error(path.string() + ": " + name + what); };
    bound.insert(b->parameter);
    const auto [place, is_new] = places.emplace(name, arrays.size());
    if (!b->has_extents()) { refuse(" has other extents than those bound"); }
    if (is_new) {
      memory.emplace_back(*bytes_of(b->type(), *count_of(b->how.extents)));
      arrays.push_back({name, b->type(), b->how.extents, memory.back()});
      parts[name].resize(b->how.parts);
    }
    const stored_array& array = arrays[place->second];
    std::vector<bool>& written = parts.at(name);
    if (array.type != b->type() || array.extents != b->how.extents || written.size() != b->how.parts) {
      refuse(" is bound to parameters of other extents or elements");
    }
    if (written[b->how.part]) { refuse(" is bound to two parameters; a file has one array of a name"); }
    written[b->how.part] = true;
    b->write(memory[place->second].data());
  }
  for (const auto& [name, written] : parts) {
    const auto missing = std::find(written.begin(), written.end(), false);
    if (missing != written.end()) {
      throw file_error(path.string() + ": part " + std::to_string(missing - written.begin()) + " of " + name +
                       " is not bound to a parameter");
    }
  }
  for (std::size_t i = 0; i < own.count(); ++i) {
    if (!bound.contains(own.at(i))) {
      throw file_error(path.string() + ": " + own.name(i) + " is not bound to an array");
    }
  }
  write_safetensors(path, arrays, metadata);
}

DIMWISE_DETAIL_LIBRARY void save_own(const file_parameters& own, const std::filesystem::path& path) {
  std::vector<stored_array> arrays;
  std::map<std::string, std::string> metadata;
  std::vector<std::vector<float>> floats;
  for (std::size_t i = 0; i < own.count(); ++i) {
    const parameter p = own.described(i);
    const std::size_t before = floats.size();
    const std::span<const std::byte> elements = own.type(i).elements(own.at(i), floats);
    arrays.push_back({p.name, floats.size() > before ? element_type::f32 : p.type, p.extents, elements});
    metadata.emplace(dimensions_key + p.name, dimension_words(p));
  }
  write_safetensors(path, arrays, metadata);
}

}  // namespace detail

DIMWISE_DETAIL_LIBRARY std::ostream& operator<<(std::ostream& to, const std::vector<parameter>& table) {
  std::size_t width = 0;
  std::size_t numbers = 0;
  std::size_t bytes = 0;
  std::ostringstream text;
  for (const parameter& p : table) { width = std::max(width, p.name.size()); }
  for (const parameter& p : table) {
    text << std::left << std::setw(static_cast<int>(width)) << p.name << "  " << std::setw(4) << name_of(p.type)
         << std::right << std::setw(12) << p.bytes << "  " << detail::dimension_words(p) << '\n';
    numbers += count_of(p.extents).value_or(0);
    bytes += p.bytes;
  }
  return to << text.str() << table.size() << " parameters, " << numbers << " numbers, " << bytes << " bytes\n";
}

}  // namespace dimwise::io
