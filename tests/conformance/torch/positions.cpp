// tests/conformance/torch/positions.cpp -- sinusoids, and rotary positions with every scaling.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/case.hpp"

#include <cstdio>
#include <stdexcept>

namespace conformance::torch {
namespace {

using namespace dimwise;

struct batch : batch_dim<> {};
struct heads : heads_dim<> {};
struct seq : position_dim<> {};
struct d_model : feature_dim<> {};
struct d_k : feature_dim<> {};
struct pairs : feature_dim<> {};

// Positions need not follow each other: a row for each.
void sinusoids(run& r) {
  const auto positions = r.get<std::int64_t, seq>("positions");
  const d_model width{r.integer("d_model")};
  tensor<float, seq, d_model> table(seq{0}, width);
  for (const std::int64_t p : positions.values()) {
    table = concat<seq>(table, sinusoid<seq, d_model>(starting_at(seq{1}, static_cast<std::ptrdiff_t>(p)), width,
                                                      r.number("base", 10000)));
  }
  r.expect("pe", table);
}

rotary_scaling scaling_of(run& r, const std::string& kind) {
  const std::string words = r.text("params", "");
  if (kind == "linear") {
    linear_scaling s;
    if (std::sscanf(words.c_str(), "positions / %lf", &s.factor) == 1) { return s; }
  } else if (kind == "ntk") {
    ntk_scaling s;
    if (std::sscanf(words.c_str(), "theta * %lf^", &s.factor) == 1) { return s; }
  } else if (kind == "yarn") {
    yarn_scaling s;
    s.attention = r.number("attention_factor");
    if (std::sscanf(words.c_str(), "factor %lf, original %lf, beta_fast %lf, beta_slow %lf", &s.factor, &s.trained,
                    &s.fast, &s.slow) == 4) {
      return s;
    }
  } else if (kind == "llama3") {
    llama3_scaling s;
    if (std::sscanf(words.c_str(), "factor %lf, low %lf, high %lf, original %lf", &s.factor, &s.low, &s.high,
                    &s.trained) == 4) {
      return s;
    }
  } else if (kind.empty() || kind == "partial") {
    return no_scaling{};
  }
  throw std::runtime_error("scaling \"" + kind + "\" with \"" + words + "\" is unknown");
}

void rotary_positions(run& r) {
  rotary_options options;
  options.base = r.number("theta", 10000);
  options.pairs = r.text("style", "half") == "interleaved" ? rotary_pairs::interleaved : rotary_pairs::half_split;
  options.scaling = scaling_of(r, r.text("scaling", ""));
  options.features = static_cast<std::size_t>(r.integer("rotary_dim", 0));
  const auto x = r.get<float, batch, heads, seq, d_k>("x");
  r.expect("y", rotary<seq, d_k>(x, r.get<std::int64_t, seq>("positions"), options));
  if (r.wants("inv_freq")) {
    const std::size_t n = options.features == 0 ? extent_of<d_k>(x) : options.features;
    std::vector<float> frequencies;
    for (std::size_t i = 0; i < n / 2; ++i) {
      frequencies.push_back(static_cast<float>(rotary_frequency(i, n, options)));
    }
    r.expect("inv_freq", tensor<float, pairs>(frequencies, pairs{n / 2}));
  }
}

const family position_cases{"position", [](run& r) { r.wants("pe") ? sinusoids(r) : rotary_positions(r); }};

}  // namespace
}  // namespace conformance::torch
