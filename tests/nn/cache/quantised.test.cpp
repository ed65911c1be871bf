// tests/nn/cache/quantised.test.cpp -- caches of 8 and 4 bits against ONNX Runtime's GroupQueryAttention, bit for bit.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include "support/pack.hpp"
#include <dimwise/nn/cache.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct kv_heads : heads_dim<> {};
struct shared : heads_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};

const pack& runtime() {
  static const pack data{data_file("onnxruntime.dwpack")};
  return data;
}

// The cases of one kind of numbers: a cache over the past's bytes, one step, and the bytes that are then there.
template <class KeyFormat, class ValueFormat>
std::size_t check_cases(const std::string& suffix) {
  using cache_type = nn::kv_cache<key, nn::capacity<>, nn::keys<KeyFormat, batch, kv_heads, key, d_k>,
                                  nn::values<ValueFormat, batch, kv_heads, key, d_v>>;
  using element = typename cache_type::key_element;
  static_assert(sizeof(element) == 1);
  std::size_t cases = 0;
  for (const auto& entry : runtime().cases()) {
    const auto name = entry.at("name").get<std::string>();
    if (!name.ends_with(suffix)) { continue; }
    CAPTURE(name);
    ++cases;
    const auto& dims = entry.at("config").at("dims");
    const auto extent = [&](const char* which) { return dims.at(which).get<std::size_t>(); };
    const auto input = [&](const char* which) -> const packed_array& { return runtime().at(name + "/input." + which); };
    const auto output = [&](const char* which) -> const packed_array& {
      return runtime().at(name + "/output." + which);
    };
    const batch b{extent("batch")};
    const kv_heads h{extent("kv_heads")};
    const shared g{extent("q_heads") / extent("kv_heads")};
    const seq n{extent("q_len")};
    const std::size_t past = extent("past_len");
    const std::size_t total = extent("total_len");
    const std::size_t width = extent("head_dim");

    const auto numbers = [&](const packed_array& x) { return x.template converted<float>(); };
    const typename cache_type::key_scale k_scale = [&] {
      if constexpr (std::is_same_v<typename cache_type::key_scale, tensor<float>>) {
        return tensor<float>(numbers(input("k_scale")));
      } else {
        return tensor<float, kv_heads, d_k>(numbers(input("k_scale")), h, d_k{width});
      }
    }();
    const typename cache_type::value_scale v_scale = [&] {
      if constexpr (std::is_same_v<typename cache_type::value_scale, tensor<float>>) {
        return tensor<float>(numbers(input("v_scale")));
      } else {
        return tensor<float, kv_heads, d_v>(numbers(input("v_scale")), h, d_v{width});
      }
    }();

    // The past, as it was stored, in memory of the test, with room for this step.
    const std::size_t row = output("present_key").shape[3];
    const auto with_room = [&](const packed_array& from) {
      std::vector<element> memory(b.extent() * h.extent() * total * row);
      for (std::size_t i = 0; i < b.extent() * h.extent(); ++i) {
        std::memcpy(static_cast<void*>(memory.data() + i * total * row), from.bytes.data() + i * past * row,
                    past * row);
      }
      return memory;
    };
    auto k_memory = with_room(input("past_key"));
    auto v_memory = with_room(input("past_value"));
    cache_type cache(std::span<element>(k_memory), std::span<element>(v_memory), k_scale, v_scale, b, h, d_k{width},
                     d_v{width}, key{total});
    cache.adopt(past);

    const auto at = cache.next(n);
    const tensor<float, batch, seq, kv_heads, shared, d_k> q(numbers(input("query")), b, at, h, g, d_k{width});
    const tensor<float, batch, seq, kv_heads, d_k> k(numbers(input("key")), b, at, h, d_k{width});
    const tensor<float, batch, seq, kv_heads, d_v> v(numbers(input("value")), b, at, h, d_v{width});
    cache.append(rename<seq, key>(k), rename<seq, key>(v));
    // Stored as the runtime stores them.
    CHECK(std::memcmp(k_memory.data(), output("present_key").bytes.data(), k_memory.size()) == 0);
    CHECK(std::memcmp(v_memory.data(), output("present_value").bytes.data(), v_memory.size()) == 0);

    const auto y =
        contract<key>(softmax<key>(masked(scores<d_k>(q, cache.keys()), causal<seq, key>{})), cache.values());
    const tensor<float, batch, seq, kv_heads, shared, d_v> fast = y;
    const auto plain = evaluate_plainly(y);
    const std::vector<double> wanted = output("output").template converted<double>();
    const auto& tolerance = entry.at("tol");
    const double rtol = tolerance.at("rtol").get<double>();
    const double atol = tolerance.at("atol").get<double>();
    const tensor<float, batch, seq, kv_heads, shared, d_v> by_loops = plain;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      CHECK(std::abs(fast.values()[i] - wanted[i]) <= atol + rtol * std::abs(wanted[i]));
      CHECK(std::abs(by_loops.values()[i] - wanted[i]) <= atol + rtol * std::abs(wanted[i]));
    }
  }
  return cases;
}

}  // namespace

TEST_CASE("kv_cache: ONNX Runtime's caches of 8 and 4 bits, one scale or one per channel") {
  CHECK(check_cases<nn::int8_by<>, nn::int8_by<>>("_int8_per_tensor") == 2);
  CHECK(check_cases<nn::int8_by<kv_heads, d_k>, nn::int8_by<kv_heads, d_v>>("_int8_per_channel") == 2);
  CHECK(check_cases<nn::int4_by<>, nn::int4_by<>>("_int4_per_tensor") == 2);
  CHECK(check_cases<nn::int4_by<kv_heads, d_k>, nn::int4_by<kv_heads, d_v>>("_int4_per_channel") == 2);
}
