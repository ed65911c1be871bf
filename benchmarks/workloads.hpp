// SPDX-License-Identifier: BSL-1.0
// benchmarks/workloads.hpp -- what is measured, and how: shared by dimwise's program and the rivals' programs.
//
//   W1_n<seq>_{full,causal}                    self-attention layer: 768 features, 12 heads of 64, with W_O, no bias
//   W2_h<heads>_d<dim>_n<seq>_{full,causal}    attention alone
//   W3_h<heads>kv<key heads>_d<dim>_L<cache>   one query token against a cache
//   W4_1h_n6, W4_8h_n10                        a whole layer of a problem whose extents the compiler knows
//   W5_n<seq>                                  encoder layer: attention, 3072 hidden features, GELU, two add & norm
//
// One line for each: `library workload threads median_ms gflops pct_peak`. One thread: CPU time of the process, so that
// other load on the machine does not count; more: wall time. GFLOP/s count useful multiply-adds only: a causal problem
// is its lower triangle, softmax counts nothing. The peak is measured before and after every workload, because clocks
// move; a workload during which it moved by more than 3 % is measured again, at most three times.
//
// Options: --only PREFIX[,PREFIX…]  --threads N  --seconds S (for each workload)
//          --spread (adds the quartiles in ms, and the peak before and after in GFLOP/s)
//          --list  --shape HEADSxDIMxSEQ_{full,causal} (one W2 of any size)  --memory (adds the process's peak in MB)
//          --bfloat16 (W1 and W2 in bfloat16, too, of libraries that have it: a line <library>_bfloat16 behind each)
#pragma once

#include "peak.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

struct workload {
  std::string name;
  int kind = 2;
  std::size_t heads = 1;
  std::size_t key_heads = 1;
  std::size_t queries = 0;
  std::size_t keys = 0;
  std::size_t d_k = 0;
  std::size_t d_v = 0;
  bool causal = false;
  std::size_t d_model = 0;
  std::size_t d_ff = 0;
  double products = 1;  ///< times as much as the forward pass: 3 with the backward pass
  double work = 0;      ///< floating-point operations of the forward pass, where they are said
};

inline double flops(const workload& w) {
  const auto n = static_cast<double>(w.queries);
  const auto width = static_cast<double>(w.d_model);
  const auto heads = static_cast<double>(w.heads);
  const auto d_k = static_cast<double>(w.d_k);
  const auto d_v = static_cast<double>(w.d_v);
  if (w.kind == 6) { return 2 * n * width * static_cast<double>(w.d_ff); }
  if (w.work != 0) { return w.products * w.work; }
  const double pairs = w.causal ? n * (n + 1) / 2 : n * static_cast<double>(w.keys);
  double total = 2 * heads * pairs * (d_k + d_v);
  if (w.kind == 1 || w.kind == 5) { total += 8 * n * width * width; }
  if (w.kind == 5) { total += 4 * n * width * static_cast<double>(w.d_ff); }
  if (w.kind == 4) {
    total += 2 * n * width * heads * (2 * d_k + d_v) + (w.heads > 1 ? 2 * n * heads * d_v * width : 0);
  }
  return w.products * total;
}

inline workload attention_alone(std::size_t heads, std::size_t dim, std::size_t n, bool causal) {
  const std::string name = "W2_h" + std::to_string(heads) + "_d" + std::to_string(dim) + "_n" + std::to_string(n);
  return {name + (causal ? "_causal" : "_full"), 2, heads, heads, n, n, dim, dim, causal};
}

