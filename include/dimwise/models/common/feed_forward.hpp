// SPDX-License-Identifier: BSL-1.0
// dimwise/models/common/feed_forward.hpp -- a feed-forward layer whose gate, biases and activation are chosen at run
// time.
//
// Layer: models.
// Tests: tests/models/decoders/decoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/expr/elements/choose.hpp>
#include <dimwise/io/bindings.hpp>
#include <dimwise/models/common/activation.hpp>
#include <dimwise/models/common/division.hpp>
#include <dimwise/nn/layers/linear.hpp>

#include <limits>
#include <string>
#include <vector>

namespace dimwise::models {

/// The kind of a feed-forward layer: its activation, whether the activation is that of a gate, and whether its maps
/// have biases. With a limit, a gated layer clamps its hidden features and adds 1 to those that the gate multiplies.
struct feed_settings {
  activation_kind activation = activation_kind::silu;
  bool gated = true;
  bool bias = false;
  double limit = 0;        ///< 0: none
  bool down_bias = false;  ///< the last map has a bias even if the others have none
};

/// down(f(up(x))), or down(f(gate(x)) · up(x)) with a gate: [Model, rest] -> [rest, Model]. With a limit
/// down(f(min(gate(x), limit)) · (clamp(up(x)) + 1)), where `clamp` keeps within ±limit (gpt-oss). Dims says whether
/// ranks divide it.
template <class Model, class Hidden, class Weights = float, class Dims = void>
struct any_feed_forward {
  using up_layer = nn::linear<nn::from<Model>, nn::to<part_of_dims<Dims, Hidden>>, nn::optional_bias, Weights>;
  using down_layer = nn::linear<nn::from<Hidden>, nn::to<part_of_dims<Dims, Model>>, nn::optional_bias, Weights>;
  using gate_list = std::vector<up_layer>;
  gate_list gate{};
  up_layer up{};
  down_layer down{};
  activation_kind activation{};
  double limit = 0;
  using members = nn::member_list<&any_feed_forward::gate, &any_feed_forward::up, &any_feed_forward::down,
                                  &any_feed_forward::activation, &any_feed_forward::limit>;

  any_feed_forward() = default;
  /// A layer of these settings, whose parameters are empty.
  explicit any_feed_forward(const feed_settings& s)
      : gate(s.gated ? 1 : 0), up(), down(), activation(s.activation), limit(s.limit) {
    for (auto& g : gate) { g.has_bias(s.bias); }
    up.has_bias(s.bias);
    down.has_bias(s.bias || s.down_bias);
  }

  template <operand X>
  [[nodiscard]] auto operator()(const X& x, const gatherer_of<Dims>& parts = {}) const {
    const auto down_of = [&](const auto& all) {
      return tensor(parts.template whole<Model>(down(parts.template whole<Hidden>(all))));
    };
    auto hidden = up(x);
    if (gate.empty()) { return down_of(tensor(activated(activation, hidden))); }
    if (limit > 0) {
      using hidden_type = decltype(hidden);
      const auto most = static_cast<float>(limit);
      const hidden_type kept = clamp(hidden_type(gate.front()(x)), -std::numeric_limits<float>::infinity(), most);
      const hidden_type open = activated(activation, kept);
      return down_of(hidden_type((clamp(hidden, -most, most) + 1.0F) * open));
    }
    const auto open = activated(activation, gate.front()(x));
    return down_of(decltype(hidden)(hidden * open));
  }
};

/// Binds the maps of a feed-forward layer. A gate and `up` may share the array `gate_up`, in this Order of parts, with
/// the gate first unless `up_first`.
template <class Order, class Convention, class Feed>
void bind_feed_forward(const io::names_within& file, const std::string& gate, const std::string& up,
                       const std::string& gate_up, const std::string& down, Feed& to, bool up_first = false) {
  if (!to.gate.empty() && !gate_up.empty()) {
    auto& gate_map = to.gate.front();
    up_first ? file.fused<Order, Convention>(gate_up, to.up, gate_map)
             : file.fused<Order, Convention>(gate_up, gate_map, to.up);
  } else {
    for (auto& g : to.gate) { file.linear<Convention>(gate, g); }
    file.linear<Convention>(up, to.up);
  }
  file.linear<Convention>(down, to.down);
}

}  // namespace dimwise::models
