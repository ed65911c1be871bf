// tests/models/quantised_weights.test.cpp -- models with low-precision weights: read from folders of
// floats, and near to what floats give.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/bert.hpp>
#include <dimwise/models/gpt2.hpp>
#include <dimwise/models/llama.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace dimwise;

namespace {

// The largest difference of the logits, in units of their spread; all the prompt at once, then word by word.
template <class Model, class Floats>
double logit_error(const Model& model, const Floats& floats, const std::vector<typename Floats::token>& words) {
  double worst = 0;
  for (const bool at_once : {true, false}) {
    auto past = model.start(64);
    auto exact_past = floats.start(64);
    std::vector<typename Model::token> own;
    for (const auto& w : words) { own.emplace_back(w.value); }
    tensor<float, typename Model::vocab> got;
    tensor<float, typename Floats::vocab> exact;
    if (at_once) {
      got = model.next(own, past);
      exact = floats.next(words, exact_past);
    } else {
      for (std::size_t i = 0; i < words.size(); ++i) {
        got = model.next(std::span(own).subspan(i, 1), past);
        exact = floats.next(std::span(words).subspan(i, 1), exact_past);
      }
    }
    double mean = 0;
    double spread = 0;
    double most = 0;
    const auto n = static_cast<double>(exact.size());
    for (const float x : exact.values()) { mean += static_cast<double>(x) / n; }
    for (const float x : exact.values()) { spread += std::pow(static_cast<double>(x) - mean, 2) / n; }
    for (std::size_t i = 0; i < exact.size(); ++i) {
      most = std::max(most, std::fabs(static_cast<double>(got.values()[i]) - static_cast<double>(exact.values()[i])));
    }
    worst = std::max(worst, most / std::sqrt(spread));
  }
  return worst;
}

template <class Weights>
double llama_error() {
  const dimwise_test::model_folder folder("tiny-llama");
  const auto floats = models::read_llama(folder.path());
  const auto model =
      models::read_llama<models::llama_dims, models::own, nn::no_bias, nn::no_bias, nn::activation::silu, Weights>(
          folder.path());
  CHECK(nn::parameter_count(model) == nn::parameter_count(floats));
  using token = typename std::remove_cvref_t<decltype(floats)>::token;
  return logit_error(model, floats, folder.ids<token>("prompt.2.input_ids"));
}
template <class Weights>
double gpt2_error() {
  const dimwise_test::model_folder folder("tiny-gpt2");
  const auto floats = models::read_gpt2(folder.path());
  const auto model =
      models::read_gpt2<models::gpt2_dims, models::tied, nn::activation::gelu_tanh, Weights>(folder.path());
  using token = typename std::remove_cvref_t<decltype(floats)>::token;
  return logit_error(model, floats, folder.ids<token>("prompt.2.input_ids"));
}

}  // namespace

TEST_CASE("language models with quantized weights give nearly the logits of floats") {
  // bfloat16 has 8 bits of precision, float16 11; blocks of 8 bits have steps of 1/254 of their largest number, of 4
  // bits of 1/16. The bounds are a few times what such steps make of the sums; few blocks are in rows of 64 numbers.
  CHECK(llama_error<float16>() < 0.01);
  CHECK(llama_error<bfloat16>() < 0.06);
  CHECK(llama_error<nn::int8_blocks>() < 0.3);
  CHECK(llama_error<nn::int4_blocks>() < 1.5);
  CHECK(gpt2_error<float16>() < 0.01);
  CHECK(gpt2_error<bfloat16>() < 0.06);
  CHECK(gpt2_error<nn::int8_blocks>() < 0.08);
  CHECK(gpt2_error<nn::int4_blocks>() < 1.5);
  // They are stored in low precision, so they differ.
  CHECK(llama_error<nn::int8_blocks>() > 1e-4);
  CHECK(gpt2_error<bfloat16>() > 1e-4);
}

TEST_CASE("quantized weights are saved as floats, and read again they are the same") {
  const dimwise_test::model_folder folder("tiny-llama");
  using model_type =
      models::llama<models::llama_dims, models::own, nn::no_bias, nn::no_bias, nn::activation::silu, nn::int8_blocks>;
  const io::config_check config(folder / "config.json");
  auto model = models::read_llama_as<model_type>(config, io::read_checkpoint(folder.path()));
  const auto& weight = model.blocks.front().attention.query.weight;
  const auto table = io::parameter_table(model);
  CHECK(table.front().type == io::element_type::q8_0);
  CHECK(table.front().bytes == model.token_embedding.table.bytes());
  io::bindings file;
  models::bind_llama(file, model);
  io::save(model, folder / "again.safetensors", file);
  const auto again = models::read_llama_as<model_type>(config, io::read_safetensors(folder / "again.safetensors"));
  const auto& second = again.blocks.front().attention.query.weight;
  CHECK(std::equal(weight.numbers().values().begin(), weight.numbers().values().end(),
                   second.numbers().values().begin()));
  io::save(model, folder / "own.safetensors");
  model_type third = model;
  io::load(third, io::read_safetensors(folder / "own.safetensors"));
  const auto& read = third.blocks.front().attention.query.weight;
  CHECK(
      std::equal(weight.numbers().values().begin(), weight.numbers().values().end(), read.numbers().values().begin()));
}
