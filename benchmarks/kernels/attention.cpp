// benchmarks/kernels/attention.cpp -- speed of the attention kernels against this machine's multiply-add peak.
//
// Build:  g++ -std=c++20 -O3 -march=native -pthread -Iinclude benchmarks/kernels/attention.cpp -o kernels_attention
// Usage:  kernels_attention [threads] [prefix ...]     only the workloads whose names start with a prefix
//
//   library workload threads median_ms gflops pct_peak [GB/s of K and V, and their share of a plain read of them]
//
// The peak is measured before and after, in the same run: throw the run away when it moved. One thread: CPU time of the
// process, so that other load on the machine does not count; more: wall time. GFLOP/s count useful multiply-adds only
// (a causal problem is its lower triangle), and nothing for the softmax.
//
//   W2_h<heads>_d<dim>_n<seq>_{full,causal}     attention; _window<w>, _score, _strided are variants of it
//   W3_h<query heads>kv<key heads>_d<dim>_L<n>  one query token against a cache; with _bfloat16, _int8 in that format
//   W4_*                                        the attention of a problem whose extents the compiler knows
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/kernels/attention/forward.hpp>
#include <dimwise/kernels/attention/small.hpp>
#include <dimwise/kernels/decode/attention.hpp>
#include <dimwise/kernels/decode/stored.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace kernels = dimwise::kernels;
using arch = kernels::default_arch;
using kernels::attention_head;
using kernels::attention_layout;
using kernels::key_window;

// ---------------------------------------------------------------- time

std::size_t threads = 1;

double now() {
  timespec t{};
  clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1.0e-9 * static_cast<double>(t.tv_nsec);
}

double median_ms(const std::function<void()>& f) {
  f();
  const double start = now();
  f();
  const double once = now() - start;
  const int inner = once < 2.0e-5 ? static_cast<int>(2.0e-4 / std::max(once, 1.0e-8)) : 1;
  const int repeats = std::clamp(static_cast<int>(0.7 / std::max(once * inner, 1.0e-7)), 7, 2001);
  std::vector<double> times;
  for (int r = 0; r < repeats; ++r) {
    const double before = now();
    for (int i = 0; i < inner; ++i) f();
    times.push_back((now() - before) / inner);
  }
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return 1.0e3 * times[static_cast<std::size_t>(repeats / 2)];
}

// Independent chains of multiply-adds in registers: nothing else can be faster.
[[gnu::noinline]] float multiply_add_chains(int steps, float seed) {
  constexpr std::size_t chains = 12;
  kernels::floats<arch> acc[chains];
  for (std::size_t i = 0; i < chains; ++i) acc[i] = kernels::floats<arch>(0.1F * static_cast<float>(i));
  const kernels::floats<arch> factor(seed);
  const kernels::floats<arch> term(1.0F - seed);
  for (int s = 0; s < steps; ++s) {
#pragma GCC unroll 12
    for (auto& a : acc) a = kernels::fma<arch>(a, factor, term);
  }
  kernels::floats<arch> total(0.0F);
  for (const auto& a : acc) total = total + a;
  return kernels::reduce_sum<arch>(total);
}

double measured_peak() {
  constexpr int steps = 100000;
  volatile float seed = 0.999F;  // read at run time: clang drops a chain that it can prove to stand still
  volatile float sink = 0.0F;
  const double ms = median_ms([&] { sink = multiply_add_chains(steps, seed); });
  return 2.0 * 12 * steps * static_cast<double>(kernels::lanes<arch>) / ms * 1.0e-6;
}

double peak = 0.0;

// Sums in registers of all bytes from `from` on, in memory order: the fastest read of the level where they lie.
[[gnu::noinline]] float sum_of_floats(const float* from, std::size_t count) {
  constexpr std::size_t step = 8 * kernels::lanes<arch>;
  kernels::floats<arch> acc[8];
  for (auto& a : acc) a = kernels::floats<arch>(0.0F);
  for (std::size_t i = 0; i + step <= count; i += step) {
#pragma GCC unroll 8
    for (std::size_t x = 0; x < 8; ++x)
      acc[x] = acc[x] + kernels::load_aligned<arch>(from + i + x * kernels::lanes<arch>);
  }
  kernels::floats<arch> total(0.0F);
  for (const auto& a : acc) total = total + a;
  return kernels::reduce_sum<arch>(total);
}

