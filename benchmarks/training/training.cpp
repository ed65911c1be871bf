// SPDX-License-Identifier: BSL-1.0
// benchmarks/training/training.cpp -- dimwise's kernels on the workloads of training.
//
//   attn_h<heads>_d<dim>_n<seq>_{full,causal}_{fwd,fwdbwd}    attention alone, forward, and forward and backward
//   gpt_L<layers>_d<features>_h<heads>_V<words>_B<batch>_T<length>    a step: forward, backward, AdamW
//   linear_<tokens>x<in>x<out>_{fwd,dx,dw}              a product and its backward pass: x w, g wᵀ, and dw += xᵀ g
//
// One line for each: `library workload threads median_ms gflops pct_peak`; --spread adds the quartiles, --memory the
// process's peak in MB. Forward and backward count as three times forward: what is recomputed counts
// nothing. The options are those of benchmarks/workloads.hpp; each --shape gives both lines.
//
//   cmake --preset bench && cmake --build --preset bench --target bench_training
//   build/bench/benchmarks/bench_training
#include "../workloads.hpp"
#include "step.hpp"
#include <dimwise/kernels/dispatch/active_gradients.hpp>
#if defined(DIMWISE_BENCH_TBB)
#include <dimwise/eval/tbb.hpp>
#endif

#include <cmath>
#include <memory>
#include <vector>

namespace {

namespace kernels = dimwise::kernels;

/// Memory that starts at a multiple of 64 bytes.
class floats {
 public:
  floats() = default;
  explicit floats(std::size_t count, unsigned seed = 0)
      : data_(static_cast<float*>(std::aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64)), &std::free) {
    if (seed != 0) {
      bench::fill(data_.get(), count, 1.0F, seed);
    } else {
      std::memset(data_.get(), 0, count * sizeof(float));
    }
  }
  [[nodiscard]] float* get() const { return data_.get(); }

 private:
  std::unique_ptr<float, decltype(&std::free)> data_{nullptr, &std::free};
};

#if defined(DIMWISE_BENCH_TBB)
std::unique_ptr<dimwise::tbb_executor> threads;
#endif

kernels::runner runner_of([[maybe_unused]] const bench::options& o) {
  kernels::runner to;
#if defined(DIMWISE_BENCH_TBB)
  if (o.threads > 1) {
    if (!threads) { threads = std::make_unique<dimwise::tbb_executor>(o.threads); }
    to.workers = threads->worker_count();
    to.self = threads.get();
    to.run = [](void* self, std::size_t count, kernels::runner::task f, void* context) {
      static_cast<dimwise::tbb_executor*>(self)->parallel_for(
          count, [&](std::size_t i, std::size_t worker) { f(context, i, worker); });
    };
  }
#endif
  return to;
}

/// One attention and its backward pass: [heads, seq, dim] each, as the rivals have it.
struct attention {
  std::size_t numbers;
  floats q, k, v, d_out, out, lse, d_q, d_k, d_v;
  std::vector<kernels::attention_head> heads;
  std::vector<kernels::attention_gradient_head> gradients;
  kernels::attention_gradient_call call;

  explicit attention(const bench::workload& w)
      : numbers(w.heads * w.queries * w.d_k),
        q(numbers, 1),
        k(numbers, 2),
        v(numbers, 3),
        d_out(numbers, 4),
        out(numbers),
        lse(w.heads * w.queries),
        d_q(numbers),
        d_k(numbers),
        d_v(numbers),
        heads(w.heads),
        gradients(w.heads) {
    auto& l = call.forth.layout;
    l.queries = l.keys = w.queries;
    l.head_dim = l.value_dim = w.d_k;
    const auto row = static_cast<std::ptrdiff_t>(w.d_k);
    l.q_row = l.k_row = l.v_row = l.out_row = row;
    l.scale = 1.0F / std::sqrt(static_cast<float>(w.d_k));
    if (w.causal) { l.window = kernels::key_window::causal(); }
    auto& g = call.layout;
    g.d_out_row = g.d_q_row = g.d_k_row = g.d_v_row = row;
    for (std::size_t h = 0; h < w.heads; ++h) {
      const std::size_t at = h * w.queries * w.d_k;
      heads[h].q = q.get() + at;
      heads[h].k = k.get() + at;
      heads[h].v = v.get() + at;
      heads[h].out = out.get() + at;
      heads[h].lse = lse.get() + h * w.queries;
      gradients[h].d_out = d_out.get() + at;
      gradients[h].d_q = d_q.get() + at;
      gradients[h].d_k = d_k.get() + at;
      gradients[h].d_v = d_v.get() + at;
    }
    call.forth.heads = heads.data();
    call.forth.count = w.heads;
    call.gradients = gradients.data();
  }
  void forward(const kernels::table& t, const kernels::runner& runner) const {
    const floats scratch(t.attention_bytes(call.forth, runner.worker_count()) / sizeof(float));
    t.attention(call.forth, scratch.get(), runner);
  }
  void backward(const kernels::gradient_table& t, const kernels::runner& runner) const {
    const floats scratch(t.attention_gradient_bytes(call, runner.worker_count()) / sizeof(float));
    t.attention_gradient(call, scratch.get(), runner);
  }
};

/// A linear layer's product with weights [in, out], and its backward pass.
struct linear {
  floats x, w, y;
  kernels::product_call::pointers pointers{};
  kernels::product_call call;

