// src/programs/encoder_text.cpp -- an encoder with its tokenizer: texts in, numbers out.
// SPDX-License-Identifier: BSL-1.0
#include "encoder_text.hpp"

#include "token_ids.hpp"
#include <dimwise/io/checkpoint.hpp>
#include <dimwise/models/encoders.hpp>
#include <dimwise/models/sentence/vector_modules.hpp>
#include <dimwise/nn/model.hpp>
#include <dimwise/text/folder.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

namespace programs {

using namespace dimwise;
using model_type = models::encoder<>;
using vocab = model_type::vocab;
using token = model_type::token;
using part = id<model_type::segments>;

namespace {

models::encoder_task task_of(labels_of heads) {
  switch (heads) {
    case labels_of::nothing:
      return models::encoder_task::features;
    case labels_of::texts:
      return models::encoder_task::text_labels;
    case labels_of::tokens:
      return models::encoder_task::token_labels;
    case labels_of::masks:
      return models::encoder_task::masked_tokens;
  }
  refuse("a task is none of those listed");
}

// What is printed beside a label: its probability among all, its probability alone, or its score itself.
enum class shown_as { share, independent, value };

// The indices of the largest of `all` and the numbers to print.
std::vector<std::pair<double, std::size_t>> likeliest(std::span<const float> all, shown_as how, std::size_t count) {
  std::vector<std::pair<double, std::size_t>> made;
  const float most = *std::max_element(all.begin(), all.end());
  double sum = 0;
  for (const float x : all) { sum += std::exp(static_cast<double>(x) - static_cast<double>(most)); }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto x = static_cast<double>(all[i]);
    switch (how) {
      case shown_as::share:
        made.emplace_back(std::exp(x - static_cast<double>(most)) / sum, i);
        break;
      case shown_as::independent:
        made.emplace_back(1 / (1 + std::exp(-x)), i);
        break;
      case shown_as::value:
        made.emplace_back(x, i);
        break;
    }
  }
  const auto larger = [](const auto& a, const auto& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  };
  count = std::min(count, made.size());
  std::partial_sort(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(count), made.end(), larger);
  made.resize(count);
  return made;
}

}  // namespace

labels_of labels_in(const std::filesystem::path& folder) {
  switch (models::encoder_task_of(io::config_check(folder / "config.json"))) {
    case models::encoder_task::features:
      return labels_of::nothing;
    case models::encoder_task::text_labels:
      return labels_of::texts;
    case models::encoder_task::token_labels:
      return labels_of::tokens;
    case models::encoder_task::masked_tokens:
      return labels_of::masks;
  }
  refuse("a task is none of those listed");
}

class text_encoder::loaded {
 public:
  loaded(const std::filesystem::path& folder, labels_of heads, const text_options& options)
      : weights_(checked(folder)),
        model_(
            models::read_encoder(io::config_check(folder / "config.json"), weights_, task_of(heads), options.adapter)),
        ids_(text::read_tokenizer(folder, models::extent_in<vocab>(model_.token_embedding.table), weights_.metadata(),
                                  options.lower_case),
             extent_of<vocab>(model_.token_embedding.table), model_.longest(), options),
        quiet_(options.quiet) {}

  [[nodiscard]] std::string description() const {
    char text[160];
    std::snprintf(text, sizeof text, "%s, %zu layers, %.1f million parameters", model_.config.model_type.c_str(),
                  model_.config.layers.size(), static_cast<double>(nn::parameter_count(model_)) / 1e6);
    return text;
  }
  [[nodiscard]] const models::encoder_config& config() const { return model_.config; }
  [[nodiscard]] bool labels_are_values() const {
    return model_.task == models::encoder_task::text_labels && model_.config.labels_are_values;
  }
  [[nodiscard]] std::size_t tokens() const { return tokens_; }
  [[nodiscard]] std::size_t prompt_tokens(const std::string& prompt) const { return ids_.prompt_tokens(prompt); }

