// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/recomputed.hpp -- a layer that saves its input only, and is recomputed in the backward pass.
//
// Layer: grad. What the layer's statements would have kept is there for as long as its own gradient is computed (Chen,
// Xu, Zhang and Guestrin 2016).
// Tests: tests/grad/recomputed.test.cpp
//
//   tensor y = recomputed(layer, x, causal<seq, key>{});        // the value and the gradient of layer(x, causal…)
#pragma once

#include <dimwise/grad/gradient.hpp>
#include <dimwise/nn/layers/dropout.hpp>

#include <tuple>

namespace dimwise {

namespace detail {

// The same values with origins of their own in a record, or as constants where it is 0.
template <class M>
M with_fresh_origins(const M& m, std::uint64_t record) {
  M to = m;
  walk_together("", [record](const std::string&, auto& part) {
    using Part = std::remove_cvref_t<decltype(part)>;
    if constexpr (is_parameter<Part> && is_tracked<Part>) {
      const auto value = part.value();
      part = record == 0 ? Part(value) : recorded_leaf(value, record);
    }
  }, to);
  return to;
}
// f(part, parts…) for every tracked tensor of models of one type.
template <class F, class M, class... More>
void each_tracked(const F& f, const M& m, const More&... more) {
  walk_together("", [&f](const std::string&, const auto& part, const auto&... parts) {
    if constexpr (is_parameter<std::remove_cvref_t<decltype(part)>>) {
      if constexpr (is_tracked<std::remove_cvref_t<decltype(part)>>) { f(part, parts...); }
    }
  }, m, more...);
}

// What a layer's value came from, without what happened inside.
template <class Layer, class X, class... How>
struct kept_layer {
  Layer layer;
  X x;
  nn::dropout_state drops;
  std::tuple<How...> how;

  template <class Arrived>
  void send(Arrived& arrived) const {
    gradient_record record;
    const nn::dropout_seed again(drops);
    const auto layer_again = with_fresh_origins(layer, record.number());
    const auto x_again = with_fresh_origins(x, record.number());
    const auto y = std::apply([&](const auto&... given) { return tensor(layer_again(x_again, given...)); }, how);
    record.close();
    if (y.has_origin(record.number())) { add_gradient(y, arrived.taken()); }
    record.send_all();
    const auto pass_on = [](const auto& to, const auto& from) {
      if (to.origin() != nullptr && from.origin()->arrived()) { add_gradient(to, gradient_at(from)); }
    };
    each_tracked(pass_on, layer, layer_again);
    each_tracked(pass_on, x, x_again);
  }
};

template <class T, class... D, class Layer, class X, class... How>
tensor<tracked<T>, D...> recorded_as_a_whole(const tensor<tracked<T>, D...>& y, const Layer& layer, const X& x,
                                             const nn::dropout_state& drops, const How&... how) {
  gradient_record* const record = gradient_record::current();
  const std::uint64_t number = record == nullptr ? 0 : record->number();
  bool any = false;
  const auto look = [&](const auto& part) { any = part.has_origin(number) || any; };
  each_tracked(look, layer);
  each_tracked(look, x);
  if (!any) { return y; }
  return recorded_by_own(y.value(), *record, kept_layer<Layer, X, How...>{layer, x, drops, std::tuple(how...)});
}

}  // namespace detail

namespace no_adl {

/// layer(x, how…), of which the backward pass keeps x alone: everything inside is computed a second time when the
/// gradient arrives. `how` is masks and the like, which are constants; what the layer's dropouts leave out is the same
/// again. Where nothing is tracked it is layer(x, how…). The layer is called again when `value_and_gradient` goes back,
/// so what it captures by reference outlives that call. Throws `gradient_error` where it captured tracked tensors.
template <class Layer, operand X, class... How>
[[nodiscard]] auto recomputed(const Layer& layer, const X& x, const How&... how) {
  static_assert(!(detail::is_tracked<How> || ...), "dimwise: recomputed takes tracked tensors as x, or in the layer");
  if constexpr (!detail::is_tracked<X> && !detail::is_tracked_type<detail::model_element<Layer>>) {
    return tensor(layer(x, how...));
  } else {
    const tensor input(x);
    const nn::dropout_state drops = nn::dropout_seed::now();
    // Constants are not recorded, and are tracked by type, so that dropouts leave out.
    const tensor y(detail::with_fresh_origins(layer, 0)(detail::with_fresh_origins(input, 0), how...));
    // All that was given is constant here, so an origin is that of something else: its gradient would be lost.
    if constexpr (detail::is_tracked<decltype(y)>) {
      if (y.origin() != nullptr) {
        detail::raise<gradient_error>(
            error{} << "recomputed: the layer captured tracked tensors; pass them as the layer or as x (R21)");
      }
    }
    return detail::recorded_as_a_whole(y, layer, input, drops, how...);
  }
}

}  // namespace no_adl

}  // namespace dimwise
