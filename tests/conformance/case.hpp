// tests/conformance/case.hpp -- one case of a conformance suite: what goes in, and what must come out.
//
// A family of operators is one source file: runners, and a line that registers each of them.
//
//   void relu(run& r) {
//     r.expect(0, dimwise::relu(r.get<float, all>(0)));          // the first operand; the first result
//   }
//   const family relu_cases{"Relu", relu};
//
//   void mha(run& r) {
//     const auto x = r.get<float, batch, seq, d_model>("query");  // extents as they are stored
//     const auto w = r.get<float, merged<heads, d_k>, d_model>("q_proj", heads{r.integer("num_heads")});
//     …
//     r.expect("attn_output", y);
//   }
//
// Every runner runs twice, by the fast plans and by the scalar path; it need not know which.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/dimwise.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace conformance {

/// What keeps a case from being run at all, printed with it. None is for convenience.
struct skip : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One array of a suite: element type (numpy's word for it), extents, elements in C order.
struct array {
  std::string name;
  std::string dtype;
  std::vector<std::size_t> shape;
  std::shared_ptr<const std::byte> bytes;

  [[nodiscard]] std::size_t size() const;
};

/// Copies the elements of `from` as `T`. Throws where `T` does not hold them all: float is read from float32 and
/// float16, not from float64 or int32.
template <class T>
void copy_elements(const array& from, T* to);

/// A tensor of a case: by its name, or by the operator's slot.
struct which {
  std::string name;
  std::optional<std::size_t> slot;
  which(const char* n) : name(n) {}  // implicit: `r.has("attn_mask")`
  which(std::string n) : name(std::move(n)) {}
  which(int s) : slot(static_cast<std::size_t>(s)) {}  // `r.has(3)`
};

/// One run of one case.
class run {
 public:
  struct state;
  explicit run(state& s) : state_(s) {}

  // --- what the case says ---

  [[nodiscard]] const std::string& name() const;
  /// The whole case of the manifest.
  [[nodiscard]] const nlohmann::json& entry() const;
  /// The bytes of a file of the suite that is not an array, as `uint8`; `path` counts from its folder.
  [[nodiscard]] array file(const std::string& path) const;
  /// ONNX, ONNX Runtime: the operator's attributes; the other suites: "config".
  [[nodiscard]] const nlohmann::json& attributes() const;
  [[nodiscard]] bool has_attribute(std::string_view key) const;
  [[nodiscard]] double number(std::string_view key, std::optional<double> otherwise = {}) const;
  [[nodiscard]] std::ptrdiff_t integer(std::string_view key, std::optional<std::ptrdiff_t> otherwise = {}) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key, std::optional<bool> otherwise = {}) const;  ///< true, false, 1, 0
  [[nodiscard]] std::string text(std::string_view key, std::optional<std::string> otherwise = {}) const;

  /// The array of an entry, and a line about what differs: for suites with lists of their own.
  [[nodiscard]] const array& load(const nlohmann::json& entry) const;
  void report(const std::string& difference);

  // --- what goes in: inputs and weights ---

  [[nodiscard]] bool has(const which& w) const;
  [[nodiscard]] const array& at(const which& w) const;
  [[nodiscard]] const std::string& dtype(const which& w) const { return at(w).dtype; }
  [[nodiscard]] std::size_t rank(const which& w) const { return at(w).shape.size(); }
  [[nodiscard]] std::size_t extent(const which& w, std::size_t axis) const { return at(w).shape.at(axis); }

  /// The array as a tensor of these dimensions, in this order. Extents are those that are stored; `known` gives the
  /// factors of a composite but one, and is compared with what is stored otherwise.
  template <class T, class... D, class... Known>
  [[nodiscard]] dimwise::tensor<T, D...> get(const which& w, const Known&... known) const;

  /// The same for an array that the suite broadcasts: its axes are the last of D, and where an extent is 1 or missing,
  /// every element again. All extents are given.
  template <class T, class... D>
  [[nodiscard]] dimwise::tensor<T, D...> stretched(const which& w, const D&... extents) const;

  /// The same for an array some of whose neighbouring axes are one dimension here, or the reverse. All extents are
  /// given.
  template <class T, class... D>
  [[nodiscard]] dimwise::tensor<T, D...> grouped(const which& w, const D&... extents) const;
  /// The number of elements of the axes first, first + 1, …, last − 1.
  [[nodiscard]] std::size_t extents(const which& w, std::size_t first, std::size_t last) const;

  // --- what must come out ---

  [[nodiscard]] bool wants(const which& output) const;
  /// Compares with the array of that name. Extents are compared in order; neighbouring axes of the array may be one
  /// dimension here or the reverse, and its 1s none.
  template <dimwise::operand X>
  void expect(const which& output, const X& value);
  /// The same where `where` is true; the rest is not defined by the suite.
  template <dimwise::operand X, dimwise::operand W>
  void expect(const which& output, const X& value, const W& where);
  /// Says what differs, where it is no array.
  void differs(std::string what);

 private:
  template <class T>
  void check(const which& output, const std::vector<std::size_t>& shape, const T* values, const bool* where);

  state& state_;
};

using runner = void (*)(run&);

/// Registers the runner of an operator ("Attention") or a family ("mha").
struct family {
  family(const char* name, runner how);
};
/// nullptr where none is registered.
[[nodiscard]] runner find(const std::string& name);

}  // namespace conformance

#include "bridge.hpp"
