// src/programs/text_vectors.cpp -- the vectors of texts by an encoder or a static embedding.
// SPDX-License-Identifier: BSL-1.0
#include "text_vectors.hpp"

#include "common.hpp"
#include "decoder_text.hpp"
#include <dimwise/models/sentence/static_embedding.hpp>
#include <dimwise/models/sentence/vector_modules.hpp>
#include <dimwise/text/bag_of_tokens.hpp>
#include <dimwise/text/folder.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace programs {

using namespace dimwise;
using models::pooling_kind;
using models::sentence_settings;

namespace {

const char* pooling_name(pooling_kind how) {
  switch (how) {
    case pooling_kind::first:
      return "the first token";
    case pooling_kind::max:
      return "maximum of the tokens";
    case pooling_kind::mean:
      return "mean of the tokens";
    case pooling_kind::mean_sqrt:
      return "sum of n tokens over √n";
    case pooling_kind::weighted_mean:
      return "mean of the tokens, later ones weigh more";
    case pooling_kind::last:
      return "the last token";
  }
  refuse("a pooling is none of those listed");
}

// A static embedding with its tokenizer.
class static_text {
 public:
  static_text(const std::filesystem::path& folder, const text_options& options)
      : weights_(io::read_checkpoint(folder)),
        model_(models::read_static_embedding(weights_)),
        words_(text::read_tokenizer(folder, vocab{model_.tokens()}, weights_.metadata()), model_.is_model2vec),
        options_(options) {}

  [[nodiscard]] std::size_t features() const { return model_.features(); }
  [[nodiscard]] std::size_t tokens() const { return tokens_; }
  [[nodiscard]] std::string description() const {
    char text[160];
    std::snprintf(text, sizeof text, "static embedding, %zu tokens, %.1f million parameters", model_.tokens(),
                  static_cast<double>(nn::parameter_count(model_)) / 1e6);
    return text;
  }
  [[nodiscard]] std::vector<std::vector<float>> vectors(const std::vector<std::string>& texts, const std::string& what,
                                                        const models::vector_modules& modules) {
    constexpr std::size_t most_texts = 256;  // of a batch
    progress_bar bar(options_.quiet, what);
    std::vector<std::vector<float>> all;
    std::size_t truncated = 0;
    while (all.size() < texts.size()) {
      std::vector<std::vector<models::static_embedding::token>> ids;
      for (std::size_t i = all.size(); i < std::min(texts.size(), all.size() + most_texts); ++i) {
        const std::string name = what + " " + std::to_string(i + 1);
        expect_utf8(texts[i], name);
        auto found = words_(texts[i]);
        if (found.truncated && !options_.truncates) {
          refuse(name + " is longer than the model reads: " + std::to_string(words_.most()) +
                 " tokens, and the characters of as many tokens of the median length");
        }
        truncated += found.truncated ? 1 : 0;
        tokens_ += found.ids.size();
        ids.push_back(std::move(found.ids));
      }
      bar.show(all.size(), texts.size());
      const auto made = modules(model_.vectors(ids));
      add_rows(made.values(), ids.size(), all);
    }
    if (truncated > 0 && !options_.quiet) {
      std::fprintf(stderr, "%zu of the %ss were truncated\n", truncated, what.c_str());
    }
    return all;
  }

 private:
  using vocab = models::static_embedding::vocab;
  static void add_rows(std::span<const float> values, std::size_t count, std::vector<std::vector<float>>& to) {
    const std::size_t width = values.size() / count;
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = values.subspan(i * width, width);
      to.emplace_back(row.begin(), row.end());
    }
  }

  io::archive weights_;
  models::static_embedding model_;
  text::bag_of_tokens<vocab> words_;
  text_options options_;
  std::size_t tokens_ = 0;
};

}  // namespace

class text_vectors::loaded {
  template <class F>
  [[nodiscard]] auto of_model(const F& f) const {
    return static_ ? f(*static_) : decoder_ ? f(*decoder_) : f(*encoder_);
  }

 public:
  loaded(const sentence_settings& settings, const text_options& options) : settings_(settings) {
    const bool encodes = !settings.is_static && !(settings.has_modules && is_decoder(settings.transformer));
    if (!encodes && !options.adapter.empty()) {
      refuse(settings.transformer.string() + ": there is no adapter " + options.adapter + ": the model is no encoder");
    }
    if (encodes) {
      encoder_.emplace(settings.transformer, labels_of::nothing, options);
    } else if (settings.is_static) {
      static_.emplace(settings.transformer, options);
    } else {
      decoder_.emplace(settings.transformer, options);
    }
    modules_ = models::read_vector_modules(settings, of_model([](const auto& m) { return m.features(); }));
  }
  [[nodiscard]] std::string description() const {
    std::string words = of_model([](const auto& m) { return m.description(); });
    words += std::string(", ") + (static_ ? "mean of the tokens" : pooling_name(settings_.how));
    for (const models::sentence_module& one : settings_.modules) { words += one.normalizes ? "" : ", Dense"; }
    return words;
  }
  [[nodiscard]] std::size_t tokens() const {
    return of_model([](const auto& m) { return m.tokens(); });
  }
  [[nodiscard]] std::vector<std::vector<float>> vectors(std::vector<std::string> texts, const std::string& what,
                                                        const std::string& prompt) {
    for (std::string& one : texts) { one.insert(0, prompt); }
    // Counted as in sentence-transformers: the ids of the prompt without the final special tokens.
    const bool leaves_out = !prompt.empty() && !settings_.pools_prompt;
    const auto pooled = [&](auto& m) {
      return m.vectors(texts, what, settings_.how, leaves_out ? m.prompt_tokens(prompt) : 0, modules_);
    };
    auto all = static_ ? static_->vectors(texts, what, modules_) : decoder_ ? pooled(*decoder_) : pooled(*encoder_);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!std::all_of(all[i].begin(), all[i].end(), [](float x) { return std::isfinite(x); })) {
        refuse(what + " " + std::to_string(i + 1) + " has a vector with infinities or NaN");
      }
      all[i].resize(std::min(all[i].size(), settings_.dimensions.value_or(all[i].size())));
    }
    return all;
  }

 private:
  sentence_settings settings_;
  std::optional<static_text> static_{};
  std::optional<decoder_text> decoder_{};
  std::optional<text_encoder> encoder_{};
  models::vector_modules modules_{};
};

text_vectors::text_vectors(const sentence_settings& settings, const text_options& options)
    : loaded_([&] {
        progress_bar bar(options.quiet, "loading " + settings.transformer.string());
        const io::watch_loading shown([&](std::size_t done, std::size_t all) { bar.show(done, all); });
        return std::make_unique<loaded>(settings, options);
      }()) {}
text_vectors::~text_vectors() = default;

std::string text_vectors::description() const { return loaded_->description(); }
std::size_t text_vectors::tokens() const { return loaded_->tokens(); }
std::vector<std::vector<float>> text_vectors::vectors(std::vector<std::string> texts, const std::string& what,
                                                      const std::string& prompt) {
  return loaded_->vectors(std::move(texts), what, prompt);
}

}  // namespace programs
