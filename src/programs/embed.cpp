// src/programs/embed.cpp -- dimwise-embed: vectors of texts, their similarities, and texts ranked for a query.
//
//   dimwise-embed folder "a happy dog" "a happy cat"                     the similarities of all pairs
//   dimwise-embed folder "a happy dog" --file sentences.txt -k 3         the most similar lines of a file
//   dimwise-embed folder --file sentences.txt --npy vectors.npy          the vectors of its lines
//   dimwise-embed rank folder "a happy dog" --file sentences.txt         by vectors, or by a cross-encoder
//   dimwise-embed folder "a dog" "a cat" --adapter text-matching        with the adapter of a task
// SPDX-License-Identifier: BSL-1.0
#include "common.hpp"
#include "text_vectors.hpp"
#include <dimwise/io/npy.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace {

using namespace programs;
using dimwise::models::sentence_settings;
using dimwise::models::similarity_kind;
using vector = std::vector<float>;

struct embed_options {
  bool ranks = false;
  std::string folder;
  std::vector<std::string> texts;
  std::optional<std::string> file;
  std::size_t nearest = 5;
  std::size_t threads = 1;
  std::optional<std::string> prompt;
  std::string adapter;
  std::string text_adapter;
  std::optional<std::string> npy;
  std::optional<std::size_t> dimensions;
  bool no_prompt = false;
  bool no_truncation = false;
  bool vectors = false;
  bool json = false;
  bool quiet = false;
};

// How similar two vectors are; distances are negative. The cosine of zeros is 0.
double similarity(similarity_kind kind, const vector& a, const vector& b) {
  double product = 0;
  double lengths[] = {0, 0};
  double squares = 0;
  double differences = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]);
    const auto y = static_cast<double>(b[i]);
    product += x * y;
    lengths[0] += x * x;
    lengths[1] += y * y;
    squares += (x - y) * (x - y);
    differences += std::abs(x - y);
  }
  switch (kind) {
    case similarity_kind::cosine:
      return product == 0 ? 0 : product / std::sqrt(lengths[0] * lengths[1]);
    case similarity_kind::dot:
      return product;
    case similarity_kind::euclidean:
      return -std::sqrt(squares);
    case similarity_kind::manhattan:
      return -differences;
  }
  refuse("a similarity is none of those listed");
}

// The prompt of this name.
std::string prompt_named(const std::string& name, const embed_options& o, const sentence_settings& settings) {
  const auto found = settings.prompts.find(name);
  if (found == settings.prompts.end()) {
    std::string names;
    for (const auto& [one, text] : settings.prompts) { names += (names.empty() ? "" : ", ") + one; }
    refuse(o.folder + ": there is no prompt " + name + (names.empty() ? "" : "; there are " + names));
  }
  return found->second;
}
// The prompt before every text: that of the adapter, or the first of `names` that the folder has, otherwise its default
// prompt.
std::string prompt_of(const embed_options& o, const sentence_settings& settings, const std::string& adapter,
                      std::initializer_list<const char*> names = {}) {
  if (o.prompt) { return prompt_named(*o.prompt, o, settings); }
  if (o.no_prompt) { return {}; }
  if (const auto found = settings.prompts.find(adapter); !adapter.empty() && found != settings.prompts.end()) {
    return found->second;
  }
  for (const char* name : names) {
    if (const auto found = settings.prompts.find(name); found != settings.prompts.end()) { return found->second; }
  }
  return settings.default_prompt ? prompt_named(*settings.default_prompt, o, settings) : std::string();
}

class output {
 public:
  explicit output(const embed_options& o) : o_(o) {}

