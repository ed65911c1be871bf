// tests/eval/allocation_failure.test.cpp -- every allocation of an evaluation, a copy, a write fails once: the
// destination keeps its value, and nothing is lost.
//
// This file replaces operator new for its whole executable. SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

namespace {

std::atomic<long> alive{0};
thread_local std::size_t bytes_taken = 0;
constexpr long never = -1;
thread_local long allocations_left = never;  // the one after these fails

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (allocations_left == 0) { throw std::bad_alloc(); }
  if (allocations_left > 0) { --allocations_left; }
  void* const p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p == nullptr) { throw std::bad_alloc(); }
  ++alive;
  bytes_taken += bytes;
  return p;
}
void release(void* p) {
  if (p != nullptr) { --alive; }
  std::free(p);
}

}  // namespace

// Not inline: g++ 12 warns of malloc'd memory where it sees the inside of both (bug 103993).
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return allocate(bytes == 0 ? 1 : bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes == 0 ? 1 : bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { release(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { release(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { release(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }

namespace {

using namespace dimwise;
using dimwise_test::drawn;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct heads : heads_dim<3> {};
struct d_model : feature_dim<30> {};
struct d_k : divided<d_model, heads> {};
struct d_v : divided<d_model, heads> {};
struct four : position_dim<4> {};
struct four_keys : prime<four> {};
struct packed : packed_dim<> {};
using d_model_out = out<d_model>;

// `try_with(n)` makes its operands, lets the n-th allocation from then on fail, and says whether it got through; on a
// thread of its own, which keeps no blocks from before. -> how many allocations there are.
template <class Trial>
long fail_each(const Trial& try_with) {
  const long before = alive;
  for (long n = 0; n < 1000; ++n) {
    bool finished = false;
    std::thread([&] { finished = try_with(n); }).join();
    CHECK(alive == before);
    if (finished) { return n; }
  }
  return -1;
}

// `form(y)` is an expression; y keeps its value where evaluating it fails.
template <class Y, class Form>
bool keeps_destination(long n, Y y, const Form& form) {
  const std::vector<float> before(y.values().begin(), y.values().end());
  const auto e = form(y);
  allocations_left = n;
  bool finished = true;
  try {
    y = e;
  } catch (const std::bad_alloc&) { finished = false; }
  allocations_left = never;
  const std::vector<float> after(y.values().begin(), y.values().end());
  if (!finished) { CHECK(after == before); }
  if (finished) { CHECK(after != before); }
  return finished;
}

}  // namespace

TEST_CASE("allocation failure: a whole layer with its residual and norm") {
  const long allocations = fail_each([](long n) {
    return keeps_destination(n, drawn<tensor<float, seq, d_model>>(1, seq{19}), [](const auto& x) {
      const auto w_q = drawn<tensor<float, d_model, heads, d_k>>(2);
      const auto w_k = drawn<tensor<float, d_model, heads, d_k>>(3);
      const auto w_v = drawn<tensor<float, d_model, heads, d_v>>(4);
      const auto w_o = drawn<tensor<float, heads, d_v, d_model>>(5);
      const auto k = rename<seq, key>(contract<d_model>(x, w_k));
      const auto v = rename<seq, key>(contract<d_model>(x, w_v));
      const auto a = softmax<key>(masked(scores<d_k>(contract<d_model>(x, w_q), k), causal<seq, key>{}));
      return layer_norm<d_model>(x + contract<heads, d_v>(contract<key>(a, v), w_o));
    });
  });
  CHECK(allocations > 3);
}

TEST_CASE("allocation failure: attention with biases, masks of elements and lengths, long and short") {
  for (const std::size_t length : {std::size_t{3}, std::size_t{70}}) {
    const long allocations = fail_each([&](long n) {
      return keeps_destination(n, drawn<tensor<float, heads, seq, d_k>>(1, seq{length}), [&](const auto& q) {
        const auto bias = drawn<tensor<float, heads, seq, key>>(2, seq{length}, key{length});
        const auto visible = drawn<tensor<bool, seq, key>>(3, seq{length}, key{length});
        const auto k = rename<seq, key>(q * 0.5F);
        return contract<key>(softmax<key>(masked(biased(scores<d_k>(q, k), bias), allow(visible))), k + k);
      });
    });
    CHECK(allocations > 2);
  }
}

TEST_CASE("allocation failure: a static formula, and what takes the scalar path") {
  CHECK(fail_each([](long n) {
    return keeps_destination(n, drawn<tensor<float, heads, four, d_k>>(1), [](const auto& q) {
      const auto k = rename<four, four_keys>(q);
      return contract<four_keys>(softmax<four_keys>(scores<d_k>(q, k)), k);
    });
  }) >= 1);
  CHECK(fail_each([](long n) {
    return keeps_destination(n, drawn<tensor<float, seq, d_model>>(1, seq{40}),
                             [](const auto& x) { return cumsum<seq>(permute<d_model, seq>(x) + sum<seq>(x)); });
  }) >= 1);
}

TEST_CASE("allocation failure: packed weights are kept or not, never half") {
  const long before = alive;
  std::thread([] {
    const auto x = drawn<tensor<float, seq, d_model>>(1, seq{64});
    const auto w = drawn<tensor<float, d_model, heads, d_k>>(2);
    const tensor<float, seq, heads, d_k> wanted = contract<d_model>(x, w);
    for (long n = 0; n < 20; ++n) {
      tensor<float, seq, heads, d_k> y;
      allocations_left = n;
      bool finished = true;
      try {
        y = contract<d_model>(x, w);
      } catch (const std::bad_alloc&) { finished = false; }
      allocations_left = never;
      if (finished) { CHECK(dimwise_test::differ(y, wanted) == ""); }
    }
  }).join();
  CHECK(alive == before);
}

TEST_CASE("plan: takes memory for its steps alone, whatever the extents") {
  struct d : feature_dim<64> {};
  struct d_out : feature_dim<64> {};
  struct d_ff : feature_dim<> {};
  struct distance : feature_dim<> {};
  struct pairs : feature_dim<> {};
  struct batch : batch_dim<> {};
  struct layers : batch_dim<> {};
  for (const std::size_t n : {std::size_t{100'000}, std::size_t{3'000'000'000}}) {
    // They have no elements.
    const float* const none = nullptr;
    const tensor_view<const float, seq, d> q(none, seq{n});
    const tensor_view<const float, key, d> k(none, key{n});
    const tensor_view<const float, key, d_out> v(none, key{n});
    const tensor_view<const float, d, d_ff> w(none, d_ff{n});
    const tensor_view<const float, d_ff> row(none, d_ff{n});
    const tensor_view<const float, distance> table(none, distance{n});
    const tensor_view<const float, seq, pairs> angles(none, seq{n}, pairs{32});
    const tensor_view<const bool, seq, key> visible(static_cast<const bool*>(nullptr), seq{n}, key{n});
    const tensor_view<const int, batch> lengths(static_cast<const int*>(nullptr), batch{n});
    const tensor_view<const std::int8_t, key, d> bits(static_cast<const std::int8_t*>(nullptr), key{n});
    const auto raw = scores<d>(q, k);
    const auto heads_of = [&](const auto& x) { return contract<key>(softmax<key>(x), v); };
    std::size_t number = 0;
    const auto takes_little = [&](const auto& e) {
      const std::size_t before = bytes_taken;
      const evaluation_plan p = plan(e);
      ++number;
      CHECK_MESSAGE(bytes_taken - before < 8192, number, ": ", p.text());
    };
    takes_little(softmax<key>(raw));
    takes_little(heads_of(raw));
    takes_little(heads_of(masked(biased(raw, relative_bias<seq, key, distance>(table)), allow(visible))));
    takes_little(heads_of(masked(raw, padding<key>(lengths + lengths) & causal<seq, key>{})));
    takes_little(heads_of(scores<d>(rotary<seq, d>(q), rename<seq, key>(rotary<seq, d>(q)))));
    takes_little(softmax<key>(masked(raw, (!allow(visible)) | causal<seq, key>{})));
    takes_little(gelu(contract<d>(q, w) + row));
    takes_little(layer_norm<d_ff>(exp(contract<d>(q, w)), row, row * 2.0F));
    takes_little(rotary<seq, d>(q * 2.0F, cos(angles), sin(angles)));
    takes_little(stack<layers>(gelu(q), slice<seq>(q, 0, n)));
    takes_little(concat<seq>(gelu(q), permute<d, seq>(q)));
    takes_little(relabel<merged<key, d>, d_ff>(merge<key, d>(permute<d, key>(k))) * 2.0F);
    takes_little(contract<key>(softmax<key>(scores<d>(q, dequantised(bits, tensor<float>({0.5F})))), v));
    takes_little(sum<key>(exp(at<seq>(permute<key, seq>(plain(raw)), n - 1))));
    takes_little(sum<key>(masked(plain(raw), allow(visible))));
  }
}

namespace {

// `change(x)` may need memory; x keeps its elements and extents where there is none.
template <class X, class Change>
bool changes_or_keeps(long n, X& x, const Change& change) {
  const std::vector<float> before(x.values().begin(), x.values().end());
  const std::size_t size_before = x.size();
  allocations_left = n;
  bool finished = true;
  try {
    change(x);
  } catch (const std::bad_alloc&) { finished = false; }
  allocations_left = never;
  if (!finished) {
    CHECK(x.size() == size_before);
    CHECK(std::vector<float>(x.values().begin(), x.values().end()) == before);
  }
  return finished;
}
// A tensor whose memory may be written at any time: its copies are copies.
template <class X, class... Extents>
X handed_out(unsigned seed, const Extents&... extents) {
  auto x = drawn<X>(seed, extents...);
  (void)x.data();
  return x;
}

}  // namespace

TEST_CASE("allocation failure: a copy assignment takes other extents and elements, or neither") {
  CHECK(fail_each([](long n) {
    const auto from = handed_out<tensor<float, seq, d_model>>(1, starting_at(seq{7}, 3));
    auto to = handed_out<tensor<float, seq, d_model>>(2, seq{2});
    const bool finished = changes_or_keeps(n, to, [&](auto& x) { x = from; });
    CHECK(to.size() == (finished ? from.size() : 2 * 30));
    CHECK(to.extents().origin<seq>("test") == (finished ? 3 : 0));
    return finished;
  }) >= 1);
  CHECK(fail_each([](long n) {  // static extents on the heap
    const auto from = handed_out<tensor<float, d_model, d_model_out>>(1);
    auto to = drawn<tensor<float, d_model, d_model_out>>(2);
    return changes_or_keeps(n, to, [&](auto& x) { x = from; });
  }) >= 1);
}

TEST_CASE("allocation failure: copies, writes to shared elements, and the first use of what was moved from") {
  CHECK(fail_each([](long n) {
    auto from = handed_out<tensor<float, seq, d_model>>(1, seq{5});
    return changes_or_keeps(n, from, [](const auto& a) { const auto copy = a; });
  }) >= 1);
  CHECK(fail_each([](long n) {
    auto from = handed_out<tensor<float, seq, d_model>>(1, seq{5});
    return changes_or_keeps(n, from, [](const auto& a) { (void)(a * a + 1); });
  }) >= 1);
  const auto write = [](const auto& how) {
    return fail_each([&](long n) {
      auto a = drawn<tensor<float, seq, d_model>>(1, seq{5});
      const auto other = a;
      const bool finished = changes_or_keeps(n, a, how);
      CHECK(dimwise_test::differ(other, drawn<tensor<float, seq, d_model>>(1, seq{5})) == "");
      return finished;
    });
  };
  CHECK(write([](auto& a) { a.fill(1); }) >= 1);
  CHECK(write([](auto& a) { a.set(1, id<seq>(2), id<d_model>(3)); }) >= 1);
  CHECK(write([](auto& a) { a.data()[0] = 2; }) >= 1);
  const std::vector<float> values(150, 2.0F);
  CHECK(write([&](auto& a) { a.assign(values); }) >= 1);
  CHECK(fail_each([](long n) {
    auto a = drawn<tensor<float, d_model, d_model_out>>(2);
    const auto b = std::move(a);
    allocations_left = n;
    bool finished = true;
    try {
      (void)static_cast<const decltype(a)&>(a).data();
    } catch (const std::bad_alloc&) { finished = false; }
    allocations_left = never;
    CHECK(a.size() == 900);
    CHECK(a.values()[899] == 0);
    return finished;
  }) >= 1);
}

TEST_CASE("allocation failure: the lengths of documents are kept or not, never half") {
  CHECK(fail_each([](long n) {
    const std::vector<int> lengths{3, 4};
    packed p{{1, 2}};
    allocations_left = n;
    bool finished = true;
    try {
      p = packed{lengths};
    } catch (const std::bad_alloc&) { finished = false; }
    allocations_left = never;
    CHECK(p.extent() == (finished ? 7 : 3));
    CHECK(p.documents().total() == p.extent());
    return finished;
  }) >= 1);
}

TEST_CASE("allocation failure: views and masks are written or copied, or not") {
  CHECK(fail_each([](long n) {
    auto y = drawn<tensor<float, seq, d_model>>(1, seq{4});
    tensor_view<float, seq, d_model> view(y);
    return changes_or_keeps(n, y, [&](auto&) { view = view * 2; });
  }) >= 1);
  CHECK(fail_each([](long n) {
    auto lengths = tensor<int>({1});
    auto given = tensor<bool, seq, key>(seq{40}, key{9});
    (void)given.data();
    allocations_left = n;
    bool finished = true;
    try {
      const auto m = allow(given) & padding<key>(lengths);
      const auto copy = m;
      (void)copy;
    } catch (const std::bad_alloc&) { finished = false; }
    allocations_left = never;
    return finished;
  }) >= 1);
}
