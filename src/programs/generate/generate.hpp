// src/programs/generate/generate.hpp -- dimwise-generate: the common interface of models of any kind and weight format.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../common.hpp"
#include "end_tokens.hpp"
#include <dimwise/io/config.hpp>
#include <dimwise/io/shards.hpp>
#include <dimwise/models/sampling.hpp>
#include <dimwise/nn/weight.hpp>
#include <dimwise/ranks/messages/gather_texts.hpp>

#include <csignal>
#include <functional>
#include <memory>

namespace programs {

struct generate_options {
  std::string folder;
  std::string text;
  long count = 256;
  long seed = -1;
  std::size_t threads = 1;
  std::size_t context = 0;
  dimwise::models::sampling how;
  long penalised = 64;
  std::string chat_template;
  std::string system = "You are a helpful assistant";
  std::string weights = "f32";
  std::string language;
  std::string split = "layer";
  bool begins_with_language = false;  // a text of mBART, whose settings have no first token
  // Of generation_config.json, or of config.json without it: its name, the tokens of prompt and text together, those
  // that are not generated, and the settings that are not read.
  std::string defaults_file = "generation_config.json";
  std::optional<std::size_t> most_together;
  std::vector<std::size_t> suppressed;
  std::vector<std::size_t> first_suppressed;
  std::vector<std::string> unused;
  bool ignore_end = false;
  bool hide_prompt = false;
  bool quiet = false;
};

/// Set by Ctrl-C: the program finishes the current output, or exits at once if there is none.
inline volatile std::sig_atomic_t stopped = 0;
inline volatile std::sig_atomic_t has_begun = 0;
inline void stop(int) {
  if (has_begun == 0) { ::_exit(130); }
  stopped = 1;
}

/// A question in the ChatML template of conversation models.
inline std::string chatml(const std::string& system, const std::string& question) {
  return "<|im_start|>system\n" + system + "<|im_end|>\n<|im_start|>user\n" + question +
         "<|im_end|>\n<|im_start|>assistant\n";
}

/// The vocabulary of any model.
struct vocab : dimwise::choice_dim<> {};
using token = dimwise::id<vocab>;

/// A language model with its KV caches, behind a virtual interface: the program is compiled once for all models.
class text_model {
 public:
  text_model() = default;
  text_model(const text_model&) = delete;
  text_model& operator=(const text_model&) = delete;
  virtual ~text_model() = default;

  [[nodiscard]] virtual std::size_t longest() const = 0;
  /// Whether the rotary positions of a prompt of this length depend on how many of its tokens are read at once.
  [[nodiscard]] virtual bool reads_whole(std::size_t) const { return false; }
  [[nodiscard]] virtual std::size_t words() const = 0;
  [[nodiscard]] virtual std::size_t layers() const = 0;
  [[nodiscard]] virtual std::size_t parameters() const = 0;
  /// The size of this rank's parameters in bytes.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  /// Clears the caches and reserves room for `length` tokens. With `has_source`, the encoder reads the source.
  virtual void start(std::span<const token> source, std::size_t length) = 0;
  virtual void read(std::span<const token> words) = 0;
  /// The logits of the token after these; on several ranks, on the last one.
  [[nodiscard]] virtual dimwise::tensor<float, vocab> next(std::span<const token> words) = 0;
  /// Returns when the tokens have been read; on several ranks, on all of them.
  virtual void wait() {}
  /// The token that `choose` makes of the logits, on every rank.
  [[nodiscard]] virtual token chosen(const std::function<token()>& choose) { return choose(); }

  /// Whether an encoder reads the prompt as a source, and the model writes a new text instead of continuing it.
  [[nodiscard]] virtual bool has_source() const { return false; }
  /// The tokens that a new text begins with.
  [[nodiscard]] virtual std::vector<token> first() const { return {}; }
};

/// The tokens of a model.
template <class Model>
std::vector<typename Model::token> tokens_of(std::span<const token> words) {
  std::vector<typename Model::token> all;
  for (const token w : words) { all.emplace_back(w.value); }
  return all;
}

template <class Model>
class model_of final : public text_model {
 public:
  explicit model_of(Model m) : model_(std::move(m)) {}

  [[nodiscard]] std::size_t longest() const override { return model_.longest(); }
  [[nodiscard]] bool reads_whole(std::size_t length) const override {
    if constexpr (requires { model_.reads_whole(length); }) {
      return model_.reads_whole(length);
    } else {
      return false;
    }
  }
  [[nodiscard]] std::size_t words() const override {
    return model_.token_embedding.table.extents().template extent<typename Model::vocab>();
  }
  [[nodiscard]] std::size_t layers() const override { return model_.blocks.size(); }
  [[nodiscard]] std::size_t parameters() const override { return dimwise::nn::parameter_count(model_); }
  [[nodiscard]] std::size_t bytes() const override { return dimwise::nn::parameter_bytes(model_); }
  void start(std::span<const token>, std::size_t length) override { past_ = model_.start(length); }
  void read(std::span<const token> words) override { (void)model_.features(own(words), past_); }
  [[nodiscard]] dimwise::tensor<float, vocab> next(std::span<const token> words) override {
    return dimwise::relabel<typename Model::vocab, vocab>(model_.next(own(words), past_));
  }

 private:
  [[nodiscard]] static auto own(std::span<const token> words) { return tokens_of<Model>(words); }

  Model model_;
  typename Model::state past_;
};
template <class Model>
std::unique_ptr<text_model> as_text_model(Model m) {
  return std::make_unique<model_of<Model>>(std::move(m));
}

/// Reads this rank's part of every layer of a decoder; null in a program without MPI.
template <class Weights>
inline std::unique_ptr<text_model> (*parted_reader)(const dimwise::io::config_check&, const dimwise::io::archive&,
                                                    const dimwise::ranks::communicator&) = nullptr;
/// Reads the model of a folder, on several ranks the layers of this rank. `Weights` is the weight format: float, or a
/// type of nn/weight.hpp.
template <class Weights>
std::unique_ptr<text_model> read_decoder(const dimwise::io::config_check& settings, const dimwise::io::archive& weights,
                                         const dimwise::ranks::communicator& world);
template <class Weights>
std::unique_ptr<text_model> read_encoder_decoder(const dimwise::io::config_check& settings,
                                                 const dimwise::io::archive& weights);
/// What the architecture of these settings is called. Throws `file_error` for settings that are not read.
[[nodiscard]] std::string architecture_of(dimwise::io::config_check settings);
/// What the encoder-decoder of these settings is called; nothing for other models.
[[nodiscard]] std::optional<std::string> encoder_decoder_of(dimwise::io::config_check settings);

}  // namespace programs
