// SPDX-License-Identifier: BSL-1.0
// dimwise/models/common/rotary.hpp -- rotary positions as settings: read from a configuration, and as tables of cosines
// and sines.
//
// Layer: models. Reads rope_theta with rope_scaling, and rope_parameters.
// Tests: tests/models/decoders/decoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/expr/positions/rotary.hpp>
#include <dimwise/io/config.hpp>
#include <dimwise/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::models {

/// The settings of YaRN; those that the paper lacks follow HuggingFace's `_compute_yarn_parameters`.
[[nodiscard]] inline yarn_scaling yarn_of(io::config_check& scaling, double longest) {
  yarn_scaling s;
  using enum io::number_range;
  s.trained = scaling.number("original_max_position_embeddings", longest, above_zero);
  const bool implied = !scaling.has("factor") && scaling.has("original_max_position_embeddings");
  s.factor = implied ? longest / s.trained : scaling.number("factor", {}, above_zero);
  const auto or_else = [&](const char* key, double otherwise) {  // 0 turns is treated as null
    const double n = scaling.number(key, otherwise, from_zero);
    return n == 0 ? otherwise : n;
  };
  s.fast = or_else("beta_fast", 32);
  s.slow = or_else("beta_slow", 1);
  s.whole_pairs = scaling.flag("truncate", true);
  s.attention = scaling.has("attention_factor") ? scaling.number("attention_factor", {}, above_zero) : 0;
  const double own = scaling.number("mscale", 0, from_zero);
  const double all = scaling.number("mscale_all_dim", 0, from_zero);
  if (!scaling.has("attention_factor") && own != 0 && all != 0) {
    const auto scale = [&](double by) { return s.factor <= 1 ? 1 : 0.1 * by * std::log(s.factor) + 1; };
    s.attention = scale(own) / scale(all);
  }
  return s;
}

/// The settings of Llama 3.1.
[[nodiscard]] inline llama3_scaling llama3_of(io::config_check& scaling) {
  using enum io::number_range;
  const llama3_scaling s{scaling.number("factor", {}, above_zero), scaling.number("low_freq_factor", {}, above_zero),
                         scaling.number("high_freq_factor", {}, above_zero),
                         scaling.number("original_max_position_embeddings", {}, above_zero)};
  if (scaling.problems().empty() && s.low >= s.high) {
    scaling.differs("high_freq_factor is not above low_freq_factor");
  }
  return s;
}

namespace detail {

// The object of settings that scales rotary positions, with its key as the title. A configuration may have an object
// for each type of layers. One for all layers has `original_max_position_embeddings` of the configuration, if that has
// the setting, as in HuggingFace.
inline io::config_check rotary_object(io::config_check& config, const std::string& layers) {
  const std::string where = config.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  io::config_check all(config.object(where), where);
  if (!layers.empty() && all.has(layers)) { return {all.object(layers), where + "." + layers}; }
  const std::string trained = "original_max_position_embeddings";
  if (config.has(trained) && (all.has("rope_type") || all.has("type"))) {
    all.replace(trained, config.setting(trained), config.title());
  }
  return all;
}
// Records the settings that nothing here reads: they change the angles.
inline void expect_known_rotary_keys(io::config_check& scaling) {
  constexpr std::string_view known[] = {"rope_type",
                                        "type",
                                        "rope_theta",
                                        "partial_rotary_factor",
                                        "original_max_position_embeddings",
                                        "factor",
                                        "beta_fast",
                                        "beta_slow",
                                        "attention_factor",
                                        "low_freq_factor",
                                        "high_freq_factor",
                                        "mscale",
                                        "truncate",
                                        "mscale_all_dim",
                                        "short_factor",
                                        "long_factor",
                                        "finetuned",
                                        "short_mscale",
                                        "long_mscale"};
  for (const std::string& key : scaling.keys()) {
    if (std::find(std::begin(known), std::end(known), key) == std::end(known)) {
      scaling.differs(key + " is a setting that is not read");
    }
  }
}
inline std::string rotary_kind(io::config_check& scaling) {
  if (!scaling.has("rope_type") && !scaling.has("type")) {
    for (const std::string& key : scaling.keys()) {
      if (key != "rope_theta" && key != "partial_rotary_factor") { scaling.differs(key + " is set, but no rope_type"); }
    }
  }
  return scaling.word(scaling.has("rope_type") ? "rope_type" : "type", "default");
}
// Old configurations of Phi 3 name LongRoPE "su" or "yarn".
inline bool is_longrope(const std::string& kind, const io::config_check& scaling) {
  return kind == "longrope" || kind == "su" || (kind == "yarn" && scaling.has("short_factor"));
}
// Reads each type of scaling of the frequencies; false for other types.
inline bool read_scaling(const std::string& kind, io::config_check& scaling, double trained, rotary_scaling& to) {
  if (kind == "default") { return true; }
  if (kind == "linear") {
    to = linear_scaling{scaling.number("factor", {}, io::number_range::above_zero)};
  } else if (kind == "llama3") {
    to = llama3_of(scaling);
  } else if (kind == "yarn") {
    to = yarn_of(scaling, trained);
  } else {
    return false;
  }
  return true;
}

}  // namespace detail

