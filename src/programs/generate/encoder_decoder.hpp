// src/programs/generate/encoder_decoder.hpp -- dimwise-generate: encoder-decoders of any architecture as a text_model.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "generate.hpp"
#include <dimwise/models/encoder_decoders.hpp>

#include <memory>

namespace programs {

template <class Model>
class source_model_of final : public text_model {
 public:
  explicit source_model_of(Model m) : model_(std::move(m)) {}

  [[nodiscard]] std::size_t longest() const override { return model_.encoder.longest(); }
  [[nodiscard]] std::size_t words() const override { return model_.config.encoder.extents.vocab; }
  [[nodiscard]] std::size_t layers() const override { return model_.encoder.blocks.size() + model_.blocks.size(); }
  [[nodiscard]] std::size_t parameters() const override { return dimwise::nn::parameter_count(model_); }
  [[nodiscard]] std::size_t bytes() const override { return dimwise::nn::parameter_bytes(model_); }
  [[nodiscard]] bool has_source() const override { return true; }
  [[nodiscard]] std::vector<token> first() const override {
    std::vector<token> all;
    for (const auto one : model_.first()) { all.emplace_back(one.value); }
    return all;
  }
  void start(std::span<const token> source, std::size_t length) override {
    state_ = model_.start(tokens_of<Model>(source), length);
  }
  void read(std::span<const token> words) override { (void)model_.features(tokens_of<Model>(words), state_); }
  [[nodiscard]] dimwise::tensor<float, vocab> next(std::span<const token> words) override {
    return dimwise::relabel<typename Model::vocab, vocab>(model_.next(tokens_of<Model>(words), state_));
  }

 private:
  Model model_;
  typename Model::state state_{};
};

template <class Weights>
std::unique_ptr<text_model> read_encoder_decoder(const dimwise::io::config_check& settings,
                                                 const dimwise::io::archive& weights) {
  using namespace dimwise::models;
  using model = encoder_decoder<encoder_decoder_dims, Weights>;
  return std::make_unique<source_model_of<model>>(
      dimwise::models::read_encoder_decoder<encoder_decoder_dims, Weights>(settings, weights));
}

}  // namespace programs
