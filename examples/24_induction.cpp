// SPDX-License-Identifier: BSL-1.0
// Trains two attention layers to continue repeating sequences, and shows the induction heads that emerge.
//
//   24_induction --steps 1000 --save induction.safetensors      # trains the model
//   24_induction                                                # evaluates the saved weights
//   24_induction --report attention.html                        # writes an interactive page
//
// Each sequence repeats a block of random length, so positions alone do not predict the next symbol. The first layer
// copies the previous symbol to each position; heads of the second layer find the symbols after earlier occurrences of
// the current one: induction heads (Olsson et al. 2022).
#include "support/file.hpp"
#include "support/induction.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/io.hpp>
#include <dimwise/nn.hpp>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace induction {

constexpr std::size_t shortest = 5;
constexpr std::size_t longest = 16;

// Sequences that repeat a block of different symbols, and the length of each block.
struct repeating {
  tensor<id<symbol>, batch, seq> symbols;
  std::vector<std::size_t> period;

  repeating(nn::random& draw, std::size_t count) : symbols(batch{count}, seq{length}) {
    auto* to = symbols.overwrite();
    for (std::size_t b = 0; b < count; ++b, to += length) {
      std::vector<std::size_t> block(26);
      std::iota(block.begin(), block.end(), std::size_t{0});
      period.push_back(below(draw, longest - shortest + 1) + shortest);
      for (std::size_t i = 0; i < period[b]; ++i) { std::swap(block[i], block[i + below(draw, 26 - i)]); }
      for (std::size_t i = 0; i < length; ++i) { to[i] = id<symbol>(block[i % period[b]]); }
    }
  }
  // The positions whose next symbol is predictable: their symbol occurred before, and is not the last one.
  [[nodiscard]] bool known(std::size_t b, std::size_t i) const { return i >= period[b] && i + 1 < length; }
  // The predictable tokens, as targets.
  [[nodiscard]] tensor<bool, batch, seq> targets() const {
    tensor<bool, batch, seq> is_known(batch{period.size()}, seq{length});
    for (std::size_t b = 0; b < period.size(); ++b) {
      for (std::size_t i = period[b] + 1; i < length; ++i) { is_known.set(true, id<batch>(b), id<seq>(i)); }
    }
    return is_known;
  }

 private:
  static std::size_t below(nn::random& draw, std::size_t n) {
    return static_cast<std::size_t>(draw.uniform() * static_cast<double>(n));
  }
};

model<> trained(std::size_t steps) {
  auto m = nn::initialised<model<>>(nn::normal(5, 0.05), seq{length});
  adamw optimiser(
      m, {.rate = warm_up_cosine{.peak = 3e-3, .warm_up = 50, .steps = steps, .min_rate = 3e-4}, .weight_decay = 0.01});
  nn::random draw(11);
  for (std::size_t step = 0; step < steps; ++step) {
    const repeating s(draw, 64);
    const auto [loss, gradient] = value_and_gradient(
        m, [&](const auto& now) { return next_word_loss<seq>(now(s.symbols), s.symbols, allow(s.targets())); });
    optimiser.step(m, clip_norm(gradient, 1.0));
    if ((step + 1) % 200 == 0) {
      std::printf("step %4zu: loss %.4f\n", step + 1, static_cast<double>(loss));
      std::fflush(stdout);
    }
  }
  return m;
}

// The accuracy on predictable symbols of new sequences.
double share_right(const model<>& m) {
  nn::random draw(99);
  const repeating s(draw, 200);
  const tensor said = argmax<symbol>(m(s.symbols));
  double right = 0;
  double all = 0;
  for (std::size_t b = 0; b < 200; ++b) {
    for (std::size_t i = 0; i < length; ++i) {
      if (!s.known(b, i)) { continue; }
      right += said(id<batch>(b), id<seq>(i)) == s.symbols(id<batch>(b), id<seq>(i + 1));
      all += 1;
    }
  }
  return right / all;
}

