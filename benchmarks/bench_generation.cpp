// SPDX-License-Identifier: BSL-1.0
// benchmarks/bench_generation.cpp -- generation and prefill of known models, with random weights in every storage.
//
//   cmake --workflow --preset bench && build/bench/benchmarks/bench_generation --only gpt2
//
// One line for each: `library workload threads median_ms tokens/s pct`. decode is one token of 64 after a prompt of
// 128; its share is that of the read bandwidth of memory, where the bytes are the weights that a token needs. prefill
// is the prompt; its share is that of the peak of multiply-adds. minilm_128 and minilm_16 are the vector of a text of
// so many tokens, minilm_texts the vectors of 32 texts of 8 to 125 tokens; their share is that of the peak. Time is
// that of bench_attention, with its options. Bandwidth is taken before and after each decode, because other work on a
// machine takes of it; like times, it is a median. Prefill reads packed weights, as every prompt does after the second;
// `first` lines of float models say what the first prompt takes whose weights are not packed, what `nn::pack_weights`
// takes, and what the first prompt takes after it.
#include "workloads.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/models/bert.hpp>
#include <dimwise/models/encoder/empty.hpp>
#include <dimwise/models/gpt2.hpp>
#include <dimwise/models/llama.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
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
struct minilm : models::bert_dims {
  struct vocab : choice_dim<30522> {};
  struct segments : choice_dim<2> {};
  struct d_model : feature_dim<384> {};
  struct heads : heads_dim<12> {};
  struct d_k : divided<d_model, heads> {};
  struct d_v : divided<d_model, heads> {};
  struct hidden : feature_dim<1536> {};
};
// The same as an encoder of run-time settings, which computes texts of different lengths together.
struct minilm_texts : models::encoder_dims {
  struct vocab : choice_dim<30522> {};
  struct segments : choice_dim<2> {};
  struct d_embed : feature_dim<384> {};
  struct d_model : feature_dim<384> {};
  struct heads : heads_dim<12> {};
  struct d_k : feature_dim<32> {};
  struct d_v : feature_dim<32> {};
  struct hidden : feature_dim<1536> {};
};

template <class Weights>
auto gpt2_model() {
  models::gpt2<gpt2_124m, models::tied, nn::activation::gelu_tanh, Weights> m;
  m.blocks.resize(12);
  nn::normal how(1, 0.02);
  nn::initialise(m, how, gpt2_124m::seq{1024});
  return m;
}
template <class Weights>
auto stories_model() {
  models::llama<stories15m, models::tied, nn::no_bias, nn::no_bias, nn::activation::silu, Weights> m;
  m.blocks.resize(6);
  m.longest_text = 256;
  nn::normal how(1, 0.02);
  nn::initialise(m, how);
  return m;
}
models::bert<minilm> minilm_model() {
  models::bert<minilm> m;
  m.layers = models::bert<minilm>::stack_type::of(6);
  nn::normal how(1, 0.02);
  nn::initialise(m, how, minilm::seq{512});
  return m;
}

models::encoder<minilm_texts> minilm_texts_model() {
  models::encoder_config c;
  c.extents = {.vocab = 30522,
               .segments = 2,
               .positions = 512,
               .embedding = 384,
               .features = 384,
               .heads = 12,
               .of_head = 32,
               .hidden = 1536,
               .blocks = 6};
  for (std::size_t i = 0; i < 6; ++i) { c.layers.push_back({.block = i}); }
  c.longest = 512;
  auto m = models::detail::empty_encoder<minilm_texts, float>(c, models::encoder_task::features);
  nn::normal how(1, 0.02);
  // Without relative positions, convolutions and labels.
  nn::initialise(m, how, minilm_texts::seq{512}, minilm_texts::buckets{0}, minilm_texts::taps{0},
                 minilm_texts::channels{0}, minilm_texts::labels{0});
  return m;
}

// ---- what is measured ----

