// tests/conformance/gradients/gradients.hpp -- one case of the suite of gradients, in float64 or float32.
//
// A case gives the dimensions of its arrays by name, in any order and of any number. An operation has few roles for
// them: what is summed, what is shared, what only one operand has. The arrays are arranged by roles, so that a runner
// is compiled once for all dimensions:
//
//   p.differentiate(std::tuple(named<rest, inner>("x", {beside, summed})),
//                   std::tuple(p.output<rest>("y", {beside})),
//                   [](const auto& m) { return std::tuple(sum<inner>(std::get<0>(m))); });
//
// Every runner runs in float64 and in float32. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "conformance/case.hpp"
#include <dimwise/grad.hpp>
#include <dimwise/nn.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <set>

namespace conformance::gradients {

using namespace dimwise;
using nlohmann::json;

// The roles.
struct shared : batch_dim<> {};
struct rest : batch_dim<> {};
struct after : batch_dim<> {};
struct row : position_dim<> {};
struct column : position_dim<> {};
struct inner : feature_dim<> {};
struct features : feature_dim<> {};
struct choices : choice_dim<> {};
struct best : choice_dim<> {};

/// Names of dimensions, outermost first, which are one dimension here.
using group = std::vector<std::string>;

[[nodiscard]] bool is_in(const std::string& name, const group& g);
[[nodiscard]] group operator-(const group& a, const group& b);
[[nodiscard]] group operator&(const group& a, const group& b);
[[nodiscard]] group operator+(const group& a, const group& b);

/// An array of the case with its axes in the order of the groups; the extent of each group.
struct arranged {
  std::vector<double> values;
  std::vector<std::size_t> extents;
};
/// Throws where a dimension of the array is in none of the groups.
[[nodiscard]] arranged arrange(const std::vector<double>& values, const json& entry, std::span<const group> groups);

/// An array, and which of its dimensions each of D… is.
template <class... D>
struct named {
  std::string name;
  std::array<group, sizeof...(D)> groups;
  std::vector<std::ptrdiff_t> origins = {};  ///< of each of D…, where one is said
};

/// An input that was made from an array, whose elements are in the order of the groups.
template <class Tensor>
struct made {
  std::string name;
  std::vector<group> groups;
  Tensor value;
};

/// What both element types of a case share: its words and numbers, and how near results must be.
class program_base {
 public:
  program_base(run& r, bool in_double);

  [[nodiscard]] bool has(const std::string& input) const;
  [[nodiscard]] bool wants(const std::string& output) const;
  [[nodiscard]] bool wants_gradient(const std::string& input) const;
  [[nodiscard]] const std::string& case_name() const { return run_.name(); }
  /// The inputs in the order of the manifest.
  [[nodiscard]] group input_names() const;
  /// The dimensions of an input, of an output, in the order of the array.
  [[nodiscard]] group dims(const std::string& input) const;
  [[nodiscard]] group output_dims(const std::string& output) const;
  [[nodiscard]] std::size_t extent(const std::string& dimension) const;
  [[nodiscard]] bool has_dimension(const std::string& name) const { return run_.entry().at("dims").contains(name); }
  [[nodiscard]] const json& parameters() const;
  [[nodiscard]] bool says(const char* key) const;
  [[nodiscard]] double number(const char* key, double otherwise) const;
  [[nodiscard]] bool flag(const char* key) const;
  [[nodiscard]] std::string text(const char* key, const std::string& otherwise = "") const;
  [[nodiscard]] group names(const char* key) const;  ///< a name or several
  [[nodiscard]] std::vector<double> numbers_of(const std::string& input) const;
  [[nodiscard]] const json& input_entry(const std::string& input) const;

  /// Compares with an output, or with a gradient of an input.
  void compare_output(const std::string& name, std::span<const group> groups, const std::vector<double>& x);
  void compare_gradient(const std::string& name, std::span<const group> groups, const std::vector<double>& x);
  /// What was not compared is a difference.
  void finish();

 protected:
  [[nodiscard]] const json* in_list(const char* list, const std::string& name) const;
  [[nodiscard]] std::vector<double> numbers(const json& entry) const;
  void compare(const char* list, const std::string& label, const std::string& name, std::span<const group> groups,
               const std::vector<double>& x);

  run& run_;
  bool in_double_;
  std::set<std::string> compared_;
};

template <class T>
class program : public program_base {
 public:
  using element = T;
  explicit program(run& r) : program_base(r, std::is_same_v<T, double>) {}

