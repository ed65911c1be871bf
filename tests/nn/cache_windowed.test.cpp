// tests/nn/cache_windowed.test.cpp -- caches whose window is set at run time: what they keep, what they throw, and that
// attention gives what a cache of all positions gives.
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include <dimwise/nn/cache.hpp>

#include <doctest/doctest.h>

namespace {

using namespace dimwise;
using namespace dimwise_test;

struct heads : heads_dim<2> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<4> {};
struct d_v : feature_dim<3> {};

template <class Kind>
using cache_of = nn::kv_cache<key, Kind, nn::keys<float, heads, key, d_k>, nn::values<float, heads, key, d_v>>;

const auto all_q = drawn<tensor<float, seq, heads, d_k>>(1, seq{40});
const auto all_k = drawn<tensor<float, key, heads, d_k>>(2, key{40});
const auto all_v = drawn<tensor<float, key, heads, d_v>>(3, key{40});

// Appends positions, and attends from them under the mask of the cache.
template <class Cache>
auto step(Cache& cache, std::size_t at, std::size_t n) {
  cache.append(slice<key>(all_k, at, n), slice<key>(all_v, at, n));
  return nn::attend<seq>(cache, [&](const auto& k) { return scores<d_k>(slice<seq>(all_q, at, n), k); });
}
template <class Cache>
auto step_in_window(Cache& cache, std::size_t at, std::size_t n, std::ptrdiff_t left) {
  cache.append(slice<key>(all_k, at, n), slice<key>(all_v, at, n));
  return nn::attend(cache, [&](const auto& k) {
    return masked(scores<d_k>(slice<seq>(all_q, at, n), k), window<seq, key>(left, 0));
  });
}

}  // namespace

TEST_CASE("windowed: a window set at run time keeps what its queries see") {
  cache_of<nn::windowed> cache(key{10});
  cache.keep_window(5);
  cache_of<nn::capacity<>> whole(key{40});
  CHECK(cache.kept_window() == 5);
  CHECK(cache.at_once() == 6);
  std::size_t at = 0;
  for (const std::size_t n : counts{3, 1, 6, 1, 1, 5, 6, 6, 1, 1, 1, 2, 6}) {
    CHECK(differ(step(cache, at, n), step_in_window(whole, at, n, 4)) == "");
    at += n;
    CHECK(cache.length() == std::min<std::size_t>(at, 4 + n));
    CHECK(cache.end() == static_cast<std::ptrdiff_t>(at));
  }
}

TEST_CASE("windowed: without a window it keeps all positions") {
  cache_of<nn::windowed> cache(key{10});
  cache_of<nn::capacity<>> whole(key{10});
  CHECK(cache.at_once() == 10);
  CHECK(differ(step(cache, 0, 7), step(whole, 0, 7)) == "");
  CHECK(cache.at_once() == 3);
  CHECK_THROWS_AS(step(cache, 7, 4), extent_error);
  CHECK(cache.length() == 7);
  CHECK(differ(step(cache, 7, 3), step(whole, 7, 3)) == "");
}

TEST_CASE("windowed: what cannot be kept throws, and nothing changes") {
  cache_of<nn::windowed> cache(key{10});
  CHECK_THROWS_AS(cache.keep_window(11), extent_error);
  cache.keep_window(5);
  CHECK_THROWS_AS(step(cache, 0, 7), extent_error);
  CHECK(cache.length() == 0);
  (void)step(cache, 0, 6);
  CHECK_THROWS_AS(cache.keep_window(3), extent_error);
  // The last ones can be forgotten as long as the window of the next query is whole.
  cache.forget(2);
  (void)step(cache, 4, 6);
  cache.forget(6);
  CHECK(cache.end() == 4);
  (void)step(cache, 4, 6);
  (void)step(cache, 10, 2);
  CHECK(cache.length() == 6);
  CHECK_THROWS_AS(cache.forget(3), extent_error);
  CHECK(cache.end() == 12);
  cache.forget(2);
  CHECK(cache.end() == 10);
  cache.restart();
  cache.keep_window(0);
  CHECK(cache.at_once() == 10);
}

TEST_CASE("windowed: copies and moves have the window") {
  cache_of<nn::windowed> cache(key{10});
  cache.keep_window(5);
  (void)step(cache, 0, 6);
  (void)step(cache, 6, 4);
  cache_of<nn::windowed> copy = cache;
  cache_of<nn::windowed> moved = std::move(cache);
  CHECK(copy.kept_window() == 5);
  CHECK(differ(step(copy, 10, 6), step(moved, 10, 6)) == "");
}
