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
#include <dimwise/nn/parameters/part_list.hpp>
#include <dimwise/support/library.hpp>

#include <functional>
#include <iosfwd>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

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

// The functions that files need for one type of parameter. The last two are null in a list for bindings.
struct file_parameter {
  std::size_t rank;
  const dimwise::detail::name_of* names;
  element_type type;
  void (*write_extents)(const void* p, axis* to);
  std::size_t (*bytes)(const void* p);
  void (*bind)(bindings& to, const std::string& name, void* p);  // in its own order
  // Its elements. The format has no quantized types: dequantized elements are in `floats`.
  std::span<const std::byte> (*elements)(const void* p, std::vector<std::vector<float>>& floats);
};
template <class P>
struct file_parameter_functions {
  static void write_extents(const void* p, axis* to) {
    axis_extents<axes_for<shape_of<P>>>::write(static_cast<const P*>(p)->extents(), to);
  }
  static std::size_t bytes(const void* p) { return nn::detail::bytes_of(*static_cast<const P*>(p)); }
  static void bind(bindings& to, const std::string& name, void* p) {
    to.bind<typename own_order<P>::type>(name, *static_cast<P*>(p));
  }
  static std::span<const std::byte> elements(const void* p, [[maybe_unused]] std::vector<std::vector<float>>& floats) {
    const P& t = *static_cast<const P*>(p);
    if constexpr (nn::detail::is_block_weight<P>) {
      const tensor values = t.dequantised();
      floats.emplace_back(values.values().begin(), values.values().end());
      return std::as_bytes(std::span(floats.back()));
    } else {
      return std::as_bytes(t.values());
    }
  }
};
template <class P, bool Own>
inline constexpr file_parameter file_parameter_of = [] {
  using functions = file_parameter_functions<P>;
  file_parameter f{axes_for<shape_of<P>>::size,
                   axis_extents<axes_for<shape_of<P>>>::names,
                   type_in_table<typename P::value_type>,
                   &functions::write_extents,
                   &functions::bytes,
                   nullptr,
                   nullptr};
  if constexpr (Own) {
    f.bind = &functions::bind;
    f.elements = &functions::elements;
  }
  return f;
}();
template <bool Own>
struct filed_parts {
  template <class P>
  static constexpr bool is = nn::detail::is_any_parameter<P>;
  template <class P>
  static const void* facts() {
    return &file_parameter_of<P, Own>;
  }
  template <class Owner, class P>
  static constexpr bool flag = false;
};
// The parameters of a module. A list of a constant module is only read.
class file_parameters : public nn::detail::part_list {
 public:
  /// For bindings.
  template <class M>
  static file_parameters bound(const M& m) {
    return file_parameters(m, filed_parts<false>());
  }
  /// For files with the parameters' own names.
  template <class M>
  static file_parameters own(const M& m) {
    return file_parameters(m, filed_parts<true>());
  }
  [[nodiscard]] const file_parameter& type(std::size_t i) const {
    return *static_cast<const file_parameter*>(facts(i));
  }
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY parameter described(std::size_t i) const;

 private:
  template <class M, class Walked>
  file_parameters(const M& m, Walked) {
    nn::detail::list_parts<Walked, void>(*this, m);
  }
};

DIMWISE_DETAIL_LIBRARY std::string dimension_words(const parameter& p);

// The metadata key with the dimensions of a parameter in checkpoints that this library wrote.
inline constexpr const char* dimensions_key = "dimensions of ";

// The array of a parameter, by the first of its names in the file; null if there is none.
DIMWISE_DETAIL_LIBRARY const stored_array* find_array(const archive& from, const std::string& prefix,
                                                      const bound_parameter& b);
// The prefix that most names have.
DIMWISE_DETAIL_LIBRARY std::string prefix_in(const archive& from, const bindings& file);

