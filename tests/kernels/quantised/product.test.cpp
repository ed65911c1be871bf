// tests/kernels/quantised/product.test.cpp -- products with quantized weights against the definition in double.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/kernels/dispatch/active_quantised.hpp>
#include <dimwise/kernels/gemm/product.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace dimwise::kernels;
using dimwise::bfloat16;
using dimwise::float16;
using dimwise::int4_pair;

struct free_memory {
  void operator()(void* p) const { std::free(p); }
};

// Weights, inputs, and what the definition gives: products in double of the numbers that both sides hold.
struct problem {
  quantised_product_call call;
  std::vector<float> a, bias, residual, c;
  std::vector<unsigned char> b;
  std::vector<float16> scales;
  std::vector<double> expected, bound;

  problem(std::size_t m, std::size_t n, std::size_t k, number_format format, product_inputs inputs, bool epilogue,
          unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    const std::size_t pad = 3;
    call.m = m;
    call.n = n;
    call.k = k;
    call.format = format;
    call.inputs = inputs;
    call.a_row = static_cast<std::ptrdiff_t>(k + pad);
    a.resize(m * (k + pad));
    for (float& x : a) { x = normal(random); }
    const std::size_t blocks = (k + 31) / 32;
    const std::size_t bytes = format == number_format::int8 ? k : format == number_format::int4 ? (k + 1) / 2 : 2 * k;
    const std::size_t row =
        bytes + (bytes % 2 == 0 && format != number_format::int8 && format != number_format::int4 ? 4 : 5);
    call.b_row = static_cast<std::ptrdiff_t>(row);
    b.assign(n * row, 0xff);
    scales.resize(n * (blocks + 1));
    call.scales_row = static_cast<std::ptrdiff_t>(blocks + 1);
    std::vector<double> weights(n * k);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < blocks; ++i) {
        scales[j * (blocks + 1) + i] = float16(0.01F * (1.0F + std::fabs(normal(random))));
      }
      for (std::size_t i = 0; i < k; ++i) {
        unsigned char* const at = b.data() + j * row;
        const double scale = static_cast<double>(static_cast<float>(scales[j * (blocks + 1) + i / 32]));
        double w = 0;
        if (format == number_format::int8) {
          const int q = std::uniform_int_distribution<int>(-127, 127)(random);
          at[i] = static_cast<unsigned char>(q);
          w = q * scale;
        } else if (format == number_format::int4) {
          const int q = std::uniform_int_distribution<int>(-8, 7)(random);
          const auto shift = i % 2 == 0 ? 0 : 4;
          at[i / 2] = static_cast<unsigned char>((at[i / 2] & (i % 2 == 0 ? 0xf0 : 0x0f)) | (q + 8) << shift);
          w = q * scale;
        } else if (format == number_format::bfloat16) {
          const bfloat16 x(normal(random));
          std::memcpy(at + 2 * i, &x, 2);
          w = static_cast<double>(static_cast<float>(x));
        } else {
          const float16 x(normal(random));
          std::memcpy(at + 2 * i, &x, 2);
          w = static_cast<double>(static_cast<float>(x));
        }
        weights[j * k + i] = w;
      }
    }
    bias.resize(n);
    residual.resize(m * (n + pad));
    for (float& x : bias) { x = normal(random); }
    for (float& x : residual) { x = normal(random); }
    c.assign(m * (n + pad), 777.0F);
    call.c_row = call.residual_row = static_cast<std::ptrdiff_t>(n + pad);
    if (epilogue) {
      call.epilogue.column_bias = bias.data();
      call.epilogue.activation = function::relu;
      call.epilogue.residual = true;
      call.residual = residual.data();
    }
    call.a = a.data();
    call.b = b.data();
    call.c = c.data();
    call.scales = scales.data();
    std::vector<double> x(k);
    for (std::size_t r = 0; r < m; ++r) {
      for (std::size_t i = 0; i < k; ++i) { x[i] = input(r, i); }
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        double size = 0;
        for (std::size_t i = 0; i < k; ++i) {
          sum += x[i] * weights[j * k + i];
          size += std::fabs(x[i] * weights[j * k + i]);
        }
        if (epilogue) { sum = std::max(0.0, sum + bias[j]) + residual[r * (n + pad) + j]; }
        expected.push_back(sum);
        bound.push_back(size + 4);
      }
    }
  }
  // The number that an input becomes.
  [[nodiscard]] double input(std::size_t r, std::size_t i) const {
    const float* const row = a.data() + static_cast<std::ptrdiff_t>(r) * call.a_row;
    if (call.inputs == product_inputs::float32) { return row[i]; }
    if (call.inputs == product_inputs::bfloat16) { return static_cast<float>(bfloat16(row[i])); }
    float largest = 0;
    for (std::size_t f = i / 32 * 32; f < std::min(call.k, i / 32 * 32 + 32); ++f) {
      largest = std::max(largest, std::fabs(row[f]));
    }
    return static_cast<double>(std::nearbyint(row[i] * (127.0F / largest))) * static_cast<double>(largest / 127.0F);
  }
  void run(const runner& threads = {}) {
    const std::size_t bytes = active_quantised().product_bytes(call, threads.worker_count());
    constexpr std::size_t behind = 4096;  // nothing is written there
    std::unique_ptr<void, free_memory> scratch(std::aligned_alloc(64, (bytes + behind + 63) / 64 * 64));
    std::memset(scratch.get(), 0xff, bytes + behind);
    active_quantised().product(call, scratch.get(), threads);
    const auto* const end = static_cast<const unsigned char*>(scratch.get()) + bytes;
    CHECK(std::all_of(end, end + behind, [](unsigned char byte) { return byte == 0xff; }));
  }
  // The largest error, in units of what sums of floats in any order may differ by.
  [[nodiscard]] double error() const {
    double worst = 0;
    for (std::size_t r = 0; r < call.m; ++r) {
      for (std::size_t j = 0; j < call.n; ++j) {
        const double got = c[r * static_cast<std::size_t>(call.c_row) + j];
        worst = std::max(worst, std::fabs(got - expected[r * call.n + j]) / (bound[r * call.n + j] * 6e-8));
        CHECK(got == got);
      }
      CHECK(c[r * static_cast<std::size_t>(call.c_row) + call.n] == 777.0F);
    }
    return worst;
  }
};

