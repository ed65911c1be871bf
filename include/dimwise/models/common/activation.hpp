// SPDX-License-Identifier: BSL-1.0
// dimwise/models/common/activation.hpp -- activations chosen at run time, and their names in configurations.
//
// Layer: models.
// Tests: tests/models/decoders/decoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/io/config.hpp>
#include <dimwise/nn/layers/feed_forward.hpp>

#include <optional>
#include <string>
#include <utility>

namespace dimwise::models {

/// An activation chosen at run time: the functions of these names; `quick_gelu` is x · sigmoid(1.702 x), `squared_relu`
/// is relu(x)².
enum class activation_kind { relu, squared_relu, gelu, gelu_tanh, quick_gelu, silu, sigmoid, tanh };

namespace detail {

struct named_activation {
  const char* name;
  activation_kind kind;
};
inline constexpr named_activation named_activations[] = {
    {"relu", activation_kind::relu},
    {"relu2", activation_kind::squared_relu},
    {"gelu", activation_kind::gelu},
    {"gelu_python", activation_kind::gelu},
    {"gelu_new", activation_kind::gelu_tanh},
    {"gelu_pytorch_tanh", activation_kind::gelu_tanh},
    {"gelu_fast", activation_kind::gelu_tanh},
    {"gelu_accurate", activation_kind::gelu_tanh},
    {"quick_gelu", activation_kind::quick_gelu},
    {"silu", activation_kind::silu},
    {"swish", activation_kind::silu},
    {"sigmoid", activation_kind::sigmoid},
    {"tanh", activation_kind::tanh},
};

}  // namespace detail

/// The activation that a configuration names by `key`, or by `otherwise` if the key is absent. An unknown name is a
/// mismatch that lists the known ones.
[[nodiscard]] inline activation_kind activation_of(io::config_check& config, const std::string& key,
                                                   std::optional<std::string> otherwise = {}) {
  const std::size_t before = config.problems().size();
  const std::string name = config.word(key, std::move(otherwise));
  std::string known;
  for (const auto& one : detail::named_activations) {
    if (name == one.name) { return one.kind; }
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  if (config.problems().size() == before) {
    config.differs(key + " is " + io::detail::printable(name) + "; the activations that are read are " + known);
  }
  return activation_kind::relu;
}

/// The activation of every element of a tensor.
template <class Tensor>
[[nodiscard]] Tensor activated(activation_kind kind, const Tensor& x) {
  switch (kind) {
    case activation_kind::relu:
      return Tensor(relu(x));
    case activation_kind::squared_relu:
      return Tensor(relu(x) * relu(x));
    case activation_kind::gelu:
      return Tensor(gelu(x));
    case activation_kind::gelu_tanh:
      return Tensor(gelu_tanh(x));
    case activation_kind::quick_gelu:
      return Tensor(x * sigmoid(x * 1.702F));
    case activation_kind::silu:
      return Tensor(silu(x));
    case activation_kind::sigmoid:
      return Tensor(sigmoid(x));
    case activation_kind::tanh:
      return Tensor(tanh(x));
  }
  dimwise::detail::raise<number_error>(error{} << "activated: the activation is none of those listed");
}

}  // namespace dimwise::models