// GB/s of one thread that reads 256 MB, more than caches hold, in the pages that tensors have.
double read_bandwidth() {
  struct floats : feature_dim<(std::size_t{1} << 26)> {};
  static const auto all = nn::detail::zeros<tensor<float, floats>>();
  const auto memory = all.values();
  double each[5];
  for (double& gigabytes : each) {
    const double begin = bench::detail::thread_seconds();
    float sums[64] = {};
    for (std::size_t i = 0; i < memory.size(); i += 64) {
      for (std::size_t k = 0; k < 64; ++k) { sums[k] += memory[i + k]; }
    }
    bench::detail::kept = std::accumulate(sums, sums + 64, 0.0F);
    const double seconds = bench::detail::thread_seconds() - begin;
    gigabytes = static_cast<double>(memory.size() * sizeof(float)) / seconds * 1e-9;
  }
  std::sort(std::begin(each), std::end(each));
  return each[2];
}

constexpr std::size_t prompt_length = 128;
constexpr std::size_t written_length = 64;

template <class Model>
std::vector<typename Model::token> prompt_of(std::size_t length = prompt_length) {
  const std::size_t vocab = Model::vocab::static_extent;
  std::vector<typename Model::token> prompt;
  for (std::size_t i = 0; i < length; ++i) { prompt.emplace_back(i * 7919 % vocab); }
  return prompt;
}

double peak() { return bench::multiply_add_peak(kernels::active().architecture); }

void print_line(const std::string& name, const bench::steady_times& t, double tokens, double share,
                const bench::options& o) {
  bench::print_figures("dimwise", name, o, t, tokens / t.median * 1e3, share);
  std::printf("\n");
  std::fflush(stdout);
}

// The share of the peak of all threads that so many operations are.
double share_of(double work, const bench::steady_times& t, const bench::options& o) {
  return 100 * work / t.median * 1e-6 / (t.rate() * static_cast<double>(o.threads));
}

// Each weight of the layers is multiplied for each token, queries with keys and weights with values for each pair.
double work_of_text(std::size_t tokens, std::size_t parameters) {
  const auto length = static_cast<double>(tokens);
  return 2 * length * static_cast<double>(parameters) + 4 * length * length * 384 * 6;
}
void run_embedding(const std::string& name, const models::bert<minilm>& model, const bench::options& o) {
  for (const std::size_t length : {prompt_length, std::size_t{16}}) {
    const auto text = prompt_of<models::bert<minilm>>(length);
    const bench::steady_times t = bench::measure_between(o, peak, [&] {
      const auto embedded = model.embedded(std::span(text));
      bench::detail::kept = embedded.values()[0];
    });
    const double work = work_of_text(length, nn::parameter_count(model.layers));
    print_line(name + "_" + std::to_string(length), t, static_cast<double>(length), share_of(work, t, o), o);
  }
}
void run_texts(const std::string& name, const models::encoder<minilm_texts>& model, const bench::options& o) {
  using model_type = models::encoder<minilm_texts>;
  std::vector<std::vector<model_type::token>> texts;
  std::size_t tokens = 0;
  double work = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    texts.push_back(prompt_of<model_type>(8 + i * 37 % 121));
    tokens += texts.back().size();
    work += work_of_text(texts.back().size(), nn::parameter_count(model.blocks));
  }
  const bench::steady_times t = bench::measure_between(o, peak, [&] {
    const auto embedded = model.embedded(texts);
    bench::detail::kept = embedded.values()[0];
  });
  print_line(name, t, static_cast<double>(tokens), share_of(work, t, o), o);
}

