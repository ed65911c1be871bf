// SPDX-License-Identifier: BSL-1.0
// benchmarks/double/double.cpp -- operations in double beside float, and beside Eigen and OpenBLAS in double.
//
//   cmake --preset bench && cmake --build --preset bench --target bench_double bench_double_avx2
//   bench_double [--only PREFIX] [--seconds S]
//   DIMWISE_ARCHITECTURE=avx2 OPENBLAS_CORETYPE=Haswell bench_double_avx2    everything limited to AVX2
//
// One thread, CPU time. Prints a Markdown table. A register holds half as many doubles as floats: "of float" is the
// rate in double as a share of the rate in float, and half is what the registers allow. Each row is measured three
// times, all libraries by turns; the table has medians.
#include "../workloads.hpp"
#include "rivals.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace {

using namespace dimwise;

struct heads : heads_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct inner : feature_dim<> {};
struct columns : feature_dim<> {};
struct words : choice_dim<> {};
struct d_k : feature_dim<64> {};
struct d_v : feature_dim<64> {};

template <class Tensor, class... Extents>
Tensor filled(unsigned seed, const Extents&... extents) {
  Tensor t(extents...);
  std::vector<float> values(t.size());
  bench::fill(values.data(), values.size(), 1, seed);
  std::copy(values.begin(), values.end(), t.data());
  t.seal();
  return t;
}

double median(std::array<double, 3> x) {
  std::sort(x.begin(), x.end());
  return x[1];
}

// How dimwise computes an operation in T, and the operands that rivals share.
template <class T>
struct work {
  bench::operands<T> shared;
  std::function<void()> run;
};
template <class T, class Compute, class... Operands>
work<T> work_of(const bench::operands<T>& shared, const Compute& compute, const Operands&... x) {
  return {shared, [=, y = evaluate(compute(x...))]() mutable { y = compute(x...); }};
}

class table {
 public:
  explicit table(const bench::options& o) : options_(o) {
    std::printf(
        "| operation | float | double | of float | Eigen | OpenBLAS | ahead of the best "
        "|\n|---|---|---|---|---|---|---|\n");
  }

  // `of(T{})` -> what is measured in T.
  template <class Of>
  void row(const std::string& name, bench::operation what, const Of& of) const {
    if (!options_.wants(name)) return;
    const auto single = of(float{});
    const auto twice = of(double{});
    const std::vector<bench::rival> rivals = bench::rivals_of(what, twice.shared);
    std::array<double, 3> floats{};
    std::array<double, 3> doubles{};
    std::map<std::string, std::array<double, 3>> others;
    for (std::size_t round = 0; round < 3; ++round) {
      floats[round] = bench::measure(options_, single.run).median;
      doubles[round] = bench::measure(options_, twice.run).median;
      for (const bench::rival& r : rivals) { others[r.name][round] = bench::measure(options_, r.run).median; }
    }
    const double ours = median(doubles);
    double best = 1e300;
    std::string cells;
    for (const char* library : {"Eigen", "OpenBLAS"}) {
      const auto found = others.find(library);
      cells.append(" ").append(found == others.end() ? "-" : time_of(median(found->second))).append(" |");
      if (found != others.end()) { best = std::min(best, median(found->second)); }
    }
    char ahead[32] = "-";
    if (!others.empty()) { std::snprintf(ahead, sizeof ahead, "%.2f ×", best / ours); }
    std::printf("| %s | %s | %s | %.0f %% |%s %s |\n", name.c_str(), time_of(median(floats)).c_str(),
                time_of(ours).c_str(), 100 * median(floats) / ours, cells.c_str(), ahead);
    std::fflush(stdout);
  }

 private:
  static std::string time_of(double ms) {
    char text[32];
    std::snprintf(text, sizeof text, ms < 1 ? "%.1f µs" : "%.2f ms", ms < 1 ? 1e3 * ms : ms);
    return text;
  }
  const bench::options& options_;
};

