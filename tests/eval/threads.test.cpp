// tests/eval/threads.test.cpp -- threads of an executor: every plan gives the same bits; threads that share tensors.
//
// Run under the thread sanitizer, too (preset tsan). SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using namespace dimwise;
using dimwise_test::drawn;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct heads : heads_dim<3> {};
struct d_model : feature_dim<96> {};
struct d_ff : feature_dim<200> {};
struct d_k : divided<d_model, heads> {};
struct d_v : divided<d_model, heads> {};

// Threads that take tasks as they come: their order changes from run to run.
struct racing_executor {
  std::size_t workers;
  [[nodiscard]] std::size_t worker_count() const { return workers; }
  template <class F>
  void parallel_for(std::size_t count, F&& f) const {
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> team;
    for (std::size_t w = 0; w < workers; ++w) {
      team.emplace_back([&, w] {
        for (std::size_t task = next++; task < count; task = next++) { f(task, w); }
      });
    }
    for (std::thread& t : team) { t.join(); }
  }
};

template <class E>
bool same_bits(const E& e) {
  const auto alone = evaluate(e);
  for (const std::size_t workers : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
    racing_executor threads{workers};
    const auto together = evaluate(e, threads);
    if (std::memcmp(alone.values().data(), together.values().data(), alone.size() * sizeof(float)) != 0) { return false; }
  }
  return true;
}

const auto x = drawn<tensor<float, seq, d_model>>(1, seq{400});
const auto q = drawn<tensor<float, heads, seq, d_k>>(2, seq{300});
const auto one = drawn<tensor<float, heads, seq, d_k>>(3, seq{1});
const auto k = drawn<tensor<float, heads, key, d_k>>(4, key{300});
const auto v = drawn<tensor<float, heads, key, d_v>>(5, key{300});
const auto up = drawn<tensor<float, d_model, d_ff>>(6);
const auto bias = drawn<tensor<float, d_ff>>(7);
const auto down = drawn<tensor<float, d_ff, d_model>>(8);

TEST_CASE("threads: an executor without workers is refused") {
  racing_executor nobody{0};
  CHECK(dimwise_test::thrown<extent_error>([&] { (void)evaluate(relu(x), nobody); }).find("worker_count() is 0") != std::string::npos);
}

}  // namespace

TEST_CASE("threads: every plan gives the same bits for any number of them") {
  CHECK(same_bits(contract<key>(softmax<key>(scores<d_k>(q, k)), v)));
  CHECK(same_bits(contract<key>(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{})), v)));
  CHECK(same_bits(contract<key>(softmax<key>(scores<d_k>(one, k)), v)));
  CHECK(same_bits(contract<d_model>(x, up)));
  CHECK(same_bits(x + contract<d_ff>(gelu(contract<d_model>(x, up) + bias), down)));
  CHECK(same_bits(layer_norm<d_model>(x)));
  CHECK(same_bits(softmax<key>(scores<d_k>(q, k))));
  CHECK(same_bits(gelu(x)));
  CHECK(same_bits(x * x + x));
}

TEST_CASE("threads: evaluations side by side share operands, their buffers and packed weights") {
  const auto wanted = evaluate(contract<d_model>(x, up) + bias);
  std::atomic<int> wrong{0};
  std::vector<std::thread> team;
  for (int t = 0; t < 4; ++t) {
    team.emplace_back([&] {
      for (int again = 0; again < 10; ++again) {
        const auto mine = x;  // handles of one buffer, taken and given back by all
        const auto y = evaluate(contract<d_model>(mine, up) + bias);
        if (std::memcmp(y.values().data(), wanted.values().data(), y.size() * sizeof(float)) != 0) { ++wrong; }
        auto changed = mine;
        changed.fill(1);  // a copy: the others do not see it
      }
    });
  }
  for (std::thread& t : team) { t.join(); }
  CHECK(wrong == 0);
}
