// SPDX-License-Identifier: BSL-1.0
// dimwise/io/checkpoint.hpp -- parameter tables, and saving, comparing and loading the parameters of a module.
//
// Layer: io. Loading is atomic: an error lists every mismatch, and then nothing changes.
// Tests: tests/io/checkpoint.test.cpp
//
//   std::cout << parameter_table(model);
//   save(model, "model.safetensors");      load(model, read_safetensors("model.safetensors"));
//   load(model, read_safetensors("gpt2.safetensors"), file);            // with bindings: other names and orders
#pragma once

#include <dimwise/io/bindings.hpp>
#include <dimwise/io/safetensors.hpp>

#include <functional>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <utility>

namespace dimwise::op {
struct parameter_table;
struct compare;
struct load;
struct save;
}  // namespace dimwise::op

namespace dimwise::io {

/// One parameter of a module.
struct parameter {
  std::string name;
  std::vector<std::string> dimensions;
  std::vector<std::size_t> extents;
  element_type type;
  std::size_t bytes;
};

namespace detail {

template <class T>
inline constexpr element_type type_in_table = element_type_of<T>;
template <>
inline constexpr element_type type_in_table<nn::int8_blocks> = element_type::q8_0;
template <>
inline constexpr element_type type_in_table<nn::int4_blocks> = element_type::q4_0;

template <class Tensor>
parameter parameter_of(const std::string& name, const Tensor& t) {
  using axes = axes_for<shape_of<Tensor>>;
  axis all[axes::size + 1];
  axis_extents<axes>::write(t.extents(), all);
  parameter p{name, {}, {}, type_in_table<typename Tensor::value_type>, nn::detail::bytes_of(t)};
  for (std::size_t i = 0; i < axes::size; ++i) {
    std::string word;
    say_name(axis_extents<axes>::names[i](), [&](char c) { word += c; });
    p.dimensions.push_back(word);
    p.extents.push_back(all[i].extent);
  }
  return p;
}
inline std::string dimension_words(const parameter& p) {
  std::string text;
  for (std::size_t i = 0; i < p.dimensions.size(); ++i) {
    text += (i > 0 ? " " : "") + p.dimensions[i] + "[" + std::to_string(p.extents[i]) + "]";
  }
  return text;
}

// The metadata key with the dimensions of a parameter in checkpoints that this library wrote.
inline const std::string dimensions_key = "dimensions of ";

// Binds parameters under their own names in their own order.
template <class M>
void bind_own(M& m, bindings& to) {
  nn::detail::each_parameter(
      m, [&]<class Tensor>(const std::string& name, Tensor& t) { to.bind<typename own_order<Tensor>::type>(name, t); });
}

// The first name of the array with the given prefix.
inline std::string first_name(const std::string& prefix, const bound_parameter& b) {
  return b.prefixed ? prefix + b.names.front() : b.names.front();
}
// The array of a parameter, by the first of its names in the file.
inline const stored_array* find_array(const archive& from, const std::string& prefix, const bound_parameter& b) {
  for (const std::string& name : b.names) {
    if (const stored_array* const found = from.find(b.prefixed ? prefix + name : name)) { return found; }
  }
  return nullptr;
}
// The prefix that most names have.
inline std::string prefix_in(const archive& from, const bindings& file) {
  std::string best;
  std::size_t most = 0;
  for (const std::string& prefix : file.list().prefixes) {
    std::size_t n = 0;
    for (const auto& b : file.list().all) { n += find_array(from, prefix, *b) != nullptr ? 1 : 0; }
    if (n > most) { best = prefix; }
    most = std::max(most, n);
  }
  std::size_t plain = 0;
  for (const auto& b : file.list().all) { plain += find_array(from, "", *b) != nullptr ? 1 : 0; }
  return plain >= most ? "" : best;
}

inline std::string described(const stored_array& a) {
  return printable(a.name) + " (" + std::string(name_of(a.type)) + " " + listed(a.extents) + ")";
}

// Collects all mismatches between a file and a model.
class comparison {
 public:
  comparison(const archive& from, const bindings& file, rounding how)
      : from_(from), file_(file), how_(how), prefix_(prefix_in(from, file)) {}