/// The rotary positions of a configuration as options of `rotary`; rejects unknown settings by name.
[[nodiscard]] inline rotary_options rotary_of(io::config_check& config) {
  rotary_options options;
  io::config_check scaling = detail::rotary_object(config, "");
  options.base = scaling.has("rope_theta") ? scaling.number("rope_theta") : config.number("rope_theta", 10000);
  if (!(options.base > 1)) { config.differs("rope_theta is not above 1"); }
  const std::string kind = detail::rotary_kind(scaling);
  const auto trained = static_cast<double>(config.count("max_position_embeddings", 2048));
  if (!detail::read_scaling(kind, scaling, trained, options.scaling)) {
    config.differs(scaling.title() + " is of the type " + io::detail::printable(kind) +
                   ", default, linear, llama3 or yarn was expected");
  }
  config.differs_in(scaling);
  return options;
}

/// Rotary positions as data: the angle of each turned pair of features at position 1. Without angles nothing is turned;
/// with fewer angles than pairs, the first features are turned. `long_angles` replace the others in texts of more than
/// `trained` positions (LongRoPE); with a `dynamic_factor`, the base grows with the length of such texts (dynamic NTK).
/// Cosines and sines are multiplied by `scale`.
struct rotary_settings {
  std::vector<double> angles{};
  std::vector<double> long_angles{};
  std::size_t trained = 0;
  double dynamic_factor = 0;
  double scale = 1;
  double long_scale = 0;  ///< of texts with `long_angles`; 0: `scale`
  rotary_pairs pairs = rotary_pairs::half_split;

  /// The angles for a text of this length.
  [[nodiscard]] std::vector<double> angles_for(std::size_t length) const {
    if (dynamic_factor == 0 || length <= trained) { return is_long(length) ? long_angles : angles; }
    // The base times growth^(n/(n-2)) for n features (HuggingFace's `_compute_dynamic_ntk_parameters`).
    const double growth =
        dynamic_factor * static_cast<double>(length) / static_cast<double>(trained) - (dynamic_factor - 1);
    std::vector<double> grown = angles;
    for (std::size_t i = 0; i < grown.size(); ++i) {
      grown[i] *= std::pow(growth, -static_cast<double>(i) / static_cast<double>(grown.size() - 1));
    }
    return grown;
  }
  /// The factor of cosines and sines for a text of this length.
  [[nodiscard]] double scale_for(std::size_t length) const {
    return is_long(length) && long_scale != 0 ? long_scale : scale;
  }
  [[nodiscard]] bool depends_on_length() const { return !long_angles.empty(); }
  [[nodiscard]] bool is_long(std::size_t length) const { return !long_angles.empty() && length > trained; }
};

/// The keys and defaults of rotary settings that differ between architectures.
struct rotary_keys {
  double base = 10000;
  double partial = 1;
  std::string base_key = "rope_theta";
  std::string partial_key = "partial_rotary_factor";
  std::string layers{};        ///< the type of layers whose object in rope_parameters counts
  bool scaled = true;          ///< whether settings that are not those of `layers` count for them
  std::size_t longest = 2048;  ///< if max_position_embeddings is absent
  std::size_t trained = 0;     ///< if original_max_position_embeddings is absent; 0: max_position_embeddings
};

