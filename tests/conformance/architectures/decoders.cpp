// tests/conformance/architectures/decoders.cpp -- decoders of every architecture: logits of prompts read at once and
// token by token, and greedy continuations.
// SPDX-License-Identifier: BSL-1.0
#include "low_precision.hpp"
#include <dimwise/models/decoders.hpp>

#include <algorithm>

namespace conformance {

namespace {

using namespace dimwise;
using model = models::decoder<>;
using token = model::token;

// With LongRoPE a prompt that becomes long has other logits while it is short: those are not compared.
bool grows_long(const model& m, std::size_t length, std::size_t read) {
  return std::any_of(m.config.rotary.begin(), m.config.rotary.end(),
                     [&](const auto& r) { return r.is_long(length) && !r.is_long(read); });
}

// The logits of a prompt. All experts are chosen: rounding may choose others.
template <class Weights>
std::vector<float> logits_with(const architecture_case& c, const io::archive& weights, const std::string& prompt) {
  auto m = models::read_decoder<models::decoder_dims, Weights>(c.config(), weights);
  for (auto& block : m.blocks) {
    for (auto& mixture : block.mixture) {
      mixture.settings.chosen = mixture.experts.size();
      mixture.settings.chosen_groups = mixture.settings.groups;
    }
  }
  const auto ids = c.ids_of<typename models::decoder<models::decoder_dims, Weights>::token>(prompt);
  auto caches = m.start(ids.size());
  const auto logits = m.logits(m.features(ids, caches));
  return {logits.values().begin(), logits.values().end()};
}

void decoders(run& r) {
  const architecture_case c(r);
  const model m = models::read_decoder(c.config(), c.weights());
  for (std::size_t k = 0; c.has("prompt." + std::to_string(k) + ".input_ids"); ++k) {
    const std::string name = "prompt." + std::to_string(k) + ".";
    const auto prompt = c.ids_of<token>(name + "input_ids");
    auto past = m.start(prompt.size());
    const auto logits = m.logits(m.features(prompt, past));
    c.expect(name + "logits_f64", logits.values(), "at once");
    if (logits.extents().extent<model::vocab>() * prompt.size() != *io::count_of(c.extents(name + "logits_f64"))) {
      r.differs(name + "logits_f64: other logits were computed than expected");
    }
    auto slowly = m.start(prompt.size());
    for (std::size_t i = 0; i < prompt.size(); ++i) {
      const auto next = m.logits(m.features(std::span(&prompt[i], 1), slowly));
      if (grows_long(m, prompt.size(), i + 1)) { continue; }
      c.expect(name + "logits_f64", next.values(), "token by token", i * next.size());
    }
    const std::size_t count = c.extents(name + "greedy_ids").at(0);
    auto fresh = m.start(prompt.size() + count);
    std::vector<std::size_t> made;
    for (const token t : models::generate_greedy(m, prompt, count, fresh)) { made.push_back(t.value); }
    c.expect_ids(name + "greedy_ids", made);
  }
  expect_low_precision(r, c, [&](auto format, const io::archive& weights) {
    return logits_with<typename decltype(format)::type>(c, weights, "prompt.1.input_ids");
  });
  c.finish();
}

const family decoder_cases{"decoder", decoders};

}  // namespace
}  // namespace conformance