template <class Model>
void run(const std::string& name, const std::string& storage, const Model& model, const bench::options& o) {
  using token = typename Model::token;
  const std::vector<token> prompt = prompt_of<Model>();
  // The words' table is the output, too: all of it is read for each token; of positions one row.
  std::size_t numbers = nn::parameter_count(model);
  std::size_t bytes = nn::parameter_bytes(model);
  if constexpr (requires { model.positions; }) {
    numbers -= model.positions.table.size();
    bytes -= model.positions.table.size() * sizeof(float);
  }

  const bench::steady_times read = bench::measure_between(o, peak, [&] {
    auto past = model.start(prompt_length);
    const auto logits = model.next(prompt, past);
    bench::detail::kept = logits.data()[0];
  });
  // Each weight but the words' is multiplied for each token, the output for the last one.
  const auto table = static_cast<double>(model.token_embedding.table.size());
  const double work = 2 * (static_cast<double>(prompt_length) * (static_cast<double>(numbers) - table) + table);
  print_line(name + "_prefill" + std::to_string(prompt_length) + storage, read, static_cast<double>(prompt_length),
             share_of(work, read, o), o);

  auto begun = model.start(prompt_length + written_length);
  (void)model.next(prompt, begun);
  auto past = begun;
  std::size_t written = 0;
  token next{1};
  const bench::steady_times write = bench::measure_between(o, read_bandwidth, [&] {
    if (written++ == written_length) {  // one of many times, which a median does not see
      past = begun;
      written = 1;
    }
    const auto logits = model.next(std::span(&next, 1), past);
    next = token{models::argmax(logits.values())};
  });
  const double reached = static_cast<double>(bytes) / write.median * 1e-6;
  print_line(name + "_decode" + storage, write, 1, 100 * reached / write.rate(), o);
  std::printf("read %s %.1f GB/s of %.1f\n", name.c_str(), reached, write.rate());
}

// The first prompt of a model whose weights no product has read, packing them, and the first prompt after that.
template <class Model>
void run_first(const std::string& name, const Model& model) {
  constexpr std::size_t rounds = 5;
  for (const std::size_t length : {std::size_t{16}, prompt_length}) {
    const auto prompt = prompt_of<Model>(length);
    double milliseconds[3][rounds];
    for (std::size_t i = 0; i < rounds; ++i) {
      Model fresh = model;
      nn::for_each_parameter(fresh, [](const std::string&, auto& t) { t.assign(std::as_const(t).values()); });
      const auto read = [&] {
        auto past = fresh.start(length);
        const auto logits = fresh.next(prompt, past);
        bench::detail::kept = logits.data()[0];
      };
      const auto time = [&](std::size_t part, const auto& f) {
        const double begin = bench::detail::thread_seconds();
        f();
        milliseconds[part][i] = (bench::detail::thread_seconds() - begin) * 1e3;
      };
      time(0, read);
      time(1, [&] { nn::pack_weights(fresh); });
      time(2, read);
    }
    for (auto& part : milliseconds) { std::sort(std::begin(part), std::end(part)); }
    constexpr std::size_t middle = rounds / 2;
    std::printf("first %s %zu tokens %.1f ms, packing %.1f ms, packed %.1f ms\n", name.c_str(), length,
                milliseconds[0][middle], milliseconds[1][middle], milliseconds[2][middle]);
  }
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
    const auto with = [&]<class Weights>(const std::string& storage, std::type_identity<Weights>) {
      const auto run_model = [&](const std::string& name, const auto& model) {
        run(name, storage, model, o);
        if constexpr (std::is_same_v<Weights, float>) { run_first(name, model); }
      };
      if (o.wants("gpt2_124m" + storage)) { run_model("gpt2_124m", gpt2_model<Weights>()); }
      if (o.wants("stories15m" + storage)) { run_model("stories15m", stories_model<Weights>()); }
    };
    with("", std::type_identity<float>{});
    with("_f16", std::type_identity<float16>{});
    with("_bf16", std::type_identity<bfloat16>{});
    with("_int8", std::type_identity<nn::int8_blocks>{});
    with("_int4", std::type_identity<nn::int4_blocks>{});
    if (o.wants("minilm")) {
      run_embedding("minilm", minilm_model(), o);
      run_texts("minilm_texts", minilm_texts_model(), o);
    }
    std::printf("peak %s 1 %.2f GFLOP/s\n", kernels::active().architecture, peak());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_generation: %s\n", e.what());
    return 1;
  }
}
