// benchmarks/bench_embeddings.cpp -- vectors of texts by an encoder with the shape of all-MiniLM-L6-v2.
//
//   bench_embeddings FOLDER [--threads N] [--seconds S]
//
// FOLDER is made by benchmarks/rivals/embeddings.py, which runs ONNX Runtime and PyTorch on the same texts and weights.
// Prints the median of milliseconds for each batch of texts, and the first number of the first vector. One thread:
// processor time. SPDX-License-Identifier: BSL-1.0
#include <dimwise/models/encoders.hpp>
#ifdef DIMWISE_BENCH_TBB
#include <dimwise/eval/tbb.hpp>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace {

using model_type = dimwise::models::encoder<>;
using token = model_type::token;

double wall() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double processor() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

int run(const std::string& folder, std::size_t threads, double budget) {
#ifdef DIMWISE_BENCH_TBB
  std::optional<dimwise::tbb_executor> pool;
  std::optional<dimwise::context> context;
  std::optional<dimwise::use_context> scope;
  if (threads > 1) {
    pool.emplace(threads);
    context.emplace(*pool);
    scope.emplace(*context);
  }
#else
  if (threads > 1) {
    std::fprintf(stderr, "bench_embeddings: built without oneTBB, so it has one thread\n");
    return 1;
  }
#endif
  const model_type model = dimwise::models::read_encoder(folder);
  const auto batches = dimwise::io::read_json(folder + "/batches.json");
  const auto now = threads > 1 ? wall : processor;
  for (const auto& batch : batches) {
    std::vector<std::vector<token>> texts;
    for (const auto& ids : batch.at("ids")) {
      std::vector<token>& text = texts.emplace_back();
      for (const auto& id : ids) { text.emplace_back(id.get<std::size_t>()); }
    }
    const auto name = batch.at("name").get<std::string>();
    const dimwise::tensor vectors = model.embedded(texts);
    std::vector<double> times;
    const double end = wall() + budget;
    while (times.size() < 3 || wall() < end) {
      const double begin = now();
      (void)model.embedded(texts);
      times.push_back(now() - begin);
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    std::printf("dimwise %s %zu %.3f %.5f\n", name.c_str(), threads, times[times.size() / 2] * 1e3,
                static_cast<double>(vectors.values()[0]));
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  std::size_t threads = 1;
  double seconds = 1;
  for (int i = 2; i + 1 < count; i += 2) {
    const std::string word = words[i];
    if (word == "--threads") { threads = static_cast<std::size_t>(std::atoi(words[i + 1])); }
    if (word == "--seconds") { seconds = std::atof(words[i + 1]); }
  }
  if (count < 2) {
    std::fprintf(stderr, "usage: bench_embeddings FOLDER [--threads N] [--seconds S]\n");
    return 2;
  }
  try {
    return run(words[1], threads, seconds);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_embeddings: %s\n", e.what());
    return 1;
  }
}
