// tests/nn/cache/cache.test.cpp -- caches of keys and values: what they hold, what they throw, and which way
// attention takes.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include <dimwise/nn/cache.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
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
                              nn::values<Element, batch, kv_heads, key, d_v>>;
template <class Kind>
using rotated_cache_of = nn::kv_cache<key, Kind, nn::keys<float, batch, kv_heads, key, d_k, rotated<d_k, seq>>,
                                      nn::values<float, batch, kv_heads, key, d_v>>;

// All positions of a text; a cache is fed with parts of them.
const auto all_q = drawn<tensor<float, batch, seq, kv_heads, group_of, d_k>>(1, batch{2}, seq{40});
const auto all_k = drawn<tensor<float, batch, key, kv_heads, d_k>>(2, batch{2}, key{40});
const auto all_v = drawn<tensor<float, batch, key, kv_heads, d_v>>(3, batch{2}, key{40});

template <class Queries>
auto q_at(const Queries& q, std::size_t first, std::size_t n) {
  return slice<seq>(q, first, n);
}

// What queries at first … see of all positions up to their own, at most `left` back.
double attended(std::size_t b, std::size_t h, std::size_t g, std::size_t position, std::size_t d, std::ptrdiff_t left) {
  const auto score = [&](std::size_t j) {
    return sum_of(4, [&](auto f) { return double{el(all_q, b, position, h, g, f)} * el(all_k, b, j, h, f); }) / 2;
  };
  const auto from =
      left < 0 || position < static_cast<std::size_t>(left) ? 0 : position - static_cast<std::size_t>(left);
  double total = 0;
  double y = 0;
  for (std::size_t j = from; j <= position; ++j) {
    total += std::exp(score(j));
    y += std::exp(score(j)) * el(all_v, b, j, h, d);
  }
  return y / total;
}

}  // namespace

TEST_CASE("kv_cache: chunks and single tokens give what the whole text gives, and decode in place") {
  cache_of<nn::capacity<64>> cache(batch{2});
  CHECK(cache.length() == 0);
  CHECK(cache.limit() == 64);
  std::size_t at = 0;
  for (const std::size_t n : counts{7, 1, 1, 9, 1, 3, 1}) {
    CHECK(cache.end() == static_cast<std::ptrdiff_t>(at));
    cache.append(slice<key>(all_k, at, n), slice<key>(all_v, at, n));
    CHECK(cache.length() == at + n);
    reset_plans();
    const auto y = nn::attend(
        cache, [&](const auto& k) { return masked(scores<d_k>(q_at(all_q, at, n), k), causal<seq, key>{}); });
    CHECK(plans_run()[n <= 4 ? plan_kind::decode : plan_kind::attention] == 1);
    CHECK(plans_run()[plan_kind::plain] == 0);
    const auto expression = contract<key>(
        softmax<key>(masked(scores<d_k>(q_at(all_q, at, n), cache.keys()), causal<seq, key>{})), cache.values());
    CHECK(agrees(expression, {2, 2, n, 3, 5}, 30,
                 [&](auto b, auto h, auto i, auto g, auto d) { return attended(b, h, g, at + i, d, -1); }) == "");
    CHECK(differ(y, tensor(expression)) == "");
    static_assert(std::is_same_v<decltype(cache.mask<seq>()), causal<seq, key>>);
    CHECK(differ(nn::attend<seq>(cache, [&](const auto& k) { return scores<d_k>(q_at(all_q, at, n), k); }), y) == "");
    at += n;
  }
}

