// SPDX-License-Identifier: BSL-1.0
// dimwise/models/common/norm.hpp -- a norm whose kind, scale and bias are chosen at run time.
//
// Layer: models.
// Tests: tests/models/decoders/decoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/io/bindings.hpp>
#include <dimwise/nn/layers/norm.hpp>

#include <string>
#include <vector>

namespace dimwise::models {

/// `none` leaves its input as it is.
enum class norm_kind { none, rms, layer };
/// The settings of a norm: its kind, its epsilon, and whether it has a scale and (for `layer`) a bias.
struct norm_settings {
  norm_kind kind = norm_kind::rms;
  double epsilon = 1e-6;
  bool scale = true;
  bool bias = false;
};

/// A norm over the feature F, of the kind that its settings say: [F, rest] -> the same. Parameter is the type of the
/// scale and bias, which may have more dimensions of the input: a scale of its own for each head.
template <class F, class Parameter = tensor<float, F>>
struct any_norm {
  using parameter_list = std::vector<Parameter>;
  parameter_list gamma{};
  parameter_list beta{};
  norm_settings settings{};
  using members = nn::member_list<&any_norm::gamma, &any_norm::beta, &any_norm::settings>;

  any_norm() = default;
  /// A norm of these settings, whose parameters are empty.
  explicit any_norm(const norm_settings& s)
      : gamma(s.scale && s.kind != norm_kind::none ? 1 : 0),
        beta(s.bias && s.kind == norm_kind::layer ? 1 : 0),
        settings(s) {}

  template <class Tensor>
  [[nodiscard]] Tensor operator()(const Tensor& x) const {
    switch (settings.kind) {
      case norm_kind::none:
        return x;
      case norm_kind::rms:
        return gamma.empty() ? Tensor(rms_norm<F>(x, settings.epsilon))
                             : Tensor(rms_norm<F>(x, gamma.front(), settings.epsilon));
      case norm_kind::layer:
        if (gamma.empty()) { return Tensor(layer_norm<F>(x, settings.epsilon)); }
        return beta.empty() ? Tensor(layer_norm<F>(x, settings.epsilon) * gamma.front())
                            : Tensor(layer_norm<F>(x, gamma.front(), beta.front(), settings.epsilon));
    }
    dimwise::detail::raise<number_error>(error{} << "any_norm: the norm is none of those listed");
  }

  static constexpr bool passes_on = true;  ///< the extents, in `initialise_parameters`
  /// Draws nothing: scales are 1 and biases 0.
  template <class How, class... Extents>
  void initialise_parameters(How&, const Extents&... extents) {
    for (Parameter& g : gamma) {
      g = nn::detail::zeros<Parameter>(extents...);
      g.fill(1);
    }
    for (Parameter& b : beta) { b = nn::detail::zeros<Parameter>(extents...); }
  }
};

/// Binds `name.weight`, and `name.bias` if the norm has one; `less_one` if the file holds the scale minus one.
template <class F>
void bind_norm(const io::names_within& file, const std::string& name, any_norm<F>& to, bool less_one = false) {
  for (auto& g : to.gamma) {
    less_one ? file.scale<io::less_one>(name + ".weight", g)
             : file.scale<io::as_is>(name + ".weight", g, name + ".gamma");
  }
  for (auto& b : to.beta) { file.bind<io::stored<F>>(name + ".bias", b, name + ".beta"); }
}

}  // namespace dimwise::models
