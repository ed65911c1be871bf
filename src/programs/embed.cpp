// src/programs/embed.cpp -- dimwise-embed: texts as vectors, and how near they are to each other.
//
//   dimwise-embed folder "a happy dog" "a happy cat"                     the cosines of all pairs
//   dimwise-embed folder "a happy dog" --file sentences.txt -k 3         the nearest lines of a file
//   dimwise-embed folder "a happy dog" --vectors                         the numbers
// SPDX-License-Identifier: BSL-1.0
#include "common.hpp"
#include <dimwise/io/config.hpp>
#include <dimwise/models/bert.hpp>
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
  embedding(const Model& model, const text::tokenizer<vocab>& words, const embed_options& o)
      : model_(model), words_(words), o_(o) {}

  [[nodiscard]] std::vector<vector> of(const std::vector<std::string>& texts, const std::string& what) {
    progress_line line(o_.quiet);
    std::vector<vector> all;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (i % 16 == 0) { line.show(what + " " + std::to_string(i) + " of " + std::to_string(texts.size())); }
      expect_utf8(texts[i], what + " " + std::to_string(i + 1));
      const auto ids = words_.encode(texts[i]);
      if (ids.empty()) { refuse(what + " " + std::to_string(i + 1) + " has no tokens"); }
      if (ids.size() > model_.longest()) {
        refuse(what + " " + std::to_string(i + 1) + " has " + std::to_string(ids.size()) + " tokens, the model takes " +
               std::to_string(model_.longest()));
      }
      tokens_ += ids.size();
      try {
        all.push_back(model_.embedded(ids));
      } catch (const number_error&) {
        refuse(what + " " + std::to_string(i + 1) + " has no vector of length 1: its numbers are 0, infinite or NaN");
      }
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
  const embed_options& o_;
  std::size_t tokens_ = 0;
};

template <class Pooling>
int embed_by(const embed_options& o, const char* pooling) {
  const std::filesystem::path folder(o.folder);
  const stopwatch loading;
  progress_line line(o.quiet);
  line.show("loading " + o.folder);
  const io::archive weights = io::read_checkpoint(folder);
  const auto model = models::read_bert<models::bert_dims, Pooling>(io::config_check(folder / "config.json"), weights);
  const auto words = text::read_tokenizer(folder, models::extent_in<vocab>(model.words.table), weights.metadata());
  line.clear();
  if (!o.quiet) {
    std::fprintf(stderr, "%s: BERT, %zu layers, %.1f million parameters, %s, loaded in %.2f s\n", o.folder.c_str(),
                 model.layers.layers.size(), static_cast<double>(nn::parameter_count(model)) / 1e6, pooling,
                 loading.seconds());
  }
  return embedding(model, words, o).run();
}

// What sentence-transformers does behind the model: a step that is not done here would give other vectors.
void check_modules(const std::filesystem::path& folder) {
  const auto path = folder / "modules.json";
  if (!std::filesystem::exists(path)) { return; }
  const auto modules = io::read_json(path);
  if (!modules.is_array()) { refuse(path.string() + ": a list of modules was expected"); }
  for (const auto& one : modules) {
    const bool said = one.is_object() && one.contains("type") && one.at("type").is_string();
    const std::string type = said ? one.at("type").get<std::string>() : "";
    const std::string name = type.substr(type.rfind('.') + 1);  // of Python's module: none is npos, and begins at 0
    if (name != "Transformer" && name != "Pooling" && name != "Normalize") {
      refuse(path.string() + ": a module is \"" + type.substr(0, 60) +
             "\", Transformer, Pooling or Normalize was expected");
    }
  }
}

// As sentence-transformers says it beside the model; the mean where nothing is said.
int embed(const embed_options& o) {
  const std::filesystem::path folder = model_folder(o.folder);
  (void)model_kind(folder, {"bert"});
  check_modules(folder);
  const with_threads threads(o.threads, o.quiet);
  const auto beside = folder / "1_Pooling" / "config.json";
  if (!std::filesystem::exists(beside)) { return embed_by<models::mean_pooling>(o, "mean of the words"); }
  io::config_check said(beside);
  const bool mean = said.flag("pooling_mode_mean_tokens", false);
  const bool first = said.flag("pooling_mode_cls_token", false);
  const std::size_t features = io::config_check(folder / "config.json").count("hidden_size", 1);
  const std::size_t pooled = said.count("word_embedding_dimension", features);
  said.finish();
  if (pooled != features) {
    refuse(said.title() + ": word_embedding_dimension is " + std::to_string(pooled) + ", but hidden_size is " +
           std::to_string(features));
  }
  for (const char* other : {"pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
                            "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"}) {
    if (said.flag(other, false)) { refuse(said.title() + ": " + other + " is not supported"); }
  }
  if (mean == first) { refuse(said.title() + ": the mean or the first word was expected"); }
  return mean ? embed_by<models::mean_pooling>(o, "mean of the words")
              : embed_by<models::first_pooling>(o, "the first word");
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
  app.add_flag("--vectors", o.vectors, "show the numbers of each text")->excludes(file);
  app.add_flag("-q,--quiet", o.quiet, "nothing on stderr but what went wrong");
  return guarded(app, argc, argv, [&] { return embed(o); });
}
