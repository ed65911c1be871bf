// tests/conformance/case.cpp -- what a case says, and how a result is compared with it.
//
// Two bars, decided in docs/decisions/0008-what-conformance-means.md:
//   outputs, printed   |x - expected| <= atol + rtol * |expected|, the manifest's tolerances
//   outputs_f64        |x - exact| <= 3 * (the origin's own float32 error) + 4 * 2^-24 * max(1, largest |exact|)
// What is not finite must be equal.
// SPDX-License-Identifier: BSL-1.0
#include "suite.hpp"
#include "support/pack.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace conformance {

namespace {

// Values as they were stored; calls f with a pointer of the right type.
template <class F>
void visit(const array& from, F f) {
  const auto as = [&]<class S>(std::string_view dtype, std::type_identity<S>) {
    if (from.dtype == dtype) { f(reinterpret_cast<const S*>(from.bytes.get())); }
    return from.dtype == dtype;
  };
  const bool known =
      as("float64", std::type_identity<double>{}) || as("float32", std::type_identity<float>{}) ||
      as("int64", std::type_identity<std::int64_t>{}) || as("int32", std::type_identity<std::int32_t>{}) ||
      as("int16", std::type_identity<std::int16_t>{}) || as("int8", std::type_identity<std::int8_t>{}) ||
      as("uint64", std::type_identity<std::uint64_t>{}) || as("uint32", std::type_identity<std::uint32_t>{}) ||
      as("uint16", std::type_identity<std::uint16_t>{}) || as("uint8", std::type_identity<std::uint8_t>{}) ||
      as("bool", std::type_identity<bool>{});
  if (!known) { throw std::runtime_error(from.name + ": unknown element type " + from.dtype); }
}

// Every value of S is one of T.
template <class T, class S>
constexpr bool holds() {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<S, bool>) {
    return std::is_same_v<T, S>;
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::is_floating_point_v<S> && sizeof(S) <= sizeof(T);
  } else {
    return std::is_integral_v<S> && std::numeric_limits<S>::digits <= std::numeric_limits<T>::digits &&
           std::is_signed_v<S> <= std::is_signed_v<T>;
  }
}

std::vector<double> in_double(const array& from) {
  std::vector<double> all(from.size());
  if (from.dtype == "float16") {
    copy_elements(from, all.data());
  } else {
    visit(from, [&](const auto* values) { std::copy(values, values + from.size(), all.begin()); });
  }
  return all;
}

std::string words(const std::vector<std::size_t>& shape) { return nlohmann::json(shape).dump(); }

// The nearest half-precision number; ties to even, as all conversions round.
double rounded_to_half(double x) {
  if (!std::isfinite(x) || x == 0) { return x; }
  const double step = std::ldexp(1.0, std::max(std::ilogb(x), -14) - 10);
  const double rounded = std::nearbyint(x / step) * step;
  return std::abs(rounded) > 65504 ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
}

// What a result is compared with: |x - expected| <= atol + rtol * |expected|, and exactly where that is not finite.
struct reference {
  std::string word;
  array expected;
  double rtol;
  double atol;
};

// The elements that differ, and the largest error among them.
struct comparison {
  std::size_t count = 0;
  std::size_t at = 0;
  double error = 0;
  double allowed = 0;
};

comparison compare(const std::vector<double>& x, const std::vector<double>& expected, const bool* where,
                   const reference& to) {
  comparison worst;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (where != nullptr && !where[i]) { continue; }
    if (x[i] == expected[i] || (std::isnan(x[i]) && std::isnan(expected[i]))) { continue; }
    const double allowed = std::isfinite(expected[i]) ? to.atol + to.rtol * std::abs(expected[i]) : 0;
    const double difference = std::abs(x[i] - expected[i]);
    const double error = std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
    if (error <= allowed) { continue; }
    if (worst.count++ == 0 || error > worst.error) {
      worst.at = i;
      worst.error = error;
      worst.allowed = allowed;
    }
  }
  return worst;
}

