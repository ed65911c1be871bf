// tests/conformance/lm/lm.hpp -- a language model of a suite: its files, and the numbers that it must give.
//
// Included by the runners of each architecture.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "conformance/suite.hpp"
#include <dimwise/io/config.hpp>
#include <dimwise/io/safetensors.hpp>
#include <dimwise/models/language_model.hpp>

#include <set>

namespace conformance::lm {

namespace io = dimwise::io;

/// The model of a case.
class checkpoint {
 public:
  explicit checkpoint(run& r);

  [[nodiscard]] const io::config_check& config() const { return config_; }
  [[nodiscard]] bool flag(const char* key, bool otherwise) const;
  [[nodiscard]] std::string word(const char* key, const char* otherwise) const;
  /// Weights of `kind`: "weights", "weights_bf16", "weights_f16".
  [[nodiscard]] bool has(const std::string& kind) const;
  [[nodiscard]] io::archive weights(const std::string& kind) const;
  [[nodiscard]] const io::archive& golden() const { return golden_; }
  [[nodiscard]] std::size_t prompts() const;
  [[nodiscard]] std::vector<std::size_t> ids(const std::string& name) const;
  template <class Model>
  [[nodiscard]] std::vector<typename Model::token> words(const std::string& name) const {
    const auto all = ids(name);
    return {all.begin(), all.end()};
  }

  /// x is the golden array of that name from its element `first` on. In float64 the bar is the origin's own error in
  /// float32, as for other suites; otherwise the manifest's tolerance.
  void expect(const std::string& name, std::span<const float> x, const std::string& how, std::size_t first = 0) const;
  void expect_ids(const std::string& name, const std::vector<std::size_t>& ids) const;
  /// Every number of the golden file was compared.
  void finish() const;

 private:
  [[nodiscard]] io::archive open(const std::string& file) const;
  run& r_;
  io::config_check config_;
  io::archive golden_;
  mutable std::set<std::string> compared_;
};

/// The prompt at once, and word by word; hidden states and weights; the likeliest continuation.
template <class Model>
void check_prompt(const checkpoint& c, const Model& m, std::size_t k) {
  const std::string name = "prompt." + std::to_string(k) + ".";
  const auto prompt = c.words<Model>(name + "input_ids");
  const auto greedy = c.words<Model>(name + "greedy_ids");
  const std::size_t all = prompt.size() + greedy.size();
  auto past = m.start(all);
  const auto seen = [&](std::size_t layer, const auto& x) {
    const std::string here = "hidden_states." + std::to_string(layer);
    if (c.golden().find(name + here) != nullptr) { c.expect(name + here, x.values(), "at once"); }
    const std::string weights = name + "attentions." + std::to_string(layer);
    if (c.golden().find(weights) != nullptr) {
      const auto found = m.blocks[layer].weights(x);
      c.expect(weights, found.values(), "at once");
    }
  };
  const auto logits = m.logits(m.features(prompt, past, seen));
  c.expect(name + "logits", logits.values(), "at once");
  c.expect(name + "logits_f64", logits.values(), "at once");
  c.expect(name + "full_logits_f64", logits.values(), "at once");
  const std::size_t width = logits.size() / prompt.size();
  for (std::size_t i = 0; i < greedy.size(); ++i) {
    const auto next = m.logits(m.features(std::span(&greedy[i], 1), past));
    c.expect(name + "full_logits_f64", next.values(), "behind the prompt", (prompt.size() + i) * width);
  }
  auto text = prompt;
  text.insert(text.end(), greedy.begin(), greedy.end());
  auto slowly = m.start(all);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto next = m.logits(m.features(std::span(&text[i], 1), slowly));
    c.expect(name + "full_logits_f64", next.values(), "word by word", i * width);
  }
  auto fresh = m.start(all);
  std::vector<std::size_t> made;
  for (const auto w : dimwise::models::generate_greedy(m, prompt, greedy.size(), fresh)) { made.push_back(w.value); }
  c.expect_ids(name + "greedy_ids", made);
}

/// `read(weights)` gives the model.
template <class Read>
void check_model(run& r, const checkpoint& c, const Read& read) {
  (void)r;
  {
    const auto m = read(c.weights("weights"));
    for (std::size_t k = 0; k < c.prompts(); ++k) { check_prompt(c, m, k); }
  }
  for (const std::string kind : {"bf16", "f16"}) {
    if (!c.has("weights_" + kind)) { continue; }
    const auto m = read(c.weights("weights_" + kind));
    for (std::size_t k = 0; k < c.prompts(); ++k) {
      const std::string name = "prompt." + std::to_string(k) + ".";
      const auto prompt = c.words<std::remove_cvref_t<decltype(m)>>(name + "input_ids");
      auto past = m.start(prompt.size());
      const auto logits = m.logits(m.features(prompt, past));
      c.expect(name + "logits_f64_from_" + kind + "_weights", logits.values(), kind);
    }
  }
  c.finish();
}

}  // namespace conformance::lm