struct kind {
  const char* name;
  number_format format;
  product_inputs inputs;
};
constexpr kind kinds[] = {{"bfloat16", number_format::bfloat16, product_inputs::bfloat16},
                          {"bfloat16 by floats", number_format::bfloat16, product_inputs::float32},
                          {"float16", number_format::float16, product_inputs::float32},
                          {"int8", number_format::int8, product_inputs::int8},
                          {"int4", number_format::int4, product_inputs::int8}};

TEST_CASE("products with quantized weights are those of the numbers that both sides hold") {
  unsigned seed = 1;
  for (const kind& of : kinds) {
    for (const std::size_t m : {1, 2, 4, 5, 7, 13, 40}) {
      for (const std::size_t n : {1, 3, 16, 17, 64, 101}) {
        for (const std::size_t k : {1, 8, 31, 32, 33, 96, 288, 545}) {
          if (of.format == number_format::int4 && k % 2 != 0) { continue; }  // pairs
          for (const bool epilogue : {false, true}) {
            problem p(m, n, k, of.format, of.inputs, epilogue, ++seed);
            p.run();
            INFO(of.name, " m ", m, " n ", n, " k ", k, " epilogue ", epilogue);
            // Sums of k rounded products, in any order: √k roundings are typical, and 8 of them leave room.
            CHECK(p.error() < 8 + std::sqrt(static_cast<double>(k)));
          }
        }
      }
    }
  }
}

TEST_CASE("rows of any length") {
  for (const kind& of : kinds) {
    for (const std::size_t m : {1, 3}) {
      for (const std::size_t n : {1, 6, 67}) {
        for (const std::size_t k : {1024, 1536, 1538, 2500}) {
          problem p(m, n, k, of.format, of.inputs, false, static_cast<unsigned>(k + n));
          p.run();
          INFO(of.name, " m ", m, " n ", n, " k ", k);
          CHECK(p.error() < 8 + std::sqrt(static_cast<double>(k)));
        }
      }
    }
  }
}

TEST_CASE("a row of weights gives one number, whatever rows are beside it") {
  for (const kind& of : kinds) {
    for (const std::size_t k : {96, 1600}) {
      problem p(2, 7, k, of.format, of.inputs, false, 11);
      p.run();
      const std::vector<float> all = p.c;
      p.call.n = 1;
      for (std::size_t j = 0; j < 7; ++j) {
        p.call.b = p.b.data() + static_cast<std::ptrdiff_t>(j) * p.call.b_row;
        p.call.scales = p.scales.data() + static_cast<std::ptrdiff_t>(j) * p.call.scales_row;
        p.run();
        for (std::size_t r = 0; r < 2; ++r) {
          const std::size_t at = r * static_cast<std::size_t>(p.call.c_row);
          CHECK(std::memcmp(&p.c[at], &all[at + j], sizeof(float)) == 0);
        }
      }
    }
  }
}