TEST_CASE("kv_cache: a window slides, its keys stay contiguous and know their positions") {
  cache_of<nn::sliding<6>> cache(batch{2});
  std::size_t at = 0;
  for (const std::size_t n : counts{5, 1, 1, 6, 1, 1, 1, 1, 1, 4, 1, 6, 6, 1}) {
    cache.append(slice<key>(all_k, at, n), slice<key>(all_v, at, n));
    CHECK(cache.length() == std::min(at + n, 5 + n));
    const auto s = masked(scores<d_k>(q_at(all_q, at, n), cache.keys()), window<seq, key>(5, 0));
    const auto expression = contract<key>(softmax<key>(s), cache.values());
    reset_plans();
    (void)evaluate(expression);
    CHECK(plans_run()[plan_kind::plain] == 0);
    CHECK(agrees(expression, {2, 2, n, 3, 5}, 30,
                 [&](auto b, auto h, auto i, auto g, auto d) { return attended(b, h, g, at + i, d, 5); }) == "");
    // The cache itself says its window.
    const auto implied = cache.mask<seq>();
    static_assert(std::is_same_v<decltype(implied), const window<seq, key>>);
    CHECK(implied.left() == 5);
    CHECK(implied.right() == 0);
    const auto y = nn::attend<seq>(cache, [&](const auto& k) { return scores<d_k>(q_at(all_q, at, n), k); });
    CHECK(differ(y, tensor(expression)) == "");
    at += n;
  }
  CHECK(thrown<origin_error>([&] { cache.append(slice<key>(all_k, 0, 1), slice<key>(all_v, 0, 1)); }) ==
        "append: the first position of key is 0, but the cache ends at 36; a text that continues takes its extent from "
        "next of the cache, another text begins after restart (R9, R10)");
  const auto k = drawn<tensor<float, batch, key, kv_heads, d_k>>(2, batch{2}, key{7});
  const auto v = drawn<tensor<float, batch, key, kv_heads, d_v>>(2, batch{2}, key{7});
  CHECK(thrown<extent_error>([&] { cache.append(k, v); }) ==
        "append: 7 positions of key do not fit, the cache holds 6 and takes 6 at once (R10)");
}

TEST_CASE("kv_cache: a window shows no more than a sliding cache keeps") {
  cache_of<nn::sliding<4>> cache(batch{2});
  cache.append(slice<key>(all_k, 0, 4), slice<key>(all_v, 0, 4));
  const auto q = q_at(all_q, 3, 1);
  const auto attended_by = [&](const auto& mask) {
    return nn::attend(cache, [&](const auto& k) { return masked(scores<d_k>(q, k), mask); });
  };
  const auto too_wide = [&](const auto& mask) { return thrown<extent_error>([&] { (void)attended_by(mask); }); };
  const std::string expected =
      "attend: the window shows 5 positions of key, and the cache keeps 4; sliding<W> keeps what a window of W - 1 "
      "positions to the left shows (R10)";
  const window<seq, key> fits(3, 0), wide(4, 0);
  CHECK(too_wide(wide) == expected);
  CHECK(too_wide(wide & causal<seq, key>{}) == expected);
  CHECK(too_wide(wide | fits) == expected);
  CHECK(thrown<extent_error>([&] {
    (void)nn::attend(cache,
                     [&](const auto& k) { return tanh(scores<d_k>(q, k) * 2.0F) * masked(scores<d_k>(q, k), wide); });
  }) == expected);
  const auto y = attended_by(fits);
  CHECK(differ(attended_by(wide & fits), y) == "");
  CHECK(differ(attended_by(causal<seq, key>{}), y) == "");
  CHECK(differ(attended_by(window<seq, key>(-1, 0)), y) == "");
  cache_of<nn::capacity<4>> all(batch{2});
  all.append(slice<key>(all_k, 0, 4), slice<key>(all_v, 0, 4));
  CHECK(differ(nn::attend(all, [&](const auto& k) { return masked(scores<d_k>(q, k), wide); }), y) == "");
}

