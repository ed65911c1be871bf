// tests/kernels/decode/stored.test.cpp -- decoding over low-precision keys and values against the formula in double,
// and which functions convert them.
//
// SPDX-License-Identifier: BSL-1.0
#include "kernels/attention/reference.hpp"
#include "kernels/kernel_test_support.hpp"
#include <dimwise/kernels/decode/attention.hpp>
#include <dimwise/kernels/decode/stored.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace {

namespace kernels = dimwise::kernels;
using arch = kernels::default_arch;
using kernels::number_format;

constexpr kernels::stored_row_kernels real = kernels::detail::stored_kernels_of<arch>;
std::size_t widened = 0;
std::size_t scored = 0;
std::size_t added = 0;

constexpr kernels::stored_row_kernels counted{
    [](const kernels::quantised_data& from, std::size_t begin, std::size_t rows, std::size_t ahead,
       std::size_t features, float* to) noexcept {
  ++widened;
  real.widen(from, begin, rows, ahead, features, to);
},
    [](const kernels::quantised_data& k, std::size_t begin, std::size_t keys, std::size_t features,
       const kernels::query_rows& q, float* scores, kernels::next_lines ahead) noexcept {
  ++scored;
  real.score(k, begin, keys, features, q, scores, ahead);
},
    [](const kernels::quantised_data& v, std::size_t begin, std::size_t keys, std::size_t features,
       const float* weights, const kernels::output_rows& out, kernels::next_lines ahead) noexcept {
  ++added;
  real.add(v, begin, keys, features, weights, out, ahead);
}};

enum class scaling { none, one, each };

// Keys or values as stored, with a gap after each row, and the floats that they stand for.
struct stored_matrix {
  std::vector<unsigned char> bytes;
  std::vector<float> scale;
  kernels::quantised_data data;

  stored_matrix(number_format format, scaling how, std::size_t rows, std::size_t features, std::size_t gap,
                std::mt19937& random, std::vector<float>& floats) {
    const std::size_t size = format == number_format::int8 ? 1 : 2;
    const std::size_t row = features + gap;
    bytes.resize(std::max<std::size_t>(rows * row * size, 1), 0xFF);
    scale.resize(how == scaling::each ? features : how == scaling::one ? 1 : 0);
    for (float& s : scale) s = 0.01F + static_cast<float>(random() % 100) / 4000.0F;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t c = 0; c < features; ++c) {
        const float factor = how == scaling::none ? 1.0F : scale[how == scaling::each ? c : 0];
        float& number = floats[i * features + c];
        unsigned char* const at = &bytes[(i * row + c) * size];
        if (format == number_format::int8) {
          const auto whole = static_cast<std::int8_t>(static_cast<int>(random() % 255) - 127);
          std::memcpy(at, &whole, 1);
          number = factor * static_cast<float>(whole);
        } else if (format == number_format::bfloat16) {
          std::uint32_t bits = 0;
          std::memcpy(&bits, &number, 4);
          bits &= 0xFFFF0000U;
          const auto half = static_cast<std::uint16_t>(bits >> 16U);
          std::memcpy(at, &half, 2);
          std::memcpy(&number, &bits, 4);
          number *= factor;
        } else {
          // A float16 with the exponent of 1 and ten random bits.
          const auto half = static_cast<std::uint16_t>(0x3C00U | (random() & 0x83FFU));
          std::memcpy(at, &half, 2);
          number =
              factor * (1.0F + static_cast<float>(half & 0x3FFU) / 1024.0F) * ((half & 0x8000U) != 0 ? -1.0F : 1.0F);
        }
      }
    }
    data.data = bytes.data();
    data.format = format;
    data.row = static_cast<std::ptrdiff_t>(row);
    data.scale = how == scaling::none ? nullptr : scale.data();
    data.scale_feature = how == scaling::each ? 1 : 0;
    data.kernels = &counted;
  }
};

struct stored_problem {
  std::vector<reference::problem> heads;
  stored_matrix k;
  stored_matrix v;

