// SPDX-License-Identifier: BSL-1.0
// benchmarks/bench_attention.cpp -- W1 to W5 as a user writes them: formulas of dimwise, no call of a kernel.
//
//   cmake --workflow --preset bench && build/bench/benchmarks/bench_attention --only W2
//
// Forming the expression is part of what is timed, and so is the memory of the result.
#include "workloads.hpp"
#include <dimwise/dimwise.hpp>

#include <memory>
#include <stdexcept>
#if defined(DIMWISE_BENCH_TBB)
#include <dimwise/eval/tbb.hpp>
#endif

namespace {

using bench::workload;
using namespace dimwise;

// Evaluates on this thread, unless more threads were asked for.
#if defined(DIMWISE_BENCH_TBB)
std::unique_ptr<tbb_executor> threads;

template <class E>
auto value(const E& e) {
  return threads ? evaluate(e, *threads) : evaluate(e);
}
#else
template <class E>
auto value(const E& e) {
  return evaluate(e);
}
#endif

template <class Tensor>
Tensor filled(Tensor t, unsigned seed, float scale = 1) {
  bench::fill(t.data(), t.size(), scale, seed);
  t.seal();  // copies of it share its memory again
  return t;
}

// ---- W2, W3: every extent known when the program runs ----

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct kv_heads : heads_dim<> {};  // keys have these,
struct per_kv : heads_dim<> {};    // queries have both
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};

// Floats that are rounded on the way: to bfloat16, or to nothing.
constexpr auto as_floats = [](const auto& x) { return x; };
constexpr auto in_bfloat16 = [](const auto& x) { return rounded<bfloat16>(x); };

void attention_alone(const workload& w, const bench::options& o, bench::report& to) {
  const auto q = filled(tensor<float, kv_heads, seq, d_k>(kv_heads{w.heads}, seq{w.queries}, d_k{w.d_k}), 1);
  const auto k = filled(tensor<float, kv_heads, key, d_k>(kv_heads{w.heads}, key{w.keys}, d_k{w.d_k}), 2);
  const auto v = filled(tensor<float, kv_heads, key, d_v>(kv_heads{w.heads}, key{w.keys}, d_v{w.d_v}), 3);
  tensor<float, kv_heads, seq, d_v> y;
  const auto run = [&](const char* name, const auto& as) {
    if (w.causal) {
      to.line(name, w, [&] {
        y = value(contract<key>(as(softmax<key>(masked(scores<d_k>(as(q), as(k)), causal<seq, key>{}))), as(v)));
      });
    } else {
      to.line(name, w, [&] { y = value(contract<key>(as(softmax<key>(scores<d_k>(as(q), as(k)))), as(v))); });
    }
  };
  run("dimwise", as_floats);
  if (o.bfloat16) { run("dimwise_bfloat16", in_bfloat16); }
}

void decode(const workload& w, bench::report& to) {
  const kv_heads groups{w.key_heads};
  const auto q =
      filled(tensor<float, kv_heads, per_kv, seq, d_k>(groups, per_kv{w.heads / w.key_heads}, seq{1}, d_k{w.d_k}), 1);
  const auto k = filled(tensor<float, kv_heads, key, d_k>(groups, key{w.keys}, d_k{w.d_k}), 2);
  const auto v = filled(tensor<float, kv_heads, key, d_v>(groups, key{w.keys}, d_v{w.d_v}), 3);
  tensor<float, kv_heads, per_kv, seq, d_v> y;
  to.line("dimwise", w, [&] { y = value(contract<key>(softmax<key>(scores<d_k>(q, k)), v)); });
}

// ---- W1, W5: the extents of the model known to the compiler ----

namespace base {
struct d_model : feature_dim<768> {};
struct heads : heads_dim<12> {};
struct d_k : divided<d_model, heads> {};
struct d_v : divided<d_model, heads> {};
struct d_ff : feature_dim<3072> {};

struct weights {
  tensor<float, d_model, heads, d_k> q = filled(decltype(q){}, 2, 0.05F);
  tensor<float, d_model, heads, d_k> k = filled(decltype(k){}, 3, 0.05F);
  tensor<float, d_model, heads, d_v> v = filled(decltype(v){}, 4, 0.05F);
  tensor<float, heads, d_v, d_model> o = filled(decltype(o){}, 5, 0.05F);
  tensor<float, d_model, d_ff> up = filled(decltype(up){}, 6, 0.05F);
  tensor<float, d_ff, d_model> down = filled(decltype(down){}, 7, 0.05F);
};
const weights& model() {
  static const weights w;
  return w;
}

using states = tensor<float, seq, d_model>;

template <class Visible>
auto attend(const states& x, const weights& w, const Visible& visible) {
  auto q = contract<d_model>(x, w.q);
  auto k = rename<seq, key>(contract<d_model>(x, w.k));
  auto v = rename<seq, key>(contract<d_model>(x, w.v));
  return contract<heads, d_v>(contract<key>(softmax<key>(visible(scores<d_k>(q, k))), v), w.o);
}
constexpr auto everything = [](auto s) { return s; };
constexpr auto no_later_key = [](auto s) { return masked(s, causal<seq, key>{}); };

// The same with weights of bfloat16, whose outputs are outside.
struct quantised_weights {
  tensor<bfloat16, heads, d_k, d_model> q = stored<heads, d_k, d_model>(model().q);
  tensor<bfloat16, heads, d_k, d_model> k = stored<heads, d_k, d_model>(model().k);
  tensor<bfloat16, heads, d_v, d_model> v = stored<heads, d_v, d_model>(model().v);
  tensor<bfloat16, d_model, heads, d_v> o = stored<d_model, heads, d_v>(model().o);