inline std::vector<workload> all_workloads() {
  std::vector<workload> all;
  for (const std::size_t n : {128, 512, 1024, 2048, 4096}) {
    for (const bool causal : {false, true}) {
      all.push_back(
          {"W1_n" + std::to_string(n) + (causal ? "_causal" : "_full"), 1, 12, 12, n, n, 64, 64, causal, 768});
    }
  }
  struct {
    std::size_t heads, dim, n;
  } const alone[] = {{12, 64, 128},  {12, 64, 512}, {12, 64, 1024}, {12, 64, 2048},
                     {12, 64, 4096}, {2, 64, 8192}, {8, 128, 1024}, {8, 128, 4096}};
  for (const auto& a : alone) {
    for (const bool causal : {false, true}) { all.push_back(attention_alone(a.heads, a.dim, a.n, causal)); }
  }
  for (const std::size_t cache : {512, 2048, 8192}) {
    all.push_back({"W3_h32kv8_d128_L" + std::to_string(cache), 3, 32, 8, 1, cache, 128, 128});
  }
  for (const std::size_t cache : {512, 2048, 8192}) {
    all.push_back({"W3_h12kv12_d64_L" + std::to_string(cache), 3, 12, 12, 1, cache, 64, 64});
  }
  all.push_back({"W4_1h_n6", 4, 1, 1, 6, 6, 24, 28, false, 16});
  all.push_back({"W4_8h_n10", 4, 8, 8, 10, 10, 8, 8, false, 64});
  for (const std::size_t n : {128, 512}) {
    all.push_back({"W5_n" + std::to_string(n), 5, 12, 12, n, n, 64, 64, false, 768, 3072});
  }
  return all;
}

struct options {
  std::vector<std::string> only;
  std::size_t threads = 1;
  double seconds = 1;
  bool spread = false;
  bool list = false;
  bool memory = false;
  bool bfloat16 = false;
  std::vector<workload> shapes;

  [[nodiscard]] bool wants(const std::string& name) const {
    return only.empty() ||
           std::any_of(only.begin(), only.end(), [&](const std::string& o) { return name.rfind(o, 0) == 0; });
  }
  [[nodiscard]] std::vector<workload> workloads(const std::vector<workload>& all) const {
    std::vector<workload> wanted;
    for (const workload& w : shapes.empty() ? all : shapes) {
      if (!shapes.empty() || wants(w.name)) { wanted.push_back(w); }
    }
    return wanted;
  }
};

inline workload parse_shape(const std::string& text) {
  std::size_t heads = 0;
  std::size_t dim = 0;
  std::size_t n = 0;
  char which[8] = {};
  if (std::sscanf(text.c_str(), "%zux%zux%zu_%7s", &heads, &dim, &n, which) != 4) {
    throw std::invalid_argument("--shape wants HEADSxDIMxSEQ_full or HEADSxDIMxSEQ_causal, not " + text);
  }
  return attention_alone(heads, dim, n, std::strcmp(which, "causal") == 0);
}

inline options parse(int count, char** arguments) {
  options o;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    const auto value = [&]() -> std::string {
      if (++i == count) { throw std::invalid_argument(name + " wants a value"); }
      return arguments[i];
    };
    if (name == "--only") {
      const std::string given = value();
      for (std::size_t at = 0; at <= given.size();) {
        const std::size_t end = std::min(given.find(',', at), given.size());
        if (end > at) { o.only.push_back(given.substr(at, end - at)); }
        at = end + 1;
      }
    } else if (name == "--threads") {
      o.threads = std::max<std::size_t>(1, std::stoul(value()));
    } else if (name == "--seconds") {
      o.seconds = std::stod(value());
    } else if (name == "--shape") {
      o.shapes.push_back(parse_shape(value()));
    } else if (name == "--spread") {
      o.spread = true;
    } else if (name == "--memory") {
      o.memory = true;
    } else if (name == "--bfloat16") {
      o.bfloat16 = true;
    } else if (name == "--list") {
      o.list = true;
    } else {
      throw std::invalid_argument("unknown option " + name +
                                  "; the options stand at the top of benchmarks/workloads.hpp");
    }
  }
  return o;
}

struct times {
  double low;  // quartiles, in ms
  double median;
  double high;
};

