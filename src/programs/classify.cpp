// src/programs/classify.cpp -- dimwise-classify: the labels of texts or of their tokens with probabilities, and the
// tokens of masks.
//
//   dimwise-classify folder "what a film"                      a classifier of texts: label and probability
//   dimwise-classify folder --file reviews.txt --json          a line of JSON for each text
// SPDX-License-Identifier: BSL-1.0
#include "common.hpp"
#include "encoder_text.hpp"
#include <dimwise/models/sentence_settings.hpp>

namespace {

using namespace programs;

struct classify_options {
  std::string folder;
  std::vector<std::string> texts;
  std::optional<std::string> file;
  std::size_t count = 1;
  std::size_t threads = 1;
  bool no_truncation = false;
  bool json = false;
  bool quiet = false;
};

// As text, and not as a tree: the destructor of a tree of nlohmann's allocates, and terminates if memory runs out.
void print_json(const std::string& text, const std::vector<part_labels>& parts, bool whole, bool values) {
  std::string list;
  for (const part_labels& one : parts) {
    for (const labelled& l : one.labels) {
      list += (list.empty() ? "" : ",") + std::string("{\"label\":") + quoted(l.label) +
              (values ? ",\"value\":" : ",\"probability\":") + nlohmann::json(l.number).dump();
      list += whole ? "}" : ",\"token\":" + quoted(one.part) + "}";
    }
  }
  if (whole) {
    std::printf("{\"labels\":[%s],\"text\":%s}\n", list.c_str(), quoted(text).c_str());
  } else {
    std::printf("{\"text\":%s,\"tokens\":[%s]}\n", quoted(text).c_str(), list.c_str());
  }
}

void print(const std::vector<part_labels>& parts) {
  for (const part_labels& one : parts) {
    for (const labelled& l : one.labels) {
      std::printf("%8.4f  %s  %s\n", l.number, l.label.c_str(), one.part.c_str());
    }
  }
}

int classify(const classify_options& o) {
  const auto folder = model_folder(o.folder);
  const labels_of kind = labels_in(folder);
  if (kind == labels_of::nothing) {
    refuse((folder / "config.json").string() +
           ": architectures names no class ForSequenceClassification, ForTokenClassification or ForMaskedLM");
  }
  const with_threads threads(o.threads, o.quiet);
  const stopwatch loading;
  const auto most = dimwise::models::read_length_limit(folder);
  text_encoder model(folder, kind, {most, !o.no_truncation, false, o.quiet});
  if (!o.quiet) {
    std::fprintf(stderr, "%s: %s, loaded in %.2f s\n", o.folder.c_str(), model.description().c_str(),
                 loading.seconds());
  }
  auto texts = o.texts;
  if (o.file) {
    for (std::string& one : lines_of(*o.file)) { texts.push_back(std::move(one)); }
  }
  const stopwatch time;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto found = model.labels(texts[i], (o.file ? "line " : "text ") + std::to_string(i + 1), o.count);
    const bool whole = kind == labels_of::texts;
    if (!o.json && !whole && texts.size() > 1) { std::printf("%s%s\n", i > 0 ? "\n" : "", texts[i].c_str()); }
    o.json ? print_json(texts[i], found, whole, model.labels_are_values()) : print(found);
  }
  if (!o.quiet) {
    std::fprintf(stderr, "%zu texts, %zu tokens, %.3f s\n", texts.size(), model.tokens(), time.seconds());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The labels of texts or of their tokens with probabilities, or the tokens of masks.",
               "dimwise-classify");
  classify_options o;
  app.add_option("folder", o.folder, "a folder with config.json, model.safetensors or its shards, and a tokenizer")
      ->required();
  auto* const texts = app.add_option("texts", o.texts, "the texts");
  app.add_option("-f,--file", o.file, "a file whose lines are the texts; - is standard input")->excludes(texts);
  app.add_option("-k,--top", o.count, "how many labels are shown")
      ->check(whole_numbers(1, "a whole number of 1 or more"))
      ->capture_default_str();
  app.add_option("-t,--threads", o.threads, "threads")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_flag("--no-truncation", o.no_truncation, "reject texts longer than the model takes");
  app.add_flag("--json", o.json, "JSON lines");
  app.add_flag("-q,--quiet", o.quiet, "nothing on stderr but what went wrong");
  app.final_callback([&] {
    if (o.texts.empty() && !o.file) { throw CLI::RequiredError("texts, or --file"); }
  });
  return guarded(app, argc, argv, [&] { return classify(o); });
}
