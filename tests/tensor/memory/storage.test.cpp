// tests/tensor/memory/storage.test.cpp -- an expression keeps its meaning, whatever happens to its operands afterwards.
//
// Each test runs on memory that is shared (run-time extents) and on memory inside the object (small static extents).
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"
#include "support/threads.hpp"
#include <dimwise/eval/context.hpp>
#include <dimwise/nn/cache.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::id;
using dimwise::tensor;

struct shared {
  using type = tensor<float, seq, pair>;
  using view = dimwise::tensor_view<float, seq, pair>;
  using row = id<seq>;
  static type make() { return type({1, 2, 3, 4, 5, 6}, seq{3}); }
};
struct in_place {
  struct three : dimwise::position_dim<3> {};
  using type = tensor<float, three, pair>;
  using view = dimwise::tensor_view<float, three, pair>;
  using row = id<three>;
  static type make() { return type({1, 2, 3, 4, 5, 6}); }
};

// The elements times `factor`, as they were made.
template <class X>
std::string still(const X& x, double factor = 1) {
  return differences(x, {3, 2}, 0, [=](auto s, auto i) { return factor * static_cast<double>(s * 2 + i + 1); });
}
template <class Case>
auto doubled() {
  const auto local = Case::make();
  return local * 2 + local * 0;
}
template <class Case>
auto nested() {
  auto inner = doubled<Case>();
  const auto outer = inner * 0.5F;
  auto written = Case::make();
  const auto result = outer + written;
  written.fill(100);
  return result;
}

}  // namespace

TEST_CASE_TEMPLATE("storage: a copy is independent, whichever is written", Case, shared, in_place) {
  auto x = Case::make();
  auto y = x;
  y.fill(0);
  CHECK(still(x) == "");
  y = x;
  x.data()[0] = 9;
  CHECK(still(y) == "");
  auto z = y;
  z.assign(std::vector<float>(6, 3.0F));
  CHECK(still(y) == "");
  auto moved = std::move(y);
  CHECK(still(moved) == "");
  y = moved;
  moved.fill(1);
  CHECK(still(y) == "");
}

TEST_CASE_TEMPLATE("storage: an expression keeps its meaning when its operand is written, in every way", Case, shared,
                   in_place) {
  using X = typename Case::type;
  auto x = Case::make();
  const auto e = x * 2;
  SUBCASE("fill") { x.fill(0); }
  SUBCASE("set") { x.set(100, typename Case::row(1), id<pair>(0)); }
  SUBCASE("assign values") { x.assign(std::vector<float>(6)); }
  SUBCASE("assign an expression") { x = x + 1; }
  SUBCASE("assign itself through the expression") { x = e; }
  SUBCASE("assign another tensor") { x = X(); }
  SUBCASE("data()") { x.data()[2] = 77; }
  SUBCASE("a view") {
    typename Case::view view(x);
    view = view * 3;
  }
  SUBCASE("move from it") {
    X y = std::move(x);
    y.fill(0);
  }
  CHECK(still(X(e), 2) == "");
}

TEST_CASE_TEMPLATE("storage: a pointer that was handed out earlier does not reach expressions and copies formed later",
                   Case, shared, in_place) {
  using X = typename Case::type;
  auto x = Case::make();
  float* const stale = x.data();
  const auto e = x * 2;
  const X copy = x;
  stale[0] = 50;
  CHECK(still(X(e), 2) == "");
  CHECK(still(copy) == "");
  CHECK(el(x, 0, 0) == 50);  // the tensor itself is what the pointer writes
  stale[0] = 1;
  x.seal();
  const auto g = x * 3;
  x.fill(0);
  CHECK(still(X(g), 3) == "");
}

TEST_CASE_TEMPLATE("storage: operands that were locals of functions that have returned", Case, shared, in_place) {
  using X = typename Case::type;
  CHECK(still(X(doubled<Case>()), 2) == "");
  std::vector<float> noise(1000, 5.0F);  // where freed memory might be reused
  CHECK(noise.back() == 5);
  CHECK(still(X(nested<Case>()), 2) == "");
}

TEST_CASE("storage: masks, gathers and joins keep their operands, too") {
  auto x = drawn<tensor<float, seq, key>>(1, seq{2}, key{3});
  tensor<bool, seq, key> given({true, false, true, true, true, false}, seq{2}, key{3});
  tensor<int, batch> lengths({3, 1}, batch{2});
  tensor<id<key>, seq> ids({id<key>(2), id<key>(0)}, seq{2});
  const auto p = dimwise::softmax<key>(dimwise::masked(x, dimwise::allow(given) & dimwise::padding<key>(lengths)));
  const auto g = dimwise::gather<key>(x, ids);
  const auto c = dimwise::concat<seq>(x, x);
  const auto s = dimwise::stack<pair>(x, x);
  const auto before =
      std::tuple(dimwise::evaluate(p), dimwise::evaluate(g), dimwise::evaluate(c), dimwise::evaluate(s));
  x.fill(9);
  given.fill(false);
  lengths.fill(0);
  ids.fill(id<key>(1));
  const auto same = [](const auto& a, const auto& b) {
    return std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end());
  };
  CHECK(same(dimwise::evaluate(p), std::get<0>(before)));
  CHECK(same(dimwise::evaluate(g), std::get<1>(before)));
  CHECK(same(dimwise::evaluate(c), std::get<2>(before)));
  CHECK(same(dimwise::evaluate(s), std::get<3>(before)));
}