inline double now(std::size_t threads) {
  std::timespec t{};
  clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class F>
times measure(const options& o, const F& f) {
  f();
  const double start = now(o.threads);
  f();
  const double once = now(o.threads) - start;
  // A clock is read in about a microsecond: short work is repeated between two readings.
  const int inner = once < 2e-5 ? static_cast<int>(2e-4 / std::max(once, 1e-8)) : 1;
  const double least = once > 0.2 ? 3 : 5;
  const auto rounds = static_cast<std::size_t>(std::clamp(o.seconds / std::max(once * inner, 1e-7), least, 2001.0));
  std::vector<double> each(rounds);
  for (double& e : each) {
    const double before = now(o.threads);
    for (int i = 0; i < inner; ++i) { f(); }
    e = 1e3 * (now(o.threads) - before) / inner;
  }
  std::sort(each.begin(), each.end());
  return {each[rounds / 4], each[rounds / 2], each[rounds * 3 / 4]};
}

/// Times, with what the machine did just before and after: its peak or its read bandwidth.
struct steady_times : times {
  double before;
  double after;
  [[nodiscard]] double rate() const { return (before + after) / 2; }
};

/// Measures f between two calls of `rate_of_machine`, again if the rate moved by more than 3 %, at most three times.
template <class Rate, class F>
steady_times measure_between(const options& o, const Rate& rate_of_machine, const F& f) {
  double before = rate_of_machine();
  for (int round = 1;; ++round) {
    const times t = measure(o, f);
    const double after = rate_of_machine();
    if (round == 3 || std::abs(after - before) <= 0.03 * before) { return {t, before, after}; }
    before = after;
  }
}

/// One line of figures. `rate`: GFLOP/s, or tokens per second.
inline void print_figures(const std::string& library, const std::string& workload, const options& o,
                          const steady_times& t, double rate, double share) {
  std::printf("%s %s %zu %.6f %.2f %.1f", library.c_str(), workload.c_str(), o.threads, t.median, rate, share);
  if (o.spread) { std::printf(" %.6f %.6f %.1f %.1f", t.low, t.high, t.before, t.after); }
}

/// What the program prints; keeps the peaks that it saw.
class report {
 public:
  report(const options& o, std::string architecture) : options_(o), architecture_(std::move(architecture)) {}

  template <class F>
  void line(const std::string& library, const workload& w, const F& f) {
    const steady_times t = measure_between(options_, [this] { return multiply_add_peak(architecture_); }, f);
    peaks_.push_back(t.rate());
    const double gflops = flops(w) / t.median * 1e-6;
    print_figures(library, w.name, options_, t, gflops,
                  100 * gflops / (static_cast<double>(options_.threads) * t.rate()));
    if (options_.memory) { std::printf(" %ld", peak_megabytes()); }
    std::printf("\n");
    std::fflush(stdout);
  }

  ~report() {
    if (peaks_.empty()) { peaks_.push_back(multiply_add_peak(architecture_)); }
    std::sort(peaks_.begin(), peaks_.end());
    std::printf("peak %s 1 %.2f GFLOP/s (min %.2f max %.2f)\n", architecture_.c_str(), peaks_[peaks_.size() / 2],
                peaks_.front(), peaks_.back());
  }
  report(const report&) = delete;
  report& operator=(const report&) = delete;

 private:
  static long peak_megabytes() {
    long kilobytes = 0;
    if (std::FILE* status = std::fopen("/proc/self/status", "r")) {
      char line[256];
      while (std::fgets(line, sizeof line, status) != nullptr) {
        if (std::strncmp(line, "VmHWM:", 6) == 0) { kilobytes = std::atol(line + 6); }
      }
      std::fclose(status);
    }
    return kilobytes / 1024;
  }

  const options& options_;
  std::string architecture_;
  std::vector<double> peaks_;
};

/// Numbers in (-scale, scale) that look unordered; the same for every library.
inline void fill(float* to, std::size_t count, float scale, unsigned seed) {
  unsigned x = seed * 2654435761U + 12345U;
  for (std::size_t i = 0; i < count; ++i) {
    x = x * 1664525U + 1013904223U;
    to[i] = scale * (static_cast<float>(x >> 8) * (2.0F / 16777216.0F) - 1.0F);
  }
}

inline void print_list(const std::vector<workload>& all) {
  for (const workload& w : all) {
    std::printf("%s %d %zu %zu %zu %zu %zu %zu %d %zu %zu %.0f\n", w.name.c_str(), w.kind, w.heads, w.key_heads,
                w.queries, w.keys, w.d_k, w.d_v, w.causal ? 1 : 0, w.d_model, w.d_ff, flops(w));
  }
}

/// The main of every program here: `run(workload, options, report)` for each of `all` that is wanted.
template <class Run>
int run_all(int count, char** arguments, const std::string& architecture, const Run& run,
            const std::vector<workload>& all = all_workloads()) {
  try {
    const options o = parse(count, arguments);
    if (o.list) {
      print_list(o.workloads(all));
      return 0;
    }
    report to(o, architecture);
    for (const workload& w : o.workloads(all)) { run(w, o, to); }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", arguments[0], e.what());
    return 2;
  }
}

}  // namespace bench
