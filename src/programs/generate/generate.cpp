// src/programs/generate/generate.cpp -- dimwise-generate: text generation with a model from a folder.
//
//   dimwise-generate folder "Once upon a time" -n 100 --temp 0
//   mpirun -n 2 dimwise-generate folder "Once upon a time"          // each process has half of the layers
//   mpirun -n 2 dimwise-generate folder "Once upon a time" --split-mode tensor     // … half of each layer
// SPDX-License-Identifier: BSL-1.0
#include "generate.hpp"

#include "ranks.hpp"
#include <dimwise/io/checkpoint.hpp>
#include <dimwise/text/folder.hpp>
#include <dimwise/text/text_stream.hpp>

#include <memory>
#include <random>
#include <set>
#include <utility>

namespace {

using namespace programs;

/// Streams the generated text, and prints the speed at the end. On several ranks, each one has the text and the first
/// one prints it.
class generation {
 public:
  generation(const generate_options& o, text_model& model, const dimwise::text::tokenizer<vocab>& words,
             std::set<std::size_t> ends, bool shows)
      : o_(o), model_(model), words_(words), shows_(shows), ends_(std::move(ends)) {
    for (std::size_t i = 0; i < model.words(); ++i) {
      if (!words.has(token{i})) { never_.push_back(i); }
    }
    never_.insert(never_.end(), o.suppressed.begin(), o.suppressed.end());
  }

  /// The tokens of the prompt. Throws if the model cannot continue it.
  [[nodiscard]] std::vector<token> prompt() {
    expect_utf8(o_.text, "the text");
    if (chats()) {
      check_template();
      add_ends_of_turn();
    }
    first_ = o_.language.empty() ? model_.first() : first_in(o_.language);
    std::vector<token> all = words_.encode(chats() ? chatml(o_.system, o_.text) : o_.text);
    check(all);
    return all;
  }

