// tests/conformance/gradients/gradients.cpp -- arrays ordered by the roles of their dimensions, and the tolerances.
//
// float64: |x - expected| <= atol + rtol |expected| of `tol_f64`; float32: of `tol`, where `atol_of` says another atol
// for
// a tensor. What is expected as 0 in a tensor of `exact_zero` is exactly 0. SPDX-License-Identifier: BSL-1.0
#include "gradients.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace conformance::gradients {

bool is_in(const std::string& name, const group& g) { return std::find(g.begin(), g.end(), name) != g.end(); }
group operator-(const group& a, const group& b) {
  group left;
  std::copy_if(a.begin(), a.end(), std::back_inserter(left), [&](const auto& name) { return !is_in(name, b); });
  return left;
}
group operator&(const group& a, const group& b) { return a - (a - b); }
group operator+(const group& a, const group& b) {
  group both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

arranged arrange(const std::vector<double>& values, const json& entry, std::span<const group> groups) {
  const group dims = entry.at("dims").get<group>();
  const auto shape = entry.at("shape").get<std::vector<std::size_t>>();
  std::vector<std::size_t> stride(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) { stride[i - 1] = stride[i] * shape[i]; }
  arranged result;
  std::vector<std::size_t> extents;
  std::vector<std::size_t> strides;
  std::size_t found = 0;
  for (const group& g : groups) {
    std::size_t whole = 1;
    for (const std::string& name : g) {
      const auto at = std::find(dims.begin(), dims.end(), name);
      if (at == dims.end()) {
        throw std::runtime_error(entry.at("name").get<std::string>() + ": lacks the dimension " + name);
      }
      const auto i = static_cast<std::size_t>(at - dims.begin());
      extents.push_back(shape[i]);
      strides.push_back(stride[i]);
      whole *= shape[i];
      ++found;
    }
    result.extents.push_back(whole);
  }
  if (found != dims.size()) {
    throw std::runtime_error(entry.at("name").get<std::string>() +
                             ": has dimensions that no role takes: " + entry.at("dims").dump());
  }
  result.values.resize(values.size());
  std::vector<std::size_t> at(extents.size(), 0);
  std::size_t from = 0;
  for (double& to : result.values) {
    to = values[from];
    for (std::size_t i = extents.size(); i-- > 0;) {
      from += strides[i];
      if (++at[i] < extents[i]) { break; }
      from -= strides[i] * extents[i];
      at[i] = 0;
    }
  }
  return result;
}

program_base::program_base(run& r, bool in_double) : run_(r), in_double_(in_double) {}

const json* program_base::in_list(const char* list, const std::string& name) const {
  for (const json& entry : run_.entry().at(list)) {
    if (entry.at("name") == name) { return &entry; }
  }
  return nullptr;
}
bool program_base::has(const std::string& input) const { return in_list("inputs", input) != nullptr; }
bool program_base::wants(const std::string& output) const { return in_list("outputs_f64", output) != nullptr; }
bool program_base::wants_gradient(const std::string& input) const { return in_list("grads_f64", input) != nullptr; }
const json& program_base::input_entry(const std::string& input) const {
  const json* const found = in_list("inputs", input);
  if (found == nullptr) { throw std::runtime_error("the case has no input " + input); }
  return *found;
}
group program_base::input_names() const {
  group all;
  for (const json& entry : run_.entry().at("inputs")) { all.push_back(entry.at("name")); }
  return all;
}
group program_base::dims(const std::string& input) const { return input_entry(input).at("dims").get<group>(); }
group program_base::output_dims(const std::string& output) const {
  const json* const found = in_list("outputs_f64", output);
  if (found == nullptr) { throw std::runtime_error("the case has no output " + output); }
  return found->at("dims").get<group>();
}
std::size_t program_base::extent(const std::string& dimension) const {
  return run_.entry().at("dims").at(dimension).get<std::size_t>();
}
const json& program_base::parameters() const { return run_.entry().at("config").at("parameters"); }
bool program_base::says(const char* key) const { return parameters().contains(key) && !parameters().at(key).is_null(); }
double program_base::number(const char* key, double otherwise) const {
  return says(key) ? parameters().at(key).get<double>() : otherwise;
}
bool program_base::flag(const char* key) const { return says(key) && parameters().at(key).get<bool>(); }
std::string program_base::text(const char* key, const std::string& otherwise) const {
  return says(key) ? parameters().at(key).get<std::string>() : otherwise;
}
group program_base::names(const char* key) const {
  const json& said = parameters().at(key);
  return said.is_array() ? said.get<group>() : group{said.get<std::string>()};
}

std::vector<double> program_base::numbers(const json& entry) const {
  const array& from = run_.load(entry);
  std::vector<double> all(from.size());
  if (from.dtype == "int64") {
    std::vector<std::int64_t> whole(from.size());
    copy_elements(from, whole.data());
    std::copy(whole.begin(), whole.end(), all.begin());
  } else if (from.dtype == "bool") {
    const auto truths = std::make_unique<bool[]>(from.size());
    copy_elements(from, truths.get());
    std::copy(truths.get(), truths.get() + from.size(), all.begin());
  } else {
    copy_elements(from, all.data());
  }
  return all;
}
std::vector<double> program_base::numbers_of(const std::string& input) const { return numbers(input_entry(input)); }

void program_base::compare_output(const std::string& name, std::span<const group> groups,
                                  const std::vector<double>& x) {
  compare("outputs_f64", name, name, groups, x);
}
void program_base::compare_gradient(const std::string& name, std::span<const group> groups,
                                    const std::vector<double>& x) {
  compare("grads_f64", "grad." + name, name, groups, x);
}

void program_base::compare(const char* list, const std::string& label, const std::string& name,
                           std::span<const group> groups, const std::vector<double>& x) {
  const json* const entry = in_list(list, name);
  if (entry == nullptr) { throw std::runtime_error("the case expects no " + label); }
  compared_.insert(label);
  const std::string type = in_double_ ? " in float64" : " in float32";
  const std::vector<double> expected = arrange(numbers(*entry), *entry, groups).values;
  if (expected.size() != x.size()) {
    run_.report(label + type + ": has " + std::to_string(x.size()) + " elements, " + std::to_string(expected.size()) +
                " expected");
    return;
  }
  const json& all = run_.entry();
  const json& tolerance = all.at(in_double_ ? "tol_f64" : "tol");
  double atol = tolerance.at("atol").get<double>();
  if (tolerance.contains("atol_of") && tolerance.at("atol_of").contains(label)) {
    atol = tolerance.at("atol_of").at(label).get<double>();
  }
  const double rtol = tolerance.at("rtol").get<double>();
  const bool zeros =
      all.contains("exact_zero") && !all.at("exact_zero").is_null() && is_in(label, all.at("exact_zero").get<group>());
  double worst = 0;
  std::size_t at = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == expected[i]) { continue; }
    const double allowed =
        (zeros && expected[i] == 0) || !std::isfinite(expected[i]) ? 0 : atol + rtol * std::abs(expected[i]);
    const double difference = std::abs(x[i] - expected[i]);
    const double error = std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
    if (error <= allowed) { continue; }
    if (wrong++ == 0 || error > worst) {
      worst = error;
      at = i;
    }
  }
  if (wrong == 0) { return; }
  std::ostringstream line;
  line.precision(12);
  line << label << type << ": largest error " << worst << " at element " << at << ": " << x[at] << ", " << expected[at]
       << " expected; " << wrong << " of " << x.size() << " elements differ";
  run_.report(line.str());
}

void program_base::finish() {
  const auto look = [&](const char* list, const std::string& before) {
    for (const json& entry : run_.entry().at(list)) {
      const std::string label = before + entry.at("name").get<std::string>();
      if (!compared_.contains(label)) {
        run_.report(label + (in_double_ ? " in float64" : " in float32") + ": was not computed");
      }
    }
  };
  look("outputs_f64", "");
  look("grads_f64", "grad.");
}

}  // namespace conformance::gradients