std::string place(std::size_t at, const std::vector<std::size_t>& shape) {
  std::vector<std::size_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = at % shape[i];
    at /= shape[i];
  }
  return words(index);
}

// The tolerances of a manifest may be words: "inf".
double number_of(const nlohmann::json& n) {
  if (!n.is_string()) { return n.get<double>(); }
  const std::string word = n.get<std::string>();
  if (word == "inf") { return std::numeric_limits<double>::infinity(); }
  if (word == "-inf") { return -std::numeric_limits<double>::infinity(); }
  return std::numeric_limits<double>::quiet_NaN();
}

const nlohmann::json* named(const nlohmann::json& entry, const char* list, const std::string& name) {
  if (!entry.contains(list) || !entry.at(list).is_array()) { return nullptr; }
  for (const auto& candidate : entry.at(list)) {
    if (candidate.at("name") == name) { return &candidate; }
  }
  return nullptr;
}

// The name behind a slot of the operator; empty where the slot is.
std::string name_in_slot(const nlohmann::json& entry, const char* slots, const which& w) {
  if (!w.slot) { return w.name; }
  const nlohmann::json& holder = entry.contains(slots) ? entry : entry.at("config");
  const nlohmann::json& list = holder.at(slots);
  return *w.slot < list.size() ? list.at(*w.slot).get<std::string>() : std::string();
}

const nlohmann::json* input(const nlohmann::json& entry, const which& w) {
  const std::string name = name_in_slot(entry, "node_inputs", w);
  for (const char* list : {"inputs", "weights"}) {
    if (const nlohmann::json* found = named(entry, list, name)) { return found; }
  }
  return nullptr;
}

}  // namespace

std::size_t array::size() const {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

template <class T>
void copy_elements(const array& from, T* to) {
  const std::size_t n = from.size();
  if (from.dtype == "float16") {
    if constexpr (std::is_same_v<T, dimwise::float16>) {
      std::memcpy(to, from.bytes.get(), 2 * n);
      return;
    } else if constexpr (std::is_floating_point_v<T>) {
      for (std::size_t i = 0; i < n; ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, from.bytes.get() + 2 * i, 2);
        to[i] = static_cast<T>(dimwise_test::half_to_double(bits));
      }
      return;
    }
  } else {
    bool done = false;
    visit(from, [&]<class S>(const S* values) {
      if constexpr (holds<T, S>()) {
        std::copy(values, values + n, to);
        done = true;
      }
    });
    if (done) { return; }
  }
  throw std::runtime_error(
      from.name + ": holds " + from.dtype + ", which is not read as " +
      (std::is_same_v<T, dimwise::float16> ? "float16" : std::string(dimwise_test::dtype_name<T>)));
}
template void copy_elements(const array&, double*);
template void copy_elements(const array&, float*);
template void copy_elements(const array&, dimwise::float16*);
template void copy_elements(const array&, std::int64_t*);
template void copy_elements(const array&, std::int32_t*);
template void copy_elements(const array&, std::int8_t*);
template void copy_elements(const array&, std::uint8_t*);
template void copy_elements(const array&, bool*);