TEST_CASE("storage: a tensor that was moved from takes a new value") {
  auto x = shared::make();
  const auto y = std::move(x);
  x = y;
  CHECK(still(x) == "");
  auto z = std::move(x);
  x = z * 2;
  CHECK(still(x, 2) == "");
}

namespace {

constexpr std::size_t floats_in_megabyte = (std::size_t{1} << 20) / sizeof(float);
tensor<float, seq> of_megabytes(std::size_t count) { return tensor<float, seq>(seq{count * floats_in_megabyte}); }

}  // namespace

TEST_CASE("storage: a buffer is copied, moved, and made anew for another number of elements") {
  using buffer = dimwise::detail::aligned_vector<int>;
  buffer a(3);
  std::iota(a.begin(), a.end(), 1);
  const buffer b = a;
  a[0] = 9;
  CHECK(std::vector<int>(b.begin(), b.end()) == std::vector<int>{1, 2, 3});
  const int* const elements = a.data();
  buffer c = std::move(a);
  CHECK(c.data() == elements);
  CHECK((a.empty() && a.data() == nullptr));
  c.resize(3);
  CHECK(c.data() == elements);
  c.resize(5);
  CHECK(c.size() == 5);
  CHECK(reinterpret_cast<std::uintptr_t>(c.data()) % 64 == 0);
  CHECK(buffer().begin() == buffer().end());
  CHECK_THROWS_WITH_AS(
      buffer(~std::size_t{0} / 2),
      "out of memory: 9223372036854775807 times 4 bytes for a buffer of an evaluation cannot be allocated",
      dimwise::allocation_error);
  struct begins_with_one {
    int value = 1;
  };
  CHECK(dimwise::detail::aligned_vector<begins_with_one>(2)[1].value == 1);
}

TEST_CASE("storage: an object that is counted ends with its last handle") {
  static int alive = 0;
  struct object {
    explicit object(int v) : value(v) { ++alive; }
    object(const object& other) : value(other.value) { ++alive; }
    ~object() { --alive; }
    int value;
  };
  {
    auto a = dimwise::detail::counted<object>::make(5);
    CHECK(a.is_only());
    auto b = a;
    CHECK((!a.is_only() && !b.is_only() && &*a == &*b));
    const auto c = std::move(b);
    CHECK((!c.is_only() && c->value == 5));
    a = dimwise::detail::counted<object>::make(6);
    CHECK((a.is_only() && c.is_only()));
    CHECK(alive == 2);
  }
  CHECK(alive == 0);
}

TEST_CASE("storage: freed memory serves tensors of other sizes, in parts and joined again") {
  if (!dimwise::detail::in_pages(std::size_t{1} << 20)) { return; }
  dimwise::trim_memory();
  { const auto x = of_megabytes(8); }
  const std::size_t kept = dimwise::kept_memory();
  const std::size_t taken = dimwise::detail::block_pool::taken_from_system();
  for (int round = 0; round < 3; ++round) {
    {
      const auto a = of_megabytes(1);
      auto b = of_megabytes(4);
      const auto c = of_megabytes(3);
      b = tensor<float, seq>();
      const auto d = of_megabytes(2);
      const auto e = of_megabytes(2);
    }
    const auto x = of_megabytes(8);
  }
  CHECK(dimwise::detail::block_pool::taken_from_system() == taken);
  CHECK(dimwise::kept_memory() / floats_in_megabyte == kept / floats_in_megabyte);
}

TEST_CASE("storage: of many small blocks the last ones are kept") {
  if (!dimwise::detail::keeps_blocks) { return; }
  dimwise::trim_memory();
  constexpr std::size_t bytes = std::size_t{1} << 15;  // of the program's heap: never joined
  constexpr std::size_t most = dimwise::detail::kept_blocks::capacity;
  std::vector<tensor<float, seq>> all;
  for (std::size_t i = 0; i < most + 100; ++i) { all.emplace_back(seq{bytes / sizeof(float)}); }
  all.clear();
  CHECK(dimwise::kept_memory() >= most * bytes);
  CHECK(dimwise::kept_memory() < (most + 2) * bytes);  // with the handles of all
  const std::size_t taken = dimwise::detail::block_pool::taken_from_system();
  for (std::size_t i = 0; i < most; ++i) { all.emplace_back(seq{bytes / sizeof(float)}); }
  CHECK(dimwise::detail::block_pool::taken_from_system() == taken);
}

