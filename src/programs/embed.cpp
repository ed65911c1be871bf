// src/programs/embed.cpp -- dimwise-embed: sentence embeddings and their cosine similarities.
//
//   dimwise-embed folder "a happy dog" "a happy cat"                     the cosines of all pairs
//   dimwise-embed folder "a happy dog" --file sentences.txt -k 3         the most similar lines of a file
//   dimwise-embed folder "a happy dog" --vectors                         the vectors
// SPDX-License-Identifier: BSL-1.0
#include "common.hpp"
#include <dimwise/io/config.hpp>
#include <dimwise/models/bert.hpp>
#include <dimwise/models/sentence_settings.hpp>
#include <dimwise/nn/model.hpp>
#include <dimwise/text/folder.hpp>

#include <sstream>

namespace {

using namespace programs;
using namespace dimwise;
using vocab = models::bert_dims::vocab;
using d_model = models::bert_dims::d_model;
using vector = tensor<float, d_model>;

struct embed_options {
  std::string folder;
  std::vector<std::string> texts;
  std::optional<std::string> file;
  std::size_t nearest = 5;
  std::size_t threads = 1;
  std::optional<std::string> prompt;
  bool no_prompt = false;
  bool no_truncation = false;
  bool vectors = false;
  bool quiet = false;
};

std::vector<std::string> lines_of(const std::string& name) {
  std::istringstream file(read_text(name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) { line.pop_back(); }
    if (line.find_first_not_of(" \t\r") != std::string::npos) { lines.push_back(line); }
  }
  if (lines.empty()) { refuse(name + ": has no line with text"); }
  return lines;
}

double cosine(const vector& a, const vector& b) {
  const float c = sum<d_model>(a * b);
  return static_cast<double>(c);
}

template <class Model>
class embedding {
 public:
  embedding(const Model& model, const text::tokenizer<vocab>& words, const models::sentence_settings& settings,
            const std::string& prompt, const embed_options& o)
      : model_(model), words_(words), settings_(settings), prompt_(prompt), o_(o) {
    // Counted as in sentence-transformers: the ids of the prompt without the final special tokens.
    if (!prompt.empty() && !settings.pools_prompt) {
      prompt_tokens_ = words.prefix_size() + words.encode(prompt, text::tokenizer<vocab>::bare{}).size();
    }
  }

  [[nodiscard]] std::vector<vector> of(const std::vector<std::string>& texts, const std::string& what) {
    progress_line line(o_.quiet);
    std::vector<vector> all;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (i % 16 == 0) { line.show(what + " " + std::to_string(i) + " of " + std::to_string(texts.size())); }
      const std::string name = what + " " + std::to_string(i + 1);
      expect_utf8(texts[i], name);
      const auto ids = ids_of(prompt_ + texts[i], name);
      tokens_ += ids.size();
      try {
        all.push_back(model_.embedded(ids, prompt_tokens_));
      } catch (const number_error&) { refuse(name + " has no vector of length 1: its numbers are 0, infinite or NaN"); }
    }
    line.clear();
    if (truncated_ > 0 && !o_.quiet) {
      std::fprintf(stderr, "%zu of the %ss were truncated to %zu tokens\n", std::exchange(truncated_, 0), what.c_str(),
                   most());
    }
    return all;
  }

  int run() {
    const stopwatch time;
    const auto given = of(o_.texts, "text");
    std::size_t count = given.size();
    if (o_.file) {
      const auto lines = lines_of(*o_.file);
      const auto those = of(lines, "line");
      count += those.size();
      for (std::size_t i = 0; i < given.size(); ++i) { print_nearest(i, given[i], lines, those); }
    } else if (o_.vectors || given.size() == 1) {
      for (const vector& v : given) { print(v); }
    } else {
      print_cosines(given);
    }
    if (!o_.quiet) {
      std::fprintf(stderr, "%zu texts, %zu tokens, %.3f s, %.1f tokens/s\n", count, tokens_, time.seconds(),
                   static_cast<double>(tokens_) / time.seconds());
    }
    return 0;
  }

 private:
  [[nodiscard]] std::size_t most() const {
    return std::min(settings_.most_tokens.value_or(model_.longest()), model_.longest());
  }
  [[nodiscard]] std::vector<models::bert<models::bert_dims>::token> ids_of(const std::string& text,
                                                                           const std::string& name) {
    auto ids = words_.encode(text);
    if (ids.empty()) { refuse(name + " has no tokens"); }
    for (const auto w : ids) {
      if (w.value >= extent_of<vocab>(model_.token_embedding.table)) {
        refuse(name + " has a token of the id " + std::to_string(w.value) + ", the model has " +
               std::to_string(extent_of<vocab>(model_.token_embedding.table)) + " words");
      }
    }
    if (ids.size() > most()) {
      if (!settings_.most_tokens || o_.no_truncation) {
        refuse(name + " has " + std::to_string(ids.size()) + " tokens, the model takes " + std::to_string(most()));
      }
      ids = words_.encode(text, text::tokenizer<vocab>::at_most{most()});
      ++truncated_;
    }
    return ids;
  }
  static void print(const vector& v) {
    const char* between = "";
    for (const float x : v.values()) {
      std::printf("%s%.6f", between, static_cast<double>(x));
      between = " ";
    }
    std::printf("\n");
  }
  void print_cosines(const std::vector<vector>& given) const {
    for (std::size_t i = 0; i < given.size(); ++i) {
      for (const vector& other : given) { std::printf("%8.4f", cosine(given[i], other)); }
      std::printf("  %s\n", o_.texts[i].c_str());
    }
  }
  void print_nearest(std::size_t which, const vector& to, const std::vector<std::string>& lines,
                     const std::vector<vector>& those) const {
    std::vector<std::pair<double, std::size_t>> near;
    for (std::size_t i = 0; i < those.size(); ++i) { near.emplace_back(-cosine(to, those[i]), i); }
    std::sort(near.begin(), near.end());
    if (o_.texts.size() > 1) { std::printf("%s%s\n", which > 0 ? "\n" : "", o_.texts[which].c_str()); }
    for (std::size_t i = 0; i < std::min(o_.nearest, near.size()); ++i) {
      std::printf("%8.4f  %s\n", -near[i].first, lines[near[i].second].c_str());
    }
  }

