// tests/nn/cache/paged.test.cpp -- caches in pages: what they give, what forks share, what they throw.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include "support/threads.hpp"
#include <dimwise/nn/paged_cache.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct kv_heads : heads_dim<2> {};
struct group_of : heads_dim<3> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<4> {};
struct d_v : feature_dim<5> {};

template <class Kind, class Element = float>
using cache_of = nn::kv_cache<key, Kind, nn::keys<Element, batch, kv_heads, key, d_k>,
                              nn::values<Element, batch, key, kv_heads, d_v>>;

const auto all_q = drawn<tensor<float, batch, seq, kv_heads, group_of, d_k>>(1, batch{2}, seq{40});
const auto all_k = drawn<tensor<float, batch, key, kv_heads, d_k>>(2, batch{2}, key{40});
const auto all_v = drawn<tensor<float, batch, key, kv_heads, d_v>>(3, batch{2}, key{40});

template <class Cache>
void feed(Cache& cache, std::size_t at, std::size_t n) {
  cache.append(slice<key>(all_k, at, n), slice<key>(all_v, at, n));
}
template <class Cache>
auto answer_of(const Cache& cache, std::size_t at, std::size_t n) {
  const auto q = slice<seq>(all_q, at, n);
  return nn::attend(cache, [&](const auto& k) { return masked(scores<d_k>(q, k), causal<seq, key>{}); });
}
// The same over all keys in one tensor.
auto expected(std::size_t at, std::size_t n) {
  return reference(contract<key>(
      softmax<key>(masked(scores<d_k>(slice<seq>(all_q, at, n), slice<key>(all_k, 0, at + n)), causal<seq, key>{})),
      slice<key>(all_v, 0, at + n)));
}
template <class Y, class Expected>
std::string apart(const Y& y, const Expected& wanted, double tolerance) {
  return differences(y, extents_of(wanted), tolerance, [&](auto... at) { return el(wanted, at...); });
}

}  // namespace

TEST_CASE("paged cache: its mask is causal on every page") {
  cache_of<nn::paged<4>> cache(batch{2});
  feed(cache, 0, 7);
  feed(cache, 7, 6);
  const auto q = slice<seq>(all_q, 7, 6);
  const auto y = nn::attend<seq>(cache, [&](const auto& k) { return scores<d_k>(q, k); });
  CHECK(apart(y, expected(7, 6), 1e-5) == "");
  CHECK(apart(y, tensor(answer_of(cache, 7, 6)), 0) == "");
}

TEST_CASE("paged cache: page by page is the whole, however it was filled") {
  cache_of<nn::paged<4>> cache(batch{2});
  std::size_t at = 0;
  for (const std::size_t n : counts{1, 3, 1, 9, 2, 1, 8, 1}) {
    feed(cache, at, n);
    CHECK(cache.length() == at + n);
    CHECK(cache.page_count() == (at + n + 3) / 4);
    CHECK(apart(answer_of(cache, at, n), expected(at, n), float32(40)) == "");
    at += n;
    CHECK(differ<tensor<float, batch, key, kv_heads, d_k>>(cache.keys(), slice<key>(all_k, 0, at)) == "");
    CHECK(differ<tensor<float, batch, key, kv_heads, d_v>>(cache.values(), slice<key>(all_v, 0, at)) == "");
  }
}

TEST_CASE("paged cache: nothing held, or nothing appended") {
  cache_of<nn::paged<4>> cache(batch{2});
  feed(cache, 0, 0);
  CHECK(cache.page_count() == 0);
  const auto y = nn::attend(cache, [&](const auto& k) { return scores<d_k>(slice<seq>(all_q, 0, 1), k); });
  CHECK(y.size() == 2 * 2 * 3 * 5);
  for (const float v : y.values()) { CHECK(v == 0); }
}

TEST_CASE("paged cache: a fork shares all pages, and the writer copies only the one that it writes") {
  cache_of<nn::paged<4>> cache(batch{2});
  feed(cache, 0, 10);
  auto fork = cache;
  CHECK(fork.shared_pages() == 3);
  feed(fork, 10, 1);  // into the third page
  CHECK(fork.shared_pages() == 2);
  CHECK(cache.shared_pages() == 2);
  // The other one goes another way; neither sees the other's.
  const auto k = slice<key>(all_k, 10, 3);
  cache.append(k * 2.0F, slice<key>(all_v, 10, 3) * 2.0F);
  CHECK(apart(answer_of(fork, 10, 1), expected(10, 1), float32(40)) == "");
  const tensor held = cache.keys();
  CHECK(held(id<batch>(1), id<kv_heads>(1), id<key>(10), id<d_k>(2)) == 2 * el(all_k, 1, 10, 1, 2));
  CHECK(held(id<batch>(1), id<kv_heads>(1), id<key>(9), id<d_k>(2)) == el(all_k, 1, 9, 1, 2));

  // Drafts that are refused are forgotten; what the other one still holds is not written over.
  auto other = fork;
  fork.forget(2);
  CHECK(fork.length() == 9);
  feed(fork, 9, 4);
  CHECK(apart(answer_of(fork, 9, 4), expected(9, 4), float32(40)) == "");
  CHECK(apart(answer_of(other, 10, 1), expected(10, 1), float32(40)) == "");
  CHECK(thrown<extent_error>([&] { fork.forget(14); }) == "forget: the cache holds 13 positions of key, not 14 (R10)");
}

