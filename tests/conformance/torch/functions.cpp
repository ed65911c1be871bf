// tests/conformance/torch/functions.cpp -- softmax, norms and activations of PyTorch.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/case.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace conformance::torch {
namespace {

using namespace dimwise;

// What stands before and after the axis that a function goes over.
struct outer : batch_dim<> {};
struct inner : batch_dim<> {};
struct choices : choice_dim<> {};
struct features : feature_dim<> {};
struct all : batch_dim<> {};

void softmax_family(run& r) {
  const std::size_t rank = r.rank("x");
  const std::ptrdiff_t said = r.integer("dim", -1);
  const auto axis = static_cast<std::size_t>(said < 0 ? said + static_cast<std::ptrdiff_t>(rank) : said);
  const auto x = r.grouped<float>("x", outer{r.extents("x", 0, axis)}, choices{r.extent("x", axis)},
                                  inner{r.extents("x", axis + 1, rank)});
  r.expect("y", softmax<choices>(x));
  if (r.wants("log")) { r.expect("log", log_softmax<choices>(x)); }
  if (r.wants("lse")) { r.expect("lse", logsumexp<choices>(x)); }
}
const family softmax_cases{"softmax", softmax_family};

void layer_norm_family(run& r) {
  const std::size_t rank = r.rank("x");
  const std::size_t first = rank - r.attributes().at("normalized_shape").size();
  const features width{r.extents("x", first, rank)};
  const auto x = r.grouped<float>("x", outer{r.extents("x", 0, first)}, width);
  const double epsilon = r.number("eps", 1e-5);
  if (!r.flag("affine", true)) {
    r.expect("y", dimwise::layer_norm<features>(x, epsilon));
    return;
  }
  const auto gamma = r.grouped<float>("weight", width);
  if (r.has("bias")) {
    r.expect("y", nn::layer_norm<features>{gamma, r.grouped<float>("bias", width), epsilon}(x));
  } else {
    r.expect("y", dimwise::layer_norm<features>(x, epsilon) * gamma);
  }
}
const family layer_norm_cases{"layer_norm", layer_norm_family};

void rms_norm_family(run& r) {
  const std::size_t rank = r.rank("x");
  const std::size_t first = rank - r.rank("w");
  const features width{r.extents("x", first, rank)};
  const auto x = r.grouped<float>("x", outer{r.extents("x", 0, first)}, width);
  r.expect("y", nn::rms_norm<features>{r.grouped<float>("w", width), r.number("eps", 1e-6)}(x));
}
const family rms_norm_cases{"rms_norm", rms_norm_family};

void activation(run& r) {
  const auto x = r.grouped<float>("x", all{r.extents("x", 0, r.rank("x"))});
  const std::string f = r.text("function");
  const auto is = [&](const char* name, auto function) {
    if (f == name) { r.expect("y", function(x)); }
    return f == name;
  };
  const bool known = is("gelu_erf", nn::activation::gelu{}) || is("gelu_tanh", nn::activation::gelu_tanh{}) ||
                     is("silu", nn::activation::silu{}) || is("relu", nn::activation::relu{}) ||
                     is("sigmoid", nn::activation::sigmoid{}) || is("tanh", nn::activation::tanh{});
  if (!known) { throw std::runtime_error("function " + f + " is unknown"); }
}
const family activation_cases{"activation", activation};

}  // namespace
}  // namespace conformance::torch
