// tests/conformance/architectures/case.hpp -- a case of the suite `architectures`: a folder in HuggingFace's form, and
// its numbers in float64.
//
// Included by the runners of each kind: encoders, decoders.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../suite.hpp"
#include <dimwise/io/config.hpp>
#include <dimwise/io/safetensors.hpp>

#include <set>
#include <span>
#include <string>
#include <vector>

namespace conformance {

/// The files of a case, and the comparison with its golden numbers at the manifest's tolerance.
class architecture_case {
 public:
  explicit architecture_case(run& r);

  [[nodiscard]] const dimwise::io::config_check& config() const { return config_; }
  [[nodiscard]] const dimwise::io::archive& weights() const { return weights_; }
  [[nodiscard]] bool has(const std::string& name) const { return golden_.find(name) != nullptr; }
  [[nodiscard]] const std::vector<std::size_t>& extents(const std::string& name) const {
    return golden_.at(name).extents;
  }
  /// The whole numbers of an array.
  [[nodiscard]] std::vector<std::size_t> ids(const std::string& name) const;
  template <class Id>
  [[nodiscard]] std::vector<Id> ids_of(const std::string& name) const {
    const auto all = ids(name);
    return {all.begin(), all.end()};
  }

  /// x is the array of that name from its element `first` on; `how` says what computed it.
  void expect(const std::string& name, std::span<const float> x, const std::string& how, std::size_t first = 0) const;
  void expect_ids(const std::string& name, const std::vector<std::size_t>& found) const;
  /// Every array was read or compared.
  void finish() const;

 private:
  [[nodiscard]] dimwise::io::archive open(const char* file) const;

  run& r_;
  dimwise::io::config_check config_;
  dimwise::io::archive weights_;
  dimwise::io::archive golden_;
  mutable std::set<std::string> compared_;
};

}  // namespace conformance