  /// Continues the tokens of the prompt.
  int run(std::vector<token> all, std::uint64_t seed) {
    has_begun = 1;
    const std::vector<token> source = model_.has_source() ? std::exchange(all, first_) : std::vector<token>();
    const std::size_t room = context() - all.size();  // `check` has compared them
    std::size_t most = o_.count < 0 ? room : std::min<std::size_t>(room, static_cast<std::size_t>(o_.count));
    if (o_.most_together) { most = std::min(most, *o_.most_together - std::min(*o_.most_together, all.size())); }
    if (!o_.quiet && o_.how.temperature > 0) {
      std::fprintf(stderr, "seed: %llu\n", static_cast<unsigned long long>(seed));
    }
    const auto asked = static_cast<double>(all.size() + source.size());

    const stopwatch reading;
    model_.start(source, all.size() + most);
    auto logits = read(all);
    model_.wait();
    const double read_seconds = reading.seconds();
    if (stopped != 0) { return 130; }

    if (!o_.hide_prompt && !chats() && !model_.has_source()) { show(o_.text); }
    dimwise::text::text_stream<vocab> stream(words_, model_.has_source() ? std::vector<token>() : all);
    dimwise::nn::random numbers(seed);
    const stopwatch writing;
    std::size_t made = 0;
    bool ended = false;
    while (made < most && stopped == 0) {
      const token next = model_.chosen([&] {
        suppress(logits, never_);
        if (made == 0) { suppress(logits, o_.first_suppressed); }
        return dimwise::models::sample(logits, o_.how, all, numbers);
      });
      if (!o_.ignore_end && ends_.contains(static_cast<std::size_t>(next.value))) {
        ended = true;
        break;
      }
      all.push_back(next);
      ++made;
      show(stream.next(next));
      if (made < most) { logits = model_.next(std::span(&all.back(), 1)); }
    }
    const double write_seconds = writing.seconds();
    show(stream.rest() + "\n");
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
  [[nodiscard]] bool chats() const { return !o_.chat_template.empty(); }
  [[nodiscard]] std::size_t context() const {
    return o_.context == 0 ? std::min<std::size_t>(model_.longest(), 4096) : o_.context;
  }
  // A tokenizer without the special tokens would encode them as text, which the model was not trained on.
  void check_template() const {
    for (const char* sign : {"<|im_start|>", "<|im_end|>"}) {
      const auto found = words_.find(sign);
      if (!found || words_.encode(sign, dimwise::text::tokenizer<vocab>::bare()) != std::vector{*found}) {
        refuse("the tokenizer has no " + std::string(sign) + ": the model was not made for --chat-template chatml");
      }
    }
  }
  // The tokens that end an answer: the end-of-turn tokens of known chat templates, and the tokenizer's end token.
  void add_ends_of_turn() {
    for (const std::string& name : ends_of_turn(o_.folder)) {
      if (const auto found = words_.find(name)) { ends_.insert(found->value); }
    }
  }
  // The tokens that a text in another language begins with: in mBART the language itself, in others the language after
  // a first token.
  [[nodiscard]] std::vector<token> first_in(const std::string& language) const {
    std::vector<token> all = model_.first();
    auto found = words_.find("__" + language + "__");  // M2M-100, whose vocabulary may have an ordinary token `de`
    if (!found || !is_special(*found)) { found = words_.find(language); }
    if (!model_.has_source() || !found || !is_special(*found)) {
      refuse(quoted(language) +
             " is not a language of the model: --target-language takes a code such as deu_Latn "
             "(NLLB), de_DE (mBART) or de (M2M-100)");
    }
    const std::string begin = words_.decode(std::span(all).first(1), dimwise::text::tokenizer<vocab>::with_special());
    const bool is_language = o_.begins_with_language || (!begin.empty() && begin.front() != '<');
    all.resize(is_language ? 0 : 1);
    all.push_back(*found);
    return all;
  }
  [[nodiscard]] bool is_special(token t) const { return words_.decode(std::span(&t, 1)).empty(); }
  static void suppress(dimwise::tensor<float, vocab>& logits, const std::vector<std::size_t>& ids) {
    for (const std::size_t i : ids) {
      if (i < logits.size()) { logits.data()[i] = -std::numeric_limits<float>::infinity(); }
    }
  }
  void check(std::vector<token>& all) const {
    if (context() > model_.longest()) {
      refuse("a context of " + std::to_string(context()) + " tokens was asked for, the model has " +
             std::to_string(model_.longest()));
    }
    if (all.empty()) { refuse("the text has no tokens"); }
    for (const token w : all) {
      if (w.value >= model_.words()) {
        refuse("the text has a token of the id " + std::to_string(w.value) + ", the model has " +
               std::to_string(model_.words()) + " tokens");
      }
    }
    const std::string of_context = " tokens, the context " + std::to_string(context());
    // A source takes no room of what is written.
    if (model_.has_source() && all.size() > context()) {
      refuse("the source has " + std::to_string(all.size()) + of_context + ": it has at most as many");
    }
    const std::size_t begun = model_.has_source() ? first_.size() : all.size();
    const std::string size = (model_.has_source() ? "the text begins with " : "the text has ") + std::to_string(begun);
    if (begun >= context()) { refuse(size + of_context + ": there is no room for more"); }
    if (o_.most_together && begun >= *o_.most_together) {
      refuse(size + " tokens, max_length of " + o_.defaults_file + " is " + std::to_string(*o_.most_together) +
             ": pass -n to generate more");
    }
  }
  // The logits after the prompt, which is processed in parts to show progress, to react to Ctrl-C, and so that ranks
  // compute different parts at the same time.
  [[nodiscard]] dimwise::tensor<float, vocab> read(const std::vector<token>& all) const {
    const std::size_t part = model_.reads_whole(all.size()) ? all.size() : 128;
    progress_bar bar(o_.quiet, "prompt");
    const std::span<const token> words(all);
    std::size_t at = 0;
    for (; at + part < all.size() && stopped == 0; at += part) {
      bar.show(at, all.size());
      model_.read(words.subspan(at, part));
    }
    return model_.next(words.subspan(at, std::min(part, all.size() - at)));
  }
  void show(const std::string& text) const {
    if (!shows_) { return; }
    std::fwrite(text.data(), 1, text.size(), stdout);
    finish_output();
  }

  const generate_options& o_;
  text_model& model_;
  const dimwise::text::tokenizer<vocab>& words_;
  bool shows_;
  std::set<std::size_t> ends_;
  std::vector<token> first_;  // of the text that an encoder-decoder writes
  // Rows that pad the embedding table have logits but no token.
  std::vector<std::size_t> never_;
};

/// Takes the settings of generation_config.json, or of config.json without it, for options that are not given.
void take_settings(const dimwise::models::generation_config& from, const CLI::App& app, generate_options& o) {
  std::string taken;
  const auto tell = [&](const std::string& what, const auto& number) {
    std::ostringstream text;
    text << what << " " << number;
    taken += (taken.empty() ? "" : ", ") + text.str();
  };
  const auto take = [&](const char* option, const auto& setting, auto& to) {
    if (!setting || app.count(option) > 0) { return; }
    to = static_cast<std::decay_t<decltype(to)>>(*setting);
    tell(option, to);
  };
  using number = std::optional<double>;
  constexpr std::optional<long> whole_text = -1;
  take("--temp", from.samples == false ? number(0) : from.temperature, o.how.temperature);
  take("--top-k", from.top_k, o.how.top_k);
  take("--top-p", from.top_p, o.how.top_p);
  take("--min-p", from.min_p, o.how.min_p);
  take("--repeat-penalty", from.repetition_penalty, o.how.repetition_penalty);
  // HuggingFace penalises the whole text.
  if (from.repetition_penalty && app.count("--repeat-penalty") == 0) {
    take("--repeat-last-n", whole_text, o.penalised);
  }
  take("-n", from.max_new_tokens, o.count);
  if (app.count("-n") == 0 && !from.max_new_tokens && from.max_length) {
    o.most_together = from.max_length;
    o.count = -1;
    tell("max_length", *from.max_length);
  }
  o.suppressed = from.suppressed;
  o.first_suppressed = from.first_suppressed;
  o.unused = from.unused;
  if (!o.suppressed.empty()) { tell("suppressed tokens:", o.suppressed.size()); }
  if (!o.first_suppressed.empty()) { tell("suppressed first tokens:", o.first_suppressed.size()); }
  if (!o.quiet && !taken.empty()) { std::fprintf(stderr, "%s: %s\n", o.defaults_file.c_str(), taken.c_str()); }
}

/// Names the settings of `file` that would change the text and are not read.
void tell_unused(const std::string& file, std::vector<std::string> unused, bool has_source) {
  if (has_source) { std::erase(unused, "forced_bos_token_id"); }
  std::string text;
  for (const std::string& one : unused) { text += (text.empty() ? "" : ", ") + one; }
  if (!text.empty()) { std::fprintf(stderr, "%s: not used: %s\n", file.c_str(), text.c_str()); }
}

void add_options(CLI::App& app, generate_options& o, std::optional<std::string>& file) {
  app.add_option("folder", o.folder, "a folder with config.json, model.safetensors or its shards, and a tokenizer")
      ->required();
  auto* const text = app.add_option("text", o.text, "what is continued, or the source of an encoder-decoder");
  app.add_option("-f,--file", file, "the file whose text this is")->excludes(text);
  const auto positive =
      numbers_in(std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(), "a number above 0");
  const auto not_negative = numbers_in(0.0, std::numeric_limits<double>::max(), "a number of 0 or more");
  const auto probability = numbers_in(0.0, 1.0, "a number from 0 to 1");
  const auto size = whole_numbers(0, "a whole number of 0 or more");
  const auto size_or_none = whole_numbers(-1, "a whole number of -1 or more");
  app.add_option("-n,--predict", o.count, "tokens at most; -1: until the context is full")
      ->check(size_or_none)
      ->capture_default_str();
  app.add_option("-s,--seed", o.seed, "what random numbers follow from; -1: another one each time")
      ->check(size_or_none)
      ->capture_default_str();
  app.add_option("-t,--threads", o.threads, "threads")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("-c,--ctx-size", o.context, "tokens of prompt and text together; 0: the model's, at most 4096")
      ->check(size)
      ->capture_default_str();
  app.add_option("--temp", o.how.temperature, "temperature; 0: the likeliest token")
      ->check(not_negative)
      ->capture_default_str();
  app.add_option("--top-k", o.how.top_k, "from the likeliest k; 0: all")->check(size)->capture_default_str();
  app.add_option("--top-p", o.how.top_p, "from the likeliest that have this probability together; 1: all")
      ->check(probability)
      ->capture_default_str();
  app.add_option("--min-p", o.how.min_p, "from those this much as likely as the likeliest; 0: all")
      ->check(probability)
      ->capture_default_str();
  app.add_option("--repeat-penalty", o.how.repetition_penalty, "above 1: what was said is less likely")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--repeat-last-n", o.penalised, "how many tokens back that goes; -1: all of them")
      ->check(size_or_none)
      ->capture_default_str();
  app.add_option("--weights", o.weights, "how the weights are stored in memory")
      ->check(CLI::IsMember({"f32", "bf16", "f16", "int8", "int4"}))
      ->capture_default_str();
  app.add_option("--split-mode", o.split, "what each rank has: some layers, or a part of every layer (tensor)")
      ->check(CLI::IsMember({"layer", "tensor"}))
      ->capture_default_str();
  auto* const form = app.add_option("--chat-template", o.chat_template, "the text is a question in this form")
                         ->check(CLI::IsMember({"chatml"}));
  app.add_option("--system", o.system, "what is said before a question")->needs(form)->capture_default_str();
  app.add_option("--target-language", o.language, "the code of the language that a translator writes");
  app.add_flag("--ignore-eos", o.ignore_end, "continue after the end of a text");
  app.add_flag("--no-display-prompt", o.hide_prompt, "show what is new alone");
  app.add_flag("-q,--quiet", o.quiet, "nothing but text");
}

template <class Weights>
std::unique_ptr<text_model> read_any(const dimwise::io::config_check& settings, const dimwise::io::archive& weights,
                                     const std::string& split, const dimwise::ranks::communicator& world) {
  if (!encoder_decoder_of(settings)) {
    if (split != "tensor" || world.size() == 1) { return read_decoder<Weights>(settings, weights, world); }
    if (parted_reader<Weights> == nullptr) { refuse("--split-mode tensor divides layers among processes of mpirun"); }
    return parted_reader<Weights>(settings, weights, world);
  }
  if (world.size() > 1) {
    refuse(settings.title() + ": encoder-decoders run on one rank, and " + std::to_string(world.size()) +
           " were started; decoders run on several");
  }
  return read_encoder_decoder<Weights>(settings, weights);
}
std::unique_ptr<text_model> read_model(const generate_options& o, const dimwise::io::config_check& settings,
                                       const dimwise::io::archive& weights, const dimwise::ranks::communicator& world) {
  using namespace dimwise;
  if (o.weights == "bf16") { return read_any<bfloat16>(settings, weights, o.split, world); }
  if (o.weights == "f16") { return read_any<float16>(settings, weights, o.split, world); }
  if (o.weights == "int8") { return read_any<nn::int8_blocks>(settings, weights, o.split, world); }
  if (o.weights == "int4") { return read_any<nn::int4_blocks>(settings, weights, o.split, world); }
  return read_any<float>(settings, weights, o.split, world);
}

/// What `generate` loads.
struct loaded {
  std::string kind{};
  std::unique_ptr<text_model> model{};
  std::optional<dimwise::text::tokenizer<vocab>> words{};
  std::set<std::size_t> ends{};  // the tokens that end a text
};
loaded load(generate_options& o, const std::optional<std::string>& file, const dimwise::io::config_check& defaults,
            const dimwise::ranks::communicator& world) {
  using namespace dimwise;
  loaded all;
  if (file) { o.text = read_text(*file); }
  const std::filesystem::path folder = model_folder(o.folder);
  const io::config_check config = models::settings_with_generation(folder, defaults);
  const auto with_source = encoder_decoder_of(config);
  all.kind = with_source ? *with_source : architecture_of(config);
  o.begins_with_language = config.setting("model_type") == "mbart" && !config.has("decoder_start_token_id");
  if (!o.quiet) { tell_unused(o.defaults_file, o.unused, with_source.has_value()); }
  progress_line line(o.quiet);
  line.show("loading " + o.folder);
  progress_bar bar(o.quiet, "loading " + o.folder);
  const io::watch_loading shown([&](std::size_t done, std::size_t whole) { bar.show(done, whole); });
  std::map<std::string, std::string> beside;
  {
    const io::archive weights = io::read_checkpoint(folder);
    std::size_t bytes = 0;
    for (const auto& a : weights.arrays()) { bytes += a.bytes.size(); }
    line.show("loading " + o.folder + ": " + std::to_string(bytes / 1000000) + " MB");
    all.model = read_model(o, config, weights, world);
    beside = weights.metadata();
  }
  all.words.emplace(text::read_tokenizer(folder, vocab{all.model->words()}, beside));
  all.ends = defaults.title() == config.title() ? ends_of_text({&config}, all.model->words(), o.quiet)
                                                : ends_of_text({&config, &defaults}, all.model->words(), o.quiet);
  return all;
}

int generate(const CLI::App& app, generate_options& o, const std::optional<std::string>& file,
             const dimwise::ranks::communicator& world) {
  // Several ranks end together, by the signal.
  if (world.size() == 1) { std::signal(SIGINT, stop); }
  const bool shows = world.rank() == 0;
  o.quiet = o.quiet || !shows;

  const stopwatch loading;
  std::optional<with_threads> threads;
  const loaded all = together(world, [&] {
    threads.emplace(o.threads, o.quiet);
    const dimwise::io::config_check defaults = dimwise::models::generation_settings(model_folder(o.folder));
    o.defaults_file = std::filesystem::path(defaults.title()).filename().string();
    take_settings(dimwise::models::generation_config_of(defaults), app, o);
    o.how.penalised = o.penalised < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(o.penalised);
    return load(o, file, defaults, world);
  });
  const sizes_of_ranks sizes(world, all.model->parameters(), all.model->bytes());
  if (!o.quiet) {
    std::fprintf(stderr, "%s: %s, %zu layers%s, %.1f million parameters, %.1f MB%s, loaded in %.2f s\n",
                 o.folder.c_str(), all.kind.c_str(), all.model->layers(), sizes.ranks_text().c_str(),
                 static_cast<double>(sizes.parameters()) / 1e6, static_cast<double>(sizes.most_bytes()) / 1e6,
                 sizes.bytes_text().c_str(), loading.seconds());
  }
  std::optional<generation> text;
  std::vector<token> prompt = together(world, [&] {
    text.emplace(o, *all.model, *all.words, all.ends, shows);
    return text->prompt();
  });
  std::uint64_t seed = o.seed < 0 ? std::random_device{}() : static_cast<std::uint64_t>(o.seed);
  world.broadcast(&seed, 1, 0, "the seed");
  return text->run(std::move(prompt), seed);
}

int run_on_rank(int argc, char** argv, const dimwise::ranks::communicator& world) {
  CLI::App app("Continues a text by a language model, or writes one from a source by an encoder-decoder.",
               "dimwise-generate");
  generate_options o;
  std::optional<std::string> file;
  add_options(app, o, file);
  const auto run = [&] { return generate(app, o, file, world); };
  return world.size() == 1 ? guarded(app, argc, argv, run) : guarded_together(world, app, argc, argv, run);
}

}  // namespace

int main(int argc, char** argv) {
  if (!find_processes(argv)) { return 1; }
  return dimwise::ranks::run([&](const dimwise::ranks::communicator& world) { return run_on_rank(argc, argv, world); });
}
