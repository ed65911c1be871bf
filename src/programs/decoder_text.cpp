// src/programs/decoder_text.cpp -- a decoder with its tokenizer: texts in, vectors out.
// SPDX-License-Identifier: BSL-1.0
#include "decoder_text.hpp"

#include "token_ids.hpp"
#include <dimwise/models/decoders.hpp>
#include <dimwise/models/encoder/encoder.hpp>
#include <dimwise/models/sentence/vector_modules.hpp>
#include <dimwise/nn/model.hpp>
#include <dimwise/text/folder.hpp>

#include <algorithm>
#include <memory>

namespace programs {

using namespace dimwise;

bool is_decoder(const std::filesystem::path& folder) {
  io::config_check config(folder / "config.json");
  const std::string type = config.word("model_type", "");
  const auto& all = models::known_decoders();
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.model_type == type; });
}

namespace {

io::config_check settings_of(const std::filesystem::path& folder) {
  io::config_check config(folder / "config.json");
  models::expect_known_direction(config);
  return config;
}

}  // namespace

class decoder_text::loaded {
 public:
  loaded(const std::filesystem::path& folder, const text_options& options)
      : weights_(io::read_checkpoint(folder)),
        model_(models::read_decoder(settings_of(folder), weights_)),
        ids_(text::read_tokenizer(folder, vocab{model_.config.vocab}, weights_.metadata(), options.lower_case),
             model_.config.vocab, model_.longest(), options),
        quiet_(options.quiet) {}

  [[nodiscard]] std::string description() const {
    char text[160];
    std::snprintf(text, sizeof text, "%s, %zu layers, %.1f million parameters",
                  model_.config.bidirectional ? "bidirectional decoder" : "decoder", model_.config.layers.size(),
                  static_cast<double>(nn::parameter_count(model_)) / 1e6);
    return text;
  }
  [[nodiscard]] std::size_t tokens() const { return tokens_; }
  [[nodiscard]] std::size_t features() const { return model_.config.d_model; }
  [[nodiscard]] std::size_t prompt_tokens(const std::string& prompt) const { return ids_.prompt_tokens(prompt); }

  [[nodiscard]] std::vector<std::vector<float>> vectors(const std::vector<std::string>& texts, const std::string& what,
                                                        models::pooling_kind how, std::size_t left_out,
                                                        const models::vector_modules& modules) {
    using pooling = models::encoder<>;
    progress_bar bar(quiet_, what);
    std::vector<std::vector<float>> all;
    for (const std::string& text : texts) {
      bar.show(all.size(), texts.size());
      const auto ids = ids_.of(text, what + " " + std::to_string(all.size() + 1));
      tokens_ += ids.size();
      auto caches = model_.start(ids.size());
      const auto x = model_.features(ids, caches);
      const pooling::features_type one(x.values(), pooling::batch{1}, pooling::seq{ids.size()},
                                       pooling::d_model{features()});
      const tensor<int, pooling::batch> lengths({static_cast<int>(ids.size())}, pooling::batch{1});
      const auto made = modules(pooling::pooled(one, lengths, how, left_out));
      all.emplace_back(made.values().begin(), made.values().end());
    }
    ids_.tell_truncated(what);
    return all;
  }

 private:
  using vocab = models::decoder<>::vocab;
  io::archive weights_;
  models::decoder<> model_;
  token_ids<vocab> ids_;
  bool quiet_;
  std::size_t tokens_ = 0;
};

decoder_text::decoder_text(const std::filesystem::path& folder, const text_options& options)
    : loaded_(std::make_unique<loaded>(folder, options)) {}
decoder_text::~decoder_text() = default;

std::string decoder_text::description() const { return loaded_->description(); }
std::size_t decoder_text::tokens() const { return loaded_->tokens(); }
std::size_t decoder_text::features() const { return loaded_->features(); }
std::size_t decoder_text::prompt_tokens(const std::string& prompt) const { return loaded_->prompt_tokens(prompt); }
std::vector<std::vector<float>> decoder_text::vectors(const std::vector<std::string>& texts, const std::string& what,
                                                      models::pooling_kind how, std::size_t left_out,
                                                      const models::vector_modules& modules) {
  return loaded_->vectors(texts, what, how, left_out, modules);
}

}  // namespace programs
