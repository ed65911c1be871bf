// tests/conformance/architectures/encoder_decoders.cpp -- encoder-decoders: features of sources, logits of targets read
// at once and token by token, and greedy continuations.
// SPDX-License-Identifier: BSL-1.0
#include "low_precision.hpp"
#include <dimwise/models/encoder_decoders.hpp>

namespace conformance {

namespace {

using namespace dimwise;
using model = models::encoder_decoder<>;
using token = model::token;

// The features of a source and the logits of its target.
template <class Weights>
std::vector<float> values_with(const architecture_case& c, const io::archive& weights) {
  const auto m = models::read_encoder_decoder<models::encoder_decoder_dims, Weights>(c.config(), weights);
  using id = typename models::encoder_decoder<models::encoder_decoder_dims, Weights>::token;
  const auto source = m.encoded(c.ids_of<id>("enc.1.input_ids"));
  const auto target = c.ids_of<id>("dec.1.input_ids");
  auto state = m.start(source, target.size());
  const auto logits = m.logits(m.features(target, state));
  std::vector<float> all(source.values().begin(), source.values().end());
  all.insert(all.end(), logits.values().begin(), logits.values().end());
  return all;
}

void encoder_decoders(run& r) {
  const architecture_case c(r);
  const model m = models::read_encoder_decoder(c.config(), c.weights());
  for (std::size_t k = 0; c.has("enc." + std::to_string(k) + ".input_ids"); ++k) {
    const std::string of_source = "enc." + std::to_string(k) + ".";
    const std::string of_target = "dec." + std::to_string(k) + ".";
    const auto source = m.encoded(c.ids_of<token>(of_source + "input_ids"));
    c.expect(of_source + "last_hidden_f64", source.values(), "at once");
    if (source.size() != *io::count_of(c.extents(of_source + "last_hidden_f64"))) {
      r.differs(of_source + "last_hidden_f64: other features were computed than expected");
    }
    const auto target = c.ids_of<token>(of_target + "input_ids");
    auto state = m.start(source, target.size());
    const auto logits = m.logits(m.features(target, state));
    c.expect(of_target + "logits_f64", logits.values(), "at once");
    if (logits.size() != *io::count_of(c.extents(of_target + "logits_f64"))) {
      r.differs(of_target + "logits_f64: other logits were computed than expected");
    }
    auto slowly = m.start(source, target.size());
    for (std::size_t i = 0; i < target.size(); ++i) {
      const auto next = m.logits(m.features(std::span(&target[i], 1), slowly));
      c.expect(of_target + "logits_f64", next.values(), "token by token", i * next.size());
    }
    const std::size_t count = c.extents(of_target + "greedy_ids").at(0);
    auto fresh = m.start(source, target.size() + count);
    std::vector<std::size_t> made;
    for (const token t : models::generate_greedy(m, target, count, fresh)) { made.push_back(t.value); }
    c.expect_ids(of_target + "greedy_ids", made);
  }
  // The encoder on all sources at once: rows of padding are not defined.
  std::vector<std::vector<token>> sources;
  for (std::size_t k = 0; c.has("enc." + std::to_string(k) + ".input_ids"); ++k) {
    sources.push_back(c.ids_of<token>("enc." + std::to_string(k) + ".input_ids"));
  }
  const auto x = m.encoder.features(m.encoder.together(sources));
  const std::size_t width = extent_of<model::d_model>(x);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    c.expect("enc." + std::to_string(k) + ".last_hidden_f64",
             x.values().subspan(k * extent_of<model::seq>(x) * width, sources[k].size() * width), "in a batch");
  }
  expect_low_precision(r, c, [&](auto format, const io::archive& weights) {
    return values_with<typename decltype(format)::type>(c, weights);
  });
  c.finish();
}

const family encoder_decoder_cases{"seq2seq", encoder_decoders};

}  // namespace
}  // namespace conformance
