// tests/conformance/gradients/losses.cpp -- losses and their gradients, and ten steps of optimisers.
// SPDX-License-Identifier: BSL-1.0
#include "gradients.hpp"

namespace {

using namespace conformance;
using namespace conformance::gradients;

// ---- losses
// ----------------------------------------------------------------------------------------------------------

// The mean of a loss, or its sum.
template <class T, class In, class F>
void average_of(program<T>& p, const In& inputs, const F& loss) {
  const bool summed = p.text("reduction", "mean") == "sum";
  p.differentiate(inputs, std::tuple(named<>{"loss", {}}), [&](const auto& m) {
    const auto all = loss(m);
    return std::tuple(summed ? tensor(all.sum) : tensor(all.mean()));
  });
}

template <class T>
void cross_entropy_named(program<T>& p) {
  const group along = p.names("over");
  const group beside = p.dims("logits") - along;
  const std::tuple logits(named<rest, choices>{"logits", {beside, along}});
  const auto ids = p.template array_of<id<choices>>(named<rest>{"targets", {beside}});
  // A target of a number that is ignored does not count.
  tensor<std::int64_t, rest> numbers = p.template array_of<std::int64_t>(named<rest>{"targets", {beside}});
  tensor<bool, rest> counted(rest{static_cast<std::ptrdiff_t>(numbers.size())});
  const double ignored = p.number("ignored", -100);
  bool all_count = true;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool counts = static_cast<double>(numbers.data()[i]) != ignored;
    counted.overwrite()[i] = counts;
    all_count = all_count && counts;
  }
  const label_smoothing smoothing{p.number("label_smoothing", 0)};
  if (p.has("weight")) {
    const class_weights weights(p.template real<choices>("weight", {along}));
    average_of(p, logits, [&](const auto& m) {
      return cross_entropy<choices>(std::get<0>(m), ids, weights, smoothing, allow(counted));
    });
  } else if (all_count && smoothing.amount == 0) {
    average_of(p, logits, [&](const auto& m) { return cross_entropy<choices>(std::get<0>(m), ids); });
  } else {
    average_of(p, logits,
               [&](const auto& m) { return cross_entropy<choices>(std::get<0>(m), ids, smoothing, allow(counted)); });
  }
}
template <class T>
void mean_squared_error_named(program<T>& p) {
  const group inputs = p.input_names();
  if (p.says("padding")) {
    const std::string name = p.text("padding");
    const group sequences = p.dims(name);
    const group positions = p.dims(inputs.at(0)) & group{"seq"};
    const group beside = p.dims(inputs.at(0)) - sequences - positions;
    const auto lengths = p.template array_of<std::int64_t>(named<shared>{name, {sequences}});
    average_of(
        p,
        std::tuple(named<shared, row, rest>{inputs.at(0), {sequences, positions, beside}},
                   named<shared, row, rest>{inputs.at(1), {sequences, positions, beside}}),
        [&](const auto& m) { return mean_squared_error(std::get<0>(m), std::get<1>(m), padding<row>(lengths)); });
  } else {
    const group all = p.dims(inputs.at(0));
    average_of(p, std::tuple(named<rest>{inputs.at(0), {all}}, named<rest>{inputs.at(1), {all}}),
               [](const auto& m) { return mean_squared_error(std::get<0>(m), std::get<1>(m)); });
  }
}
template <class T>
void binary_cross_entropy_named(program<T>& p) {
  const group weighed = p.has("positive_weight") ? p.dims("positive_weight") : group();
  const group beside = p.dims("logits") - weighed;
  const std::tuple logits(named<rest, features>{"logits", {beside, weighed}});
  const auto targets = p.template real<rest, features>("targets", {beside, weighed});
  if (p.has("positive_weight")) {
    const positive_weight weight(p.template real<features>("positive_weight", {weighed}));
    average_of(p, logits, [&](const auto& m) { return binary_cross_entropy(std::get<0>(m), targets, weight); });
  } else {
    average_of(p, logits, [&](const auto& m) { return binary_cross_entropy(std::get<0>(m), targets); });
  }
}
// The teacher learns, too.
template <class T>
void kl_divergence_named(program<T>& p) {
  const group along{"vocab"};
  const group beside = p.dims("student") - along;
  const temperature t{p.number("temperature", 1)};
  average_of(
      p, std::tuple(named<rest, choices>{"student", {beside, along}}, named<rest, choices>{"teacher", {beside, along}}),
      [&](const auto& m) { return kl_divergence<choices>(std::get<0>(m), std::get<1>(m), t); });
}