TEST_CASE("paged cache: what was moved from is empty, and begins anew") {
  cache_of<nn::paged<4>> cache(batch{2});
  feed(cache, 0, 6);
  auto taken = std::move(cache);
  // NOLINTBEGIN(bugprone-use-after-move): as is promised
  CHECK(cache.length() == 0);
  CHECK(cache.page_count() == 0);
  CHECK(cache.keys().size() == 0);
  feed(cache, 0, 2);
  CHECK(apart(answer_of(cache, 1, 1), expected(1, 1), float32(40)) == "");
  CHECK(taken.length() == 6);
  CHECK(apart(answer_of(taken, 5, 1), expected(5, 1), float32(40)) == "");
  cache = std::move(taken);
  // NOLINTEND(bugprone-use-after-move)
  CHECK(cache.length() == 6);
  CHECK(apart(answer_of(cache, 5, 1), expected(5, 1), float32(40)) == "");
}

TEST_CASE("paged cache: what does not fit throws, and leaves it as it was") {
  cache_of<nn::paged<4, 10>> cache(batch{2});
  feed(cache, 0, 7);
  CHECK(thrown<extent_error>([&] { feed(cache, 7, 4); }) ==
        "append: 4 positions of key do not fit, the cache holds 7 and takes 10 (R10)");
  CHECK(thrown<origin_error>([&] { feed(cache, 6, 1); }) ==
        "append: the first position of key is 6, but the cache ends at 7; a text that continues takes its extent from "
        "next of the cache, another text begins after restart (R9, R10)");
  CHECK(cache.length() == 7);
  CHECK(apart(answer_of(cache, 6, 1), expected(6, 1), float32(40)) == "");
  feed(cache, 7, 3);
  CHECK(cache.length() == 10);
}

TEST_CASE("caches whose keys alone, or whose values alone, have a scale") {
  const tensor<float> one({1.0F / 127});
  const auto check = [&](auto cache) {
    feed(cache, 0, 10);
    CHECK(apart(answer_of(cache, 9, 1), expected(9, 1), std::ldexp(1.0, -7)) == "");
  };
  using bytes = nn::int8_by<>;
  const auto sides = [&]<class Kind>(Kind) {
    check(nn::kv_cache<key, Kind, nn::keys<bytes, batch, kv_heads, key, d_k>,
                       nn::values<float, batch, key, kv_heads, d_v>>(one, batch{2}));
    check(nn::kv_cache<key, Kind, nn::keys<bfloat16, batch, kv_heads, key, d_k>,
                       nn::values<bytes, batch, key, kv_heads, d_v>>(one, batch{2}));
  };
  sides(nn::paged<4>{});
  sides(nn::capacity<12>{});
  std::vector<std::int8_t> k(2 * 2 * 12 * 4);
  std::vector<float> v(2 * 2 * 12 * 5);
  using over_memory = nn::kv_cache<key, nn::capacity<12>, nn::keys<bytes, batch, kv_heads, key, d_k>,
                                   nn::values<float, batch, key, kv_heads, d_v>>;
  over_memory cache(k, v, one, batch{2});
  feed(cache, 0, 10);
  CHECK(apart(answer_of(cache, 9, 1), expected(9, 1), std::ldexp(1.0, -7)) == "");
  // No scale too few, none too many.
  static_assert(!std::is_constructible_v<over_memory, batch> &&
                !std::is_constructible_v<over_memory, tensor<float>, tensor<float>, batch>);
  static_assert(!std::is_constructible_v<cache_of<nn::paged<4>>, tensor<float>, tensor<float>, batch>);
}

TEST_CASE("paged cache: elements of 16 and 8 bits") {
  cache_of<nn::paged<4>, bfloat16> narrow(batch{2});
  feed(narrow, 0, 10);
  CHECK(apart(answer_of(narrow, 9, 1), expected(9, 1), std::ldexp(1.0, -8)) == "");
  const tensor<float> one({1.0F / 127});
  cache_of<nn::paged<4>, nn::int8_by<>> bytes(one, one, batch{2});
  feed(bytes, 0, 10);
  CHECK(apart(answer_of(bytes, 9, 1), expected(9, 1), std::ldexp(1.0, -7)) == "");
}

TEST_CASE("paged cache: forks in other threads read what they share while each appends" * support::threads) {
  auto cache = std::make_unique<cache_of<nn::paged<4>>>(batch{2});
  feed(*cache, 0, 6);
  std::atomic<int> wrong{0};
  std::vector<std::thread> team;
  for (int t = 0; t < 4; ++t) {
    team.emplace_back([&wrong, fork = *cache]() mutable {
      for (std::size_t at = 6; at < 16; ++at) {
        if (!differ<tensor<float, batch, kv_heads, key, d_k>>(fork.keys(), slice<key>(all_k, 0, at)).empty()) {
          ++wrong;
        }
        feed(fork, at, 1);
      }
    });
  }
  cache.reset();  // the last fork that appends to a page writes it in place
  for (std::thread& thread : team) { thread.join(); }
  CHECK(wrong == 0);
}