  template <class... D, class W>
  static tensor<bfloat16, D...> stored(const W& w) {
    return map([](float x) { return bfloat16(x); }, permute<D...>(w));
  }
};
template <class Visible>
auto attend(const states& x, const quantised_weights& w, const Visible& visible) {
  const auto in = [](const auto& n) { return rounded<bfloat16>(n); };
  auto q = contract<d_model>(in(x), widened(w.q));
  auto k = rename<seq, key>(contract<d_model>(in(x), widened(w.k)));
  auto v = rename<seq, key>(contract<d_model>(in(x), widened(w.v)));
  auto z = contract<key>(in(softmax<key>(visible(scores<d_k>(in(q), in(k))))), in(v));
  return contract<heads, d_v>(in(z), widened(w.o));
}

void layer(const workload& w, const bench::options& o, bench::report& to) {
  const auto x = filled(states(seq{w.queries}), 1);
  states y;
  const auto run = [&](const char* name, const auto& m) {
    if (w.causal) {
      to.line(name, w, [&] { y = value(attend(x, m, no_later_key)); });
    } else {
      to.line(name, w, [&] { y = value(attend(x, m, everything)); });
    }
  };
  run("dimwise", model());
  if (o.bfloat16) {
    static const quantised_weights halves;
    run("dimwise_bfloat16", halves);
  }
}

void encoder(const workload& w, bench::report& to) {
  const weights& m = model();
  const auto x = filled(states(seq{w.queries}), 1);
  states y;
  to.line("dimwise", w, [&] {
    const states a = value(layer_norm<d_model>(x + attend(x, m, everything)));
    y = value(layer_norm<d_model>(a + contract<d_ff>(gelu(contract<d_model>(a, m.up)), m.down)));
  });
}
}  // namespace base

// ---- W4: every extent known to the compiler ----

namespace one_head {
struct seq : position_dim<6> {};
struct key : prime<seq> {};
struct d_model : feature_dim<16> {};
struct d_k : feature_dim<24> {};
struct d_v : feature_dim<28> {};

void run(const workload& w, bench::report& to) {
  const auto x = filled(tensor<float, seq, d_model>{}, 1);
  const auto w_q = filled(tensor<float, d_model, d_k>{}, 2, 0.3F);
  const auto w_k = filled(tensor<float, d_model, d_k>{}, 3, 0.3F);
  const auto w_v = filled(tensor<float, d_model, d_v>{}, 4, 0.3F);
  tensor<float, seq, d_v> y;
  to.line("dimwise", w, [&] {
    auto k = rename<seq, key>(contract<d_model>(x, w_k));
    auto v = rename<seq, key>(contract<d_model>(x, w_v));
    y = value(contract<key>(softmax<key>(scores<d_k>(contract<d_model>(x, w_q), k)), v));
  });
}
}  // namespace one_head

namespace eight_heads {
struct seq : position_dim<10> {};
struct key : prime<seq> {};
struct d_model : feature_dim<64> {};
struct heads : heads_dim<8> {};
struct d_k : divided<d_model, heads> {};
struct d_v : divided<d_model, heads> {};

void run(const workload& w, bench::report& to) {
  const auto x = filled(tensor<float, seq, d_model>{}, 1);
  const auto w_q = filled(tensor<float, d_model, heads, d_k>{}, 2, 0.125F);
  const auto w_k = filled(tensor<float, d_model, heads, d_k>{}, 3, 0.125F);
  const auto w_v = filled(tensor<float, d_model, heads, d_v>{}, 4, 0.125F);
  const auto w_o = filled(tensor<float, heads, d_v, d_model>{}, 5, 0.125F);
  tensor<float, seq, d_model> y;
  to.line("dimwise", w, [&] {
    auto k = rename<seq, key>(contract<d_model>(x, w_k));
    auto v = rename<seq, key>(contract<d_model>(x, w_v));
    auto z = contract<key>(softmax<key>(scores<d_k>(contract<d_model>(x, w_q), k)), v);
    y = value(contract<heads, d_v>(z, w_o));
  });
}
}  // namespace eight_heads

void run(const workload& w, const bench::options& o, bench::report& to) {
#if defined(DIMWISE_BENCH_TBB)
  if (o.threads > 1 && !threads) { threads = std::make_unique<tbb_executor>(o.threads); }
#else
  if (o.threads > 1) { throw std::invalid_argument("--threads needs oneTBB, which was not found when this was built"); }
#endif
  switch (w.kind) {
    case 1:
      return base::layer(w, o, to);
    case 2:
      return attention_alone(w, o, to);
    case 3:
      return decode(w, to);
    case 4:
      return w.heads == 1 ? one_head::run(w, to) : eight_heads::run(w, to);
    default:
      return base::encoder(w, to);
  }
}

}  // namespace

int main(int count, char** arguments) { return bench::run_all(count, arguments, kernels::active().architecture, run); }