void report(const std::string& workload, double ms, double flops, double bytes = 0.0, double read_ms = 0.0) {
  const double gflops = flops / ms * 1.0e-6;
  std::printf("dimwise %-34s %zu %12.6f %9.2f %6.1f", workload.c_str(), threads, ms, gflops,
              100.0 * gflops / (static_cast<double>(threads) * peak));
  if (bytes > 0.0) std::printf("  %6.1f GB/s %6.1f", bytes / ms * 1.0e-6, 100.0 * read_ms / ms);
  std::printf("\n");
  std::fflush(stdout);
}

// ---------------------------------------------------------------- threads

// Waiting threads that are woken for each call; the caller is worker 0.
class pool {
 public:
  explicit pool(std::size_t workers) {
    for (std::size_t w = 1; w < workers; ++w) team_.emplace_back([this, w] { serve(w); });
  }
  ~pool() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      ++round_;
    }
    wake_.notify_all();
    for (std::thread& t : team_) t.join();
  }
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  [[nodiscard]] std::size_t worker_count() const { return team_.size() + 1; }

  template <class F>
  void parallel_for(std::size_t count, F&& f) {
    if (team_.empty()) {
      for (std::size_t task = 0; task < count; ++task) f(task, std::size_t{0});
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      work_ = [&](std::size_t worker) {
        for (std::size_t task = next_++; task < count; task = next_++) f(task, worker);
      };
      next_ = 0;
      busy_ = team_.size();
      ++round_;
    }
    wake_.notify_all();
    work_(0);
    while (busy_ != 0) std::this_thread::yield();
  }

 private:
  void serve(std::size_t worker) {
    for (std::size_t seen = 0;;) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return round_ != seen; });
        seen = round_;
        if (stop_) return;
      }
      work_(worker);
      --busy_;
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::function<void(std::size_t)> work_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> busy_{0};
  std::size_t round_ = 0;
  bool stop_ = false;
  std::vector<std::thread> team_;
};

// ---------------------------------------------------------------- data

class buffer {
 public:
  explicit buffer(std::size_t count, unsigned seed = 1)
      : data_(static_cast<float*>(std::aligned_alloc(64, (count * sizeof(float) + 127) / 64 * 64)), &std::free) {
    unsigned x = seed * 2654435761U + 12345U;
    for (std::size_t i = 0; i < count; ++i) {
      x = x * 1664525U + 1013904223U;
      data_.get()[i] = static_cast<float>(x >> 8) * (2.0F / 16777216.0F) - 1.0F;
    }
  }
  [[nodiscard]] float* get() const { return data_.get(); }

 private:
  std::unique_ptr<float, decltype(&std::free)> data_;
};

std::vector<std::string> prefixes;

bool wanted(const std::string& name) {
  return prefixes.empty() ||
         std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return name.rfind(p, 0) == 0; });
}

struct problem {
  std::size_t heads;
  std::size_t key_heads;
  std::size_t queries;
  std::size_t keys;
  std::size_t features;
  bool interleaved = false;  ///< [token, head, feature] instead of [head, token, feature]

  [[nodiscard]] attention_layout layout() const {
    attention_layout l;
    l.queries = queries;
    l.keys = keys;
    l.head_dim = l.value_dim = features;
    l.q_row = l.out_row = static_cast<std::ptrdiff_t>(interleaved ? heads * features : features);
    l.k_row = l.v_row = static_cast<std::ptrdiff_t>(interleaved ? key_heads * features : features);
    l.scale = 1.0F / std::sqrt(static_cast<float>(features));
    return l;
  }
  [[nodiscard]] std::vector<attention_head> list(const buffer& q, const buffer& k, const buffer& v,
                                                 const buffer& out) const {
    std::vector<attention_head> heads_list(heads);
    const std::size_t q_step = interleaved ? features : queries * features;
    const std::size_t k_step = interleaved ? features : keys * features;
    for (std::size_t h = 0; h < heads; ++h) {
      const std::size_t key_head = h / (heads / key_heads);
      heads_list[h].q = q.get() + h * q_step;
      heads_list[h].out = out.get() + h * q_step;
      heads_list[h].k = k.get() + key_head * k_step;
      heads_list[h].v = v.get() + key_head * k_step;
    }
    return heads_list;
  }
};

