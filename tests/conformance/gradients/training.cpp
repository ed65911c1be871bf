// tests/conformance/gradients/training.cpp -- training: a language model, batches in parts, a classifier, a translator.
// SPDX-License-Identifier: BSL-1.0
#include "layers.hpp"

#include <stdexcept>

namespace {

using namespace conformance;
using namespace conformance::gradients;
using namespace conformance::gradients::layers;

struct step_of : position_dim<> {};
struct micro : position_dim<> {};
struct classes : choice_dim<> {};

template <class T>
struct language_model {
  using token_embedding_type = tensor<T, vocab, d_model>;
  using positions_type = tensor<T, seq, d_model>;
  using layers_type = std::vector<encoder_of<T>>;
  using norm_type = norm_of_features<T>;
  using back_type = tensor<T, d_model, vocab>;
  using shift_type = tensor<T, vocab>;
  BOOST_HANA_DEFINE_STRUCT(language_model, (token_embedding_type, words), (positions_type, positions),
                           (layers_type, layers), (norm_type, norm), (back_type, w), (shift_type, b));
};
template <class T>
struct classifier_model {
  using token_embedding_type = tensor<T, vocab, d_model>;
  using layers_type = std::vector<encoder_of<T>>;
  using back_type = tensor<T, d_model, classes>;
  using shift_type = tensor<T, classes>;
  BOOST_HANA_DEFINE_STRUCT(classifier_model, (token_embedding_type, words), (layers_type, layers), (back_type, w),
                           (shift_type, b));
};
template <class T>
struct translator_model {
  using source_type = tensor<T, source_vocab, d_model>;
  using token_embedding_type = tensor<T, vocab, d_model>;
  using encoder_type = encoder_of<T, source, source_key>;
  using decoder_type = decoder_of<T>;
  using back_type = tensor<T, d_model, vocab>;
  using shift_type = tensor<T, vocab>;
  BOOST_HANA_DEFINE_STRUCT(translator_model, (source_type, source_words), (token_embedding_type, words),
                           (encoder_type, encoder), (decoder_type, decoder), (back_type, w), (shift_type, b));
};

// Trains by what the case says. `parameters(model, f)` names the parameters; `losses(m, step, part)` is the average of
// a batch, or of a part of it.
template <class T, class M, class Parameters, class Loss>
void train(program<T>& p, M model, const Parameters& parameters, std::size_t parts, const Loss& loss) {
  const group decayed_names = p.names("decayed");
  std::map<const void*, std::string> names;
  parameters(model, [&](const std::string& name, const auto& part, const dims_of_parameter&) { names[&part] = name; });
  std::map<std::string, std::string> called;
  for_each_parameter_of([&](const std::string& name, const auto& part) { called[name] = names.at(&part); }, model);
  const auto rates = p.parameters().at("lr").template get<std::vector<double>>();
  if (p.text("optimiser") != "AdamW") { throw std::runtime_error(p.text("optimiser") + " is not known here"); }
  adamw optimiser(model, {.rate = [&](std::uint64_t step) { return rates.at(step); },
                          .beta1 = p.parameters().at("betas").at(0).template get<double>(),
                          .beta2 = p.parameters().at("betas").at(1).template get<double>(),
                          .epsilon = p.number("eps", 1e-8),
                          .weight_decay = p.number("weight_decay", 0),
                          .decayed = [&](const std::string& name) { return is_in(called.at(name), decayed_names); }});
  std::vector<double> all_losses;
  std::vector<double> norms;
  for (std::size_t step = 0; step < rates.size(); ++step) {
    auto [value, g] = [&] {
      if (parts == 0) {
        return value_and_gradient(model, [&](const auto& m) { return loss(m, step, 0); });
      }
      accumulated total(model);
      for (std::size_t part = 0; part < parts; ++part) {
        total.add([&](const auto& m) { return loss(m, step, part); });
      }
      return total.mean();
    }();
    parameters(
        g, [&](const std::string& name, auto& part, const dims_of_parameter&) {  // what the case lacks is not trained
      if (!p.has("param." + name)) { part.fill(T(0)); }
    });
    if (step == 0) { parameters(g, compare_parameters<T>{p}); }
    all_losses.push_back(static_cast<double>(value));
    norms.push_back(norm_of(g));
    optimiser.step(model, p.says("clip_global_norm") ? clip_norm(g, p.number("clip_global_norm", 0)) : g);
  }
  const std::array<group, 1> steps{group{"step"}};
  p.compare_output("loss", steps, all_losses);
  if (p.wants("norm")) { p.compare_output("norm", steps, norms); }
  parameters(model, compare_parameters<T>{p, "param.", true});
}

// The batches of a case: `at(step, part)`.
template <class E, class T, class... D>
auto batches(const program<T>& p, const std::string& name, const std::vector<std::string>& dims) {
  const bool in_parts = is_in("micro", p.dims(name));
  std::array<group, 2 + sizeof...(D)> groups{group{"step"}, in_parts ? group{"micro"} : group()};
  for (std::size_t i = 0; i < sizeof...(D); ++i) { groups.at(2 + i) = {dims.at(i)}; }
  return p.template array_of<E>(named<step_of, micro, D...>{name, groups});
}
template <class All>
auto batch_at(const All& all, std::size_t step, std::size_t part) {
  return tensor(at<micro>(at<step_of>(all, step), part));
}
template <class All>
auto counted_in(const All& numbers) {
  return tensor(numbers >= std::int64_t{0});
}

template <class T>
void gpt_named(program<T>& p) {
  read_settings(p);
  language_model<T> model;
  model.layers.resize(static_cast<std::size_t>(p.number("layers", 1)));
  const auto parameters = [](auto& m, const auto& f) {
    f("words", m.words, {"vocab", "d_model"});
    f("positions", m.positions, {"seq", "d_model"});
    for (std::size_t i = 0; i < m.layers.size(); ++i) {
      encoder_parameters("layers." + std::to_string(i) + ".", m.layers[i], f);
    }
    norm_parameters("norm", m.norm, f);
    f("w", m.w, {"d_model", "vocab"});
    f("b", m.b, {"vocab"});
  };
  parameters(model, load_parameters<T>{p, "param."});
  const double epsilon = p.number("eps_norm", 1e-5);
  for (auto& layer : model.layers) { set_epsilon(layer, epsilon); }
  model.norm.epsilon = epsilon;

  const std::size_t n = p.extent("seq");
  const auto seen = allow(seen_by<seq, key>(p, n, n, p.flag("causal"), {}));
  const auto ids = batches<id<vocab>, T, batch, seq>(p, "batch.ids", {"batch", "seq"});
  const auto targets = batches<id<vocab>, T, batch, seq>(p, "batch.targets", {"batch", "seq"});
  const auto numbers = batches<std::int64_t, T, batch, seq>(p, "batch.targets", {"batch", "seq"});
  const bool waved = p.text("positions") == "sinusoid";
  const auto sines = waves<seq, T>(n, p.extent("d_model"));
  const bool tied = p.flag("tied");
  const bool last_norm = p.flag("final_norm");
  const label_smoothing smoothing{p.number("label_smoothing", 0)};
  const std::size_t parts = is_in("micro", p.dims("batch.ids")) ? p.extent("micro") : 0;
  train(p, model, parameters, parts, [&](const auto& m, std::size_t step, std::size_t part) {
    tensor x = gather<vocab>(m.words, batch_at(ids, step, part));
    x = waved ? tensor(x + sines) : tensor(x + m.positions);
    for (const auto& layer : m.layers) { x = layer(x, seen); }
    if (last_norm) { x = m.norm(x); }
    const tensor logits = tied ? tensor(contract<d_model>(x, m.words)) : tensor(contract<d_model>(x, m.w) + m.b);
    return cross_entropy<vocab>(logits, batch_at(targets, step, part), smoothing,
                                allow(counted_in(batch_at(numbers, step, part))));
  });
}

template <class T>
void classifier_named(program<T>& p) {
  read_settings(p);
  classifier_model<T> model;
  model.layers.resize(static_cast<std::size_t>(p.number("layers", 1)));
  const auto parameters = [](auto& m, const auto& f) {
    f("words", m.words, {"vocab", "d_model"});
    for (std::size_t i = 0; i < m.layers.size(); ++i) {
      encoder_parameters("layers." + std::to_string(i) + ".", m.layers[i], f);
    }
    f("w", m.w, {"d_model", "classes"});
    f("b", m.b, {"classes"});
  };
  parameters(model, load_parameters<T>{p, "param."});
  for (auto& layer : model.layers) { set_epsilon(layer, p.number("eps_norm", 1e-5)); }
  if (p.text("positions") != "sinusoid" || p.text("pooled") != "mean") {
    throw std::runtime_error("a classifier without sinusoids or a mean is not known");
  }
  const auto ids = batches<id<vocab>, T, batch, seq>(p, "batch.ids", {"batch", "seq"});
  const auto lengths = batches<std::int64_t, T, batch>(p, "batch.lengths", {"batch"});
  const auto wanted = batches<id<classes>, T, batch>(p, "batch.classes", {"batch"});
  const auto sines = waves<seq, T>(p.extent("seq"), p.extent("d_model"));
  train(p, model, parameters, 0, [&](const auto& m, std::size_t step, std::size_t part) {
    const auto n = batch_at(lengths, step, part);
    tensor x = gather<vocab>(m.words, batch_at(ids, step, part)) + sines;
    for (const auto& layer : m.layers) { x = layer(x, padding<key>(n)); }
    const tensor pooled = mean<seq>(x, padding<seq>(n));
    return cross_entropy<classes>(contract<d_model>(pooled, m.w) + m.b, batch_at(wanted, step, part));
  });
}

template <class T>
void encoder_decoder_named(program<T>& p) {
  read_settings(p);
  translator_model<T> model;
  const auto parameters = [](auto& m, const auto& f) {
    f("source_words", m.source_words, {"source_vocab", "d_model"});
    f("words", m.words, {"vocab", "d_model"});
    encoder_parameters("encoder.", m.encoder, f);
    decoder_parameters("decoder.", m.decoder, f);
    f("w", m.w, {"d_model", "vocab"});
    f("b", m.b, {"vocab"});
  };
  parameters(model, load_parameters<T>{p, "param."});
  set_epsilon(model.encoder, p.number("eps_norm", 1e-5));
  set_epsilon(model.decoder, p.number("eps_norm", 1e-5));
  if (p.text("positions") != "sinusoid" || p.flag("tied") || p.flag("final_norm")) {
    throw std::runtime_error("a translator without sinusoids, tied, or with a final norm is not known");
  }
  const std::size_t n = p.extent("seq");
  const auto sources = batches<id<source_vocab>, T, batch, source>(p, "batch.source", {"batch", "key"});
  const auto lengths = batches<std::int64_t, T, batch>(p, "batch.lengths", {"batch"});
  const auto ids = batches<id<vocab>, T, batch, seq>(p, "batch.ids", {"batch", "seq"});
  const auto targets = batches<id<vocab>, T, batch, seq>(p, "batch.targets", {"batch", "seq"});
  const auto numbers = batches<std::int64_t, T, batch, seq>(p, "batch.targets", {"batch", "seq"});
  const auto sines = waves<seq, T>(n, p.extent("d_model"));
  const auto source_sines = waves<source, T>(p.extent("key"), p.extent("d_model"));
  const auto own = nn::each(allow(seen_by<seq, key>(p, n, n, p.flag("causal"), {})));
  const label_smoothing smoothing{p.number("label_smoothing", 0)};
  train(p, model, parameters, 0, [&](const auto& m, std::size_t step, std::size_t part) {
    const auto known = batch_at(lengths, step, part);
    const tensor from = gather<source_vocab>(m.source_words, batch_at(sources, step, part)) + source_sines;
    const tensor memory = m.encoder(from, padding<source_key>(known));
    const tensor to = gather<vocab>(m.words, batch_at(ids, step, part)) + sines;
    const tensor y = m.decoder(to, memory, own, nn::each(padding<source>(known)));
    return cross_entropy<vocab>(contract<d_model>(y, m.w) + m.b, batch_at(targets, step, part), smoothing,
                                allow(counted_in(batch_at(numbers, step, part))));
  });
}

CONFORMANCE_GRADIENT("gpt", gpt_named)
CONFORMANCE_GRADIENT("classifier", classifier_named)
CONFORMANCE_GRADIENT("encoder_decoder", encoder_decoder_named)
const family accumulation_gradients{"gradient of accumulation", find("gradient of gpt")};

}  // namespace