  void vectors(const std::vector<std::string>& texts, const std::vector<vector>& all) const {
    if (o_.npy) {
      save(all);
      return;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (o_.json) { std::printf("{\"text\": %s, \"vector\": [", quoted(texts[i]).c_str()); }
      const char* between = "";
      for (const float x : all[i]) {
        std::printf(o_.json ? "%s%.9g" : "%s%.6f", between, static_cast<double>(x));
        between = o_.json ? ", " : " ";
      }
      std::printf(o_.json ? "]}\n" : "\n");
    }
  }
  void similarities(similarity_kind kind, const std::vector<std::string>& texts, const std::vector<vector>& all) const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (const vector& other : all) { std::printf("%8.4f", similarity(kind, all[i], other)); }
      std::printf("  %s\n", texts[i].c_str());
    }
  }
  // The texts with the largest scores.
  void ranked(const std::string& query, const std::vector<double>& scores,
              const std::vector<std::string>& texts) const {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < scores.size(); ++i) { order.emplace_back(-scores[i], i); }
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < std::min(o_.nearest, order.size()); ++i) {
      const double score = -order[i].first;
      const std::string& text = texts[order[i].second];
      if (o_.json) {
        std::printf("{\"query\": %s, \"line\": %zu, \"score\": %.9g, \"text\": %s}\n", quoted(query).c_str(),
                    order[i].second + 1, score, quoted(text).c_str());
      } else {
        std::printf("%8.4f  %s\n", score, text.c_str());
      }
    }
  }

 private:
  void save(const std::vector<vector>& all) const {
    vector numbers;
    for (const vector& one : all) { numbers.insert(numbers.end(), one.begin(), one.end()); }
    dimwise::io::write_npy(*o_.npy, {"vectors",
                                     dimwise::io::element_type::f32,
                                     {all.size(), all.front().size()},
                                     std::as_bytes(std::span<const float>(numbers))});
  }
  const embed_options& o_;
};

void tell_loaded(const embed_options& o, const std::string& model, const stopwatch& loading) {
  if (o.quiet) { return; }
  std::fprintf(stderr, "%s: %s, loaded in %.2f s\n", o.folder.c_str(), model.c_str(), loading.seconds());
}
void tell_speed(const embed_options& o, std::size_t texts, std::size_t tokens, const stopwatch& time) {
  if (o.quiet) { return; }
  std::fprintf(stderr, "%zu texts, %zu tokens, %.3f s, %.1f tokens/s\n", texts, tokens, time.seconds(),
               static_cast<double>(tokens) / time.seconds());
}

// Vectors of texts by the modules and the prompts of the folder.
int embed_by_vectors(const embed_options& o, const sentence_settings& settings) {
  // As encode_query and encode_document of sentence-transformers, or encode.
  const std::string& text_adapter = o.text_adapter.empty() ? o.adapter : o.text_adapter;
  const std::string prompt = o.ranks ? prompt_of(o, settings, o.adapter, {"query"}) : prompt_of(o, settings, o.adapter);
  const std::string other = o.ranks ? prompt_of(o, settings, text_adapter, {"document", "passage", "corpus"}) : prompt;
  text_options how{settings.most_tokens, !o.no_truncation, settings.lower_case, o.quiet, o.adapter};
  const stopwatch loading;
  std::optional<text_vectors> model(std::in_place, settings, how);
  tell_loaded(o, model->description(), loading);

  const stopwatch time;
  const output out(o);
  const std::size_t queries = o.ranks ? 1 : o.texts.size();
  const std::vector<std::string> begin(o.texts.begin(), o.texts.begin() + static_cast<std::ptrdiff_t>(queries));
  const auto given = model->vectors(begin, "text", prompt);
  std::size_t tokens = 0;
  const auto vectors_of_others = [&](const std::vector<std::string>& texts, const char* what) {
    if (text_adapter != how.adapter) {  // one adapter is in memory at a time
      how.adapter = text_adapter;
      tokens = model->tokens();
      model.emplace(settings, how);
    }
    return model->vectors(texts, what, other);
  };
  std::size_t count = given.size();
  const auto rank = [&](const std::vector<std::string>& texts, const std::vector<vector>& those) {
    count += those.size();
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!o.json && given.size() > 1) { std::printf("%s%s\n", i > 0 ? "\n" : "", o.texts[i].c_str()); }
      std::vector<double> near;
      for (const vector& one : those) { near.push_back(similarity(settings.similarity, given[i], one)); }
      out.ranked(o.texts[i], near, texts);
    }
  };
  if (o.file) {
    const auto lines = lines_of(*o.file);
    const auto those = vectors_of_others(lines, "line");
    if (given.empty()) { out.vectors(lines, those); }
    rank(lines, those);
  } else if (o.ranks) {
    const std::vector<std::string> texts(o.texts.begin() + 1, o.texts.end());
    rank(texts, vectors_of_others(texts, "text"));
  } else if (o.vectors || o.json || o.npy || given.size() == 1) {
    out.vectors(o.texts, given);
  } else {
    out.similarities(settings.similarity, o.texts, given);
  }
  tell_speed(o, count, tokens + model->tokens(), time);
  return 0;
}

