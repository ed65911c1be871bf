// tests/conformance/architectures/encoders.cpp -- encoders of every family: features of single texts and of batches
// with padding, and scores of labels.
// SPDX-License-Identifier: BSL-1.0
#include "low_precision.hpp"
#include <dimwise/models/encoders.hpp>

#include <algorithm>
#include <stdexcept>

namespace conformance {

namespace {

using namespace dimwise;
using model = models::encoder<>;
using token = model::token;
using part = id<model::segments>;

struct texts_of_case {
  std::vector<std::vector<token>> ids;
  std::vector<std::vector<part>> parts;
};

void compare(const architecture_case& c, const model& m, const texts_of_case& texts, const std::string& name,
             const std::string& how) {
  const auto all = m.together(texts.ids, texts.parts);
  const auto x = m.features(all);
  const std::size_t rows = extent_of<model::seq>(x);
  const std::size_t width = extent_of<model::d_model>(x);
  for (std::size_t i = 0; i < texts.ids.size(); ++i) {  // rows of padding are not defined
    const std::size_t first = i * rows * width;
    c.expect(name + "last_hidden_f64", x.values().subspan(first, texts.ids[i].size() * width), how, first);
  }
  if (c.has(name + "scores_f64")) {
    const auto scores = m.scores(x, all.lengths);
    c.expect(name + "scores_f64", scores.values(), how);
  }
}

// The texts of the batch without their padding.
texts_of_case batch_of(const architecture_case& c) {
  texts_of_case made;
  const auto& extents = c.extents("batch.input_ids");
  const auto ids = c.ids("batch.input_ids");
  const auto mask = c.ids("batch.attention_mask");
  const auto parts = c.has("batch.token_type_ids") ? c.ids("batch.token_type_ids") : std::vector<std::size_t>();
  for (std::size_t i = 0; i < extents[0]; ++i) {
    const std::size_t first = i * extents[1];
    const auto begin = mask.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(extents[1]);
    const auto length = static_cast<std::size_t>(std::count(begin, end, std::size_t{1}));
    if (std::find(begin, end, std::size_t{0}) - begin != static_cast<std::ptrdiff_t>(length)) {
      throw std::runtime_error("batch.attention_mask: padding on the right was expected");
    }
    made.ids.emplace_back();
    for (std::size_t t = 0; t < length; ++t) { made.ids.back().emplace_back(ids[first + t]); }
    if (parts.empty()) { continue; }
    made.parts.emplace_back();
    for (std::size_t t = 0; t < length; ++t) { made.parts.back().emplace_back(parts[first + t]); }
  }
  return made;
}

// The features of a text.
template <class Weights>
std::vector<float> features_with(const architecture_case& c, const io::archive& weights) {
  const auto m = models::read_encoder<models::encoder_dims, Weights>(c.config(), weights);
  using id = typename models::encoder<models::encoder_dims, Weights>::token;
  const auto x = m.features(c.ids_of<id>("text.1.input_ids"));
  return {x.values().begin(), x.values().end()};
}

void encoders(run& r) {
  const architecture_case c(r);
  const auto task = c.has("batch.scores_f64") ? models::encoder_task_of(c.config()) : models::encoder_task::features;
  const model m = models::read_encoder(c.config(), c.weights(), task);
  for (std::size_t k = 0; c.has("text." + std::to_string(k) + ".input_ids"); ++k) {
    const std::string name = "text." + std::to_string(k) + ".";
    texts_of_case one{{c.ids_of<token>(name + "input_ids")}, {}};
    if (c.has(name + "token_type_ids")) { one.parts.push_back(c.ids_of<part>(name + "token_type_ids")); }
    compare(c, m, one, name, "alone");
  }
  compare(c, m, batch_of(c), "batch.", "in a batch");
  expect_low_precision(r, c, [&](auto format, const io::archive& weights) {
    return features_with<typename decltype(format)::type>(c, weights);
  });
  c.finish();
}

const family encoder_cases{"encoder", encoders};

}  // namespace
}  // namespace conformance