  explicit linear(const bench::workload& of)
      : x(of.queries * of.d_model, 1), w(of.d_model * of.d_ff, 2), y(of.queries * of.d_ff, 3) {
    const auto in = static_cast<std::ptrdiff_t>(of.d_model);
    const auto out = static_cast<std::ptrdiff_t>(of.d_ff);
    const char part = of.name[of.name.size() - 1];
    if (part == 'd') {  // y = x w
      pointers = {x.get(), w.get(), y.get(), nullptr};
      set(of.queries, of.d_ff, of.d_model, {in, 1, out, 1, out, 1});
    } else if (part == 'x') {  // dx = g wᵀ
      pointers = {y.get(), w.get(), x.get(), nullptr};
      set(of.queries, of.d_model, of.d_ff, {out, 1, 1, out, in, 1});
    } else {  // dw += xᵀ g
      pointers = {x.get(), y.get(), w.get(), nullptr};
      set(of.d_model, of.d_ff, of.queries, {1, in, out, 1, out, 1});
      call.onto = true;
    }
    call.problems = &pointers;
    call.count = 1;
  }
  linear(const linear&) = delete;
  linear& operator=(const linear&) = delete;

  void run(const kernels::table& t, const kernels::runner& runner) const {
    const floats scratch(t.product_bytes(call, runner.worker_count()) / sizeof(float));
    t.product(call, scratch.get(), runner);
  }

 private:
  struct strides {
    std::ptrdiff_t a_row, a_column, b_row, b_column, c_row, c_column;
  };
  void set(std::size_t m, std::size_t n, std::size_t k, const strides& s) {
    call.m = m;
    call.n = n;
    call.k = k;
    call.a_row = s.a_row;
    call.a_column = s.a_column;
    call.b_row = s.b_row;
    call.b_column = s.b_column;
    call.c_row = s.c_row;
    call.c_column = s.c_column;
  }
};

/// A step of a GPT; kind 7. Its work is that of its products; softmax, norms, functions and AdamW count nothing.
bench::workload gpt_workload(std::size_t layers, std::size_t features, std::size_t heads, std::size_t words,
                             std::size_t batch, std::size_t length) {
  bench::workload w;
  w.name = "gpt_L" + std::to_string(layers) + "_d" + std::to_string(features) + "_h" + std::to_string(heads) + "_V" +
           std::to_string(words) + "_B" + std::to_string(batch) + "_T" + std::to_string(length);
  w.kind = 7;
  w.heads = heads;
  w.queries = w.keys = length;
  w.d_model = features;
  w.products = 3;
  const auto l = static_cast<double>(layers);
  const auto d = static_cast<double>(features);
  const auto b = static_cast<double>(batch);
  const auto t = static_cast<double>(length);
  w.work = 2 * (12 * l * d * d + static_cast<double>(words) * d) * b * t + l * b * 4 * d * t * (t + 1) / 2;
  return w;
}
void run_step(bench::training_step& step, const bench::workload& w, [[maybe_unused]] const bench::options& o,
              bench::report& to) {
#if defined(DIMWISE_BENCH_TBB)
  if (o.threads > 1) {
    dimwise::tbb_executor executor(o.threads);
    dimwise::context by(executor);
    return to.line("dimwise", w, [&] { step.run(by); });
  }
#endif
  dimwise::context by;
  to.line("dimwise", w, [&] { step.run(by); });
}

std::vector<bench::workload> training_workloads() {
  std::vector<bench::workload> all;
  for (const std::size_t n : {512, 1024, 2048, 4096}) {
    for (const bool causal : {false, true}) {
      for (const bool back : {false, true}) {
        bench::workload w = bench::attention_alone(12, 64, n, causal);
        w.name = "attn_h12_d64_n" + std::to_string(n) + (causal ? "_causal" : "_full") + (back ? "_fwdbwd" : "_fwd");
        w.products = back ? 3 : 1;
        all.push_back(w);
      }
    }
  }
  all.push_back(gpt_workload(4, 256, 8, 4096, 4, 128));
  for (const std::size_t length : {64, 256}) { all.push_back(gpt_workload(12, 768, 12, 50257, 1, length)); }
  struct {
    std::size_t tokens, in, out;
  } const layers[] = {{512, 256, 1024}, {512, 1024, 256}, {512, 768, 3072}, {512, 3072, 768}};
  for (const auto& l : layers) {
    for (const char* part : {"_fwd", "_dx", "_dw"}) {
      bench::workload w;
      w.name = "linear_" + std::to_string(l.tokens) + "x" + std::to_string(l.in) + "x" + std::to_string(l.out) + part;
      w.kind = 6;
      w.queries = l.tokens;
      w.d_model = l.in;
      w.d_ff = l.out;
      all.push_back(w);
    }
  }
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  const kernels::table& t = kernels::active();
  return bench::run_all(count, arguments, t.architecture,
                        [&](const bench::workload& w, const bench::options& o, bench::report& to) {
    const kernels::runner runner = runner_of(o);
    if (w.kind == 6) {
      const linear layer(w);
      return to.line("dimwise", w, [&] { layer.run(t, runner); });
    }
    if (w.kind == 7) {
      const auto step = w.d_model == 256 ? bench::small_gpt(4, w.queries) : bench::gpt2(1, w.queries);
      return run_step(*step, w, o, to);
    }
    const attention a(w);
    const auto measure = [&](const bench::workload& one) {
      to.line("dimwise", one, [&] {
        a.forward(t, runner);
        if (one.products > 1) { a.backward(kernels::active_gradients(), runner); }
      });
    };
    measure(w);
    if (o.shapes.empty()) { return; }
    bench::workload back = w;
    back.name += "_fwdbwd";
    back.products = 3;
    measure(back);
  }, training_workloads());
}
