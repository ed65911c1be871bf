// SPDX-License-Identifier: BSL-1.0
// Training a small GPT on the bytes of a text, and sampling from it.
//
//   bible -f gen1:1-rev22:21 > kjv.txt            # the King James Bible, of Debian's package bible-kjv
//   23_train_gpt kjv.txt --steps 600 --write "In the beginning"
//   23_train_gpt kjv.txt --report training.html   # open the page in a browser while the training runs
//   23_train_gpt kjv.txt --attention weights.svg  # afterwards, a picture of the last layer's attention to the prompt
//
// Ctrl-C stops the training and saves its state. `--resume` continues, bitwise equal to an uninterrupted run.
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/io/checkpoint.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/viz.hpp>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

namespace train_gpt {

using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct bytes : choice_dim<256> {};
struct d_model : feature_dim<192> {};
struct heads : heads_dim<6> {};
struct d_k : divided<d_model, heads> {};
struct d_v : divided<d_model, heads> {};
struct hidden : feature_dim<768> {};

// [model]
// GPT-2 (Radford et al. 2019) over bytes: tied embeddings, pre-norm layers.
template <class T = float>
struct gpt {
  using attention = nn::multi_head_attention<d_model, heads, d_k, d_v, nn::elements<T>>;
  using feed_forward = nn::feed_forward<d_model, hidden, nn::activation::gelu_tanh, nn::with_bias, T>;
  using norm = nn::layer_norm<d_model, nn::elements<T>>;
  using layer = nn::transformer_block<nn::self_attention<seq, key, attention>, feed_forward, norm, nn::pre_norm>;
  using table = nn::embedding<bytes, d_model, T>;
  using positions_table = nn::learned_positions<seq, d_model, T>;
  using stack = nn::stack<layer, norm>;
  table words;
  positions_table positions;
  stack layers;
  using members = nn::member_list<&gpt::words, &gpt::positions, &gpt::layers>;

  [[nodiscard]] auto operator()(const tensor<id<bytes>, batch, seq>& text) const {
    const tensor x = positions(words(text));
    return words.logits(layers(x, causal<seq, key>{}));
  }
};
// [/model]

// [state]
// Everything that a run needs to resume.
struct training {
  gpt<> model;
  adam_state<gpt<>> progress;
  using members = nn::member_list<&training::model, &training::progress>;
};
// [/state]

struct options {
  std::string text;
  std::string state = "gpt.safetensors";
  std::string curve = "loss.svg";
  std::string report;
  std::string attention;
  std::size_t sample_every = 100;
  std::string write = "In the beginning";
  std::size_t steps = 600;
  std::size_t stop_after = 0;  // 0: does not stop early
  std::size_t batch = 16;
  std::size_t length = 128;
  std::size_t layers = 4;
  std::size_t letters = 400;
  double rate = 1e-3;
  double temperature = 0.7;
  bool resume = false;
};

[[noreturn]] void refuse(const std::string& what) { throw std::runtime_error(what); }

// Reads the options; the exceptions of CLI11 are the messages that the user sees.
options read_options(CLI::App& app, int argc, char** argv) {
  options o;
  app.add_option("text", o.text, "the text to train on, byte by byte")->required();
  app.add_option("--steps", o.steps, "training steps")->capture_default_str();
  app.add_option("--stop-after", o.stop_after, "stops after this step, to resume later; 0: does not stop early");
  app.add_option("--batch", o.batch, "sequences per step")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--length", o.length, "bytes per sequence")->check(CLI::Range(2, 4096))->capture_default_str();
  app.add_option("--layers", o.layers, "number of layers")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--rate", o.rate, "peak learning rate")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--state", o.state, "file of the model and the optimiser state")->capture_default_str();
  app.add_flag("--resume", o.resume, "continue from the saved state");
  app.add_option("--curve", o.curve, "file of the loss curve")->capture_default_str();
  app.add_option("--report", o.report, "file of a page that follows the training");
  app.add_option("--sample-every", o.sample_every, "steps between two sampled texts in the report")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--attention", o.attention,
                 "file of a picture: the attention weights of the last layer for the prompt");
  app.add_option("--write", o.write, "the prompt")->capture_default_str();
  app.add_option("--letters", o.letters, "number of bytes to generate")->capture_default_str();
  app.add_option("--temperature", o.temperature, "sampling temperature")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.parse(argc, argv);
  return o;
}