// Binds parameters under their own names in their own order.
DIMWISE_DETAIL_LIBRARY void bind_own(const file_parameters& own, bindings& to);
// The names of the arrays that the bindings read, ignore or tie to others.
DIMWISE_DETAIL_LIBRARY std::set<std::string> arrays_known(const archive& from, const bindings& file);

// All mismatches between a file and a model. Other models know the arrays `others`.
DIMWISE_DETAIL_LIBRARY std::vector<std::string> compared(const file_parameters& own, const archive& from,
                                                         const bindings& file, rounding how,
                                                         const std::set<std::string>& others = {});
// The mismatches as lines of an error, at most a hundred.
DIMWISE_DETAIL_LIBRARY std::string text_of_mismatches(const std::vector<std::string>& lines);
// Reads the bound parameters. Throws `file_error` if there are mismatches: `lines`.
DIMWISE_DETAIL_LIBRARY void load_bound(const std::vector<std::string>& lines, const archive& from,
                                       const bindings& file);
// All of `own`.
DIMWISE_DETAIL_LIBRARY std::vector<parameter> table_of_parameters(const file_parameters& own);
// Writes all of `own` under their own names, with their dimensions as metadata.
DIMWISE_DETAIL_LIBRARY void save_own(const file_parameters& own, const std::filesystem::path& path);
// Writes the bound parameters, which are all of `own`.
DIMWISE_DETAIL_LIBRARY void save_bound(const file_parameters& own, const std::filesystem::path& path,
                                       const bindings& file, const std::map<std::string, std::string>& metadata);

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
  return detail::table_of_parameters(detail::file_parameters::bound(m));
}
DIMWISE_DETAIL_REFUSED_MODULE(parameter_table)

/// Prints one line per parameter, and the totals of elements and bytes.
DIMWISE_DETAIL_LIBRARY std::ostream& operator<<(std::ostream& to, const std::vector<parameter>& table);

/// The mismatches between the file and the model, one string each; empty if the file can be loaded.
template <detail::loaded_module M>
[[nodiscard]] std::vector<std::string> compare(M& m, const archive& from, const bindings& file,
                                               rounding how = rounding::refused) {
  return detail::compared(detail::file_parameters::bound(m), from, file, how);
}
template <detail::loaded_module M>
[[nodiscard]] std::vector<std::string> compare(M& m, const archive& from, rounding how = rounding::refused) {
  const auto own = detail::file_parameters::own(m);
  bindings file;
  detail::bind_own(own, file);
  return detail::compared(own, from, file, how);
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
  detail::load_bound(compare(m, from, file, how), from, file);
}
/// Loads a file that `save` wrote without bindings.
template <detail::loaded_module M>
void load(M& m, const archive& from, rounding how = rounding::refused) {
  const auto own = detail::file_parameters::own(m);
  bindings file;
  detail::bind_own(own, file);
  detail::load_bound(detail::compared(own, from, file, how), from, file);
}
DIMWISE_DETAIL_REFUSED_MODULE(compare)
DIMWISE_DETAIL_REFUSED_CONSTANT(compare)
DIMWISE_DETAIL_REFUSED_MODULE(load)
DIMWISE_DETAIL_REFUSED_CONSTANT(load)

/// Saves all parameters as a safetensors file, with the names and orders of the bindings. Throws `file_error`.
template <nn::module M>
void save(const M& m, const std::filesystem::path& path, const bindings& file,
          const std::map<std::string, std::string>& metadata = {}) {
  detail::save_bound(detail::file_parameters::bound(m), path, file, metadata);
}
/// Saves all parameters under their names in the module, with their dimensions as metadata: a file with other
/// dimensions does not load even if all extents agree.
template <nn::module M>
void save(const M& m, const std::filesystem::path& path) {
  detail::save_own(detail::file_parameters::own(m), path);
}
DIMWISE_DETAIL_REFUSED_MODULE(save)

#undef DIMWISE_DETAIL_REFUSED_CONSTANT
#undef DIMWISE_DETAIL_REFUSED_MODULE

}  // namespace dimwise::io

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/io/checkpoint_definitions.hpp>
#endif
