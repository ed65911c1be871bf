// SPDX-License-Identifier: BSL-1.0
// benchmarks/quantised_accuracy.cpp -- how far the words of a model with quantised weights are from those of floats, on
// text that the model itself wrote: tables for docs/reference/weights.md.
//
//   bash src/programs/get_model.sh stories15m && bash src/programs/get_model.sh minilm
//   cmake --preset bench && cmake --build --preset bench --target quantised_accuracy
//   build/bench/benchmarks/quantised_accuracy models/stories15m models/minilm
#include <dimwise/dimwise.hpp>
#include <dimwise/models/bert.hpp>
#include <dimwise/models/llama.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/text/folder.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace {

using namespace dimwise;

template <class Weights>
using language =
    models::llama<models::llama_dims, models::tied, nn::no_bias, nn::no_bias, nn::activation::silu, Weights>;
using token = language<float>::token;
template <class Weights>
using sentences = models::bert<models::bert_dims, models::mean_pooling, nn::activation::gelu, Weights>;

struct numbers {
  std::vector<float> values;  // of all positions
  std::size_t words;
};
std::size_t likeliest(const numbers& n, std::size_t position) {
  const float* const first = n.values.data() + position * n.words;
  return static_cast<std::size_t>(std::max_element(first, first + n.words) - first);
}

template <class Weights>
numbers logits_of(const language<Weights>& model, std::span<const token> text) {
  auto past = model.start(text.size());
  const auto all = model.logits(model.features(text, past));
  return {{all.values().begin(), all.values().end()}, all.size() / text.size()};
}

template <class Weights>
void compare(const char* name, const std::filesystem::path& folder, const std::vector<token>& text,
             const numbers& exact) {
  const auto model =
      models::read_llama_as<language<Weights>>(io::config_check(folder / "config.json"), io::read_checkpoint(folder));
  const numbers got = logits_of(model, text);
  double squares = 0;
  double spread = 0;
  double most = 0;
  std::size_t same = 0;
  for (std::size_t p = 0; p < text.size(); ++p) {
    double mean = 0;
    const float* const e = exact.values.data() + p * exact.words;
    const float* const g = got.values.data() + p * exact.words;
    for (std::size_t i = 0; i < exact.words; ++i) {
      mean += static_cast<double>(e[i]) / static_cast<double>(exact.words);
    }
    for (std::size_t i = 0; i < exact.words; ++i) {
      const double d = static_cast<double>(g[i]) - static_cast<double>(e[i]);
      squares += d * d;
      most = std::max(most, std::fabs(d));
      spread += (static_cast<double>(e[i]) - mean) * (static_cast<double>(e[i]) - mean);
    }
    same += likeliest(got, p) == likeliest(exact, p) ? 1 : 0;
  }
  const auto n = static_cast<double>(exact.values.size());
  std::printf("| `%s` | %.1f MB | %.4f | %.3f | %.2f %% | %.1f %% |\n", name,
              static_cast<double>(nn::parameter_bytes(model)) * 1e-6, std::sqrt(squares / n), most,
              100 * std::sqrt(squares / spread), 100 * static_cast<double>(same) / static_cast<double>(text.size()));
  std::fflush(stdout);
}

void language_table(const std::filesystem::path& folder, std::size_t length) {
  const auto floats =
      models::read_llama_as<language<float>>(io::config_check(folder / "config.json"), io::read_checkpoint(folder));
  const auto words = text::read_tokenizer(
      folder, language<float>::vocab{floats.token_embedding.table.extents().extent<language<float>::vocab>()});
  std::vector<token> text = words.encode("Once upon a time");
  auto past = floats.start(length);
  for (const token w : models::generate_greedy(floats, text, length - text.size(), past)) { text.push_back(w); }
  const numbers exact = logits_of(floats, text);
  std::printf(
      "| weights | memory | logits: root mean square error | maximum error | RMS error / standard deviation of logits "
      "| "
      "same argmax |\n");
  std::printf("|---|---|---|---|---|---|\n");
  compare<float>("float", folder, text, exact);
  compare<bfloat16>("bfloat16", folder, text, exact);
  compare<float16>("float16", folder, text, exact);
  compare<nn::int8_blocks>("int8_blocks", folder, text, exact);
  compare<nn::int4_blocks>("int4_blocks", folder, text, exact);
}

// The example sentences of all-MiniLM-L6-v2, whose cosines with the first one are published: 0.6946, 0.9429, 0.2569.
template <class Weights>
void cosines(const char* name, const std::filesystem::path& folder) {
  const auto model = models::read_bert<models::bert_dims, models::mean_pooling, nn::activation::gelu, Weights>(
      io::config_check(folder / "config.json"), io::read_checkpoint(folder));
  using vocab = typename sentences<Weights>::vocab;
  const auto words = text::read_tokenizer(folder, models::extent_in<vocab>(model.token_embedding.table));
  std::vector<std::vector<float>> all;
  for (const char* text :
       {"That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"}) {
    const auto v = model.embedded(words.encode(text));
    all.emplace_back(v.values().begin(), v.values().end());
  }
  const auto cosine = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t i = 0; i < all[a].size(); ++i) {
      sum += static_cast<double>(all[a][i]) * static_cast<double>(all[b][i]);
    }
    return sum;
  };
  std::printf("| `%s` | %.1f MB | %.4f | %.4f | %.4f |\n", name, static_cast<double>(nn::parameter_bytes(model)) * 1e-6,
              cosine(0, 1), cosine(0, 2), cosine(0, 3));
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count > 1) { language_table(arguments[1], 256); }
    if (count > 2) {
      std::printf("\n| weights | memory | a happy dog | a very happy person | a sunny day |\n|---|---|---|---|---|\n");
      cosines<float>("float", arguments[2]);
      cosines<bfloat16>("bfloat16", arguments[2]);
      cosines<float16>("float16", arguments[2]);
      cosines<nn::int8_blocks>("int8_blocks", arguments[2]);
      cosines<nn::int4_blocks>("int4_blocks", arguments[2]);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "quantised_accuracy: %s\n", e.what());
    return 1;
  }
}