  template <class M>
  std::vector<std::string> operator()(M& m) {
    std::map<const void*, parameter> own;
    std::vector<const void*> order;
    nn::detail::each_parameter(m, [&](const std::string& name, auto& t) {
      own.emplace(&t, parameter_of(name, t));
      order.push_back(&t);
    });
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
    for (const void* const p : order) {
      if (!bound_.contains(p)) { lines_.push_back(own.at(p).name + " is not bound to an array"); }
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
      const bool prefixed = a.name.starts_with(prefix_);
      const std::string name = prefixed ? a.name.substr(prefix_.size()) : a.name;
      const auto& beginnings = file_.list().ignored_beginnings;
      if (file_.list().ignored.contains(name) ||
          std::any_of(beginnings.begin(), beginnings.end(), [&](const auto& b) { return name.starts_with(b); })) {
        continue;
      }
      const auto tied = file_.list().same.find(name);
      if (tied == file_.list().same.end()) {
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
  std::vector<std::string> lines_{};
  std::set<const void*> bound_{};
  std::set<std::string> used_{};
  std::set<std::string> told_{};
  std::map<std::string, std::vector<bool>> parts_{};
};

// A module that a file is read into.
template <class M>
concept loaded_module = nn::module<M> && !std::is_const_v<M>;

// Beside functions that take a module and a file: for other types (R21), for other arguments (R1).
#define DIMWISE_DETAIL_REFUSED_MODULE(word)                                              \
  template <class M, class... More, class Error = nn::detail::not_a_module<op::word, M>> \
    requires(!nn::module<M>)                                                             \
  Error word(const M&, const More&...);                                                  \
  DIMWISE_DETAIL_MISUSED(word)
// Beside those that read a file into the module.
#define DIMWISE_DETAIL_REFUSED_CONSTANT(word)                                                                  \
  template <class M, class... More, class Error = ERROR_R1_operation_takes_other_arguments<op::word, const M>> \
    requires nn::module<M>                                                                                     \
  Error word(const M&, const archive&, const More&...);

}  // namespace detail

/// The parameters of a module in member order, with names, dimensions, extents, element types and bytes.
template <nn::module M>
[[nodiscard]] std::vector<parameter> parameter_table(const M& m) {
  std::vector<parameter> all;
  nn::detail::each_parameter(
      m, [&](const std::string& name, const auto& t) { all.push_back(detail::parameter_of(name, t)); });
  return all;
}
DIMWISE_DETAIL_REFUSED_MODULE(parameter_table)

/// Prints one line per parameter, and the totals of elements and bytes.
inline std::ostream& operator<<(std::ostream& to, const std::vector<parameter>& table) {
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

/// The mismatches between the file and the model, one string each; empty if the file can be loaded.
template <detail::loaded_module M>
[[nodiscard]] std::vector<std::string> compare(M& m, const archive& from, const bindings& file,
                                               rounding how = rounding::refused) {
  return detail::comparison(from, file, how)(m);
}
template <detail::loaded_module M>
[[nodiscard]] std::vector<std::string> compare(M& m, const archive& from, rounding how = rounding::refused) {
  bindings own;
  detail::bind_own(m, own);
  return compare(m, from, own, how);
}

/// Reports progress while it exists: `load` on this thread calls `f(done, all)` with the bytes of the file that are
/// read and that will be read, after each parameter. If `f` throws, the model does not change.
class watch_loading {
 public:
  using function = std::function<void(std::size_t, std::size_t)>;

  /// Begins to report to `f`; an earlier function of this thread reports again when this one ends.
  explicit watch_loading(function f) : f_(std::move(f)), outer_(std::exchange(current(), this)) {}
  ~watch_loading() { current() = outer_; }
  watch_loading(const watch_loading&) = delete;
  watch_loading& operator=(const watch_loading&) = delete;

  /// Calls the innermost function of this thread, if there is one.
  static void report(std::size_t done, std::size_t all) {
    if (current() != nullptr && current()->f_) { current()->f_(done, all); }
  }

 private:
  static watch_loading*& current() {
    thread_local watch_loading* innermost = nullptr;
    return innermost;
  }

  function f_;
  watch_loading* outer_;
};

/// Loads all parameters of the model; its run-time extents become those of the bindings. Throws `file_error` that lists
/// every mismatch; then nothing changes.
template <detail::loaded_module M>
void load(M& m, const archive& from, const bindings& file, rounding how = rounding::refused) {
  if (const auto lines = compare(m, from, file, how); !lines.empty()) {
    std::string text = from.title() + ": the file does not fit the model:";
    constexpr std::size_t longest = 100;  // the file of another model has very many mismatches
    for (std::size_t i = 0; i < std::min(lines.size(), longest); ++i) { text += "\n  " + lines[i]; }
    if (lines.size() > longest) { text += "\n  and " + std::to_string(lines.size() - longest) + " more differences"; }
    throw file_error(text);
  }
  const std::string prefix = detail::prefix_in(from, file);
  const dimwise::detail::weights_together in_large_pages;
  std::size_t all = 0;
  for (const auto& b : file.list().all) { all += detail::find_array(from, prefix, *b)->bytes.size(); }
  std::size_t done = 0;
  for (const auto& b : file.list().all) {
    const stored_array& array = *detail::find_array(from, prefix, *b);
    b->read(array);
    done += array.bytes.size();
    watch_loading::report(done, all);
  }
  for (const auto& b : file.list().all) { b->commit(); }
}
/// Loads a file that `save` wrote without bindings.
template <detail::loaded_module M>
void load(M& m, const archive& from, rounding how = rounding::refused) {
  bindings own;
  detail::bind_own(m, own);
  load(m, from, own, how);
}
DIMWISE_DETAIL_REFUSED_MODULE(compare)
DIMWISE_DETAIL_REFUSED_CONSTANT(compare)
DIMWISE_DETAIL_REFUSED_MODULE(load)
DIMWISE_DETAIL_REFUSED_CONSTANT(load)

/// Saves all parameters as a safetensors file, with the names and orders of the bindings. Throws `file_error`.
template <nn::module M>
void save(const M& m, const std::filesystem::path& path, const bindings& file,
          std::map<std::string, std::string> metadata = {}) {
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
  nn::detail::each_parameter(m, [&](const std::string& name, const auto& t) {
    if (!bound.contains(&t)) { throw file_error(path.string() + ": " + name + " is not bound to an array"); }
  });
  write_safetensors(path, arrays, metadata);
}
/// Saves all parameters under their names in the module, with their dimensions as metadata: a file with other
/// dimensions does not load even if all extents agree.
template <nn::module M>
void save(const M& m, const std::filesystem::path& path) {
  std::vector<stored_array> arrays;
  std::map<std::string, std::string> metadata;
  std::vector<std::vector<float>> floats;  // dequantized weights: the format has no quantized types
  nn::detail::each_parameter(m, [&]<class Parameter>(const std::string& name, const Parameter& t) {
    const parameter p = detail::parameter_of(name, t);
    if constexpr (nn::detail::is_block_weight<Parameter>) {
      const tensor values = t.dequantised();
      floats.emplace_back(values.values().begin(), values.values().end());
      arrays.push_back({name, element_type::f32, p.extents, std::as_bytes(std::span(floats.back()))});
    } else {
      arrays.push_back({name, p.type, p.extents, std::as_bytes(t.values())});
    }
    metadata.emplace(detail::dimensions_key + name, detail::dimension_words(p));
  });
  write_safetensors(path, arrays, metadata);
}
DIMWISE_DETAIL_REFUSED_MODULE(save)

#undef DIMWISE_DETAIL_REFUSED_CONSTANT
#undef DIMWISE_DETAIL_REFUSED_MODULE

}  // namespace dimwise::io