// ---------------------------------------------------------------- workloads

template <class Score = kernels::identity_score>
void run_attention(const std::string& name, const problem& p, const key_window& window, pool& team,
                   const Score& score = {}) {
  if (!wanted(name)) return;
  const buffer q(p.heads * p.queries * p.features, 1);
  const buffer k(p.key_heads * p.keys * p.features, 2);
  const buffer v(p.key_heads * p.keys * p.features, 3);
  const buffer out(p.heads * p.queries * p.features, 4);
  attention_layout layout = p.layout();
  layout.window = window;
  const std::vector<attention_head> list = p.list(q, k, v, out);
  const buffer scratch(kernels::attention_scratch_bytes<arch>(layout, team.worker_count()) / sizeof(float));
  const double ms =
      median_ms([&] { kernels::attention<arch>(layout, list.data(), list.size(), scratch.get(), team, score); });
  double pairs = 0.0;
  const auto keys = static_cast<std::ptrdiff_t>(p.keys);
  for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(p.queries); ++i) {
    const std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, i + window.offset - window.before);
    const std::ptrdiff_t last = std::min(keys, i + window.offset + window.after + 1);
    pairs += static_cast<double>(std::max<std::ptrdiff_t>(0, last - first));
  }
  report(name, ms, 4.0 * static_cast<double>(p.heads * p.features) * pairs);
}

void run_w2(std::size_t heads, std::size_t features, std::size_t n, pool& team) {
  const std::string base = "W2_h" + std::to_string(heads) + "_d" + std::to_string(features) + "_n" + std::to_string(n);
  const problem p{heads, heads, n, n, features};
  run_attention(base + "_full", p, {}, team);
  run_attention(base + "_causal", p, key_window::causal(), team);
}

void run_variants(pool& team) {
  const problem plain{12, 12, 1024, 1024, 64};
  const problem interleaved{12, 12, 1024, 1024, 64, true};
  run_attention("W2_h12_d64_n1024_full_strided", interleaved, {}, team);
  run_attention("W2_h12_d64_n1024_causal_strided", interleaved, key_window::causal(), team);
  const auto soft_cap = [](const auto& s, const auto&) { return s - 0.001F * (s * s); };
  run_attention("W2_h12_d64_n1024_full_score", plain, {}, team, soft_cap);
  const auto slope = [](const auto& s, const auto& at) {
    return kernels::fma<arch>(kernels::to_floats<arch>(at.key - at.query), kernels::floats<arch>(0.01F), s);
  };
  run_attention("W2_h12_d64_n1024_causal_score", plain, key_window::causal(), team, slope);
  run_attention("W2_h12_d64_n4096_window256", {12, 12, 4096, 4096, 64}, {255, 0, 0}, team);
  for (const std::size_t n : {1, 2, 8, 16, 17, 33, 64, 65}) run_w2(12, 64, n, team);
}

using kernels::number_format;

struct cache_format {
  const char* suffix;
  number_format format;
  std::size_t bytes;
};
constexpr cache_format cache_formats[] = {
    {"", number_format::float32, 4}, {"_bfloat16", number_format::bfloat16, 2}, {"_int8", number_format::int8, 1}};