  // Texts of similar lengths are computed together: each batch reads the weights once.
  [[nodiscard]] std::vector<std::vector<float>> vectors(const std::vector<std::string>& texts, const std::string& what,
                                                        models::pooling_kind how, std::size_t left_out,
                                                        const models::vector_modules& modules) {
    std::vector<std::vector<token>> ids;
    for (std::size_t i = 0; i < texts.size(); ++i) { ids.push_back(ids_.of(texts[i], named(what, i))); }
    std::vector<std::vector<float>> all(texts.size());
    for_each_batch(ids, what, [&](const std::vector<std::size_t>& chosen, const model_type::batch_type& batch) {
      const auto made = modules(model_.pooled(model_.features(batch), batch.lengths, how, left_out));
      const std::size_t width = extent_of<model_type::d_model>(made);
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        const auto row = made.values().subspan(i * width, width);
        all[chosen[i]].assign(row.begin(), row.end());
      }
    });
    ids_.tell_truncated(what);
    return all;
  }

  [[nodiscard]] std::vector<float> scores(const std::string& query, const std::vector<std::string>& texts,
                                          const std::string& what) {
    if (model_.config.labels.size() != 1) {
      refuse("the model has " + std::to_string(model_.config.labels.size()) +
             " labels; one was expected to rank texts");
    }
    expect_utf8(query, "the query");
    std::vector<std::vector<token>> ids;
    parts_.clear();
    for (std::size_t i = 0; i < texts.size(); ++i) { ids.push_back(pair_of(query, texts[i], named(what, i))); }
    std::vector<float> all(texts.size());
    for_each_batch(ids, what, [&](const std::vector<std::size_t>& chosen, const model_type::batch_type& batch) {
      const auto scores = model_.scores(model_.features(batch), batch.lengths);
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        all[chosen[i]] = scores.values()[i];
        if (!std::isfinite(all[chosen[i]])) { refuse(named(what, chosen[i]) + " has a score that is not finite"); }
      }
    });
    parts_.clear();
    ids_.tell_truncated(what);
    return all;
  }

  [[nodiscard]] std::vector<part_labels> labels(const std::string& text, const std::string& name, std::size_t count) {
    const auto ids = ids_.of(text, name);
    tokens_ += ids.size();
    const auto batch = model_.together(std::span(&ids, 1));
    const auto x = model_.features(batch);
    switch (model_.task) {
      case models::encoder_task::features:
        break;
      case models::encoder_task::text_labels: {
        const auto scores = model_.scores(x, batch.lengths);
        return {{text, chosen(scores.values(), name, count)}};
      }
      case models::encoder_task::token_labels: {
        const auto scores = model_.token_scores(x);
        return each_token(ids, scores.values(), name, count, [&](token w) { return !word(w).empty(); });
      }
      case models::encoder_task::masked_tokens: {
        const auto mask = mask_token();
        const auto logits = model_.logits(x);
        auto made = each_token(ids, logits.values(), name, count, [&](token w) { return w.value == mask.value; });
        if (made.empty()) { refuse(name + " has no " + word(mask, true)); }
        return made;
      }
    }
    refuse("the model has no labels");
  }

 private:
  static const std::filesystem::path& expected(const std::filesystem::path& folder) {
    io::config_check config(folder / "config.json");
    const std::string type = models::model_type_of(config);
    config.finish();
    if (models::find_encoder_family(type) == nullptr) {
      refuse(config.title() + ": model_type is \"" + type.substr(0, 60) + "\"; the encoders that are read are " +
             models::encoder_names_of_types());
    }
    return folder;
  }
  static io::archive checked(const std::filesystem::path& folder) { return io::read_checkpoint(expected(folder)); }
  static std::string named(const std::string& what, std::size_t i) { return what + " " + std::to_string(i + 1); }
  // The ids of a pair; which text each is from goes to `parts_`, if the model distinguishes them.
  [[nodiscard]] std::vector<token> pair_of(const std::string& query, const std::string& text, const std::string& name) {
    auto all = ids_.of(query, text, name);
    if (model_.config.extents.segments > 1) {
      parts_.emplace_back();
      for (const auto type : all.types) { parts_.back().emplace_back(type); }
    }
    return std::move(all.ids);
  }

  template <class Use>
  void for_each_batch(const std::vector<std::vector<token>>& ids, const std::string& what, const Use& use) {
    constexpr std::size_t most_tokens = 512;  // of a batch
    std::vector<std::size_t> order(ids.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return ids[a].size() < ids[b].size(); });
    progress_bar bar(quiet_, what);
    for (std::size_t begin = 0; begin < order.size();) {
      std::size_t end = begin + 1;
      std::size_t tokens = ids[order[begin]].size();
      while (end < order.size() && tokens + ids[order[end]].size() <= most_tokens) {
        tokens += ids[order[end++]].size();
      }
      bar.show(begin, order.size());
      std::vector<std::size_t> chosen(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                      order.begin() + static_cast<std::ptrdiff_t>(end));
      std::vector<std::vector<token>> texts;
      std::vector<std::vector<part>> parts;
      for (const std::size_t i : chosen) {
        texts.push_back(ids[i]);
        tokens_ += ids[i].size();
        if (!parts_.empty()) { parts.push_back(parts_[i]); }
      }
      use(chosen, model_.together(texts, parts));
      begin = end;
    }
  }
  [[nodiscard]] std::string word(token w, bool special = false) const {
    const token one[] = {w};
    return special ? ids_.words().decode(one, text::tokenizer<vocab>::with_special{}) : ids_.words().decode(one);
  }
  [[nodiscard]] token mask_token() const {
    for (const char* name : {"[MASK]", "<mask>"}) {
      if (const auto found = ids_.words().find(name)) { return *found; }
    }
    refuse("the tokenizer has neither [MASK] nor <mask>");
  }
  // As in HuggingFace's pipelines, the labels of a token exclude each other.
  [[nodiscard]] shown_as how_shown() const {
    if (labels_are_values()) { return shown_as::value; }
    const bool texts = model_.task == models::encoder_task::text_labels;
    return texts && model_.config.labels_are_independent ? shown_as::independent : shown_as::share;
  }
  [[nodiscard]] std::vector<labelled> chosen(std::span<const float> scores, const std::string& name,
                                             std::size_t count) const {
    for (const float x : scores) {
      if (!std::isfinite(x)) { refuse(name + " has a score that is not finite"); }
    }
    std::vector<labelled> made;
    const bool tokens = model_.task == models::encoder_task::masked_tokens;
    for (const auto& [number, i] : likeliest(scores, how_shown(), count)) {
      made.push_back({number, tokens ? word(token(i), true) : model_.config.labels[i]});
    }
    return made;
  }
  template <class Counts>
  [[nodiscard]] std::vector<part_labels> each_token(const std::vector<token>& ids, std::span<const float> scores,
                                                    const std::string& name, std::size_t count,
                                                    const Counts& counts) const {
    std::vector<part_labels> made;
    const std::size_t width = scores.size() / ids.size();
    for (std::size_t t = 0; t < ids.size(); ++t) {
      if (counts(ids[t])) {
        made.push_back({word(ids[t], true), chosen(scores.subspan(t * width, width), name, count)});
      }
    }
    return made;
  }

  io::archive weights_;
  model_type model_;
  token_ids<vocab> ids_;
  bool quiet_;
  std::vector<std::vector<part>> parts_{};
  std::size_t tokens_ = 0;
};

