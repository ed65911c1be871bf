// tests/eval/threads.test.cpp -- threads of an executor: every plan gives the same bits; threads that share tensors.
//
// Run under the thread sanitizer, too (preset tsan). SPDX-License-Identifier: BSL-1.0
#include "support/threads.hpp"

#include "support/numbers.hpp"
#include "support/racing_executor.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using namespace dimwise;
using dimwise_test::drawn;
using support::racing_executor;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct heads : heads_dim<3> {};
struct d_model : feature_dim<96> {};
struct d_ff : feature_dim<200> {};
struct d_k : divided<d_model, heads> {};
struct d_v : divided<d_model, heads> {};

template <class E>
bool same_bits(const E& e) {
  const auto alone = evaluate(e);
  for (const std::size_t workers : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
    racing_executor threads{workers};
    const auto together = evaluate(e, threads);
    if (std::memcmp(alone.values().data(), together.values().data(), alone.size() * sizeof(float)) != 0) {
      return false;
    }
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

TEST_CASE("threads: an executor without workers is refused" * support::threads) {
  racing_executor none{0};
  CHECK(dimwise_test::thrown<number_error>([&] { (void)evaluate(relu(x), none); }).find("worker_count() is 0") !=
        std::string::npos);
}

}  // namespace

TEST_CASE("threads: every plan gives the same bits for any number of them" * support::threads) {
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

TEST_CASE("threads: evaluations side by side share operands, their buffers and packed weights" * support::threads) {
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

// Each thread has handles of its own; what they have in common is the buffer behind them.
TEST_CASE("threads: handles of one buffer are sealed, copied, moved, written and handed out side by side" *
          support::threads) {
  const auto whole = drawn<tensor<float, seq, d_model>>(1, seq{20});
  const float first = whole.values()[0];
  std::atomic<int> wrong{0};
  std::vector<std::thread> team;
  for (int t = 0; t < 4; ++t) {
    team.emplace_back([&, mine = whole]() mutable {
      for (int again = 0; again < 50; ++again) {
        mine.seal();
        auto copy = mine;
        copy.seal();
        const tensor_view<const float, seq, d_model> view(copy);
        if (view.data()[0] != first) { ++wrong; }
        const auto e = copy * 2;
        auto moved = std::move(copy);
        moved.data()[0] = static_cast<float>(again);
        const auto other = moved;
        moved.seal();
        const auto third = moved;
        mine = whole;
        const auto y = evaluate(e);
        if (y.values()[0] != 2 * first || other.values()[0] != static_cast<float>(again) ||
            third.values()[0] != static_cast<float>(again)) {
          ++wrong;
        }
        copy.fill(3);
      }
    });
  }
  for (std::thread& t : team) { t.join(); }
  CHECK(wrong == 0);
  CHECK(whole.values()[0] == first);
}

TEST_CASE("threads: packed weights are kept by one of several threads and dropped by the last that writes" *
          support::threads) {
  for (int again = 0; again < 5; ++again) {
    const auto weights = drawn<tensor<float, d_model, d_ff>>(6);
    const auto wanted = evaluate_plainly(contract<d_model>(slice<seq>(x, 0, 4), weights));
    std::atomic<int> wrong{0};
    std::vector<std::thread> team;
    for (int t = 0; t < 4; ++t) {
      team.emplace_back([&, mine = weights]() mutable {
        for (int i = 0; i < 3; ++i) {
          const auto y = evaluate(contract<d_model>(slice<seq>(x, 0, 4), mine));
          for (std::size_t j = 0; j < y.size(); ++j) {
            if (!dimwise_test::within(y.values()[j], wanted.values()[j], 1e-4)) { ++wrong; }
          }
        }
        mine.fill(0);
        const auto zero = evaluate(contract<d_model>(slice<seq>(x, 0, 4), mine));
        if (zero.values()[0] != 0) { ++wrong; }
      });
    }
    for (std::thread& t : team) { t.join(); }
    CHECK(wrong == 0);
  }
}

TEST_CASE("threads: documents are copied and given back side by side" * support::threads) {
  struct lines : packed_dim<> {};
  const lines shared{{3, 4, 2}};
  std::vector<std::thread> team;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    team.emplace_back([&] {
      for (int again = 0; again < 100; ++again) {
        lines mine = shared;
        const lines other = std::move(mine);
        mine = lines{{1}};
        if (other.documents().total() != 9 || mine.extent() != 1) { ++wrong; }
      }
    });
  }
  for (std::thread& t : team) { t.join(); }
  CHECK(wrong == 0);
}
