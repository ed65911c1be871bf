// src/programs/embed.cpp -- dimwise-embed: vectors of texts, their cosine similarities, and texts ranked for a query.
//
//   dimwise-embed folder "a happy dog" "a happy cat"                     the cosines of all pairs
//   dimwise-embed folder "a happy dog" --file sentences.txt -k 3         the most similar lines of a file
//   dimwise-embed folder --file sentences.txt --npy vectors.npy          the vectors of its lines
//   dimwise-embed rank folder "a happy dog" --file sentences.txt         by vectors, or by a cross-encoder
// SPDX-License-Identifier: BSL-1.0
#include "common.hpp"
#include "encoder_text.hpp"
#include <dimwise/io/npy.hpp>
#include <dimwise/models/sentence_settings.hpp>

#include <algorithm>
#include <string_view>

namespace {

using namespace programs;
using dimwise::models::pooling_kind;
using dimwise::models::sentence_settings;
using vector = std::vector<float>;

struct embed_options {
  bool ranks = false;
  std::string folder;
  std::vector<std::string> texts;
  std::optional<std::string> file;
  std::size_t nearest = 5;
  std::size_t threads = 1;
  std::optional<std::string> prompt;
  std::optional<std::string> npy;
  bool no_prompt = false;
  bool no_truncation = false;
  bool vectors = false;
  bool json = false;
  bool quiet = false;
};

double cosine(const vector& a, const vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) { sum += static_cast<double>(a[i]) * static_cast<double>(b[i]); }
  return sum;
}

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

// The prompt before every text; empty by default.
std::string prompt_of(const embed_options& o, const sentence_settings& settings) {
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
  void cosines(const std::vector<std::string>& texts, const std::vector<vector>& all) const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (const vector& other : all) { std::printf("%8.4f", cosine(all[i], other)); }
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

void tell_loaded(const embed_options& o, const text_encoder& model, const char* how, const stopwatch& loading) {
  if (o.quiet) { return; }
  std::fprintf(stderr, "%s: %s, %s, loaded in %.2f s\n", o.folder.c_str(), model.description().c_str(), how,
               loading.seconds());
}
void tell_speed(const embed_options& o, const text_encoder& model, std::size_t count, const stopwatch& time) {
  if (o.quiet) { return; }
  std::fprintf(stderr, "%zu texts, %zu tokens, %.3f s, %.1f tokens/s\n", count, model.tokens(), time.seconds(),
               static_cast<double>(model.tokens()) / time.seconds());
}

// Vectors of texts by the pooling and the prompt of the folder.
int embed_by_vectors(const embed_options& o, const sentence_settings& settings) {
  const std::string prompt = prompt_of(o, settings);
  const stopwatch loading;
  text_encoder model(settings.transformer, labels_of::nothing,
                     {settings.most_tokens, !o.no_truncation, settings.lower_case, o.quiet});
  tell_loaded(o, model, pooling_name(settings.how), loading);
  // Counted as in sentence-transformers: the ids of the prompt without the final special tokens.
  const std::size_t left_out = prompt.empty() || settings.pools_prompt ? 0 : model.prompt_tokens(prompt);
  const auto vectors = [&](std::vector<std::string> texts, const char* what) {
    for (std::string& one : texts) { one = prompt + one; }
    return model.vectors(texts, what, settings.how, left_out);
  };

  const stopwatch time;
  const output out(o);
  const auto given = vectors(o.texts, "text");
  std::size_t count = given.size();
  if (o.file) {
    const auto lines = lines_of(*o.file);
    const auto those = vectors(lines, "line");
    count += those.size();
    if (given.empty()) { out.vectors(lines, those); }
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!o.json && given.size() > 1) { std::printf("%s%s\n", i > 0 ? "\n" : "", o.texts[i].c_str()); }
      std::vector<double> near;
      for (const vector& one : those) { near.push_back(cosine(given[i], one)); }
      out.ranked(o.texts[i], near, lines);
    }
  } else if (o.ranks) {
    std::vector<double> near;
    for (std::size_t i = 1; i < given.size(); ++i) { near.push_back(cosine(given[0], given[i])); }
    out.ranked(o.texts[0], near, {o.texts.begin() + 1, o.texts.end()});
  } else if (o.vectors || o.json || o.npy || given.size() == 1) {
    out.vectors(o.texts, given);
  } else {
    out.cosines(o.texts, given);
  }
  tell_speed(o, model, count, time);
  return 0;
}

// Scores of pairs of the query and each text.
int rank_by_pairs(const embed_options& o, const std::filesystem::path& folder) {
  const stopwatch loading;
  const auto most = dimwise::models::read_length_limit(folder);
  text_encoder model(folder, labels_of::texts, {most, !o.no_truncation, false, o.quiet});
  tell_loaded(o, model, "cross-encoder", loading);
  const stopwatch time;
  std::vector<std::string> texts(o.texts.begin() + 1, o.texts.end());
  if (o.file) {
    const auto lines = lines_of(*o.file);
    texts.insert(texts.end(), lines.begin(), lines.end());
  }
  const auto found = model.scores(o.texts[0], texts, o.file ? "line" : "text");
  output(o).ranked(o.texts[0], {found.begin(), found.end()}, texts);
  tell_speed(o, model, texts.size(), time);
  return 0;
}

int embed(const embed_options& o) {
  const std::filesystem::path folder(o.folder);
  const bool has_modules = std::filesystem::exists(folder / "modules.json");
  // The modules may refer to a model in a subfolder.
  if (!has_modules) { (void)model_folder(o.folder); }
  const with_threads threads(o.threads, o.quiet);
  if (o.ranks && !has_modules && labels_in(folder) == labels_of::texts) { return rank_by_pairs(o, folder); }
  const auto settings = dimwise::models::read_sentence_settings(folder);
  (void)model_folder(settings.transformer.string());
  return embed_by_vectors(o, settings);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Texts as vectors: their cosines, the nearest lines of a file, or the numbers.", "dimwise-embed");
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