TEST_CASE("a residual may be the result itself") {
  for (const kind& of : kinds) {
    for (const std::size_t m : {1, 9}) {
      problem p(m, 70, 64, of.format, of.inputs, true, 99);
      p.c = p.residual;
      p.call.c = p.c.data();
      p.call.residual = p.c.data();
      for (std::size_t r = 0; r < m; ++r) { p.c[r * static_cast<std::size_t>(p.call.c_row) + p.call.n] = 777.0F; }
      p.run();
      CHECK(p.error() < 16);
    }
  }
}

TEST_CASE("an input that is not finite makes its row NaN, and no other") {
  for (const kind& of : {kinds[3], kinds[4]}) {
    for (const std::size_t m : {3, 20}) {
      for (const float odd : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        problem p(m, 33, 96, of.format, of.inputs, false, 7);
        p.a[static_cast<std::size_t>(p.call.a_row) + 40] = odd;
        p.run();
        for (std::size_t r = 0; r < m; ++r) {
          for (std::size_t j = 0; j < 33; ++j) {
            CHECK(std::isnan(p.c[r * static_cast<std::size_t>(p.call.c_row) + j]) == (r == 1));
          }
        }
      }
    }
  }
}

TEST_CASE("a scale that is not finite is multiplied with as such") {
  for (const kind& of : {kinds[3], kinds[4]}) {
    for (const std::size_t m : {1, 9}) {
      problem p(m, 20, 320, of.format, of.inputs, false, 5);
      p.scales[3 * static_cast<std::size_t>(p.call.scales_row) + 2] = float16(std::numeric_limits<float>::infinity());
      p.run();
      for (std::size_t j = 0; j < 20; ++j) { CHECK(std::isfinite(p.c[j]) == (j != 3)); }
    }
  }
}

TEST_CASE("blocks of the largest integers do not overflow") {
  for (const kind& of : {kinds[3], kinds[4]}) {
    const bool four = of.format == number_format::int4;
    for (const int number : {four ? -8 : -127, four ? 7 : 127}) {
      for (const std::size_t m : {1, 3, 9}) {
        problem p(m, 20, 320, of.format, of.inputs, false, 17);
        std::fill(p.b.begin(), p.b.end(), static_cast<unsigned char>(four ? (number + 8) * 17 : number));
        // The inputs of the first rows have one sign, so that no sum of products is larger.
        for (std::size_t i = 0; i < p.a.size(); ++i) { p.a[i] = i < 640 || i % 7 < 5 ? 1.0F : -1.0F; }
        p.run();
        for (std::size_t r = 0; r < m; ++r) {
          for (std::size_t j = 0; j < 20; ++j) {
            double sum = 0;
            for (std::size_t i = 0; i < 320; ++i) {
              const float16 scale = p.scales[j * static_cast<std::size_t>(p.call.scales_row) + i / 32];
              sum += p.input(r, i) * number * static_cast<double>(static_cast<float>(scale));
            }
            // Ten blocks with the same sign are summed, and each is rounded three times.
            CHECK(p.c[r * static_cast<std::size_t>(p.call.c_row) + j] == doctest::Approx(sum).epsilon(2e-6));
          }
        }
      }
    }
  }
}

TEST_CASE("a row of inputs gives the same bits beside any number of other rows") {
  for (const kind& of : {kinds[3], kinds[4]}) {
    for (const std::size_t n : {9, 70}) {
      problem p(40, n, 288, of.format, of.inputs, false, 13);
      p.run();
      const std::vector<float> all = p.c;
      for (const std::size_t m : {5, 6, 16, 17, 33}) {
        p.call.m = m;
        std::fill(p.c.begin(), p.c.end(), 777.0F);
        p.run();
        CHECK(std::memcmp(p.c.data(), all.data(), m * static_cast<std::size_t>(p.call.c_row) * sizeof(float)) == 0);
      }
    }
  }
}

TEST_CASE("the result does not depend on the workers") {
  struct shuffled {
    static void run(void*, std::size_t count, runner::task f, void* context) {
      for (std::size_t i = count; i-- > 0;) { f(context, i, i % 3); }
    }
  };
  for (const kind& of : kinds) {
    for (const std::size_t m : {1, 37}) {
      problem p(m, 200, 160, of.format, of.inputs, true, 3);
      p.run();
      const std::vector<float> one = p.c;
      std::fill(p.c.begin(), p.c.end(), 777.0F);
      p.run({3, &shuffled::run, nullptr});
      CHECK(std::memcmp(one.data(), p.c.data(), one.size() * sizeof(float)) == 0);
    }
  }
}

}  // namespace