  /// An array of numbers, of truths, of ids of I, or of whole numbers: E is T, bool, id<I> or std::int64_t.
  template <class E, class... D>
  [[nodiscard]] tensor<E, D...> array_of(const named<D...>& n) const {
    const arranged from = arrange(numbers_of(n.name), input_entry(n.name), n.groups);
    auto to = shaped<E, D...>(from.extents, n.origins, std::index_sequence_for<D...>{});
    fill(to, from.values);
    return to;
  }
  template <class Tensor>
  [[nodiscard]] Tensor tensor_of(const made<Tensor>& m) const {
    return m.value;
  }
  template <class... D>
  [[nodiscard]] tensor<T, D...> tensor_of(const named<D...>& n) const {
    return array_of<T>(n);
  }
  /// The elements of an array in the order of the groups, in a tensor of these extents.
  template <class... D, class... E>
  [[nodiscard]] made<tensor<T, D...>> with_extents(const std::string& name, const std::vector<group>& groups,
                                                   const E&... extents) const {
    tensor<T, D...> to(extents...);
    fill(to, arrange(numbers_of(name), input_entry(name), groups).values);
    return {name, groups, to};
  }
  template <class... D>
  [[nodiscard]] tensor<T, D...> real(const std::string& name, const std::array<group, sizeof...(D)>& groups) const {
    return array_of<T>(named<D...>{name, groups});
  }

  /// Runs f with tracked inputs; it gives a tuple of operands, one for each output. Compares the outputs, and the
  /// gradients of Σ output · upstream.
  template <class... In, class... Out, class F>
  void differentiate(const std::tuple<In...>& inputs, const std::tuple<Out...>& outputs, const F& f) {
    const auto model = std::apply([&](const auto&... n) { return std::tuple(tensor_of(n)...); }, inputs);
    const auto result = value_and_gradient(model, [&](const auto& m) {
      const auto computed = f(m);
      return sum_of(outputs, computed, std::index_sequence_for<Out...>{});
    });
    compare_all(inputs, result.gradient, std::index_sequence_for<In...>{});
  }

  template <class... D>
  void expect_output(const named<D...>& n, const tensor<T, D...>& value) {
    compare_output(n.name, n.groups, {value.data(), value.data() + value.size()});
  }
  template <class... D>
  void expect_gradient(const named<D...>& n, const tensor<T, D...>& value) {
    if (wants_gradient(n.name)) { compare_gradient(n.name, n.groups, {value.data(), value.data() + value.size()}); }
  }
  template <class Tensor>
  void expect_gradient(const made<Tensor>& n, const Tensor& value) {
    if (wants_gradient(n.name)) { compare_gradient(n.name, n.groups, {value.data(), value.data() + value.size()}); }
  }

  /// Σ y · upstream; compares y with the output.
  template <class... D, class Y>
  auto weighed(const named<D...>& n, const Y& y) {
    const tensor<tracked<T>, D...> stored(plain(y));
    compare_output(n.name, n.groups, {stored.value().data(), stored.value().data() + stored.value().size()});
    tensor<T, D...> g = stored.value();
    const json* const upstream = in_list("upstream", n.name);
    if (upstream != nullptr) {
      fill(g, arrange(numbers(*upstream), *upstream, n.groups).values);
    } else {
      g.fill(T(1));
    }
    // Nothing is sent to a row without visible keys, whose log-sum-exp is −∞: 0 · −∞ is no number.
    if constexpr (sizeof...(D) == 0) {
      return tensor(stored * g);
    } else {
      return tensor(sum<D...>(where(stored > -std::numeric_limits<T>::infinity(), stored, T(0)) * g));
    }
  }

 private:
  template <class E, class... D, std::size_t... I>
  static tensor<E, D...> shaped(const std::vector<std::size_t>& extents, const std::vector<std::ptrdiff_t>& origins,
                                std::index_sequence<I...>) {
    const auto one = [&]<class A>(std::type_identity<A>, std::size_t i) {
      const A whole{static_cast<std::ptrdiff_t>(extents.at(i))};
      if constexpr (requires { starting_at(whole, std::ptrdiff_t{}); }) {
        return origins.empty() ? whole : starting_at(whole, origins.at(i));
      } else {
        return whole;
      }
    };
    return tensor<E, D...>(one(std::type_identity<D>{}, I)...);
  }
  template <class E, class... D>
  static void fill(tensor<E, D...>& to, const std::vector<double>& from) {
    E* const all = to.overwrite();
    for (std::size_t i = 0; i < from.size(); ++i) {
      if constexpr (bridge::is_id<E>) {
        all[i] = E(from[i] < 0 ? std::size_t{0} : static_cast<std::size_t>(from[i]));  // −100: the mask leaves it out
      } else {
        all[i] = static_cast<E>(from[i]);
      }
    }
  }

  template <class Outputs, class Computed, std::size_t... I>
  auto sum_of(const Outputs& outputs, const Computed& computed, std::index_sequence<I...>) {
    return (weighed(std::get<I>(outputs), std::get<I>(computed)) + ...);
  }
  template <class Inputs, class Gradient, std::size_t... I>
  void compare_all(const Inputs& inputs, const Gradient& g, std::index_sequence<I...>) {
    (expect_gradient(std::get<I>(inputs), std::get<I>(g)), ...);
  }
};

/// Registers a runner, a function template over the element type, of an operation.
#define CONFORMANCE_GRADIENT(operation, function)                          \
  const family function##_gradients{"gradient of " operation, [](run& r) { \
    program<double> exact(r);                                              \
    function(exact);                                                       \
    exact.finish();                                                        \
    program<float> rounded(r);                                             \
    function(rounded);                                                     \
    rounded.finish();                                                      \
  }};

}  // namespace conformance::gradients