void run_w3(std::size_t heads, std::size_t key_heads, std::size_t features, std::size_t cache, pool& team) {
  for (const cache_format& of : cache_formats) {
    const std::string name = "W3_h" + std::to_string(heads) + "kv" + std::to_string(key_heads) + "_d" +
                             std::to_string(features) + "_L" + std::to_string(cache) + of.suffix;
    if (!wanted(name)) continue;
    const problem p{heads, key_heads, 1, cache, features};
    const std::size_t head_bytes = cache * features * of.bytes;
    const buffer q(heads * features, 1);
    const buffer k(key_heads * head_bytes / 4, 2);
    const buffer v(key_heads * head_bytes / 4, 3);
    const buffer out(heads * features, 4);
    const attention_layout layout = p.layout();
    std::vector<attention_head> list = p.list(q, k, v, out);
    const float scale = 1.0F / 127;
    if (of.format != number_format::float32) {
      // Any bits are numbers of int8; the upper halves of the floats are bfloat16.
      const auto stored = [&](const buffer& from, std::size_t key_head) {
        kernels::quantised_data data;
        data.data = reinterpret_cast<const unsigned char*>(from.get()) + key_head * head_bytes;
        data.format = of.format;
        data.row = static_cast<std::ptrdiff_t>(features);
        if (of.format == number_format::int8) data.scale = &scale;
        data.kernels = &kernels::detail::stored_kernels_of<arch>;
        return data;
      };
      for (const buffer* b : {&k, &v}) {
        auto* const halves = reinterpret_cast<std::uint16_t*>(b->get());
        for (std::size_t i = 0; of.bytes == 2 && i < key_heads * head_bytes / 2; i += 2) halves[i] = halves[i + 1];
      }
      for (std::size_t h = 0; h < heads; ++h) {
        list[h].k_quantised = stored(k, h / (heads / key_heads));
        list[h].v_quantised = stored(v, h / (heads / key_heads));
        list[h].k = list[h].v = nullptr;
      }
    }
    const std::size_t group = heads / key_heads;
    const buffer scratch(kernels::decode_scratch_bytes<arch>(layout, heads, group, team.worker_count()) /
                         sizeof(float));
    const double ms = median_ms([&] { kernels::decode<arch>(layout, list.data(), heads, group, scratch.get(), team); });
    volatile float sink = 0.0F;
    const double read_ms = median_ms([&] {
      sink = sum_of_floats(k.get(), key_heads * head_bytes / 4) + sum_of_floats(v.get(), key_heads * head_bytes / 4);
    });
    report(name, ms, 4.0 * static_cast<double>(heads * features * cache),
           2.0 * static_cast<double>(key_heads * head_bytes), threads == 1 ? read_ms : 0.0);
  }
}

void run_w4() {
  if (threads != 1) return;
  const buffer q(1024, 1);
  const buffer k(1024, 2);
  const buffer v(1024, 3);
  const buffer out(1024, 4);
  const auto measure = [&](const char* name, std::size_t heads, std::size_t n, std::size_t d_k, std::size_t d_v) {
    if (!wanted(name)) return;
    std::vector<attention_head> list(heads);
    for (std::size_t h = 0; h < heads; ++h) {
      list[h].q = q.get() + d_k * h;
      list[h].k = k.get() + d_k * h;
      list[h].v = v.get() + d_v * h;
      list[h].out = out.get() + d_v * h;
    }
    kernels::attention_call call;
    call.layout.queries = call.layout.keys = n;
    call.layout.head_dim = d_k;
    call.layout.value_dim = d_v;
    call.layout.q_row = call.layout.k_row = static_cast<std::ptrdiff_t>(heads * d_k);
    call.layout.v_row = call.layout.out_row = static_cast<std::ptrdiff_t>(heads * d_v);
    call.layout.scale = 0.3F;
    call.heads = list.data();
    call.count = heads;
    const double ms = median_ms([&] { (void)kernels::attention_small<arch>(call); });
    report(name, ms, 2.0 * static_cast<double>(heads * n * n * (d_k + d_v)));
  };
  measure("W4_1h_n6_attention", 1, 6, 24, 28);
  measure("W4_8h_n10_attention", 8, 10, 8, 8);
}

}  // namespace

int main(int argc, char** argv) {
  peak = measured_peak();
  std::printf("# %s, peak of one core %.1f GFLOP/s\n", arch::name(), peak);
  if (argc > 1) threads = static_cast<std::size_t>(std::max(1, std::atoi(argv[1])));
  for (int i = 2; i < argc; ++i) prefixes.emplace_back(argv[i]);
  pool team(threads);
  for (const std::size_t n : {128, 512, 1024, 2048, 4096}) run_w2(12, 64, n, team);
  run_w2(2, 64, 8192, team);
  run_w2(8, 128, 1024, team);
  run_w2(8, 128, 4096, team);
  run_variants(team);
  for (const std::size_t cache : {512, 2048, 8192}) run_w3(32, 8, 128, cache, team);
  for (const std::size_t cache : {512, 2048, 8192}) run_w3(12, 12, 64, cache, team);
  for (const std::size_t group : {2, 8}) {
    for (const std::size_t cache : {512, 2048, 8192}) run_w3(8 * group, 8, 128, cache, team);
  }
  run_w4();
  threads = 1;
  std::printf("# peak of one core %.1f GFLOP/s\n", measured_peak());
}
