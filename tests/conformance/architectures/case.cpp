// tests/conformance/architectures/case.cpp -- the files of a case of the suite `architectures`, and the comparison with
// its golden numbers.
// SPDX-License-Identifier: BSL-1.0
#include "case.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace conformance {

namespace io = dimwise::io;

namespace {

std::string path(const run& r, const std::string& file) {
  return r.entry().at("folder").get<std::string>() + "/" + file;
}
std::string text_of(const array& file) { return {reinterpret_cast<const char*>(file.bytes.get()), file.size()}; }

// The numbers of an array of float64 or int64, the only types of golden files.
std::vector<double> numbers(const io::stored_array& from) {
  std::vector<double> all(from.bytes.size() / 8);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (from.type == io::element_type::f64) {
      std::memcpy(&all[i], from.bytes.data() + 8 * i, 8);
    } else if (from.type == io::element_type::i64) {
      std::int64_t n = 0;
      std::memcpy(&n, from.bytes.data() + 8 * i, 8);
      all[i] = static_cast<double>(n);
    } else {
      throw std::runtime_error(from.name + ": holds " + std::string(io::name_of(from.type)) +
                               ", F64 or I64 was expected");
    }
  }
  return all;
}

}  // namespace

architecture_case::architecture_case(run& r)
    : r_(r),
      config_(io::parse_json(text_of(r.file(path(r, "config.json"))), "config.json"), "config.json"),
      weights_(open("model.safetensors")),
      golden_(open("golden.safetensors")) {}

io::archive architecture_case::open(const char* file) const {
  const auto bytes = std::make_shared<array>(r_.file(path(r_, file)));
  io::archive result = io::parse_safetensors({bytes->bytes.get(), bytes->size()}, file);
  result.keep(bytes);
  return result;
}

std::vector<std::size_t> architecture_case::ids(const std::string& name) const {
  compared_.insert(name);
  std::vector<std::size_t> all;
  for (const double x : numbers(golden_.at(name))) { all.push_back(static_cast<std::size_t>(x)); }
  return all;
}

void architecture_case::expect(const std::string& name, std::span<const float> x, const std::string& how,
                               std::size_t first) const {
  compared_.insert(name);
  const auto expected = numbers(golden_.at(name));
  const double rtol = r_.entry().at("tol").at("rtol").get<double>();
  const double atol = r_.entry().at("tol").at("atol").get<double>();
  if (first + x.size() > expected.size()) {
    r_.differs(name + " (" + how + "): " + std::to_string(x.size()) + " numbers from " + std::to_string(first) + ", " +
               std::to_string(expected.size()) + " are expected in all");
    return;
  }
  std::size_t worst = x.size();
  std::size_t count = 0;
  double excess = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = std::abs(static_cast<double>(x[i]) - expected[first + i]);
    const double over = error - (atol + rtol * std::abs(expected[first + i]));
    if (over <= 0) { continue; }
    ++count;
    if (worst == x.size() || !(over <= excess)) {  // a NaN counts
      worst = i;
      excess = over;
    }
  }
  if (worst == x.size()) { return; }
  std::ostringstream line;
  line.precision(9);
  line << name << " (" << how << "): " << count << " of " << x.size() << " numbers differ, most at element "
       << first + worst << ": " << x[worst] << ", " << expected[first + worst] << " expected";
  r_.differs(line.str());
}

void architecture_case::expect_ids(const std::string& name, const std::vector<std::size_t>& found) const {
  const auto expected = ids(name);
  const auto [a, b] = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
  if (a == expected.end() && b == found.end()) { return; }
  r_.differs(name + ": token " + std::to_string(a - expected.begin()) + " is " +
             (b == found.end() ? "missing" : std::to_string(*b)) + ", " +
             (a == expected.end() ? "none" : std::to_string(*a)) + " expected");
}

void architecture_case::finish() const {
  for (const auto& a : golden_.arrays()) {
    if (!compared_.contains(a.name)) { r_.differs(a.name + ": was not computed"); }
  }
}

}  // namespace conformance