TEST_CASE("kv_cache: rotated keys stand where the cache ends") {
  rotated_cache_of<nn::capacity<>> cache(batch{2}, key{40});
  std::size_t at = 0;
  for (const std::size_t n : counts{4, 1, 6}) {
    const tensor<float, batch, key, kv_heads, d_k> k = slice<key>(all_k, at, n);
    const tensor<float, batch, key, kv_heads, d_k> unsaid(k.values(), batch{2}, key{n});
    const tensor<float, batch, key, kv_heads, d_k> said(k.values(), batch{2}, cache.next(key{n}));
    const auto v = slice<key>(all_v, at, n);
    if (at > 0) {
      CHECK(thrown<origin_error>([&] { cache.append(rotary<key, d_k>(unsaid), v); }) ==
            "append: the first position of key is 0, but the cache ends at " + std::to_string(at) +
                "; a text that continues takes its extent from next of the cache, another text begins after restart "
                "(R9, R10)");
      CHECK(cache.length() == at);
    }
    cache.append(rotary<key, d_k>(said), v);
    at += n;
  }
  const tensor held = cache.keys();
  const tensor<float, batch, kv_heads, key, d_k, rotated<d_k, seq>> expected =
      rotary<key, d_k>(slice<key>(all_k, 0, at));
  CHECK(differ(held, expected, 1e-6) == "");
}

TEST_CASE("kv_cache: what does not fit throws, and leaves it as it was") {
  cache_of<nn::capacity<8>> cache(batch{2});
  cache.append(slice<key>(all_k, 0, 5), slice<key>(all_v, 0, 5));
  const tensor before = cache.keys();
  const auto unchanged = [&] {
    return cache.length() == 5 && cache.end() == 5 && differ(tensor(cache.keys()), before).empty();
  };
  CHECK(thrown<extent_error>([&] { cache.append(slice<key>(all_k, 5, 4), slice<key>(all_v, 5, 4)); }) ==
        "append: 4 positions of key do not fit, the cache holds 5 and takes 8 (R10)");
  CHECK(unchanged());
  CHECK(thrown<extent_error>([&] { cache.append(slice<key>(all_k, 5, 2), slice<key>(all_v, 5, 3)); }) ==
        "append: dimension key has extent 2 in one operand and 3 in another (R15)");
  CHECK(unchanged());
  CHECK(thrown<extent_error>([&] {
    cache.append(drawn<tensor<float, batch, key, kv_heads, d_k>>(1, batch{3}, key{1}),
                 drawn<tensor<float, batch, key, kv_heads, d_v>>(1, batch{3}, key{1}));
  }) == "append: dimension batch has extent 3 in one operand and 2 in another (R15)");
  CHECK(unchanged());
  // An error while keys or values are computed: nothing is written.
  struct places : choice_dim<3> {};
  const tensor<float, places, kv_heads, d_v> table;
  const tensor<id<places>, batch, key> ids({id<places>(0), id<places>(7)}, batch{2}, key{1});
  CHECK(thrown<index_error>([&] { cache.append(slice<key>(all_k, 5, 1), gather<places>(table, ids)); }) ==
        "gather: id 7 is outside dimension places of extent 3 (R18)");
  CHECK(unchanged());
  cache.append(slice<key>(all_k, 5, 3), slice<key>(all_v, 5, 3));
  CHECK(cache.length() == 8);
  cache.append(slice<key>(all_k, 8, 0), slice<key>(all_v, 8, 0));
  CHECK(cache.length() == 8);
  cache.forget(3);
  CHECK(unchanged());
  CHECK(thrown<extent_error>([&] { cache.forget(6); }) == "forget: the cache holds 5 positions of key, not 6 (R10)");
  cache.restart(7);
  CHECK(cache.length() == 0);
  cache.append(slice<key>(all_k, 7, 1), slice<key>(all_v, 7, 1));
  CHECK(cache.end() == 8);
}

