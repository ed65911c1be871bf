// benchmarks/kernels/gemm.cpp -- what the matrix product reaches of this machine's multiply-add peak.
//
// Layer: benchmark of include/dimwise/kernels/gemm/product.hpp; needs nothing else of the library.
//
//   g++ -std=c++20 -O3 -march=native -Iinclude benchmarks/kernels/gemm.cpp -o kernels_gemm -pthread
//   add -DDIMWISE_BENCH_OPENBLAS -lopenblas to have OpenBLAS in the same run
//   kernels_gemm [threads] [seconds per line]
//
// Prints `library workload threads median_ms gflops pct_peak`. One thread: CPU time of the process, so that other load
// on the machine does not count; more threads: wall time. The peak is measured before each line and the line's
// percentage refers to it, because clocks move. OpenBLAS older than the processor falls back to a narrower kernel: set
// OPENBLAS_CORETYPE=SkylakeX (AVX-512) or Haswell (AVX2) to give it its best.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/kernels/gemm/product.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#ifdef DIMWISE_BENCH_OPENBLAS
#include <cblas.h>
extern "C" void openblas_set_num_threads(int);
extern "C" char* openblas_get_corename(void);
#endif

namespace {

using namespace dimwise::kernels;
using arch = default_arch;

double seconds_now(std::size_t threads) {
  std::timespec t{};
  clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Persistent workers that spin between calls: what is measured is the kernel, not the waking of threads.
class spinning_executor {
 public:
  explicit spinning_executor(std::size_t workers) : workers_(workers) {
    for (std::size_t i = 1; i < workers; ++i) threads_.emplace_back([this, i] { serve(i); });
  }
  ~spinning_executor() {
    stop_ = true;
    epoch_.fetch_add(1);
    for (auto& thread : threads_) thread.join();
  }
  spinning_executor(const spinning_executor&) = delete;
  spinning_executor& operator=(const spinning_executor&) = delete;

  [[nodiscard]] std::size_t worker_count() const { return workers_; }

  template <class F>
  void parallel_for(std::size_t count, F&& f) {
    using Function = std::remove_reference_t<F>;
    context_ = &f;
    call_ = [](void* context, std::size_t task, std::size_t worker) {
      (*static_cast<Function*>(context))(task, worker);
    };
    count_ = count;
    next_ = 0;
    busy_ = workers_ - 1;
    epoch_.fetch_add(1, std::memory_order_release);
    work(0);
    while (busy_.load(std::memory_order_acquire) != 0) {}
  }

 private:
  void work(std::size_t worker) {
    for (std::size_t task = next_.fetch_add(1); task < count_; task = next_.fetch_add(1)) call_(context_, task, worker);
  }
  void serve(std::size_t worker) {
    for (std::size_t seen = 0;;) {
      while (epoch_.load(std::memory_order_acquire) == seen) {}
      ++seen;
      if (stop_) return;
      work(worker);
      busy_.fetch_sub(1, std::memory_order_release);
    }
  }

  std::size_t workers_;
  std::vector<std::thread> threads_;
  std::atomic<std::size_t> epoch_{0}, next_{0}, busy_{0};
  std::atomic<bool> stop_{false};
  std::size_t count_ = 0;
  void* context_ = nullptr;
  void (*call_)(void*, std::size_t, std::size_t) = nullptr;
};

// Independent multiply-adds on registers: the most that one thread can do.
[[gnu::noinline]] double peak_gflops() {
  constexpr std::size_t chains = gemm_tile<arch>::many_registers ? 24 : 12;
  constexpr std::size_t steps = 400000;
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    floats<arch> acc[chains];
    volatile float first = 1.0F;  // chains that start alike would be computed once
    for (auto& a : acc) a = broadcast<arch>(first);
    floats<arch> x = broadcast<arch>(0.999F);
    const double start = seconds_now(1);
    for (std::size_t i = 0; i < steps; ++i) {
#pragma GCC unroll 24
      for (std::size_t c = 0; c < chains; ++c) acc[c] = fma<arch>(acc[c], x, x);
    }
    const double spent = seconds_now(1) - start;
    floats<arch> sum = acc[0];
    for (std::size_t c = 1; c < chains; ++c) sum = sum + acc[c];
    volatile float sink = reduce_sum<arch>(sum);
    (void)sink;
    best = std::max(best, 2.0 * steps * chains * lanes<arch> / spent * 1e-9);
  }
  return best;
}

template <class F>
double median_seconds(std::size_t threads, double budget, F&& f) {
  f();
  double start = seconds_now(threads);
  f();
  const double once = std::max(seconds_now(threads) - start, 1e-8);
  const auto inner = static_cast<std::size_t>(std::max(1.0, 1e-4 / once));
  const auto repeats = static_cast<std::size_t>(std::clamp(budget / (once * static_cast<double>(inner)), 7.0, 2001.0));
  std::vector<double> times(repeats);
  for (auto& time : times) {
    start = seconds_now(threads);
    for (std::size_t i = 0; i < inner; ++i) f();
    time = (seconds_now(threads) - start) / static_cast<double>(inner);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(repeats / 2), times.end());
  return times[repeats / 2];
}

struct free_memory {
  void operator()(void* p) const { std::free(p); }
};
using buffer = std::unique_ptr<float, free_memory>;

buffer make_buffer(std::size_t bytes) {
  buffer out(static_cast<float*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64)));
  unsigned state = 12345;
  for (std::size_t i = 0; i < bytes / sizeof(float); ++i) {
    state = state * 1664525U + 1013904223U;
    out.get()[i] = static_cast<float>(state >> 8) * (2.0F / 16777216.0F) - 1.0F;
  }
  return out;
}

