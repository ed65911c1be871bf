// tests/conformance/lm/lm.cpp -- the files of a language model, and the comparison with its golden numbers.
// SPDX-License-Identifier: BSL-1.0
#include "lm.hpp"

#include <dimwise/io/arrays/elements.hpp>

#include <cmath>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace conformance::lm {

namespace {

std::string path(const run& r, const std::string& key) {
  return r.entry().at("dir").get<std::string>() + "/" + r.entry().at(key).get<std::string>();
}
std::string text_of(const array& file) { return {reinterpret_cast<const char*>(file.bytes.get()), file.size()}; }

std::vector<double> numbers(const io::stored_array& from) {
  std::vector<double> all(*io::count_of(from.extents));
  const bool known = io::detail::visit_elements(from, [&](const auto& source) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      using S = std::remove_cvref_t<decltype(source(i))>;
      if constexpr (std::is_arithmetic_v<S>) {
        all[i] = static_cast<double>(source(i));
      } else {
        all[i] = static_cast<double>(static_cast<float>(source(i)));
      }
    }
  });
  if (!known) { throw std::runtime_error(from.name + ": holds " + std::string(io::name_of(from.type))); }
  return all;
}

}  // namespace

checkpoint::checkpoint(run& r)
    : r_(r),
      config_(io::parse_json(text_of(r.file(path(r, "config"))), "config.json"), "config.json"),
      golden_(open(path(r, "golden"))) {}

io::archive checkpoint::open(const std::string& file) const {
  const auto bytes = std::make_shared<array>(r_.file(file));
  io::archive result = io::parse_safetensors({bytes->bytes.get(), bytes->size()}, file);
  result.keep(bytes);
  return result;
}

bool checkpoint::flag(const char* key, bool otherwise) const {
  io::config_check c = config_;
  return c.flag(key, otherwise);
}
std::string checkpoint::word(const char* key, const char* otherwise) const {
  io::config_check c = config_;
  return c.word(key, otherwise);
}
bool checkpoint::has(const std::string& kind) const { return r_.entry().contains(kind); }
io::archive checkpoint::weights(const std::string& kind) const { return open(path(r_, kind)); }
std::size_t checkpoint::prompts() const { return r_.entry().at("prompts"); }

std::vector<std::size_t> checkpoint::ids(const std::string& name) const {
  compared_.insert(name);
  std::vector<std::size_t> all;
  for (const double x : numbers(golden_.at(name))) { all.push_back(static_cast<std::size_t>(x)); }
  return all;
}

void checkpoint::expect(const std::string& name, std::span<const float> x, const std::string& how,
                        std::size_t first) const {
  compared_.insert(name);
  const auto expected = numbers(golden_.at(name));
  double largest = 1;
  for (const double value : expected) { largest = std::max(largest, std::abs(value)); }
  const bool exact = name.find("_f64") != std::string::npos;
  const auto& tolerance = r_.entry().at("tol");
  const double rtol = exact ? 0 : tolerance.at("logits_rtol").get<double>();
  const double atol = exact ? 3 * r_.entry().at("torch_fp32_max_abs_err").get<double>() + 4 * std::ldexp(largest, -24)
                            : tolerance.at("logits_atol").get<double>();
  if (first + x.size() > expected.size()) {
    r_.differs(name + " (" + how + "): " + std::to_string(x.size()) + " numbers from " + std::to_string(first) + ", " +
               std::to_string(expected.size()) + " are expected in all");
    return;
  }
  std::size_t worst = x.size();
  double excess = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = std::abs(x[i] - expected[first + i]);
    const double allowed = atol + rtol * std::abs(expected[first + i]);
    if (!(error <= allowed) && (worst == x.size() || !(error - allowed <= excess))) {
      worst = i;
      excess = error - allowed;
    }
  }
  if (worst == x.size()) { return; }
  std::ostringstream line;
  line.precision(9);
  line << name << " (" << how << "): " << x[worst] << " at element " << first + worst << ", " << expected[first + worst]
       << " expected, " << atol + rtol * std::abs(expected[first + worst]) << " is allowed";
  r_.differs(line.str());
}

void checkpoint::expect_ids(const std::string& name, const std::vector<std::size_t>& found) const {
  const auto expected = ids(name);
  const auto [a, b] = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
  if (a == expected.end() && b == found.end()) { return; }
  r_.differs(name + ": word " + std::to_string(a - expected.begin()) + " is " +
             (b == found.end() ? "missing" : std::to_string(*b)) + ", " +
             (a == expected.end() ? "none" : std::to_string(*a)) + " expected");
}

void checkpoint::finish() const {
  for (const auto& a : golden_.arrays()) {
    const bool other = a.name.ends_with("greedy_margin");  // how sure the origin was
    if (!other && !compared_.contains(a.name)) { r_.differs(a.name + ": was not computed"); }
  }
}

}  // namespace conformance::lm
