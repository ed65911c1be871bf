// src/programs/generate/ranks/divided.hpp -- dimwise-generate: decoders of which each rank has a part of every layer.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../generate.hpp"
#include <dimwise/models/decoders.hpp>
#include <dimwise/ranks/checkpoint.hpp>
#include <dimwise/ranks/messages/gathered_parts.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace programs {

/// The axis along which ranks divide heads, hidden features and tokens.
struct tensor_axis : dimwise::mesh_axis<> {};
struct divided_dims : dimwise::models::decoder_dims {
  using divided_along = tensor_axis;
  using gatherer = dimwise::ranks::gathered_parts<tensor_axis>;
};

/// A decoder whose layers are divided over the ranks. Each rank has all logits, and the first one chooses the token.
template <class Model>
class parted_model_of final : public text_model {
 public:
  /// `parameters` are those of all ranks.
  parted_model_of(Model m, std::size_t parameters) : model_(std::move(m)), parameters_(parameters) {}

  [[nodiscard]] std::size_t longest() const override { return model_.longest(); }
  [[nodiscard]] bool reads_whole(std::size_t length) const override { return model_.reads_whole(length); }
  [[nodiscard]] std::size_t words() const override { return model_.config.vocab; }
  [[nodiscard]] std::size_t layers() const override { return model_.here.count; }
  // Ranks add their numbers.
  [[nodiscard]] std::size_t parameters() const override { return model_.parts.rank() == 0 ? parameters_ : 0; }
  [[nodiscard]] std::size_t bytes() const override { return dimwise::nn::parameter_bytes(model_); }
  void start(std::span<const token>, std::size_t length) override { past_ = model_.start(length); }
  void read(std::span<const token> words) override {
    taking_part([&] { return model_.features(tokens_of<Model>(words), past_); });
  }
  [[nodiscard]] dimwise::tensor<float, vocab> next(std::span<const token> words) override {
    return taking_part([&] {
      return dimwise::tensor<float, vocab>(
          dimwise::relabel<typename Model::vocab, vocab>(model_.next(tokens_of<Model>(words), past_)));
    });
  }
  [[nodiscard]] token chosen(const std::function<token()>& choose) override {
    const auto& ranks = model_.parts.along();
    std::uint64_t number = ranks.rank() == 0 ? static_cast<std::uint64_t>(choose().value) : 0;
    ranks.broadcast(&number, 1, 0, "the next token");
    return token(static_cast<std::size_t>(number));
  }

 private:
  template <class F>
  auto taking_part(const F& f) {
    return dimwise::ranks::detail::taking_part(model_.parts.along(), "a layer", f);
  }

  Model model_;
  std::size_t parameters_;
  typename Model::state past_{};
};

template <class Weights>
std::unique_ptr<text_model> read_parted_decoder(const dimwise::io::config_check& settings,
                                                const dimwise::io::archive& weights,
                                                const dimwise::ranks::communicator& world) {
  using namespace dimwise;
  std::map<std::string, std::size_t> arrays;
  auto model = models::read_decoder_part<divided_dims, Weights>(
      settings, weights, ranks::gathered_parts<tensor_axis>(world), [&](const io::bindings& file) {
    ranks::place_parts<tensor_axis>(file, world);
    for (const auto& b : file.list().all) { arrays[b->names.front()] = *io::count_of(b->how.extents); }
  });
  std::size_t all = 0;
  for (const auto& [name, elements] : arrays) { all += elements; }
  return std::make_unique<parted_model_of<decltype(model)>>(std::move(model), all);
}

/// Makes it the reader of `read_decoder`.
template <class Weights>
inline const bool reads_parted_decoders = [] {
  parted_reader<Weights> = &read_parted_decoder<Weights>;
  return true;
}();

}  // namespace programs