TEST_CASE("storage: tensors of any size keep their elements while others come and go, within any limit") {
  if (!dimwise::detail::keeps_blocks) { return; }
  constexpr std::size_t no_limit = dimwise::as_much_as_was_in_use;
  std::mt19937 random(7);
  const auto below = [&](std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
  };
  for (const std::size_t limit : {no_limit, std::size_t{0}, std::size_t{3} << 20, std::size_t{40} << 20}) {
    dimwise::limit_kept_memory(limit);
    std::vector<tensor<float, seq>> all(24);
    bool right = true;
    for (int i = 0; i < 1500; ++i) {
      auto& x = all[below(all.size())];
      if (x.size() > 0) { right = right && x.values().front() == x.values().back(); }
      // From 16 KiB, where lists of small blocks end, to 4 MiB.
      x = tensor<float, seq>(seq{(std::size_t{4096} << below(9)) + below(40000)});
      x.fill(static_cast<float>(i));
      right = right && dimwise::kept_memory() <= limit;
    }
    for (const auto& x : all) {
      for (const float element : x.values()) { right = right && element == x.values().front(); }
    }
    CAPTURE(limit);
    CHECK(right);
  }
  dimwise::limit_kept_memory(no_limit);
  dimwise::trim_memory();
}

#if defined(MADV_HUGEPAGE)
namespace {

// What the system says of the memory at an address: `hg` among the flags where large pages were asked for.
bool asked_for_large_pages(const void* at) {
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      here = begin <= reinterpret_cast<std::uintptr_t>(at) && reinterpret_cast<std::uintptr_t>(at) < end;
    } else if (here && line.rfind("VmFlags:", 0) == 0) {
      return line.find(" hg") != std::string::npos;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("storage: large tensors lie in large pages, and small ones share some") {
  if (!dimwise::detail::keeps_blocks || !std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) { return; }
  dimwise::trim_memory();
  constexpr std::size_t page = dimwise::detail::large_page;
  const tensor<float, seq> large(seq{3 * page / sizeof(float)});
  const tensor<float, seq> half(seq{page / 2 / sizeof(float)});
  const tensor<float, seq> other(seq{page / 2 / sizeof(float)});
  CHECK(reinterpret_cast<std::uintptr_t>(large.values().data()) % page == 0);
  CHECK(asked_for_large_pages(large.values().data()));
  CHECK(asked_for_large_pages(large.values().data() + large.size() - 1));
  CHECK(asked_for_large_pages(half.values().data()));
  CHECK(other.values().data() + other.size() == half.values().data());
}

TEST_CASE("storage: weights that are taken together share large pages, and give them back together" *
          support::threads) {
  if (!dimwise::detail::keeps_blocks || !std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) { return; }
  using dimwise::detail::weights_together;
  constexpr std::size_t floats = weights_together::least_bytes / sizeof(float);
  const auto take = [](std::size_t extent) { return tensor<float, seq>(seq{extent}); };
  std::vector<tensor<float, seq>> weights;
  std::thread other;
  {
    const weights_together here;
    for (std::size_t i = 0; i < 200; ++i) {
      weights.push_back(take(floats * (1 + i % 5)));
      weights.back().fill(static_cast<float>(i));
    }
    other = std::thread([&, takes = weights_together::takes(2 * floats * sizeof(float))] {
      CHECK(takes);
      CHECK_FALSE(weights_together::takes(2 * floats * sizeof(float)));  // another thread's weights are its own matter
      const weights_together there;
      for (std::size_t i = 0; i < 200; ++i) { take(floats * (1 + i % 3)).fill(-1); }
    });
    other.join();
  }
  bool right = true;
  for (std::size_t i = 0; i < 200; ++i) {
    for (const float x : weights[i].values()) { right = right && x == static_cast<float>(i); }
    right = right && asked_for_large_pages(weights[i].values().data());
  }
  CHECK(right);
  const float* const one = weights[1].values().data();
  CHECK(weights[0].values().data() + floats == one);
  weights.clear();
  dimwise::trim_memory();
  CHECK_FALSE(asked_for_large_pages(one));
}

TEST_CASE("storage: caches lie in large pages, and one that is made again in memory that was kept") {
  if (!dimwise::detail::keeps_blocks || !std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) { return; }
  using cache = dimwise::nn::kv_cache<key, dimwise::nn::capacity<>, dimwise::nn::keys<float, key, pair>,
                                      dimwise::nn::values<float, key, pair>>;
  constexpr std::size_t positions = 3 * dimwise::detail::weights_together::least_bytes;
  const auto memory_of = [](cache& c) {
    c.append(tensor<float, key, pair>(key{1}), tensor<float, key, pair>(key{1}));
    return std::pair(c.keys().data(), c.values().data());
  };
  dimwise::trim_memory();
  std::pair<const float*, const float*> first, copied;
  {
    cache one(key{positions});
    first = memory_of(one);
    cache other(one);
    copied = memory_of(other);
  }
  for (const float* const at : {first.first, first.second, copied.first, copied.second}) {
    CHECK(asked_for_large_pages(at));
  }
  cache again(key{positions});
  const auto now = memory_of(again);
  for (const float* const at : {now.first, now.second}) {
    CHECK((at == first.first || at == first.second || at == copied.first || at == copied.second));
  }
}
#endif
