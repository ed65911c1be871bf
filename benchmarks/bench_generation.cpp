// SPDX-License-Identifier: BSL-1.0
// benchmarks/bench_generation.cpp -- how fast known models write and read, in float with drawn weights.
//
//   cmake --workflow --preset bench && build/bench/benchmarks/bench_generation --only gpt2
//
// One line for each: `library workload threads median_ms tokens/s pct`. decode is one token behind a prompt of 128; its
// share is that of the read bandwidth of memory, where the bytes are the weights that a token needs. prefill is the
// prompt; its share is that of the peak of multiply-adds. Time is that of bench_attention. Bandwidth is taken before
// and after each decode, because other work on a machine takes of it.
#include "workloads.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/models/gpt2.hpp>
#include <dimwise/models/llama.hpp>

#include <memory>
#include <numeric>
#if defined(DIMWISE_BENCH_TBB)
#include <dimwise/eval/tbb.hpp>
#endif

namespace {

using namespace dimwise;

// ---- the shapes ----

struct gpt2_124m : models::gpt2_dims {
  struct vocab : choice_dim<50257> {};
  struct d_model : feature_dim<768> {};
  struct heads : heads_dim<12> {};
  struct d_k : divided<d_model, heads> {};
  struct d_v : divided<d_model, heads> {};
  struct hidden : feature_dim<3072> {};
};
struct stories15m : models::llama_dims {
  struct vocab : choice_dim<32000> {};
  struct d_model : feature_dim<288> {};
  struct kv_heads : heads_dim<6> {};
  struct group : heads_dim<1> {};
  struct d_k : feature_dim<48> {};
  struct d_v : feature_dim<48> {};
  struct hidden : feature_dim<768> {};
};

models::gpt2<gpt2_124m> gpt2_model() {
  models::gpt2<gpt2_124m> m;
  m.blocks.resize(12);
  nn::normal how(1, 0.02);
  nn::initialise(m, how, gpt2_124m::seq{1024});
  return m;
}
models::llama<stories15m, models::tied> stories_model() {
  models::llama<stories15m, models::tied> m;
  m.blocks.resize(6);
  m.longest_text = 256;
  nn::normal how(1, 0.02);
  nn::initialise(m, how);
  return m;
}

// ---- what is measured ----

// GB/s of one thread that reads 256 MB, more than caches hold.
double read_bandwidth() {
  static const std::vector<float> memory(std::size_t{1} << 26, 1.0F);
  double best = 0;
  for (int run = 0; run < 3; ++run) {
    const double begin = bench::detail::thread_seconds();
    float sums[64] = {};
    for (std::size_t i = 0; i < memory.size(); i += 64) {
      for (std::size_t k = 0; k < 64; ++k) { sums[k] += memory[i + k]; }
    }
    bench::detail::kept = std::accumulate(sums, sums + 64, 0.0F);
    const double seconds = bench::detail::thread_seconds() - begin;
    best = std::max(best, static_cast<double>(memory.size() * sizeof(float)) / seconds * 1e-9);
  }
  return best;
}

constexpr std::size_t prompt_length = 128;

template <class Model>
void run(const std::string& name, const Model& model, const bench::options& o) {
  using word = typename Model::word;
  const std::size_t vocab = extent_of<typename Model::vocab>(model.words.table);
  std::vector<word> prompt;
  for (std::size_t i = 0; i < prompt_length; ++i) { prompt.emplace_back(i * 7919 % vocab); }
  // The words' table is the output, too: all of it is read for each token; of positions one row.
  std::size_t numbers = nn::parameter_count(model);
  if constexpr (requires { model.positions; }) { numbers -= model.positions.table.size(); }
  const auto line = [&](const std::string& what, double ms, double tokens, double share) {
    std::printf("dimwise %s %zu %.6f %.2f %.1f\n", (name + "_" + what).c_str(), o.threads, ms, tokens / ms * 1e3,
                share);
    std::fflush(stdout);
  };

  const double peak = bench::multiply_add_peak(kernels::active().architecture);
  const bench::times read = bench::measure(o, [&] {
    auto past = model.start(prompt_length);
    const auto logits = model.next(prompt, past);
    bench::detail::kept = logits.data()[0];
  });
  // Each weight but the words' is multiplied for each token, the output for the last one.
  const auto table = static_cast<double>(model.words.table.size());
  const double work = 2 * (static_cast<double>(prompt_length) * (static_cast<double>(numbers) - table) + table);
  line("prefill" + std::to_string(prompt_length), read.median, static_cast<double>(prompt_length),
       100 * work / read.median * 1e-6 / (peak * static_cast<double>(o.threads)));

  const double before = read_bandwidth();
  auto past = model.start(model.longest());
  (void)model.next(prompt, past);
  word next{1};
  const bench::times write = bench::measure(o, [&] {
    // A full cache begins with the prompt again, which is rare.
    if (static_cast<std::size_t>(past.front().end()) + 1 > model.longest()) {
      past = model.start(model.longest());
      (void)model.next(prompt, past);
    }
    const auto logits = model.next(std::span(&next, 1), past);
    const auto values = logits.values();
    next = word{static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin())};
  });
  const double bandwidth = (before + read_bandwidth()) / 2;
  const double reached = static_cast<double>(numbers * sizeof(float)) / write.median * 1e-6;
  line("decode", write.median, 1, 100 * reached / bandwidth);
  std::printf("read %s %.1f GB/s of %.1f\n", name.c_str(), reached, bandwidth);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const bench::options o = bench::parse(count, arguments);
#if defined(DIMWISE_BENCH_TBB)
    std::unique_ptr<tbb_executor> pool;
    std::unique_ptr<context> with_pool;
    std::unique_ptr<use_context> scope;
    if (o.threads > 1) {
      pool = std::make_unique<tbb_executor>(o.threads);
      with_pool = std::make_unique<context>(*pool);
      scope = std::make_unique<use_context>(*with_pool);
    }
#else
    if (o.threads > 1) {
      throw std::invalid_argument("--threads needs oneTBB, which was not found when this was built");
    }
#endif
    if (o.wants("gpt2_124m")) { run("gpt2_124m", gpt2_model(), o); }
    if (o.wants("stories15m")) { run("stories15m", stories_model(), o); }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_generation: %s\n", e.what());
    return 1;
  }
}