TEST_CASE("kv_cache: over somebody else's memory, whose extent is checked; a copy has its own") {
  std::vector<float> k(2 * 2 * 9 * 4);
  std::vector<float> v(2 * 2 * 9 * 5);
  cache_of<nn::capacity<9>> cache(k, v, batch{2});
  cache.append(slice<key>(all_k, 0, 3), slice<key>(all_v, 0, 3));
  CHECK(k[(1 * 9 + 2) * 4 + 1] == el(all_k, 0, 2, 1, 1));
  CHECK(v[((2 + 1) * 9 + 2) * 5 + 4] == el(all_v, 1, 2, 1, 4));
  auto copy = cache;
  copy.append(slice<key>(all_k, 3, 1), slice<key>(all_v, 3, 1));
  CHECK(k[3 * 4] == 0);
  CHECK(cache.length() == 3);
  CHECK(differ(tensor(slice<key>(copy.keys(), 0, 3)), tensor(cache.keys())) == "");
  cache = copy;
  CHECK(cache.length() == 4);
  CHECK(differ(tensor(cache.keys()), tensor(copy.keys())) == "");
  cache_of<nn::capacity<9>> moved = std::move(copy);
  moved.append(slice<key>(all_k, 4, 1), slice<key>(all_v, 4, 1));
  CHECK(moved.length() == 5);
  CHECK(copy.length() == 0);  // NOLINT(bugprone-use-after-move): as is promised
  k.pop_back();
  CHECK(thrown<extent_error>([&] { cache_of<nn::capacity<9>>(k, v, batch{2}); }) ==
        "tensor_view: 143 values were given for 144 elements (R15)");
}

TEST_CASE("kv_cache: what was moved from takes nothing, and writes nothing of the other's") {
  const auto check = [&](auto from) {
    from.append(slice<key>(all_k, 0, 3), slice<key>(all_v, 0, 3));
    const tensor keys = from.keys();
    auto to = std::move(from);
    const auto untouched = [&] { return to.length() == 3 && differ(tensor(to.keys()), keys) == ""; };
    // NOLINTBEGIN(bugprone-use-after-move): as is promised
    CHECK(from.length() == 0);
    CHECK(from.limit() == 0);
    CHECK(tensor(from.keys()).size() == 0);
    from.restart();
    const auto k = slice<key>(all_k, 0, 2) * 2.0F;
    const auto v = slice<key>(all_v, 0, 2);
    CHECK(thrown<extent_error>([&] {
      from.append(k, v);
    }).starts_with("append: 2 positions of key do not fit, the cache holds 0 and takes 0"));
    CHECK(untouched());
    // It takes another's place again.
    from = to;
    CHECK(from.length() == 3);
    CHECK(from.limit() == to.limit());
    from.restart();
    from.append(k, v);
    CHECK(untouched());
    auto& same = to;
    to = std::move(same);
    CHECK(untouched());
    // NOLINTEND(bugprone-use-after-move)
  };
  check(cache_of<nn::capacity<8>>(batch{2}));
  check(cache_of<nn::sliding<8>>(batch{2}));
  std::vector<float> k(2 * 2 * 9 * 4);
  std::vector<float> v(2 * 2 * 9 * 5);
  check(cache_of<nn::capacity<9>>(k, v, batch{2}));
  const tensor<float> one({1.0F / 127});
  check(cache_of<nn::capacity<>, nn::int8_by<>>(one, one, batch{2}, key{8}));
}

TEST_CASE("kv_cache: what is adopted and does not fit changes nothing, nor does memory without initial values") {
  std::vector<float> k(2 * 2 * 8 * 4);
  std::vector<float> v(2 * 2 * 8 * 5);
  cache_of<nn::capacity<8>> cache(k, v, batch{2});
  cache.append(slice<key>(all_k, 0, 3), slice<key>(all_v, 0, 3));
  CHECK(thrown<extent_error>([&] { cache.adopt(9); }) ==
        "adopt: 9 positions of key do not fit, the cache takes 8 (R10)");
  CHECK(cache.length() == 3);
  CHECK(cache.end() == 3);
  cache.adopt(8);
  CHECK(cache.length() == 8);

  const auto check_own = [&](auto& own) {
    const auto held = own.length();
    const std::string never =
        "adopt: 8 positions of key were never appended, the cache has memory of its own; only a cache in memory "
        "that is given to it adopts positions (R10)";
    CHECK(thrown<extent_error>([&] { own.adopt(8); }) == never);
    CHECK(own.length() == held);
    CHECK(own.end() == static_cast<std::ptrdiff_t>(held));
    own.adopt(0);
    CHECK(own.length() == 0);
  };
  cache_of<nn::capacity<8>> own(batch{2});
  own.append(slice<key>(all_k, 0, 3), slice<key>(all_v, 0, 3));
  check_own(own);
  auto copy = cache;  // has memory of its own
  check_own(copy);
  auto moved = std::move(cache);  // has the memory that was given
  moved.adopt(5);
  CHECK(moved.length() == 5);
  own = std::move(moved);
  own.adopt(8);
  CHECK(own.length() == 8);
  own = copy;
  check_own(own);
}

