// tests/models/support.hpp -- the tiny models of the suites `lm` and `bert` as folders of HuggingFace's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "io/support.hpp"
#include "support/pack.hpp"
#include <dimwise/io/safetensors.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

namespace dimwise_test {

/// The files of a pack whose names begin with `prefix`, as a folder.
class pack_folder : public temporary_folder {
 public:
  pack_folder(const std::string& prefix, const std::string& suite) {
    const pack data(data_file(suite));
    for (const auto& [name, array] : data.arrays()) {
      if (!name.starts_with(prefix)) { continue; }
      const std::string inner = name.substr(prefix.size());
      std::filesystem::create_directories((path() / inner).parent_path());
      write(inner, {reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()});
    }
  }
};

/// A folder with `config.json` and `model.safetensors`, and the golden numbers.
class model_folder : public temporary_folder {
 public:
  explicit model_folder(const std::string& name, const std::string& suite = "lm.dwpack")
      : name_(name), data_(data_file(suite)) {
    write("config.json", text("config.json"));
    write("model.safetensors", text("model.safetensors"));
  }
  [[nodiscard]] std::string text(const std::string& file) const {
    const auto bytes = data_.at(name_ + "/" + file).bytes;
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// Replaces words of the configuration.
  void change(const std::string& from, const std::string& to) const {
    std::string config = text("config.json");
    const std::size_t at = config.find(from);
    if (at == std::string::npos) { throw std::runtime_error("no " + from); }
    write("config.json", config.replace(at, from.size(), to));
  }
  /// Golden numbers in float64, in the order of the file.
  [[nodiscard]] std::vector<double> numbers(const std::string& array) const {
    const auto golden = dimwise::io::parse_safetensors(data_.at(name_ + "/golden.safetensors").bytes, "golden");
    const auto& a = golden.at(array);
    std::vector<double> all(a.bytes.size() / 8);
    std::memcpy(all.data(), a.bytes.data(), a.bytes.size());
    return all;
  }
  template <class Word>
  [[nodiscard]] std::vector<Word> ids(const std::string& array) const {
    const auto golden = dimwise::io::parse_safetensors(data_.at(name_ + "/golden.safetensors").bytes, "golden");
    const auto& a = golden.at(array);
    std::vector<Word> all;
    for (std::size_t i = 0; i < a.extents.at(0); ++i) {
      std::int64_t id = 0;
      std::memcpy(&id, a.bytes.data() + 8 * i, 8);
      all.emplace_back(static_cast<std::size_t>(id));
    }
    return all;
  }

 private:
  std::string name_;
  pack data_;
};

/// The largest difference of logits from those in float64; throws if one is not finite.
inline double largest_error(std::span<const float> logits, std::span<const double> expected) {
  if (logits.size() != expected.size()) { throw std::runtime_error("another number of logits"); }
  double most = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double error = std::abs(static_cast<double>(logits[i]) - expected[i]);
    if (!std::isfinite(error)) { throw std::runtime_error("logits that are not finite"); }
    most = std::max(most, error);
  }
  return most;
}
/// That of the golden prompt, computed at once or token by token.
template <class Model>
double prompt_error(const Model& m, const model_folder& files, const std::string& prompt, bool at_once = true) {
  const auto ids = files.ids<typename Model::token>("prompt." + prompt + ".input_ids");
  const auto expected = files.numbers("prompt." + prompt + ".logits_f64");
  auto past = m.start(64);
  double most = 0;
  const std::size_t step = at_once ? ids.size() : 1;
  const std::size_t width = expected.size() / ids.size();
  for (std::size_t begin = 0; begin < ids.size(); begin += step) {
    const auto logits = m.logits(m.features(std::span(ids).subspan(begin, step), past));
    most = std::max(most, largest_error(logits.values(), std::span(expected).subspan(begin * width, step * width)));
  }
  return most;
}

}  // namespace dimwise_test
