// SPDX-License-Identifier: BSL-1.0
// dimwise/models/sentence/vector_modules.hpp -- the modules of sentence-transformers that follow a pooling or a static
// embedding: Dense and Normalize.
//
// Layer: models.
// Tests: tests/models/encoders/sentence_models.test.cpp
//
//   const auto modules = models::read_vector_modules(settings, model.config.extents.features);
//   tensor vectors = modules(model.pooled(x, lengths, settings.how));         // batch d_model
#pragma once

#include <dimwise/models/common/activation.hpp>
#include <dimwise/models/encoder/settings.hpp>
#include <dimwise/models/language_model.hpp>
#include <dimwise/models/sentence_settings.hpp>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dimwise::models {

/// The outputs of a Dense, which are the features of the next module.
struct d_dense : feature_dim<> {};

/// The settings of a Dense.
struct dense_settings {
  std::size_t inputs = 1;
  std::size_t outputs = 1;
  bool bias = true;
  std::optional<activation_kind> activation = activation_kind::tanh;  ///< empty: the identity
  bool adds_inputs = false;                                           ///< a residual, mapped if the extents differ
};

/// Dense: f(x W + b), or f(x W + b) + x.
struct dense_layer {
  using batch = encoder_dims::batch;
  using d_model = encoder_dims::d_model;
  using vectors_type = tensor<float, batch, d_model>;
  using outputs_type = tensor<float, batch, d_dense>;
  using map_type = nn::linear<nn::from<d_model>, nn::to<d_dense>, nn::optional_bias>;
  using residual_list = std::vector<nn::linear<nn::from<d_model>, nn::to<d_dense>, nn::no_bias>>;

  map_type map{};
  residual_list residual{};
  using members = nn::member_list<&dense_layer::map, &dense_layer::residual>;
  dense_settings settings{};

  /// A layer of these settings, whose parameters are empty.
  [[nodiscard]] static dense_layer of(const dense_settings& s) {
    dense_layer made{map_type(), residual_list(s.adds_inputs && s.inputs != s.outputs ? 1 : 0), s};
    made.map.has_bias(s.bias);
    return made;
  }
  [[nodiscard]] vectors_type operator()(const vectors_type& x) const {
    outputs_type y = map(x);
    if (settings.activation) { y = activated(*settings.activation, y); }
    if (!residual.empty()) {
      y = y + residual.front()(x);
    } else if (settings.adds_inputs) {
      y = y + relabel<d_model, d_dense>(x);
    }
    return relabel<d_dense, d_model>(y);
  }
};

/// Normalize: x / |x|. Zeros stay zeros. Throws `number_error` for a vector whose length is infinite or NaN.
struct normalize_layer {
  using vectors_type = dense_layer::vectors_type;
  [[nodiscard]] vectors_type operator()(const vectors_type& x) const {
    const tensor<float, encoder_dims::batch> lengths = sqrt(sum<encoder_dims::d_model>(x * x));
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      if (!std::isfinite(lengths.values()[i])) {
        dimwise::detail::raise<number_error>(error{} << "Normalize: the length of vector " << i
                                                     << " is infinite or NaN");
      }
    }
    return x / max(lengths, 1e-12F);  // the minimum divisor of PyTorch's normalize
  }
};

/// The modules after a pooling or a static embedding, in order.
struct vector_modules {
  using vectors_type = dense_layer::vectors_type;
  std::vector<std::variant<normalize_layer, dense_layer>> all{};

  [[nodiscard]] vectors_type operator()(const vectors_type& x) const {
    vectors_type made = x;
    for (const auto& module : all) {
      made = std::visit([&](const auto& one) { return one(made); }, module);
    }
    return made;
  }
};

namespace detail {

// The activation that a class of torch.nn computes with its default arguments.
inline std::optional<activation_kind> activation_of_class(io::config_check& config) {
  constexpr std::pair<const char*, std::optional<activation_kind>> known[] = {
      {"Identity", std::nullopt},      {"Tanh", activation_kind::tanh}, {"ReLU", activation_kind::relu},
      {"GELU", activation_kind::gelu}, {"SiLU", activation_kind::silu}, {"Sigmoid", activation_kind::sigmoid}};
  const std::string name = config.word("activation_function", "torch.nn.modules.activation.Tanh");
  std::string names;
  for (const auto& [word, kind] : known) {
    if (name.starts_with("torch.nn.") && name.substr(name.rfind('.') + 1) == word) { return kind; }
    names += (names.empty() ? "" : ", ") + std::string(word);
  }
  config.differs("activation_function is " + io::detail::printable(name) +
                 "; the classes of torch.nn that are read are " + names);
  return std::nullopt;
}

inline dense_settings read_dense_settings(const std::filesystem::path& folder, std::size_t features) {
  io::config_check config(folder / "config.json");
  dense_settings s;
  s.inputs = config.count("in_features");
  s.outputs = config.count("out_features");
  s.bias = config.flag("bias", true);
  s.activation = activation_of_class(config);
  s.adds_inputs = config.flag("use_residual", false);
  expect_sentence_vectors(config);
  if (config.problems().empty() && s.inputs != features) {
    config.differs("in_features is " + std::to_string(s.inputs) + ", but the module before it gives " +
                   std::to_string(features) + " features");
  }
  config.finish();
  return s;
}

// Calls `use` for every Dense with its folder, a layer whose parameters are empty, its bindings and its arrays; and
// `normalize` for every Normalize. `features` are those of the vectors before the first module.
template <class Normalize, class Use>
void for_each_module(const sentence_settings& settings, std::size_t features, const Normalize& normalize,
                     const Use& use) {
  for (const sentence_module& one : settings.modules) {
    if (one.normalizes) {
      normalize();
      continue;
    }
    const dense_settings s = read_dense_settings(one.folder, features);
    dense_layer layer = dense_layer::of(s);
    io::bindings file(encoder_dims::d_model{s.inputs}, d_dense{s.outputs});
    file.linear<io::out_in>("linear", layer.map);
    for (auto& map : layer.residual) { file.linear<io::out_in>("residual", map); }
    use(one.folder, layer, file, io::read_checkpoint(one.folder));
    features = s.outputs;
  }
}

}  // namespace detail

/// Reads the modules of a folder: `config.json` and `model.safetensors` of every Dense. `features` are those of the
/// vectors before the first module. Throws `io::file_error` that lists every mismatch.
[[nodiscard]] inline vector_modules read_vector_modules(const sentence_settings& settings, std::size_t features) {
  vector_modules read;
  detail::for_each_module(settings, features, [&] {
    read.all.emplace_back(normalize_layer());
  }, [&](const std::filesystem::path&, dense_layer& layer, const io::bindings& file, const io::archive& weights) {
    io::load(layer, weights, file, weights_rounding<float>);
    read.all.emplace_back(std::move(layer));
  });
  return read;
}

}  // namespace dimwise::models
