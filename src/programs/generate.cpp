// src/programs/generate.cpp -- dimwise-generate: continues a text by a model that a folder holds.
//
//   dimwise-generate folder "Once upon a time" -n 100 --temp 0
// SPDX-License-Identifier: BSL-1.0
#include "generate.hpp"

namespace {

using namespace programs;

void add_options(CLI::App& app, generate_options& o, std::string& file) {
  app.add_option("folder", o.folder, "a folder with config.json, model.safetensors or its shards, and a tokenizer")
      ->required();
  auto* const text = app.add_option("text", o.text, "what is continued");
  app.add_option("-f,--file", file, "the file whose text is continued")->excludes(text);
  app.add_option("-n,--predict", o.count, "tokens at most; -1: until the context is full")
      ->check(CLI::Range(-1L, 1L << 40))
      ->capture_default_str();
  app.add_option("-s,--seed", o.seed, "what random numbers follow from; -1: another one each time")
      ->capture_default_str();
  app.add_option("-t,--threads", o.threads, "threads")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("-c,--ctx-size", o.context, "tokens of prompt and text together; 0: the model's, at most 4096")
      ->capture_default_str();
  app.add_option("--temp", o.how.temperature, "temperature; 0: the likeliest token")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--top-k", o.how.top_k, "from the likeliest k; 0: all")->capture_default_str();
  app.add_option("--top-p", o.how.top_p, "from the likeliest that have this probability together; 1: all")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--min-p", o.how.min_p, "from those this much as likely as the likeliest; 0: all")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--repeat-penalty", o.how.repetition_penalty, "above 1: what was said is less likely")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--repeat-last-n", o.how.penalised, "how many tokens back that goes")->capture_default_str();
  app.add_option("--chat-template", o.chat_template, "the text is a question in this form")
      ->check(CLI::IsMember({"chatml"}));
  app.add_option("--system", o.system, "what is said before a question")->capture_default_str();
  app.add_flag("--ignore-eos", o.ignore_end, "go on behind the end of a text");
  app.add_flag("--no-display-prompt", o.hide_prompt, "show what is new alone");
  app.add_flag("-q,--quiet", o.quiet, "nothing but text");
}

int generate(generate_options& o, const std::string& file) {
  if (!file.empty()) { o.text = read_text(file); }
  const std::filesystem::path folder = model_folder(o.folder);
  const std::string kind = model_kind(folder, {"gpt2", "llama"});
  const dimwise::io::config_check config(folder / "config.json");
  std::signal(SIGINT, [](int) { stopped = 1; });
  const with_threads threads(o.threads);
  return kind == "gpt2" ? generate_gpt2(o, config) : generate_llama(o, config);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Continues a text by a language model.", "dimwise-generate");
  generate_options o;
  std::string file;
  add_options(app, o, file);
  return guarded(app, argc, argv, [&] { return generate(o, file); });
}