using weights_type = tensor<float, batch, heads, seq, key, normalised<key>>;

// The mean weight of a head on the keys `back` positions before each predictable query, and `further`, twice `further`,
// … before those.
double weight_back(const weights_type& w, const repeating& s, std::size_t head, std::size_t back, std::size_t further) {
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < length; ++i) {
    if (!s.known(0, i)) { continue; }
    for (std::size_t b = back; b <= i; b += further) {
      sum += static_cast<double>(w(id<batch>(0), id<heads>(head), id<seq>(i), id<key>(i - b)));
    }
    count += 1;
  }
  return sum / count;
}

void show(const model<>& m) {
  nn::random draw(3);
  const repeating s(draw, 1);
  const tensor x = m.start(s.symbols);
  const weights_type first = m.first.weights(x);
  const weights_type second = m.second.weights(m.first(x));
  for (std::size_t h = 0; h < 2; ++h) {
    std::printf("layer 1, head %zu: %.2f of its weight is on the symbol before\n", h + 1,
                weight_back(first, s, h, 1, length));
  }
  for (std::size_t h = 0; h < 2; ++h) {
    std::printf("layer 2, head %zu: %.2f of its weight is on the symbol behind an earlier occurrence\n", h + 1,
                weight_back(second, s, h, s.period[0] - 1, s.period[0]));
  }
  std::printf("%.1f %% of the symbols that can be known are right\n", 100 * share_right(m));
}

// A sequence as text: one letter per symbol.
std::string letters_of(const repeating& s) {
  std::string text;
  for (const auto symbol : s.symbols.values()) { text += static_cast<char>('a' + symbol.value); }
  return text;
}

// An interactive page with editable letters, mask and heads. `program` is the model as WebAssembly; without it the page
// shows stored runs only.
void save_report(const model<>& m, const std::string& path, const std::string& program) {
  nn::random draw(3);
  const std::string text = letters_of(repeating(draw, 1));
  attention_report page("two layers that go on with what repeats");
  page.add_live(live(m),
                {{.text = text},
                 {.text = text, .mask = "window", .width = 8},
                 {.text = text, .mask = "none"},
                 {.text = text, .heads = {true, true, false, true}},
                 {.text = text, .heads = {true, true, true, false}},
                 {.text = text, .heads = {false, false, true, true}},
                 {.text = "qwertyqwertyqwerty"},
                 {.text = "ab"}},
                examples::content_of(program));
  page.save(path);
}

int run(CLI::App& app, int argc, char** argv) {
  std::size_t steps = 0;
  std::string save;
  std::string file = DIMWISE_DATA_DIR "/induction.safetensors";
  app.add_option("--steps", steps, "trains so many steps");
  app.add_option("--save", save, "where the trained weights go");
  app.add_option("--weights", file, "the weights that are shown where none are trained")->capture_default_str();
  std::string page;
  app.add_option("--report", page, "where a page of the attention goes");
  std::string program = DIMWISE_LIVE_DIR "/induction.wasm";
  app.add_option("--live", program, "the model as WebAssembly, for the page")
      ->capture_default_str()
      ->check(CLI::ExistingFile);
  app.parse(argc, argv);
  auto m = nn::initialised<model<>>(nn::normal(5), seq{length});
  if (steps > 0) {
    m = trained(steps);
  } else {
    io::load(m, io::read_safetensors(file));
  }
  if (!save.empty()) { io::save(m, save); }
  if (!page.empty()) { save_report(m, page, program); }
  show(m);
  return 0;
}

}  // namespace induction

int main(int argc, char** argv) {
  CLI::App app("A model of two attention layers that goes on with what repeats.", "24_induction");
  try {
    return induction::run(app, argc, argv);
  } catch (const CLI::ParseError& e) { return app.exit(e); } catch (const std::exception& e) {
    std::fprintf(stderr, "24_induction: %s\n", e.what());
    return 1;
  }
}