namespace bridge {

bool same_grouping(std::vector<std::size_t> dims, std::vector<std::size_t> axes) {
  const auto product = [](const auto& extents) {
    return std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>());
  };
  if (product(dims) != product(axes)) { return false; }
  if (product(dims) == 0) { return true; }  // no elements
  std::erase(dims, std::size_t{1});
  std::erase(axes, std::size_t{1});
  for (std::size_t i = 0, j = 0; i < dims.size();) {
    const std::size_t first_dim = i;
    const std::size_t first_axis = j;
    std::size_t a = dims[i++];
    std::size_t b = axes[j++];
    while (a != b) { a < b ? a *= dims[i++] : b *= axes[j++]; }
    if (i - first_dim > 1 && j - first_axis > 1) { return false; }
  }
  return true;
}
void refuse_rank(const array& from, std::size_t expected, const std::string& dims) {
  throw std::runtime_error(from.name + ": has " + std::to_string(from.shape.size()) + " axes, expected " +
                           std::to_string(expected) + ": " + dims);
}
void refuse_shape(const array& from, const std::vector<std::size_t>& expected, const std::string& dims) {
  throw std::runtime_error(from.name + ": has the shape " + words(from.shape) + ", expected " + words(expected) + ": " +
                           dims);
}
std::vector<std::ptrdiff_t> stretch(const array& from, const std::vector<std::size_t>& shape) {
  if (from.shape.size() > shape.size()) { refuse_rank(from, shape.size(), "at most"); }
  std::vector<std::ptrdiff_t> strides(shape.size(), 0);
  std::ptrdiff_t next = 1;
  for (std::size_t i = 0; i < from.shape.size(); ++i) {
    const std::size_t n = from.shape[from.shape.size() - 1 - i];
    const std::size_t wanted = shape[shape.size() - 1 - i];
    if (n != wanted && n != 1) { refuse_shape(from, shape, "after stretching"); }
    strides[shape.size() - 1 - i] = n == wanted ? next : 0;
    next *= static_cast<std::ptrdiff_t>(n);
  }
  return strides;
}

}  // namespace bridge

const std::string& run::name() const { return state_.name; }
const nlohmann::json& run::entry() const { return state_.entry; }
array run::file(const std::string& path) const { return state_.from.file(path); }
void run::differs(std::string what) { state_.differences.push_back(std::move(what)); }

const nlohmann::json& run::attributes() const {
  if (state_.entry.contains("attributes")) { return state_.entry.at("attributes"); }
  const nlohmann::json& config = state_.entry.at("config");
  return config.contains("attributes") ? config.at("attributes") : config;
}
bool run::has_attribute(std::string_view key) const {
  return attributes().contains(key) && !attributes().at(std::string(key)).is_null();
}

double run::number(std::string_view key, std::optional<double> otherwise) const {
  if (!has_attribute(key) && otherwise) { return *otherwise; }
  return number_of(attributes().at(std::string(key)));
}
std::ptrdiff_t run::integer(std::string_view key, std::optional<std::ptrdiff_t> otherwise) const {
  if (!has_attribute(key) && otherwise) { return *otherwise; }
  return attributes().at(std::string(key)).get<std::ptrdiff_t>();
}
std::vector<std::int64_t> run::integers(std::string_view key) const {
  return attributes().at(std::string(key)).get<std::vector<std::int64_t>>();
}
bool run::flag(std::string_view key, std::optional<bool> otherwise) const {
  if (!has_attribute(key) && otherwise) { return *otherwise; }
  const nlohmann::json& value = attributes().at(std::string(key));
  return value.is_boolean() ? value.get<bool>() : value.get<int>() != 0;
}
std::string run::text(std::string_view key, std::optional<std::string> otherwise) const {
  if (!has_attribute(key) && otherwise) { return *otherwise; }
  return attributes().at(std::string(key)).get<std::string>();
}

const array& run::load(const nlohmann::json& entry) const {
  const std::string key = entry.contains("array") ? entry.at("array") : entry.at("file");
  const auto found = state_.read.find(key);
  return found != state_.read.end() ? found->second : state_.read.emplace(key, state_.from.load(entry)).first->second;
}
void run::report(const std::string& difference) { state_.differences.push_back(difference); }

bool run::has(const which& w) const { return input(state_.entry, w) != nullptr; }
const array& run::at(const which& w) const {
  const nlohmann::json* entry = input(state_.entry, w);
  if (entry == nullptr) {
    throw std::runtime_error("no input " + (w.slot ? "in slot " + std::to_string(*w.slot) : w.name));
  }
  const std::string name = entry->at("name");
  const auto found = state_.read.find(name);
  return found != state_.read.end() ? found->second : state_.read.emplace(name, state_.from.load(*entry)).first->second;
}

std::size_t run::extents(const which& w, std::size_t first, std::size_t last) const {
  const auto& shape = at(w).shape;
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(first),
                         shape.begin() + static_cast<std::ptrdiff_t>(last), std::size_t{1}, std::multiplies<>());
}