// ---- optimisers
// ------------------------------------------------------------------------------------------------------

template <class T>
using parameter = tensor<T, features>;
template <class T>
struct parameters_of_case {
  using list_type = std::vector<parameter<T>>;
  BOOST_HANA_DEFINE_STRUCT(parameters_of_case, (list_type, all));
};

// Ten steps; what the optimiser remembers is stored and loaded after five.
template <class T, class Make>
void ten_steps(program<T>& p, const Make& make) {
  group names;
  for (const std::string& name : p.input_names()) {
    if (name.starts_with("param.")) { names.push_back(name.substr(6)); }
  }
  parameters_of_case<T> model;
  std::vector<tensor<T, row, features>> gradients;
  for (const std::string& name : names) {
    model.all.push_back(p.template real<features>("param." + name, {p.dims("param." + name)}));
    const group dims = p.dims("gradient." + name);
    gradients.push_back(p.template real<row, features>("gradient." + name, {group{"step"}, dims - group{"step"}}));
  }
  const auto rates = p.parameters().at("lr").template get<std::vector<double>>();
  const auto rate = [&](std::uint64_t step) { return rates.at(step); };
  const group decayed_names = p.says("decayed") ? p.names("decayed") : names;
  const auto decayed = [&](const std::string& name) {  // "all.0", "all.1", …
    return is_in(names.at(std::stoul(name.substr(name.rfind('.') + 1))), decayed_names);
  };
  auto optimiser = make(model, learning_rate(rate), decay_choice(decayed));
  std::vector<std::vector<double>> written(names.size());
  std::vector<double> norms;
  for (std::size_t step = 0; step < rates.size(); ++step) {
    if (step == 5) {
      const auto stored = optimiser.state;
      auto resumed = make(model, learning_rate(rate), decay_choice(decayed));
      resumed.state = stored;
      optimiser = resumed;
    }
    parameters_of_case<T> g = model;
    for (std::size_t i = 0; i < names.size(); ++i) { g.all[i] = tensor(at<row>(gradients[i], step)); }
    norms.push_back(norm_of(g));
    optimiser.step(model, p.says("clip_global_norm") ? clip_norm(g, p.number("clip_global_norm", 0)) : g);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const T* const from = model.all[i].data();
      written[i].insert(written[i].end(), from, from + model.all[i].size());
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::array<group, 2> groups{group{"step"}, p.dims("param." + names[i])};
    p.compare_output("param." + names[i], groups, written[i]);
  }
  if (p.wants("norm")) { p.compare_output("norm", std::array<group, 1>{group{"step"}}, norms); }
}

template <class T>
void sgd_named(program<T>& p) {
  ten_steps(p, [&](const auto& model, const learning_rate& rate, const decay_choice& decayed) {
    return sgd(model, {.rate = rate,
                       .momentum = p.number("momentum", 0),
                       .dampening = p.number("dampening", 0),
                       .nesterov = p.flag("nesterov"),
                       .weight_decay = p.number("weight_decay", 0),
                       .decayed = decayed});
  });
}
template <class Settings, class T>
Settings betas_of(const program<T>& p, const learning_rate& rate, const decay_choice& decayed) {
  return {.rate = rate,
          .beta1 = p.parameters().at("betas").at(0).template get<double>(),
          .beta2 = p.parameters().at("betas").at(1).template get<double>(),
          .epsilon = p.number("eps", 1e-8),
          .weight_decay = p.number("weight_decay", 0),
          .decayed = decayed};
}
template <class T>
void adam_named(program<T>& p) {
  ten_steps(p, [&](const auto& model, const learning_rate& rate, const decay_choice& decayed) {
    return adam(model, betas_of<adam_settings>(p, rate, decayed));
  });
}
template <class T>
void adamw_named(program<T>& p) {
  ten_steps(p, [&](const auto& model, const learning_rate& rate, const decay_choice& decayed) {
    return adamw(model, betas_of<adamw_settings>(p, rate, decayed));
  });
}

CONFORMANCE_GRADIENT("cross_entropy", cross_entropy_named)
CONFORMANCE_GRADIENT("mean_squared_error", mean_squared_error_named)
CONFORMANCE_GRADIENT("binary_cross_entropy", binary_cross_entropy_named)
CONFORMANCE_GRADIENT("kl_divergence", kl_divergence_named)
CONFORMANCE_GRADIENT("SGD", sgd_named)
CONFORMANCE_GRADIENT("Adam", adam_named)
CONFORMANCE_GRADIENT("AdamW", adamw_named)

}  // namespace