  stored_problem(const kernels::attention_layout& layout, std::size_t group, number_format format, scaling how,
                 std::size_t gap, std::mt19937& random)
      : heads(made(layout, group, random)),
        k(format, how, layout.keys, layout.head_dim, gap, random, heads[0].k),
        v(format, how, layout.keys, layout.value_dim, gap, random, heads[0].v) {
    for (reference::problem& p : heads) {
      p.head.k = heads[0].k.data();
      p.head.v = heads[0].v.data();
      // Integers without a scale are large: keep the scores moderate.
      if (format == number_format::int8 && how == scaling::none) p.layout.scale /= 256.0F;
    }
  }
  static std::vector<reference::problem> made(const kernels::attention_layout& layout, std::size_t group,
                                              std::mt19937& random) {
    std::vector<reference::problem> all;
    for (std::size_t h = 0; h < group; ++h) all.push_back(reference::make_problem(layout, random));
    return all;
  }
  void run() {
    widened = scored = added = 0;
    std::vector<kernels::attention_head> list;
    for (reference::problem& p : heads) {
      list.push_back(p.head);
      list.back().k = list.back().v = nullptr;
      list.back().k_quantised = k.data;
      list.back().v_quantised = v.data;
    }
    kernels::serial_executor serial;
    const kernels::attention_layout& layout = heads[0].layout;
    support::scratch_memory scratch(kernels::decode_scratch_bytes<arch>(layout, list.size(), list.size(), 1));
    kernels::decode<arch>(layout, list.data(), list.size(), list.size(), scratch.get(), serial);
    CHECK(scratch.intact());
  }
  [[nodiscard]] double largest_error() const {
    double worst = 0.0;
    for (const reference::problem& p : heads) worst = std::max(worst, reference::largest_error(p));
    return worst;
  }
};

constexpr number_format formats[] = {number_format::bfloat16, number_format::float16, number_format::int8};

TEST_CASE("decode: low-precision rows are converted in registers, for every tail, scale and number of query rows") {
  std::mt19937 random(11);
  for (const number_format format : formats) {
    for (const scaling how : {scaling::none, scaling::one, scaling::each}) {
      for (const std::size_t group : {1, 2, 3, 4, 5, 8}) {
        for (const std::size_t keys : {1, 5, 300, 513}) {
          for (const std::size_t features : {3, 17, 64, 75}) {
            CAPTURE(static_cast<int>(format));
            CAPTURE(static_cast<int>(how));
            CAPTURE(group);
            CAPTURE(keys);
            CAPTURE(features);
            stored_problem p(reference::extents(1, keys, features, 76 - features), group, format, how, features % 3,
                             random);
            p.run();
            CHECK(p.largest_error() <= 2.0);
            CHECK(widened == 0);
            CHECK(scored > 0);
            CHECK(added > 0);
          }
        }
      }
    }
  }
}

TEST_CASE("decode: many query rows share low-precision rows that are widened once") {
  std::mt19937 random(12);
  for (const number_format format : formats) {
    stored_problem p(reference::extents(3, 200, 40, 33), 4, format, scaling::each, 0, random);
    p.run();
    CHECK(p.largest_error() <= 2.0);
    CHECK(widened > 0);
    CHECK(scored == 0);
    CHECK(added == 0);
  }
}

TEST_CASE("decode: low-precision values that a window hides have no effect, and visible infinities and NaN have") {
  std::mt19937 random(13);
  for (const number_format format : {number_format::bfloat16, number_format::float16}) {
    for (const std::uint16_t poison : {std::uint16_t{0x7F80}, std::uint16_t{0x7FC0}, std::uint16_t{0x7C00}}) {
      for (const std::size_t key : {std::size_t{0}, std::size_t{100}, std::size_t{599}}) {
        kernels::attention_layout layout = reference::extents(3, 600, 10, 9);
        layout.window = {450, 0, 597};
        stored_problem p(layout, 2, format, scaling::one, 0, random);
        std::memcpy(&p.v.bytes[2 * (key * 9 + 5)], &poison, 2);
        kernels::quantised_data whole = p.v.data;
        real.widen(whole, 0, 600, 0, 9, p.heads[0].v.data());
        p.run();
        CAPTURE(poison);
        CAPTURE(key);
        CHECK(p.largest_error() <= 2.0);
      }
    }
  }
}

TEST_CASE("decode: a scale that is not finite gives what widened rows give") {
  std::mt19937 random(14);
  for (const scaling how : {scaling::one, scaling::each}) {
    for (int where = 0; where < 2; ++where) {
      stored_problem p(reference::extents(1, 50, 12, 12), 2, number_format::int8, how, 0, random);
      stored_matrix& spoiled = where == 0 ? p.k : p.v;
      spoiled.scale[0] = std::numeric_limits<float>::infinity();
      real.widen(spoiled.data, 0, 50, 0, 12, where == 0 ? p.heads[0].k.data() : p.heads[0].v.data());
      p.run();
      CHECK(widened > 0);
      CHECK(p.largest_error() <= 2.0);
    }
  }
}

}  // namespace
