// SPDX-License-Identifier: BSL-1.0
// tests/dispatch/threads.cpp -- oneTBB as the executor: workers never share a number, results are the same to the last
// bit.
#include "checks.hpp"
#include <dimwise/eval/tbb.hpp>

#include <atomic>
#include <string>
#include <vector>

namespace {

using namespace dispatch;

template <class E>
void same(checker& c, const char* what, const E& e, tbb_executor& threads) {
  const auto alone = evaluate(e);
  for (int again = 0; again < 5; ++again) {
    const auto together = evaluate(e, threads);
    if (std::memcmp(alone.values().data(), together.values().data(), alone.size() * sizeof(float)) != 0) {
      c.fail(what, "threads change the result,", std::to_string(threads.worker_count()).c_str());
      return;
    }
  }
  c.passed();
}

}  // namespace

int main() {
  checker c;
  const auto q = numbers(tensor<float, heads, seq, d_k>(seq{300}, d_k{64}), 1);
  const auto k = numbers(tensor<float, heads, key, d_k>(key{300}, d_k{64}), 2);
  const auto v = numbers(tensor<float, heads, key, d_v>(key{300}, d_v{64}), 3);
  const auto one = numbers(tensor<float, heads, per_head, seq, d_k>(seq{1}, d_k{64}), 4);
  const auto x = numbers(tensor<float, batch, seq, d_model>(batch{2}, seq{300}), 5);
  const auto w = numbers(tensor<float, d_model, heads, d_k>(d_k{64}), 6);
  for (const std::size_t count : {1, 2, 3, 8}) {
    tbb_executor threads(count);
    if (threads.worker_count() != count) {
      c.fail("tbb_executor", "another number of workers than asked:", std::to_string(threads.worker_count()).c_str());
    }
    same(c, "attention", contract<key>(softmax<key>(scores<d_k>(q, k)), v), threads);
    same(c, "causal", contract<key>(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{})), v), threads);
    same(c, "decode", contract<key>(softmax<key>(scores<d_k>(one, k)), v), threads);
    same(c, "product", contract<d_model>(x, w), threads);
    same(c, "product and epilogue", gelu(contract<d_model>(x, w)) + contract<d_model>(x, w), threads);
    same(c, "layer_norm", layer_norm<d_model>(x), threads);
    same(c, "silu", silu(x), threads);

    // Every task once, and no number of a worker twice at one time.
    std::vector<std::atomic<int>> done(500);
    std::vector<std::atomic<int>> busy(count);
    std::atomic<int> wrong = 0;
    threads.parallel_for(done.size(), [&](std::size_t task, std::size_t worker) {
      if (worker >= count || ++busy[worker] != 1) { ++wrong; }
      ++done[task];
      if (worker < count) { --busy[worker]; }
    });
    for (const auto& d : done) { wrong += d != 1; }
    c.passed();
    if (wrong != 0) {
      c.fail("tbb_executor", "a task or a worker ran twice or not at all,", std::to_string(count).c_str());
    }
  }
  return c.result();
}