struct bench {
  std::size_t threads;
  double budget;
  spinning_executor executor;

  template <class F>
  void line(const char* library, const std::string& workload, double flops, F&& f) {
    const double peak = peak_gflops();
    const double seconds = median_seconds(threads, budget, f);
    const double rate = flops / seconds * 1e-9;
    std::printf("%-10s %-26s %zu %11.5f %9.2f %6.1f\n", library, workload.c_str(), threads, seconds * 1e3, rate,
                100.0 * rate / (peak * static_cast<double>(threads)));
    std::fflush(stdout);
  }

  void shape(std::size_t m, std::size_t n, std::size_t k) {
    const gemm_shape s{m, n, k};
    const std::string name = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    const buffer a = make_buffer(m * k * 4), b = make_buffer(k * n * 4), c = make_buffer(m * n * 4);
    const buffer packed = make_buffer(packed_b_bytes<arch>(k, n));
    const buffer scratch = make_buffer(gemm_scratch_bytes<arch>(s, threads));
    const auto sm = static_cast<std::ptrdiff_t>(m), sn = static_cast<std::ptrdiff_t>(n),
               sk = static_cast<std::ptrdiff_t>(k);
    const strided_matrix<const float> rows_a{a.get(), sk, 1}, turned_a{a.get(), 1, sm};
    const strided_matrix<const float> rows_b{b.get(), sn, 1}, turned_b{b.get(), 1, sk};
    const strided_matrix<float> out{c.get(), sn, 1};
    pack_b<arch>(k, n, rows_b, packed.get());
    line("dimwise", name + "_packed", flops,
         [&] { gemm_packed<arch>(s, rows_a, packed.get(), out, scratch.get(), keep{}, executor); });
    line("dimwise", name, flops, [&] { gemm<arch>(s, rows_a, rows_b, out, scratch.get(), keep{}, executor); });
    line("dimwise", name + "_Bt", flops,
         [&] { gemm<arch>(s, rows_a, turned_b, out, scratch.get(), keep{}, executor); });
    line("dimwise", name + "_At", flops,
         [&] { gemm<arch>(s, turned_a, rows_b, out, scratch.get(), keep{}, executor); });
#ifdef DIMWISE_BENCH_OPENBLAS
    const int im = static_cast<int>(m), in = static_cast<int>(n), ik = static_cast<int>(k);
    const auto blas = [&](CBLAS_TRANSPOSE turn_a, CBLAS_TRANSPOSE turn_b) {
      cblas_sgemm(CblasRowMajor, turn_a, turn_b, im, in, ik, 1.0F, a.get(), turn_a == CblasTrans ? im : ik, b.get(),
                  turn_b == CblasTrans ? ik : in, 0.0F, c.get(), in);
    };
    openblas_set_num_threads(static_cast<int>(threads));
    line("openblas", name, flops, [&] { blas(CblasNoTrans, CblasNoTrans); });
    line("openblas", name + "_Bt", flops, [&] { blas(CblasNoTrans, CblasTrans); });
    line("openblas", name + "_At", flops, [&] { blas(CblasTrans, CblasNoTrans); });
    if (m == 1) {
      line("openblas", name + "_gemv", flops,
           [&] { cblas_sgemv(CblasRowMajor, CblasTrans, ik, in, 1.0F, b.get(), in, a.get(), 1, 0.0F, c.get(), 1); });
    }
    openblas_set_num_threads(1);
#endif
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::size_t threads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
  const double budget = argc > 2 ? std::strtod(argv[2], nullptr) : 1.0;
  for (int i = 0; i < 20; ++i) peak_gflops();  // some processors need a while to wake their widest units
  std::printf("# peak %.1f GFLOP/s per thread, %zu lanes\n", peak_gflops(), lanes<arch>);
#ifdef DIMWISE_BENCH_OPENBLAS
  std::printf("# OpenBLAS kernels: %s\n", openblas_get_corename());
#endif
  bench b{threads, budget, spinning_executor(threads)};
  for (const auto& s : std::vector<gemm_shape>{{512, 768, 768},
                                               {128, 768, 768},
                                               {512, 3072, 768},
                                               {512, 768, 3072},
                                               {1024, 1024, 1024},
                                               {2048, 2048, 2048},
                                               {1, 768, 768},
                                               {1, 4096, 4096},
                                               {4, 4096, 4096},
                                               {8, 768, 768},
                                               {10, 10, 64},
                                               {10, 64, 10},
                                               {32, 32, 32},
                                               {100, 100, 100}}) {
    b.shape(s.m, s.n, s.k);
  }
  std::printf("# peak %.1f GFLOP/s per thread\n", peak_gflops());
  return 0;
}
