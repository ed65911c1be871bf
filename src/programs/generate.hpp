// src/programs/generate.hpp -- dimwise-generate: a text is continued by a model, whichever it is.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "common.hpp"
#include <dimwise/io/config.hpp>
#include <dimwise/io/shards.hpp>
#include <dimwise/models/sampling.hpp>
#include <dimwise/nn/model.hpp>
#include <dimwise/text/folder.hpp>
#include <dimwise/text/text_stream.hpp>

#include <csignal>
#include <set>

namespace programs {

struct generate_options {
  std::string folder;
  std::string text;
  long count = 256;
  long seed = -1;
  std::size_t threads = 1;
  std::size_t context = 0;
  dimwise::models::sampling how;
  std::string chat_template;
  std::string system = "You are a helpful assistant";
  bool ignore_end = false;
  bool hide_prompt = false;
  bool quiet = false;
};

inline volatile std::sig_atomic_t stopped = 0;

/// The ids that end a text: config.json's, and those of generation_config.json.
inline std::set<std::size_t> ends_of_text(const std::filesystem::path& folder) {
  std::set<std::size_t> ends;
  for (const char* name : {"config.json", "generation_config.json"}) {
    if (!std::filesystem::exists(folder / name)) { continue; }
    const auto settings = dimwise::io::read_json(folder / name);
    if (!settings.is_object() || !settings.contains("eos_token_id")) { continue; }
    const auto& id = settings.at("eos_token_id");
    for (const auto& one : id.is_array() ? id : nlohmann::json::array({id})) {
      if (one.is_number_unsigned()) { ends.insert(one.get<std::size_t>()); }
    }
  }
  return ends;
}

/// A question in the form that models for conversations were trained on.
inline std::string chatml(const std::string& system, const std::string& question) {
  return "<|im_start|>system\n" + system + "<|im_end|>\n<|im_start|>user\n" + question +
         "<|im_end|>\n<|im_start|>assistant\n";
}

/// Shows the text as it comes, and at the end how fast it came.
template <class Model>
class generation {
 public:
  using word = typename Model::word;
  using vocab = typename Model::vocab;

  generation(const generate_options& o, const Model& model, const dimwise::text::tokenizer<vocab>& words)
      : o_(o), model_(model), words_(words), ends_(ends_of_text(o.folder)) {}

  int run() {
    const bool chats = !o_.chat_template.empty();
    std::vector<word> all = words_.encode(chats ? chatml(o_.system, o_.text) : o_.text);
    check(all);
    const std::size_t room = context() - all.size();
    const std::size_t most = o_.count < 0 ? room : std::min<std::size_t>(room, static_cast<std::size_t>(o_.count));
    const std::uint64_t seed = o_.seed < 0 ? std::random_device{}() : static_cast<std::uint64_t>(o_.seed);
    if (!o_.quiet && o_.how.temperature > 0) {
      std::fprintf(stderr, "seed: %llu\n", static_cast<unsigned long long>(seed));
    }
    const auto asked = static_cast<double>(all.size());

    auto past = model_.start(all.size() + most);
    const stopwatch reading;
    auto logits = read(all, past);
    const double read_seconds = reading.seconds();
    if (stopped != 0) { return 130; }

    if (!o_.hide_prompt && !chats) { show(o_.text); }
    dimwise::text::text_stream<vocab> stream(words_, all);
    dimwise::nn::random numbers(seed);
    const stopwatch writing;
    std::size_t made = 0;
    bool ended = false;
    while (made < most && stopped == 0) {
      const word next = dimwise::models::sample(logits, o_.how, all, numbers);
      if (!o_.ignore_end && ends_.contains(static_cast<std::size_t>(next.value))) {
        ended = true;
        break;
      }
      all.push_back(next);
      ++made;
      show(stream.next(next));
      if (made < most) { logits = model_.next(std::span(&all.back(), 1), past); }
    }
    const double write_seconds = writing.seconds();
    show("\n");
    if (!o_.quiet) {
      std::fprintf(stderr, "prompt: %.0f tokens, %.3f s, %.1f tokens/s\n", asked, read_seconds, asked / read_seconds);
      std::fprintf(stderr, "generation: %zu tokens, %.3f s, %.1f tokens/s\n", made, write_seconds,
                   static_cast<double>(made) / write_seconds);
      if (stopped == 0 && !ended && made == room && (o_.count < 0 || made < static_cast<std::size_t>(o_.count))) {
        std::fprintf(stderr, "the context of %zu tokens is full\n", context());
      }
    }
    return stopped != 0 ? 130 : 0;
  }

 private:
  [[nodiscard]] std::size_t context() const {
    return o_.context == 0 ? std::min<std::size_t>(model_.longest(), 4096) : o_.context;
  }
  void check(std::vector<word>& all) const {
    if (context() > model_.longest()) {
      refuse("a context of " + std::to_string(context()) + " tokens was asked for, the model has " +
             std::to_string(model_.longest()));
    }
    if (all.empty()) { refuse("the text has no tokens: a model continues something"); }
    if (all.size() >= context()) {
      refuse("the text has " + std::to_string(all.size()) + " tokens, the context " + std::to_string(context()) +
             ": there is no room for more");
    }
  }
  // The logits behind the prompt, which goes through in parts, so that progress is seen and Ctrl-C is heard.
  auto read(const std::vector<word>& all, typename Model::state& past) const {
    constexpr std::size_t part = 128;
    progress_line line(o_.quiet);
    const std::span<const word> words(all);
    std::size_t at = 0;
    for (; at + part < all.size() && stopped == 0; at += part) {
      line.show("prompt: " + std::to_string(at) + " of " + std::to_string(all.size()) + " tokens");
      (void)model_.features(words.subspan(at, part), past);
    }
    return model_.next(words.subspan(at, std::min(part, all.size() - at)), past);
  }
  static void show(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  const generate_options& o_;
  const Model& model_;
  const dimwise::text::tokenizer<vocab>& words_;
  std::set<std::size_t> ends_;
};

/// Reads the folder by `read(weights)`, and continues the text.
template <class Read>
int generate_with(const generate_options& o, const char* kind, const Read& read) {
  using namespace dimwise;
  const stopwatch loading;
  progress_line line(o.quiet);
  const std::filesystem::path folder(o.folder);
  line.show("loading " + o.folder);
  const io::archive weights = io::read_checkpoint(folder);
  std::size_t bytes = 0;
  for (const auto& a : weights.arrays()) { bytes += a.bytes.size(); }
  line.show("loading " + o.folder + ": " + std::to_string(bytes / 1000000) + " MB");
  const auto model = read(weights);
  using model_type = std::remove_cvref_t<decltype(model)>;
  using vocab = typename model_type::vocab;
  const auto words = text::read_tokenizer(folder, vocab{extent_of<vocab>(model.words.table)}, weights.metadata());
  line.clear();
  if (!o.quiet) {
    std::fprintf(stderr, "%s: %s, %zu layers, %.1f million parameters, %.0f MB, loaded in %.2f s\n", o.folder.c_str(),
                 kind, model.blocks.size(), static_cast<double>(nn::parameter_count(model)) / 1e6,
                 static_cast<double>(bytes) / 1e6, loading.seconds());
  }
  return generation<model_type>(o, model, words).run();
}

int generate_gpt2(const generate_options& o, const dimwise::io::config_check& settings);
int generate_llama(const generate_options& o, const dimwise::io::config_check& settings);

}  // namespace programs
