// src/programs/generate/decoder.hpp -- dimwise-generate: decoders of any architecture as a text_model, whole or in
// layers that ranks divide.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "generate.hpp"
#include <dimwise/models/decoders.hpp>
#include <dimwise/ranks/pipeline.hpp>

#include <functional>
#include <memory>

namespace programs {

/// A decoder whose layers are divided over the ranks.
template <class Model>
class divided_model_of final : public text_model {
 public:
  divided_model_of(Model m, const dimwise::ranks::communicator& world) : model_(std::move(m), world) {}

  [[nodiscard]] std::size_t longest() const override { return model_.part().longest(); }
  [[nodiscard]] bool reads_whole(std::size_t length) const override { return model_.part().reads_whole(length); }
  [[nodiscard]] std::size_t words() const override { return model_.part().config.vocab; }
  [[nodiscard]] std::size_t layers() const override { return model_.part().here.count; }
  // The last rank does not count a table of tokens that the first one has as well.
  [[nodiscard]] std::size_t parameters() const override {
    const Model& part = model_.part();
    const bool twice = part.has_tokens() && !part.here.is_first();
    return dimwise::nn::parameter_count(part) -
           (twice ? dimwise::nn::parameter_count(part.token_embedding) : std::size_t{0});
  }
  [[nodiscard]] std::size_t bytes() const override { return dimwise::nn::parameter_bytes(model_.part()); }
  void start(std::span<const token>, std::size_t length) override { past_ = model_.start(length); }
  void read(std::span<const token> words) override { model_.read(tokens_of<Model>(words), past_); }
  [[nodiscard]] dimwise::tensor<float, vocab> next(std::span<const token> words) override {
    return dimwise::relabel<typename Model::vocab, vocab>(model_.next(tokens_of<Model>(words), past_));
  }
  void wait() override { model_.world().barrier("the prompt"); }
  [[nodiscard]] token chosen(const std::function<token()>& choose) override {
    return token(model_.chosen([&] { return typename Model::token(choose().value); }).value);
  }

 private:
  dimwise::ranks::pipeline<Model> model_;
  typename Model::state past_{};
};

template <class Weights>
std::unique_ptr<text_model> read_decoder(const dimwise::io::config_check& settings, const dimwise::io::archive& weights,
                                         const dimwise::ranks::communicator& world) {
  using namespace dimwise::models;
  if (world.size() == 1) {
    return as_text_model(dimwise::models::read_decoder<decoder_dims, Weights>(settings, weights));
  }
  return std::make_unique<divided_model_of<decoder<decoder_dims, Weights>>>(
      read_decoder_run<decoder_dims, Weights>(settings, weights, world.rank(), world.size()), world);
}

}  // namespace programs