std::vector<unsigned char> read_text(const options& o) {
  std::ifstream file(o.text, std::ios::binary);
  if (!file) { refuse(o.text + ": cannot be read"); }
  std::vector<unsigned char> text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (text.empty()) { refuse(o.text + ": is empty"); }
  if (text.size() < o.length) {
    refuse(o.text + ": has " + std::to_string(text.size()) + " bytes, and a batch takes " + std::to_string(o.length) +
           " at a time");
  }
  return text;
}

// [batch]
// The batch of a step. It depends on the step number only, so a resumed run sees the same batches.
tensor<id<bytes>, batch, seq> batch_of(const std::vector<unsigned char>& text, const options& o, std::size_t step) {
  nn::random draw(1000 + step);
  tensor<id<bytes>, batch, seq> tokens(batch{o.batch}, seq{o.length});
  auto* to = tokens.overwrite();
  for (std::size_t b = 0; b < o.batch; ++b) {
    const auto first = static_cast<std::size_t>(draw.uniform() * static_cast<double>(text.size() - o.length + 1));
    for (std::size_t i = 0; i < o.length; ++i) { *to++ = id<bytes>(text[first + i]); }
  }
  return tokens;
}
// [/batch]

// [fresh]
training fresh(const options& o) {
  training t;
  t.model.layers = gpt<>::stack::of(o.layers);
  nn::normal how(1, 0.02);
  nn::initialise(t.model, how, seq{o.length});
  t.progress.first = t.progress.second = t.model;  // same extents as in the file to load
  return t;
}
// [/fresh]

volatile std::sig_atomic_t stopped = 0;

std::string written(const gpt<>& model, const options& o);

// Trains; returns whether all steps were done.
bool train(training& t, const std::vector<unsigned char>& text, const options& o) {
  // [optimiser]
  const warm_up_cosine rate{.peak = o.rate, .warm_up = 50, .steps = o.steps, .min_rate = o.rate / 10};
  adamw optimiser(t.model, {.rate = rate, .beta2 = 0.99, .weight_decay = 0.1});
  // [/optimiser]
  const auto done = static_cast<std::size_t>(t.progress.step);
  if (done > 0) { optimiser.state = t.progress; }
  std::vector<double> losses;
  std::optional<training_report> report;
  if (!o.report.empty()) {
    report.emplace(o.report,
                   training_report_options{.title = "A GPT over bytes", .loss = "nats per byte", .steps = o.steps});
  }
  const auto begin = std::chrono::steady_clock::now();
  std::size_t step = done;
  for (; step < o.steps && stopped == 0 && (o.stop_after == 0 || step < o.stop_after); ++step) {
    // [step]
    const auto tokens = batch_of(text, o, step);
    const auto [loss, gradient] =
        value_and_gradient(t.model, [&](const auto& m) { return next_word_loss<seq>(m(tokens), tokens); });
    // [/step]
    if (report) { report->add_step(step + 1, {.loss = loss, .rate = rate(step), .gradient_norm = norm_of(gradient)}); }
    if (!std::isfinite(loss)) {
      if (report) { report->finish("the loss is not a number"); }
      refuse("the loss of step " + std::to_string(step + 1) + " is not a number; the last saved state is in " +
             o.state);
    }
    // [move]
    optimiser.step(t.model, clip_norm(gradient, 1.0));
    // [/move]
    losses.push_back(loss);
    if (report && (step + 1) % o.sample_every == 0) { report->add_text(step + 1, written(t.model, o)); }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto made = static_cast<double>(losses.size());
    if (isatty(STDERR_FILENO) == 1) {  // a bar that the next line of text overwrites
      const std::string bar(24 * (step + 1) / o.steps, '#');
      std::fprintf(stderr, "\r\x1b[K[%-24s] step %zu\r", bar.c_str(), step + 1);
    }
    if ((step + 1) % 10 == 0 || step + 1 == o.steps) {
      if (isatty(STDERR_FILENO) == 1) { std::fputs("\x1b[K", stderr); }
      std::printf("step %zu of %zu: loss %.3f, %.0f bytes per second, %.0f s left\n", step + 1, o.steps,
                  static_cast<double>(loss), made * static_cast<double>(o.batch * o.length) / seconds,
                  seconds / made * static_cast<double>(o.steps - step - 1));
      std::fflush(stdout);
    }
  }
  if (report) { report->finish(step == o.steps ? "all steps are done" : "stopped, to resume later"); }
  t.progress = optimiser.state;
  io::save(t, o.state);
  if (!losses.empty() && !o.curve.empty()) {
    draw_curves({{"", losses}}, {.title = "training loss", .y = "nats per byte", .first = done + 1}).save(o.curve);
  }
  return step == o.steps;
}