TEST_CASE("kv_cache: positions near the ends of the integers are refused, and nothing changes") {
  constexpr std::ptrdiff_t farthest = std::numeric_limits<std::ptrdiff_t>::max() / 8;
  const auto check = [&](auto cache) {
    cache.append(slice<key>(all_k, 0, 2), slice<key>(all_v, 0, 2));
    for (const std::ptrdiff_t beyond :
         {farthest + 1, -farthest - 1, std::numeric_limits<std::ptrdiff_t>::max(),
          std::numeric_limits<std::ptrdiff_t>::min(), std::numeric_limits<std::ptrdiff_t>::min() + 1}) {
      CHECK(thrown<origin_error>([&] { cache.restart(beyond); }).ends_with(" of dimension key is beyond 2^60 (R7)"));
      CHECK(cache.length() == 2);
      CHECK(cache.end() == 2);
    }
    cache.restart(farthest - 3);
    const auto at = [&](std::size_t n, std::ptrdiff_t first) {
      return tensor<float, batch, kv_heads, key, d_k>(batch{2}, starting_at(key{n}, first));
    };
    const auto value = [&](std::size_t n) { return tensor<float, batch, kv_heads, key, d_v>(batch{2}, key{n}); };
    cache.append(at(3, farthest - 3), value(3));
    CHECK(cache.end() == farthest);
    CHECK(cache.keys().extents().template origin<key>("test") + static_cast<std::ptrdiff_t>(cache.length()) ==
          farthest);
    CHECK(thrown<origin_error>([&] { cache.append(at(1, farthest), value(1)); }) ==
          "append: the position 1 after position 1152921504606846975 of dimension key is beyond 2^60 (R7)");
    CHECK(cache.end() == farthest);
    CHECK(cache.length() == 3);
    cache.restart(-farthest);
    cache.append(at(1, -farthest), value(1));
    CHECK(cache.end() == 1 - farthest);
    CHECK(cache.next(key{1}).origin() == 1 - farthest);
  };
  check(cache_of<nn::capacity<8>>(batch{2}));
  check(cache_of<nn::sliding<4>>(batch{2}));
}

TEST_CASE("kv_cache: a copy of a window has what is held, and goes on from there") {
  cache_of<nn::sliding<4>> cache(batch{2});
  cache.append(slice<key>(all_k, 0, 4), slice<key>(all_v, 0, 4));
  for (std::size_t at = 4; at < 20; ++at) {
    cache_of<nn::sliding<4>> copy = cache;
    for (auto* one : {&cache, &copy}) { one->append(slice<key>(all_k, at, 1), slice<key>(all_v, at, 1)); }
    CHECK(copy.end() == cache.end());
    CHECK(differ(tensor(copy.keys()), tensor(cache.keys())) == "");
    CHECK(differ(tensor(copy.values()), tensor(cache.values())) == "");
    CHECK(differ<tensor<float, batch, kv_heads, key, d_k>>(copy.keys(), slice<key>(all_k, at - 3, 4)) == "");
  }
}