void run(const bench::options& o) {
  const table to(o);
  struct {
    std::size_t rows, columns, inner;
  } const products[] = {{512, 768, 768}, {128, 768, 3072}, {64, 64, 64}};
  for (const auto& p : products) {
    const std::string name =
        std::to_string(p.rows) + " × " + std::to_string(p.columns) + " × " + std::to_string(p.inner);
    to.row("product " + name, bench::operation::product, [&]<class T>(T) {
      const auto a = filled<tensor<T, seq, inner>>(1, seq{p.rows}, inner{p.inner});
      const auto b = filled<tensor<T, inner, columns>>(2, inner{p.inner}, columns{p.columns});
      const bench::operands<T> shared{1, p.rows, p.columns, p.inner, a.values().data(), b.values().data(), nullptr};
      return work_of(shared, [](const auto&... x) { return contract<inner>(x...); }, a, b);
    });
  }
  for (const std::size_t n : {128, 1024}) {
    to.row("attention n" + std::to_string(n), bench::operation::attention, [&]<class T>(T) {
      const auto q = filled<tensor<T, heads, seq, d_k>>(1, heads{12}, seq{n});
      const auto k = filled<tensor<T, heads, key, d_k>>(2, heads{12}, key{n});
      const auto v = filled<tensor<T, heads, key, d_v>>(3, heads{12}, key{n});
      const bench::operands<T> shared{12, n, n, 64, q.values().data(), k.values().data(), v.values().data()};
      return work_of(shared, [](const auto&... x) { return nn::attention<d_k, key>(x...); }, q, k, v);
    });
  }
  const auto of_rows = [&](const std::string& name, bench::operation what, const auto& compute) {
    to.row(name, what, [&]<class T>(T) {
      const auto x = filled<tensor<T, seq, key>>(1, seq{256}, key{768});
      return work_of(bench::operands<T>{1, 256, 768, 0, x.values().data(), nullptr, nullptr}, compute, x);
    });
  };
  of_rows("softmax", bench::operation::softmax, [](const auto& x) { return softmax<key>(x); });
  of_rows("sum", bench::operation::sum, [](const auto& x) { return sum<key>(x); });
  of_rows("max", bench::operation::max, [](const auto& x) { return max<key>(x); });
  of_rows("exp", bench::operation::exp, [](const auto& x) { return exp(x); });
  of_rows("tanh", bench::operation::tanh, [](const auto& x) { return tanh(x); });
  to.row("attention n1024, forward and backward", bench::operation::training, [&]<class T>(T) {
    const auto operands = std::tuple(filled<tensor<T, heads, seq, d_k>>(1, heads{12}, seq{1024}),
                                     filled<tensor<T, heads, key, d_k>>(2, heads{12}, key{1024}),
                                     filled<tensor<T, heads, key, d_v>>(3, heads{12}, key{1024}));
    return work<T>{{}, [=] {
      (void)gradient(operands, [](const auto& m) {
        const tensor y = nn::attention<d_k, key>(std::get<0>(m), std::get<1>(m), std::get<2>(m));
        return sum<heads, seq, d_v>(square(y));
      });
    }};
  });
  to.row("cross-entropy and its gradient", bench::operation::training, [&]<class T>(T) {
    const auto logits = filled<tensor<T, seq, words>>(1, seq{512}, words{5000});
    tensor<id<words>, seq> targets(seq{512});
    for (std::size_t i = 0; i < 512; ++i) { targets.data()[i] = id<words>(i * 37 % 5000); }
    targets.seal();
    return work<T>{{},
                   [=] { (void)gradient(logits, [&](const auto& m) { return cross_entropy<words>(m, targets); }); }};
  });
  to.row("AdamW", bench::operation::training, [&]<class T>(T) {
    const auto weights = filled<tensor<T, seq, words>>(1, seq{512}, words{5000});
    return work<T>{
        {}, [g = weights, p = weights, optimiser = adamw(weights, {.rate = 1e-6})]() mutable { optimiser.step(p, g); }};
  });
}

}  // namespace

int main(int count, char** arguments) {
  try {
    run(bench::parse(count, arguments));
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", arguments[0], e.what());
    return 2;
  }
}