  const Model& model_;
  const text::tokenizer<vocab>& words_;
  const models::sentence_settings& settings_;
  const std::string& prompt_;
  const embed_options& o_;
  std::size_t tokens_ = 0;
  std::size_t prompt_tokens_ = 0;  // which the pooling leaves out
  std::size_t truncated_ = 0;
};

// The prompt before every text; empty by default.
std::string prompt_of(const embed_options& o, const models::sentence_settings& settings) {
  const auto name = o.prompt ? o.prompt : o.no_prompt ? std::nullopt : settings.default_prompt;
  if (!name) { return {}; }
  const auto found = settings.prompts.find(*name);
  if (found == settings.prompts.end()) {
    std::string names;
    for (const auto& [one, text] : settings.prompts) { names += (names.empty() ? "" : ", ") + one; }
    refuse(o.folder + ": there is no prompt " + *name + (names.empty() ? "" : "; there are " + names));
  }
  return found->second;
}

template <class Pooling>
int embed_by(const embed_options& o, const models::sentence_settings& settings, const char* pooling) {
  const std::string prompt = prompt_of(o, settings);
  const std::filesystem::path& folder = settings.transformer;
  const stopwatch loading;
  progress_line line(o.quiet);
  line.show("loading " + o.folder);
  const io::archive weights = io::read_checkpoint(folder);
  const auto model = models::read_bert<models::bert_dims, Pooling>(io::config_check(folder / "config.json"), weights);
  const auto words = text::read_tokenizer(folder, models::extent_in<vocab>(model.token_embedding.table),
                                          weights.metadata(), settings.lower_case);
  line.clear();
  if (!o.quiet) {
    std::fprintf(stderr, "%s: BERT, %zu layers, %.1f million parameters, %s, loaded in %.2f s\n", o.folder.c_str(),
                 model.layers.layers.size(), static_cast<double>(nn::parameter_count(model)) / 1e6, pooling,
                 loading.seconds());
  }
  return embedding(model, words, settings, prompt, o).run();
}

int embed(const embed_options& o) {
  const std::filesystem::path folder(o.folder);
  // The modules may refer to a model in a subfolder.
  if (!std::filesystem::exists(folder / "modules.json")) { (void)model_folder(o.folder); }
  const auto settings = models::read_sentence_settings(folder);
  (void)model_kind(model_folder(settings.transformer.string()), {"bert"});
  const with_threads threads(o.threads, o.quiet);
  using pooling = models::sentence_settings::pooling;
  switch (settings.how) {
    case pooling::first:
      return embed_by<models::first_pooling>(o, settings, "the first token");
    case pooling::max:
      return embed_by<models::max_pooling>(o, settings, "maximum of the tokens");
    case pooling::mean:
      return embed_by<models::mean_pooling>(o, settings, "mean of the tokens");
    case pooling::mean_sqrt:
      return embed_by<models::mean_sqrt_pooling>(o, settings, "sum of n tokens over √n");
    case pooling::weighted_mean:
      return embed_by<models::weighted_mean_pooling>(o, settings, "mean of the tokens, later ones weigh more");
    case pooling::last:
      return embed_by<models::last_pooling>(o, settings, "the last token");
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Texts as vectors: their cosines, the nearest lines of a file, or the numbers.", "dimwise-embed");
  embed_options o;
  app.add_option("folder", o.folder, "a folder with config.json, model.safetensors or its shards, and a tokenizer")
      ->required();
  app.add_option("texts", o.texts, "the texts; one alone is shown as numbers")->required();
  auto* const file = app.add_option("-f,--file", o.file, "a file whose lines are compared with the texts");
  app.add_option("-k,--nearest", o.nearest, "how many lines of the file are shown")
      ->needs(file)
      ->check(whole_numbers(1, "a whole number of 1 or more"))
      ->capture_default_str();
  app.add_option("-t,--threads", o.threads, "threads")->check(CLI::Range(1, 1024))->capture_default_str();
  auto* const prompt = app.add_option("--prompt", o.prompt, "the prompt before each text, by its name in the folder");
  app.add_flag("--no-prompt", o.no_prompt, "without the folder's default prompt")->excludes(prompt);
  app.add_flag("--no-truncation", o.no_truncation, "reject texts longer than the folder's max_seq_length");
  app.add_flag("--vectors", o.vectors, "show the numbers of each text")->excludes(file);
  app.add_flag("-q,--quiet", o.quiet, "nothing on stderr but what went wrong");
  return guarded(app, argc, argv, [&] { return embed(o); });
}