// Scores of pairs of the query and each text.
int rank_by_pairs(const embed_options& o, const std::filesystem::path& folder) {
  const stopwatch loading;
  const auto most = dimwise::models::read_length_limit(folder);
  text_encoder model(folder, labels_of::texts, {most, !o.no_truncation, false, o.quiet});
  tell_loaded(o, model.description() + ", cross-encoder", loading);
  const stopwatch time;
  std::vector<std::string> texts(o.texts.begin() + 1, o.texts.end());
  if (o.file) {
    const auto lines = lines_of(*o.file);
    texts.insert(texts.end(), lines.begin(), lines.end());
  }
  const auto found = model.scores(o.texts[0], texts, o.file ? "line" : "text");
  output(o).ranked(o.texts[0], {found.begin(), found.end()}, texts);
  tell_speed(o, texts.size(), model.tokens(), time);
  return 0;
}

int embed(const embed_options& o) {
  const std::filesystem::path folder(o.folder);
  const bool has_modules = std::filesystem::exists(folder / "modules.json");
  // The modules may refer to a model in a subfolder.
  if (!has_modules) { (void)model_folder(o.folder); }
  const with_threads threads(o.threads, o.quiet);
  if (o.ranks && !has_modules && labels_in(folder) == labels_of::texts) { return rank_by_pairs(o, folder); }
  auto settings = dimwise::models::read_sentence_settings(folder);
  if (!settings.is_static) { (void)model_folder(settings.transformer.string()); }
  if (o.dimensions) { settings.dimensions = o.dimensions; }
  return embed_by_vectors(o, settings);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Texts as vectors: their similarities, the nearest lines of a file, or the numbers.", "dimwise-embed");
  embed_options o;
  o.ranks = argc > 1 && std::string_view(argv[1]) == "rank";
  if (o.ranks) {
    app.description("rank: texts in the order in which they answer a query, by their vectors or by a cross-encoder.");
    o.nearest = 10;
    --argc;
    ++argv;
  } else {
    app.footer("dimwise-embed rank --help: texts in the order in which they answer a query");
  }
  app.add_option("folder", o.folder, "a folder with config.json, model.safetensors or its shards, and a tokenizer")
      ->required();
  app.add_option("texts", o.texts, o.ranks ? "the query, and the texts" : "the texts; one alone is shown as numbers");
  auto* const file = app.add_option("-f,--file", o.file,
                                    o.ranks ? "a file whose lines are ranked; - is standard input"
                                            : "a file whose lines are compared with the texts; - is standard input");
  auto* const nearest = app.add_option("-k,--nearest", o.nearest, "how many lines of the file are shown")
                            ->check(whole_numbers(1, "a whole number of 1 or more"))
                            ->capture_default_str();
  app.add_option("-t,--threads", o.threads, "threads")->check(CLI::Range(1, 1024))->capture_default_str();
  auto* const prompt = app.add_option("--prompt", o.prompt, "the prompt before each text, by its name in the folder");
  app.add_flag("--no-prompt", o.no_prompt, "without the folder's default prompt")->excludes(prompt);
  app.add_flag("--no-truncation", o.no_truncation, "reject texts longer than the folder's max_seq_length");
  app.add_option("--truncate-dim", o.dimensions, "keep so many features of a vector, the first")
      ->check(whole_numbers(1, "a whole number of 1 or more"));
  auto* const adapter = app.add_option("--adapter", o.adapter,
                                       "the adapter of a task, by its name in the folder, and the prompt of that name");
  if (o.ranks) {
    app.add_option("--text-adapter", o.text_adapter, "the adapter of the texts, if it is not that of the query")
        ->needs(adapter);
  }
  auto* const json = app.add_flag("--json", o.json, "JSON lines");
  if (!o.ranks) {
    nearest->needs(file);
    app.add_flag("--vectors", o.vectors, "show the numbers of each text")->excludes(file);
    app.add_option("--npy", o.npy, "write the vectors to this file, as an array of NumPy")->excludes(json);
  }
  app.add_flag("-q,--quiet", o.quiet, "nothing on stderr but what went wrong");
  app.final_callback([&] {
    if (o.ranks && (o.texts.empty() || (o.texts.size() < 2 && !o.file))) {
      throw CLI::RequiredError("a query, and texts or --file");
    }
    if (o.texts.empty() && !o.file) { throw CLI::RequiredError("texts, or --file"); }
    if (o.ranks && o.texts.size() > 1 && o.file) { throw CLI::ValidationError("texts", "exclude --file"); }
    if (o.npy && !o.texts.empty() && o.file) { throw CLI::ValidationError("--npy", "takes texts or --file"); }
  });
  return guarded(app, argc, argv, [&] { return embed(o); });
}
