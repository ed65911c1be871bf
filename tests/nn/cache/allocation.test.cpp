// tests/nn/cache/allocation.test.cpp -- where memory runs out in the middle of an append, the cache stays as it was.
//
// This file replaces operator new for its whole executable; nothing fails unless a test says so.
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include <dimwise/nn/paged_cache.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>
#include <thread>

namespace {

// Allocations of this thread until one fails; negative: none fails.
thread_local long until_failure = -1;
// The largest allocation of this thread since a test asked.
thread_local std::size_t largest = 0;

void* allocated(std::size_t bytes, std::size_t alignment) {
  largest = bytes > largest ? bytes : largest;
  if (until_failure >= 0 && until_failure-- == 0) { throw std::bad_alloc(); }
  void* const p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p == nullptr) { throw std::bad_alloc(); }
  return p;
}

}  // namespace

// Not inline: g++ 12 warns of malloc'd memory where it sees the inside of both (bug 103993).
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return allocated(bytes == 0 ? 1 : bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocated(bytes == 0 ? 1 : bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct key : position_dim<> {};
struct d_k : feature_dim<> {};

template <class Kind, class Element>
using cache_of = nn::kv_cache<key, Kind, nn::keys<Element, batch, key, d_k>, nn::values<Element, batch, key, d_k>>;

// Append after append, each with every allocation failing in turn: nothing changes before it succeeds.
template <class Cache>
void check(Cache cache) {
  const auto all = drawn<tensor<float, batch, key, d_k>>(1, batch{2}, key{40}, d_k{64});
  std::size_t at = 0;
  long failures = 0;
  for (const std::size_t n : counts{5, 1, 6, 3, 6, 6, 1, 6, 5}) {
    const tensor keys_before = cache.keys();
    const tensor values_before = cache.values();
    for (long until = 0;; ++until) {
      bool failed = false;
      // On a thread of its own, which keeps no blocks from before.
      std::thread([&] {
        const auto k = slice<key>(all, at, n) * 2.0F;
        const auto v = slice<key>(all, at, n) * 3.0F;
        until_failure = until;
        try {
          cache.append(k, v);
        } catch (const std::bad_alloc&) { failed = true; }
        until_failure = -1;
      }).join();
      if (!failed) { break; }
      ++failures;
      REQUIRE(cache.end() == static_cast<std::ptrdiff_t>(at));
      REQUIRE(differ(tensor(cache.keys()), keys_before) == "");
      REQUIRE(differ(tensor(cache.values()), values_before) == "");
    }
    at += n;
    const auto held = cache.length();
    const std::string wrong = differences(tensor(cache.keys()), {2, held, 64}, 0.02,
                                          [&](auto b, auto i, auto d) { return 2 * el(all, b, at - held + i, d); });
    CHECK(wrong == "");
    const std::string wrong_v = differences(tensor(cache.values()), {2, held, 64}, 0.02,
                                            [&](auto b, auto i, auto d) { return 3 * el(all, b, at - held + i, d); });
    CHECK(wrong_v == "");
  }
  CHECK(failures > 9);
}

// A copy that finds no memory changes nothing: neither keys alone nor values alone are taken.
// Values are larger than keys, whose old memory would serve else.
struct d_v : feature_dim<> {};
template <class Kind, class Element>
using uneven_cache_of =
    nn::kv_cache<key, Kind, nn::keys<Element, batch, key, d_k>, nn::values<Element, batch, key, d_v>>;

template <class Cache>
void check_assigned(Cache from) {
  const auto all = drawn<tensor<float, batch, key, d_k>>(1, batch{2}, key{9}, d_k{64});
  const auto all_v = drawn<tensor<float, batch, key, d_v>>(2, batch{2}, key{9}, d_v{300});
  Cache to = from;
  from.append(slice<key>(all, 0, 5), slice<key>(all_v, 0, 5));
  to.append(slice<key>(all, 0, 3) * 2.0F, slice<key>(all_v, 0, 3) * 2.0F);
  const tensor keys_before = to.keys();
  const tensor values_before = to.values();
  long failures = 0;
  for (bool failed = true; failed;) {
    failed = false;
    std::thread([&] {
      until_failure = failures;
      try {
        to = from;
      } catch (const std::bad_alloc&) { failed = true; }
      until_failure = -1;
    }).join();
    if (!failed) { break; }
    ++failures;
    REQUIRE(to.length() == 3);
    REQUIRE(differ(tensor(to.keys()), keys_before) == "");
    REQUIRE(differ(tensor(to.values()), values_before) == "");
  }
  CHECK(failures > 1);
  CHECK(to.length() == 5);
  CHECK(differ(tensor(to.keys()), tensor(from.keys())) == "");
  CHECK(differ(tensor(to.values()), tensor(from.values())) == "");
}

}  // namespace

template <class Cache>
inline constexpr bool says_what_it_does =
    std::is_nothrow_move_constructible_v<Cache> && std::is_nothrow_move_assignable_v<Cache> &&
    !std::is_nothrow_copy_constructible_v<Cache> && !std::is_nothrow_copy_assignable_v<Cache>;
static_assert(says_what_it_does<cache_of<nn::capacity<40>, float>>);
static_assert(says_what_it_does<cache_of<nn::sliding<6>, nn::int8_by<>>>);
static_assert(says_what_it_does<cache_of<nn::paged<4>, float>>);

TEST_CASE("kv_cache: an assignment that finds no memory changes nothing") {
  check_assigned(uneven_cache_of<nn::capacity<40>, float>(batch{2}, d_k{64}, d_v{300}));
  check_assigned(uneven_cache_of<nn::sliding<6>, float16>(batch{2}, d_k{64}, d_v{300}));
  check_assigned(uneven_cache_of<nn::paged<4>, float>(batch{2}, d_k{64}, d_v{300}));
}

TEST_CASE("kv_cache: memory that runs out leaves every kind of cache as it was") {
  check(cache_of<nn::capacity<40>, float>(batch{2}, d_k{64}));
  check(cache_of<nn::capacity<>, bfloat16>(batch{2}, d_k{64}, key{40}));
  check(cache_of<nn::sliding<6>, float>(batch{2}, d_k{64}));
  check(cache_of<nn::sliding<7>, float16>(batch{2}, d_k{64}));
  check(cache_of<nn::paged<4>, float>(batch{2}, d_k{64}));
  const tensor<float> scale({3.0F / 127});
  check(cache_of<nn::sliding<6>, nn::int8_by<>>(scale, scale, batch{2}, d_k{64}));
}

TEST_CASE("paged cache: an append costs the pages that it writes, not those that are there") {
  nn::kv_cache<key, nn::paged<2>, nn::keys<float, key, d_k>, nn::values<float, key, d_k>> cache(d_k{1});
  const auto all = drawn<tensor<float, key, d_k>>(1, key{4000}, d_k{1});
  cache.append(all, all);
  const tensor<float, key, d_k> one(key{1}, d_k{1});
  cache.append(one, one);
  std::size_t bytes = 0;
  std::thread([&] {
    largest = 0;
    cache.append(one, one);
    bytes = largest;
  }).join();
  CHECK(cache.length() == 4002);
  CHECK(bytes < 2000 * sizeof(void*));
}
