// SPDX-License-Identifier: BSL-1.0
// benchmarks/small_parts.cpp -- the time of a small problem by parts: W4 with one head, 6 tokens.
//
// Build:  cmake --preset bench && cmake --build --preset bench --target bench_small_parts
// Usage:  bench_small_parts                     DIMWISE_ARCHITECTURE=avx2 limits the kernels
//
//   part nanoseconds          "form": the expression alone; "evaluate": all of it; "products" and "attention": the
//   kernels alone, over memory that is ready; "memory": the result and three buffers. The rest is planning.
//   "record": one record of the formula, of those that an evaluation forms of run-time extents; no part of the whole,
//   whose extents are static.
#include <dimwise/dimwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

namespace {

using namespace dimwise;

struct seq : position_dim<6> {};
struct key : prime<seq> {};
struct d_model : feature_dim<16> {};
struct d_k : feature_dim<24> {};
struct d_v : feature_dim<28> {};

double now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class F>
double median_ns(const F& f) {
  constexpr int calls = 1000;
  std::vector<double> times;
  for (int round = 0; round < 301; ++round) {
    const double begin = now();
    for (int i = 0; i < calls; ++i) { f(); }
    times.push_back(1e9 * (now() - begin) / calls);
  }
  std::nth_element(times.begin(), times.begin() + 150, times.end());
  return times[150];
}

// Makes the compiler keep what `at` points to.
void keep(const void* at) { asm volatile("" : : "r"(at) : "memory"); }

template <class Tensor>
Tensor filled(unsigned seed) {
  Tensor x{};
  for (std::size_t i = 0; i < x.size(); ++i) {
    seed = seed * 1664525U + 1013904223U;
    x.overwrite()[i] = static_cast<float>(seed >> 8U) / 33554432.0F - 0.25F;
  }
  return x;
}

}  // namespace

int main() {
  const auto x = filled<tensor<float, seq, d_model>>(1);
  const auto w_q = filled<tensor<float, d_model, d_k>>(2);
  const auto w_k = filled<tensor<float, d_model, d_k>>(3);
  const auto w_v = filled<tensor<float, d_model, d_v>>(4);
  const auto formula = [&] {
    auto k = rename<seq, key>(contract<d_model>(x, w_k));
    auto v = rename<seq, key>(contract<d_model>(x, w_v));
    return contract<key>(softmax<key>(scores<d_k>(contract<d_model>(x, w_q), k)), v);
  };
  tensor<float, seq, d_v> y;
  const double form = median_ns([&] {
    const auto e = formula();
    keep(&e);
  });
  const double evaluated = median_ns([&] {
    y = evaluate(formula());
    keep(&y);
  });

  const auto expression = formula();
  constexpr std::size_t records = 1 + detail::records_below<decltype(expression)>;
  const double record = median_ns([&] {
    detail::record<float> all[records];
    detail::record_stack<float> stack{&all[0]};
    keep(detail::form<detail::evaluation_pass>(stack, expression));
    keep(&all[0]);
  });

  const auto& kernel = kernels::active();
  std::vector<float> q(6 * 24);
  std::vector<float> k(6 * 24);
  std::vector<float> v(6 * 28);
  std::vector<float> out(6 * 28);
  const auto product = [&](const float* b, std::size_t n, float* c) {
    const kernels::product_call::pointers at{x.values().data(), b, c, nullptr};
    kernels::product_call call;
    call.m = 6;
    call.n = n;
    call.k = 16;
    call.a_row = 16;
    call.a_column = call.b_column = call.c_column = 1;
    call.b_row = call.c_row = static_cast<std::ptrdiff_t>(n);
    call.problems = &at;
    call.count = 1;
    return kernel.product_small(call);
  };
  bool small = true;
  const double products = median_ns([&] {
    small = product(w_q.values().data(), 24, q.data()) && small;
    small = product(w_k.values().data(), 24, k.data()) && small;
    small = product(w_v.values().data(), 28, v.data()) && small;
  });
  const double attention = median_ns([&] {
    kernels::attention_head head;
    head.q = q.data();
    head.k = k.data();
    head.v = v.data();
    head.out = out.data();
    kernels::attention_call call;
    call.layout.queries = call.layout.keys = 6;
    call.layout.head_dim = 24;
    call.layout.value_dim = 28;
    call.layout.q_row = call.layout.k_row = 24;
    call.layout.v_row = call.layout.out_row = 28;
    call.layout.scale = 1 / std::sqrt(24.0F);
    call.heads = &head;
    call.count = 1;
    small = kernel.attention_small(call) && small;
    keep(out.data());
  });
  const double memory = median_ns([] {
    const std::unique_ptr<float[]> a(new float[6 * 24]);
    const std::unique_ptr<float[]> b(new float[6 * 24]);
    const std::unique_ptr<float[]> c(new float[6 * 28]);
    const std::unique_ptr<float[]> d(new float[6 * 28]);
    keep(a.get());
    keep(b.get());
    keep(c.get());
    keep(d.get());
  });
  if (!small) {
    std::puts("the kernels for small problems did not take this one");
    return 1;
  }
  // The parts compute what the formula gives.
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!(std::abs(out[i] - y.values().data()[i]) < 1e-5F)) {
      std::puts("the parts give another result than the formula");
      return 1;
    }
  }
  std::printf("# %s\n", kernel.architecture);
  std::printf("%-10s %7.1f\n%-10s %7.1f\n%-10s %7.1f\n%-10s %7.1f\n%-10s %7.1f\n%-10s %7.1f\n%-10s %7.1f\n", "form",
              form, "products", products, "attention", attention, "memory", memory, "rest",
              evaluated - form - products - attention - memory, "evaluate", evaluated, "record", record / records);
}