namespace detail {

// LongRoPE: a divisor for each frequency, others in long texts (HuggingFace's `_compute_longrope_parameters`).
inline void read_longrope(io::config_check& config, io::config_check& scaling, double longest, std::size_t trained,
                          rotary_settings& to) {
  using enum io::number_range;
  const double otherwise = trained > 0 ? static_cast<double>(trained)
                                       : scaling.number("original_max_position_embeddings", longest, above_zero);
  const double original = config.number("original_max_position_embeddings", otherwise, above_zero);
  const double factor = trained > 0 || config.has("original_max_position_embeddings") || !scaling.has("factor")
                            ? longest / original
                            : scaling.number("factor", {}, above_zero);
  to.trained = static_cast<std::size_t>(original);
  to.long_angles = to.angles;
  for (auto [key, angles] : {std::pair("short_factor", &to.angles), std::pair("long_factor", &to.long_angles)}) {
    const std::vector<double> by = scaling.numbers(key);
    if (by.size() != angles->size()) {
      scaling.differs(std::string(key) + " has " + std::to_string(by.size()) + " numbers, " +
                      std::to_string(angles->size()) + " were expected: one for each pair of features");
      continue;
    }
    for (std::size_t i = 0; i < by.size(); ++i) {
      if (!(by[i] > 0)) { scaling.differs(std::string(key) + " has a number that is not above 0"); }
      (*angles)[i] /= by[i];
    }
  }
  if (scaling.has("attention_factor")) {
    to.scale = scaling.number("attention_factor", {}, above_zero);
  } else {
    to.scale = factor <= 1 ? 1.0 : std::sqrt(1 + std::log(factor) / std::log(original));
  }
}

// Dynamic NTK: nothing changes up to `longest` positions.
inline void read_dynamic(io::config_check& scaling, std::size_t turned, double longest, rotary_settings& to) {
  to.dynamic_factor = scaling.number("factor", {}, io::number_range::above_zero);
  to.trained = static_cast<std::size_t>(longest);
  if (turned == 2) { scaling.differs("the type dynamic needs more than one pair of features"); }
}

}  // namespace detail

/// The rotary positions of heads with this many features. Rejects unknown types and settings by name.
[[nodiscard]] inline rotary_settings read_rotary(io::config_check& config, std::size_t features,
                                                 const rotary_keys& keys = {}) {
  rotary_settings to;
  io::config_check scaling = detail::rotary_object(config, keys.layers);
  if (!keys.scaled && scaling.title().find('.') == std::string::npos) {
    scaling = io::config_check(nlohmann::json::object(), "rope_scaling");
  }
  rotary_options options;
  options.base = scaling.has("rope_theta") ? scaling.number("rope_theta") : config.number(keys.base_key, keys.base);
  if (!(options.base > 1)) { config.differs(keys.base_key + " is not above 1"); }
  const double partial = scaling.has("partial_rotary_factor") ? scaling.number("partial_rotary_factor")
                                                              : config.number(keys.partial_key, keys.partial);
  if (!(partial >= 0 && partial <= 1)) {
    config.differs(keys.partial_key + " is not between 0 and 1");
    return to;
  }
  const auto turned = static_cast<std::size_t>(static_cast<double>(features) * partial);
  constexpr std::size_t most = 65536;  // of a head, before its arrays are compared
  if (turned % 2 != 0 || turned > most) {
    config.differs("rotary positions turn " + std::to_string(turned) + " features of a head, " +
                   (turned > most ? "at most " + std::to_string(most) + " are read" : "an even number was expected"));
  }
  detail::expect_known_rotary_keys(scaling);
  const std::string kind = detail::rotary_kind(scaling);
  const auto longest = static_cast<double>(config.count("max_position_embeddings", keys.longest));
  const bool by_factors = detail::is_longrope(kind, scaling);
  if (kind == "dynamic") {
    detail::read_dynamic(scaling, turned, longest, to);
  } else if (!by_factors && !detail::read_scaling(kind, scaling, longest, options.scaling)) {
    scaling.differs("the type is " + io::detail::printable(kind) +
                    "; the types that are read are default, linear, dynamic, llama3, yarn and longrope");
  }
  if (scaling.problems().empty() && config.problems().empty()) {
    for (std::size_t i = 0; i < turned / 2; ++i) { to.angles.push_back(rotary_frequency(i, turned, options)); }
    to.scale = rotary_attention(options);
    if (by_factors) { detail::read_longrope(config, scaling, longest, keys.trained, to); }
  }
  config.differs_in(scaling);
  return to;
}

/// Cosines and sines of each pair at some positions: [P, Pairs].
template <class P, class Pairs>
struct rotary_tables {
  tensor<float, P, Pairs> cosines;
  tensor<float, P, Pairs> sines;
};
/// The tables of these angles at `positions`, which have an origin.
template <class P, class Pairs>
[[nodiscard]] rotary_tables<P, Pairs> tables_of(const std::vector<double>& angles, double scale, const P& positions) {
  using table = tensor<float, P, Pairs>;
  std::vector<float> cosines;
  std::vector<float> sines;
  cosines.reserve(positions.extent() * angles.size());
  sines.reserve(positions.extent() * angles.size());
  for (std::size_t p = 0; p < positions.extent(); ++p) {
    const double position = static_cast<double>(positions.origin()) + static_cast<double>(p);
    for (const double angle : angles) {
      cosines.push_back(static_cast<float>(scale * std::cos(position * angle)));
      sines.push_back(static_cast<float>(scale * std::sin(position * angle)));
    }
  }
  return {table(std::span<const float>(cosines), positions, Pairs{angles.size()}),
          table(std::span<const float>(sines), positions, Pairs{angles.size()})};
}

}  // namespace dimwise::models
