// tests/conformance/architectures/decoders.cpp -- decoders of every architecture: logits of prompts read at once and
// token by token, and greedy continuations.
// SPDX-License-Identifier: BSL-1.0
#include "case.hpp"
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
  c.finish();
}

const family decoder_cases{"decoder", decoders};

}  // namespace
}  // namespace conformance
