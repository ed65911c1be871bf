// SPDX-License-Identifier: BSL-1.0
// benchmarks/kernels/quantised.cpp -- products with quantised weights against this machine's peak and bandwidth.
//
// Layer: benchmark of include/dimwise/kernels/quantised/; needs nothing else of the library.
//
//   g++ -std=c++20 -O3 -march=native -Iinclude benchmarks/kernels/quantised.cpp -o kernels_quantised
//   kernels_quantised [seconds per line] [prefix ...]   -mavx2 -mfma -mf16c instead of -march=native: the AVX2 kernels
//
//   format_MxNxK median_us gflops pct_peak [GB/s of weights, and their share of a plain read of them]
//
// CPU time of the process. The peak is that of float multiply-adds, measured before each line; products of bytes exceed
// it. Weights of one row of inputs are those of many products one after another, so that they come from memory.
#include "../peak.hpp"
#include <dimwise/kernels/dispatch/quantised_implementation.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace dimwise::kernels;
using arch = default_arch;
using dimwise::float16;

struct free_memory {
  void operator()(void* p) const { std::free(p); }
};
using memory = std::unique_ptr<unsigned char, free_memory>;

memory make_memory(std::size_t bytes) {
  memory out(static_cast<unsigned char*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64)));
  unsigned state = 12345;
  for (std::size_t i = 0; i < bytes; ++i) {
    state = state * 1664525U + 1013904223U;
    // No byte of −128: weights of 8 bits do not have it.
    out.get()[i] = static_cast<unsigned char>(state >> 24U) == 128 ? 1 : static_cast<unsigned char>(state >> 24U);
  }
  return out;
}

double now() { return bench::detail::thread_seconds(); }

// Seconds of one call of f, which gets the number of the call.
template <class F>
double median_seconds(double budget, const F& f) {
  std::size_t call = 0;
  f(call++);
  double start = now();
  f(call++);
  const double once = std::max(now() - start, 1e-8);
  const auto inner = static_cast<std::size_t>(std::max(1.0, 1e-4 / once));
  const auto repeats = static_cast<std::size_t>(std::clamp(budget / (once * static_cast<double>(inner)), 7.0, 2001.0));
  std::vector<double> times(repeats);
  for (double& time : times) {
    start = now();
    for (std::size_t i = 0; i < inner; ++i) { f(call++); }
    time = (now() - start) / static_cast<double>(inner);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(repeats / 2), times.end());
  return times[repeats / 2];
}

struct kind {
  const char* name;
  number_format format;
  product_inputs inputs;
};
constexpr kind kinds[] = {{"bfloat16", number_format::bfloat16, product_inputs::bfloat16},
                          {"float16", number_format::float16, product_inputs::float32},
                          {"int8", number_format::int8, product_inputs::int8},
                          {"int4", number_format::int4, product_inputs::int8}};

// The sum of all 64-bit integers: as fast as memory is read.
[[gnu::noinline]] unsigned long long sum_of(const unsigned char* from, std::size_t bytes) {
  const auto* const numbers = reinterpret_cast<const unsigned long long*>(from);
  unsigned long long sum = 0;
  for (std::size_t i = 0; i < bytes / sizeof(*numbers); ++i) { sum += numbers[i]; }
  return sum;
}

volatile unsigned long long kept;

void line(double budget, const kind& of, std::size_t m, std::size_t n, std::size_t k) {
  const std::size_t row = of.format == number_format::int8 ? k : of.format == number_format::int4 ? k / 2 : 2 * k;
  const std::size_t blocks = (k + 31) / 32;
  const bool scaled = of.inputs == product_inputs::int8;
  const std::size_t bytes = n * row;
  const std::size_t copies = m > 1 ? 1 : std::max<std::size_t>(1, (std::size_t{96} << 20U) / bytes);
  const memory b = make_memory(bytes * copies);
  if (!scaled) {  // finite numbers of ordinary size
    for (std::size_t i = 1; i < bytes * copies; i += 2) { b.get()[i] = (b.get()[i] & 0x81U) | 0x3cU; }
  }
  std::vector<float16> scales(scaled ? n * blocks * copies : 0, float16(0.01F));
  std::vector<float> a(m * k);
  for (std::size_t i = 0; i < a.size(); ++i) { a[i] = static_cast<float>(i * 7919 % 1000) * 0.002F - 1.0F; }
  std::vector<float> c(m * n);
  quantised_product_call call;
  call.m = m;
  call.n = n;
  call.k = k;
  call.a = a.data();
  call.a_row = static_cast<std::ptrdiff_t>(k);
  call.inputs = of.inputs;
  call.format = of.format;
  call.b_row = static_cast<std::ptrdiff_t>(row);
  call.scales_row = static_cast<std::ptrdiff_t>(blocks);
  call.c = c.data();
  call.c_row = static_cast<std::ptrdiff_t>(n);
  const quantised_table& table = quantised_table_of<arch>;
  const memory scratch = make_memory(table.product_bytes(call, 1));
  const double peak = bench::multiply_add_peak(bench::compiled_architecture());
  const double seconds = median_seconds(budget, [&](std::size_t at) {
    const std::size_t copy = at % copies;
    call.b = b.get() + copy * bytes;
    call.scales = scaled ? scales.data() + copy * n * blocks : nullptr;
    table.product(call, scratch.get(), {});
  });
  const double rate = 2e-9 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) / seconds;
  const std::string name =
      std::string(of.name) + "_" + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  std::printf("%-24s %10.2f %8.1f %6.1f", name.c_str(), seconds * 1e6, rate, 100 * rate / peak);
  if (m == 1) {
    const double plain =
        median_seconds(budget, [&](std::size_t at) { kept = sum_of(b.get() + at % copies * bytes, bytes); });
    std::printf(" %8.1f %6.1f", 1e-9 * static_cast<double>(bytes) / seconds, 100 * plain / seconds);
  }
  std::puts("");
  std::fflush(stdout);
}

struct shape {
  std::size_t m, n, k;
};
constexpr shape shapes[] = {{1, 768, 768},   {1, 3072, 768},  {1, 768, 3072},   {1, 288, 288},    {1, 768, 288},
                            {1, 288, 768},   {128, 768, 768}, {128, 3072, 768}, {128, 768, 3072}, {128, 288, 288},
                            {128, 768, 288}, {128, 288, 768}, {16, 768, 768}};

}  // namespace

int main(int count, char** arguments) {
  const double budget = count > 1 ? std::strtod(arguments[1], nullptr) : 0.3;
  std::printf("# %s, peak %.1f GFLOP/s\n", bench::compiled_architecture(),
              bench::multiply_add_peak(bench::compiled_architecture()));
  for (const kind& of : kinds) {
    for (const shape& s : shapes) {
      const std::string name =
          std::string(of.name) + "_" + std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
      bool chosen = count <= 2;
      for (int i = 2; i < count; ++i) { chosen = chosen || name.rfind(arguments[i], 0) == 0; }
      if (chosen) { line(budget, of, s.m, s.n, s.k); }
    }
  }
  std::printf("# peak %.1f GFLOP/s\n", bench::multiply_add_peak(bench::compiled_architecture()));
}