TEST_CASE("kv_cache: sequences of different lengths in one batch") {
  cache_of<nn::capacity<16>> cache(batch{2});
  cache.append(slice<key>(all_k, 0, 9), slice<key>(all_v, 0, 9));
  const tensor<int, batch> lengths({9, 4}, batch{2});
  const auto y = contract<key>(
      softmax<key>(masked(scores<d_k>(slice<seq>(all_q, 8, 1), cache.keys()), padding<key>(lengths))), cache.values());
  reset_plans();
  (void)evaluate(y);
  CHECK(plans_run()[plan_kind::decode] == 1);
  CHECK(agrees(y, {2, 2, 1, 3, 5}, 30, [&](auto b, auto h, auto, auto g, auto d) {
    const auto n = static_cast<std::size_t>(el(lengths, b));
    const auto weight = [&](std::size_t j) {
      return std::exp(sum_of(4, [&](auto f) { return double{el(all_q, b, 8, h, g, f)} * el(all_k, b, j, h, f); }) / 2);
    };
    return sum_of(n, [&](auto j) { return weight(j) * el(all_v, b, j, h, d); }) / sum_of(n, weight);
  }) == "");
}

TEST_CASE("kv_cache: elements of 16, 8 and 4 bits, float64 too") {
  const auto check = [&](auto& cache, double tolerance) {
    for (const std::size_t at : counts{0, 5, 6}) {
      const std::size_t n = at == 0 ? 5 : 1;
      cache.append(slice<key>(all_k, at, n), slice<key>(all_v, at, n));
      const auto expression = contract<key>(
          softmax<key>(masked(scores<d_k>(q_at(all_q, at, n), cache.keys()), causal<seq, key>{})), cache.values());
      const auto y = dimwise::reference(expression);
      CHECK(differences(y, {2, 2, n, 3, 5}, tolerance, [&](auto b, auto h, auto i, auto g, auto d) {
        return attended(b, h, g, at + i, d, -1);
      }) == "");
    }
  };
  cache_of<nn::capacity<8>, double> doubles(batch{2});
  check(doubles, 1e-12);
  cache_of<nn::sliding<8>, bfloat16> b16(batch{2});
  check(b16, std::ldexp(1.0, -8));  // a rounding of each element, and of what scores do to weights
  cache_of<nn::capacity<8>, float16> f16(batch{2});
  check(f16, std::ldexp(1.0, -11));
  const tensor<float> one({1.0F / 127});
  cache_of<nn::sliding<8>, nn::int8_by<>> i8(one, one, batch{2});
  check(i8, std::ldexp(1.0, -7));
  nn::kv_cache<key, nn::capacity<8>, nn::keys<nn::int4_by<kv_heads, d_k>, batch, key, kv_heads, d_k>,
               nn::values<nn::int4_by<d_v>, batch, kv_heads, key, d_v>>
      i4(tensor<float, kv_heads, d_k>(std::vector<float>(8, 1.0F / 7)),
         tensor<float, d_v>(std::vector<float>(5, 1.0F / 7)), batch{2});
  check(i4, 0.25);
  reset_plans();
  (void)nn::attend(i4, [&](const auto& k) { return scores<d_k>(q_at(all_q, 6, 1), k); });
  CHECK(plans_run()[plan_kind::decode] == 1);
  CHECK(plans_run()[plan_kind::plain] == 0);
}

TEST_CASE("kv_cache: keys of two parts, one of them rotated; packed heads") {
  struct rot : feature_dim<2> {};
  struct pass : feature_dim<2> {};
  using both = summed<rot, pass>;
  nn::kv_cache<key, nn::sliding<4>, nn::keys<bfloat16, batch, key, kv_heads, both, rotated<rot, seq>>,
               nn::values<float, batch, key, merged<kv_heads, d_v>>>
      cache(batch{2});
  const auto k_rot = drawn<tensor<float, batch, key, kv_heads, rot>>(4, batch{2}, key{3});
  const auto k_pass = drawn<tensor<float, batch, key, kv_heads, pass>>(5, batch{2}, key{3});
  const tensor k = concat<both>(rotary<key, rot>(k_rot), k_pass);
  cache.append(k, merge<kv_heads, d_v>(slice<key>(all_v, 0, 3)));
  const tensor held = cache.keys();
  CHECK(differ(held, k, std::ldexp(1.0, -8)) == "");
  CHECK(differ<tensor<float, batch, key, kv_heads, d_v>>(split<kv_heads, d_v>(cache.values()),
                                                         slice<key>(all_v, 0, 3)) == "");
}