bool run::wants(const which& output) const {
  return named(state_.entry, "outputs", name_in_slot(state_.entry, "node_outputs", output)) != nullptr;
}

namespace {

// Everything that a suite says about one output.
std::vector<reference> references_of(const run::state& state, const std::string& name) {
  const nlohmann::json& entry = state.entry;
  std::vector<reference> all;
  const auto add = [&](const char* list, const char* word, double rtol, double atol) {
    if (const nlohmann::json* found = named(entry, list, name)) {
      all.push_back({word, state.from.load(*found), rtol, atol});
    }
  };
  const auto add_with = [&](const char* list, const char* word, const char* tolerance) {
    if (entry.contains(tolerance)) {
      add(list, word, number_of(entry.at(tolerance).at("rtol")), number_of(entry.at(tolerance).at("atol")));
    }
  };
  add_with("outputs", "expected", "tol");
  add_with("printed", "printed", "printed_tol");
  add("outputs_f64", "in float64", 0, 0);
  if (!all.empty() && all.back().word == "in float64") {
    const bool recorded = entry.contains("torch_fp32_max_abs_err") && entry.at("torch_fp32_max_abs_err").contains(name);
    const double own = recorded ? number_of(entry.at("torch_fp32_max_abs_err").at(name)) : 0;
    double largest = 1;
    for (const double value : in_double(all.back().expected)) {
      if (std::isfinite(value)) { largest = std::max(largest, std::abs(value)); }
    }
    all.back().atol = 3 * own + 4 * std::ldexp(largest, -24);
  }
  return all;
}

// `x` as it is when it is stored in that type: rounded, or wrapped around.
void store_as(const array& type, std::vector<double>& x, bool whole) {
  if (type.dtype == "float16") {
    for (double& value : x) { value = rounded_to_half(value); }
  } else if (whole && type.dtype != "int64" && type.dtype != "uint64") {
    visit(type, [&]<class S>(const S*) {
      for (double& value : x) { value = static_cast<double>(static_cast<S>(static_cast<std::int64_t>(value))); }
    });
  }
}

}  // namespace

template <class T>
void run::check(const which& output, const std::vector<std::size_t>& shape, const T* values, const bool* where) {
  const std::string name = name_in_slot(state_.entry, "node_outputs", output);
  const auto references = references_of(state_, name);
  if (references.empty()) { throw std::runtime_error("the case expects no " + name); }
  state_.compared.insert(name);
  for (const reference& to : references) {
    if (!bridge::same_grouping(shape, to.expected.shape)) {
      state_.differences.push_back(name + ": has the shape " + words(shape) + ", " + words(to.expected.shape) + " " +
                                   to.word);
      continue;
    }
    std::vector<double> x(values, values + to.expected.size());
    store_as(to.expected, x, std::is_same_v<T, std::int64_t>);
    const std::vector<double> expected = in_double(to.expected);
    const comparison worst = compare(x, expected, where, to);
    if (worst.count == 0) { continue; }
    std::ostringstream line;
    line.precision(9);
    line << name << ": largest error " << worst.error << " at " << place(worst.at, to.expected.shape) << ", "
         << worst.allowed << " is allowed: " << x[worst.at] << ", " << expected[worst.at] << " " << to.word << "; "
         << worst.count << " of " << x.size() << " elements differ";
    state_.differences.push_back(line.str());
  }
}
template void run::check(const which&, const std::vector<std::size_t>&, const double*, const bool*);
template void run::check(const which&, const std::vector<std::size_t>&, const float*, const bool*);
template void run::check(const which&, const std::vector<std::size_t>&, const std::int64_t*, const bool*);
template void run::check(const which&, const std::vector<std::size_t>&, const std::int32_t*, const bool*);
template void run::check(const which&, const std::vector<std::size_t>&, const std::int8_t*, const bool*);
template void run::check(const which&, const std::vector<std::size_t>&, const std::uint8_t*, const bool*);
template void run::check(const which&, const std::vector<std::size_t>&, const bool*, const bool*);

}  // namespace conformance