text_encoder::text_encoder(const std::filesystem::path& folder, labels_of heads, const text_options& options)
    : loaded_([&] {
        progress_bar bar(options.quiet, "loading " + folder.string());
        const io::watch_loading shown([&](std::size_t done, std::size_t all) { bar.show(done, all); });
        return std::make_unique<loaded>(folder, heads, options);
      }()) {}
text_encoder::~text_encoder() = default;

std::string text_encoder::description() const { return loaded_->description(); }
std::size_t text_encoder::label_count() const { return loaded_->config().labels.size(); }
bool text_encoder::labels_are_values() const { return loaded_->labels_are_values(); }
std::size_t text_encoder::tokens() const { return loaded_->tokens(); }
std::size_t text_encoder::features() const { return loaded_->config().extents.features; }
std::size_t text_encoder::prompt_tokens(const std::string& prompt) const { return loaded_->prompt_tokens(prompt); }
std::vector<std::vector<float>> text_encoder::vectors(const std::vector<std::string>& texts, const std::string& what,
                                                      models::pooling_kind how, std::size_t left_out,
                                                      const models::vector_modules& modules) {
  return loaded_->vectors(texts, what, how, left_out, modules);
}
std::vector<float> text_encoder::scores(const std::string& query, const std::vector<std::string>& texts,
                                        const std::string& what) {
  return loaded_->scores(query, texts, what);
}
std::vector<part_labels> text_encoder::labels(const std::string& text, const std::string& name, std::size_t count) {
  return loaded_->labels(text, name, count);
}

}  // namespace programs