// The last bytes of a text, at most three quarters of the trained length.
tensor<id<bytes>, batch, seq> end_of(const std::string& text, const options& o) {
  const std::size_t count = std::min(text.size(), o.length * 3 / 4);
  tensor<id<bytes>, batch, seq> tokens(batch{1}, seq{count});
  auto* to = tokens.overwrite();
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = id<bytes>(static_cast<unsigned char>(text[text.size() - count + i]));
  }
  return tokens;
}

// Samples bytes after the prompt.
std::string written(const gpt<>& model, const options& o) {
  std::string text = o.write.empty() ? "\n" : o.write;
  nn::random draw(7);
  for (std::size_t n = 0; n < o.letters; ++n) {
    const tensor tokens = end_of(text, o);
    const tensor logits = at<seq>(model(tokens), extent_of<seq>(tokens) - 1);
    const tensor p = softmax<bytes>(logits * static_cast<float>(1 / o.temperature));
    double left = draw.uniform();
    std::size_t chosen = 0;
    while (chosen < 255 && (left -= static_cast<double>(p.data()[chosen])) > 0) { ++chosen; }
    text += static_cast<char>(chosen);
  }
  return text;
}

// [attention]
// The attention weights of the last layer: a heat map for each head.
picture attention_of(const gpt<>& model, const tensor<id<bytes>, batch, seq>& tokens) {
  tensor x = model.positions(model.words(tokens));
  const auto& layers = model.layers.layers;
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) { x = layers[i](x, causal<seq, key>{}); }
  const tensor a = layers.back().attention.weights(layers.back().norm1(x), causal<seq, key>{});
  std::vector<std::string> letters;
  for (const id<bytes> one : tokens.values()) { letters.emplace_back(1, static_cast<char>(one.value)); }
  return draw_weights(at<batch>(a, 0), labels<seq>(letters), labels<key>(letters));
}
// [/attention]

int run(const options& o) {
  const auto text = read_text(o);
  training t = fresh(o);
  if (o.resume) { io::load(t, io::read_safetensors(o.state)); }
  std::signal(SIGINT, [](int) { stopped = 1; });
  std::printf("%zu parameters, %zu bytes of text\n", nn::parameter_count(t.model), text.size());
  if (!train(t, text, o)) {
    std::printf("stopped after step %lld; continue with --resume\n", static_cast<long long>(t.progress.step));
    return 130;
  }
  std::printf("%s\n", written(t.model, o).c_str());
  if (!o.attention.empty()) { attention_of(t.model, end_of(o.write.empty() ? "\n" : o.write, o)).save(o.attention); }
  return 0;
}

}  // namespace train_gpt

int main(int argc, char** argv) {
  CLI::App app("Trains a small GPT on the bytes of a text and samples from it.", "23_train_gpt");
  try {
    return train_gpt::run(train_gpt::read_options(app, argc, argv));
  } catch (const CLI::ParseError& e) { return app.exit(e); } catch (const std::exception& e) {
    std::fprintf(stderr, "23_train_gpt: %s\n", e.what());
    return 1;
  }
}
