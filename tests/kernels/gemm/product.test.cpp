// tests/kernels/gemm/product.test.cpp -- gemm/product.hpp against the plain triple loop in double.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/kernels/gemm/product.hpp>
#include <dimwise/kernels/math.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace dimwise::kernels;
using tile = gemm_tile<default_arch>;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr double unit = 1.0 / (1 << 24);  // half an ulp of 1
constexpr float untouched = 12345.0F;

struct free_memory {
  void operator()(void* p) const { std::free(p); }
};
using aligned_floats = std::unique_ptr<float, free_memory>;

// Exactly what was asked for, so that a sanitizer sees the first byte beyond. Filled with NaN: nothing may rely on it.
aligned_floats aligned(std::size_t bytes) {
  aligned_floats out(static_cast<float*>(std::aligned_alloc(64, std::max<std::size_t>(64, (bytes + 63) / 64 * 64))));
  std::fill(out.get(), out.get() + bytes / sizeof(float), std::numeric_limits<float>::quiet_NaN());
  return out;
}

enum class layout { rows, padded_rows, columns, padded_columns, scattered };
constexpr layout all_layouts[] = {layout::rows, layout::padded_rows, layout::columns, layout::padded_columns,
                                  layout::scattered};

// A matrix in one of the layouts, one float off alignment.
struct test_matrix {
  std::size_t rows, columns;
  std::ptrdiff_t row_stride, column_stride;
  std::vector<float> memory;

  test_matrix(std::size_t r, std::size_t c, layout how, unsigned seed) : rows(r), columns(c) {
    const auto sr = static_cast<std::ptrdiff_t>(r), sc = static_cast<std::ptrdiff_t>(c);
    row_stride = how == layout::rows          ? sc
                 : how == layout::padded_rows ? sc + 5
                 : how == layout::scattered   ? 3 * sc + 2
                                              : 1;
    column_stride = how == layout::columns          ? sr
                    : how == layout::padded_columns ? sr + 3
                    : how == layout::scattered      ? 3
                                                    : 1;
    memory.assign(1 + static_cast<std::size_t>(sr * row_stride + sc * column_stride), untouched);
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> number(-1, 1);
    for (std::size_t i = 0; i < r; ++i) {
      for (std::size_t j = 0; j < c; ++j) at(i, j) = number(random);
    }
  }
  std::size_t index(std::size_t i, std::size_t j) const {
    return 1 + i * static_cast<std::size_t>(row_stride) + j * static_cast<std::size_t>(column_stride);
  }
  float& at(std::size_t i, std::size_t j) { return memory[index(i, j)]; }
  float at(std::size_t i, std::size_t j) const { return memory[index(i, j)]; }
  strided_matrix<const float> in() const { return {memory.data() + 1, row_stride, column_stride}; }
  strided_matrix<float> out() { return {memory.data() + 1, row_stride, column_stride}; }
};

struct exact_sum {
  double value, magnitude;
};

exact_sum exact(const test_matrix& a, const test_matrix& b, std::size_t i, std::size_t j) {
  exact_sum out{0, 0};
  for (std::size_t p = 0; p < a.columns; ++p) {
    const double term = static_cast<double>(a.at(i, p)) * b.at(p, j);
    out.value += term;
    out.magnitude += std::fabs(term);
  }
  return out;
}

// k products summed in any order err by at most k half ulps of the sum of magnitudes, k + 1 without an fma; the worst
// case is never met, so a quarter of it for long sums still leaves room and sees a single lost term.
double tolerance(const exact_sum& sum, std::size_t k) {
  return unit * sum.magnitude * (k < 16 ? static_cast<double>(k) + 1 : 16 + static_cast<double>(k) / 4) + 1e-30;
}

// Every number right, and nothing written between the rows.
void check_product(const test_matrix& a, const test_matrix& b, const test_matrix& c) {
  bool right = true;
  std::vector<char> mine(c.memory.size(), 0);
  for (std::size_t i = 0; i < c.rows; ++i) {
    for (std::size_t j = 0; j < c.columns; ++j) {
      mine[c.index(i, j)] = 1;
      const exact_sum sum = exact(a, b, i, j);
      if (std::fabs(c.at(i, j) - sum.value) <= tolerance(sum, a.columns)) continue;
      right = false;
      CAPTURE(i);
      CAPTURE(j);
      CHECK(c.at(i, j) == doctest::Approx(sum.value));
    }
  }
  CHECK(right);
  bool guards = true;
  for (std::size_t i = 0; i < mine.size(); ++i) guards = guards && (mine[i] != 0 || c.memory[i] == untouched);
  CHECK(guards);
}

void check_gemm(const gemm_shape& s, layout la, layout lb, layout lc) {
  CAPTURE(s.m);
  CAPTURE(s.n);
  CAPTURE(s.k);
  CAPTURE(static_cast<int>(la));
  CAPTURE(static_cast<int>(lb));
  CAPTURE(static_cast<int>(lc));
  const test_matrix a(s.m, s.k, la, 1), b(s.k, s.n, lb, 2);
  test_matrix c(s.m, s.n, lc, 3);
  const auto scratch = aligned(gemm_scratch_bytes(s));
  gemm(s, a.in(), b.in(), c.out(), scratch.get());
  check_product(a, b, c);
  test_matrix d(s.m, s.n, lc, 4);
  const auto packed = aligned(packed_b_bytes(s.k, s.n));
  pack_b(s.k, s.n, b.in(), packed.get());
  gemm_packed(s, a.in(), packed.get(), d.out(), scratch.get());
  check_product(a, b, d);
}

// Runs the tasks backwards, each on another worker: whatever depended on the order or on old scratch would show.
struct backward_executor {
  std::size_t workers;
  std::size_t worker_count() const { return workers; }
  template <class F>
  void parallel_for(std::size_t count, F&& f) const {
    for (std::size_t task = count; task-- > 0;) f(task, task % workers);
  }
};

}  // namespace

TEST_CASE("gemm: tails of every tile") {
  for (std::size_t m = 1; m <= 2 * tile::rows + 1; ++m) {
    for (std::size_t n = 1; n <= 2 * tile::columns + 1; n += n < tile::columns + 3 ? 1 : 7) {
      check_gemm({m, n, 19}, layout::padded_rows, layout::padded_rows, layout::padded_rows);
    }
  }
}

TEST_CASE("gemm: every layout of A, B and C") {
  for (layout la : all_layouts) {
    for (layout lb : all_layouts) {
      for (layout lc : all_layouts) {
        for (const gemm_shape& s : {gemm_shape{1, 40, 33}, {5, 7, 50}, {9, 70, 31}, {30, 3, 40}, {30, 67, 35}}) {
          check_gemm(s, la, lb, lc);
        }
      }
    }
  }
}

// More rows, columns and steps of k than one packing of A takes, and a k whose sums are carried.
TEST_CASE("an A of several packings") {
  for (const layout la : {layout::rows, layout::columns, layout::padded_columns, layout::scattered}) {
    const test_matrix a(200, 800, la, 1);
    CHECK(detail::packs_a<default_arch>(a.in(), 200, 300) == (lanes<default_arch> < 16 || la != layout::rows));
    CHECK(!detail::packs_a<default_arch>(a.in(), 2 * tile::rows, 300));
    check_gemm({200, 300, 800}, la, layout::rows, layout::rows);
    check_gemm({310, 261, 390}, la, layout::columns, layout::columns);
    check_gemm({13, 1100, 70}, la, layout::padded_rows, layout::padded_rows);
  }
  check_gemm({20, 70, 13000}, layout::columns, layout::rows, layout::rows);
  check_gemm({20, 300, 13000}, layout::columns, layout::rows, layout::scattered);
  check_gemm({20, 300, 13000}, layout::rows, layout::rows, layout::rows);
}

// The documented order of additions: the products of a block of k one after another, then the sums of the blocks.
float sum_in_order(const test_matrix& a, const test_matrix& b, std::size_t i, std::size_t j, bool onto, float c) {
  const detail::depth_blocks<default_arch> blocks(a.columns);
  float sum = 0;
  for (std::size_t block = 0; block < blocks.count; ++block) {
    float part = 0;
    for (std::size_t p = blocks.begin(block); p < blocks.begin(block + 1); ++p) {
      part = has_fma<default_arch> ? std::fma(a.at(i, p), b.at(p, j), part) : part + a.at(i, p) * b.at(p, j);
    }
    const float before = onto ? c : 0;
    sum = block > 0 ? sum + part : onto ? before + part : part;
  }
  return sum;
}

TEST_CASE("gemm: the order of additions follows from the shape alone") {
  for (const gemm_shape& s : {gemm_shape{150, 300, 2 * tile::depth + 30},
                              {290, 133, tile::depth},
                              {51, 256, 500},
                              {148, 512, 40},
                              {30, 40, 500}}) {
    for (const layout la : {layout::rows, layout::columns, layout::padded_rows}) {
      for (const layout lb : {layout::rows, layout::columns}) {
        const test_matrix a(s.m, s.k, la, 1), b(s.k, s.n, lb, 2), bias(1, s.n, layout::rows, 5);
        const test_matrix start(s.m, s.n, layout::padded_rows, 3);
        test_matrix plain = start, packed = start, onto = start, biased = start, residual = start;
        const auto scratch = aligned(gemm_scratch_bytes(s, 3));
        const auto packed_b = aligned(packed_b_bytes(s.k, s.n));
        pack_b(s.k, s.n, b.in(), packed_b.get());
        gemm(s, a.in(), b.in(), plain.out(), scratch.get());
        gemm_packed(s, a.in(), packed_b.get(), packed.out(), scratch.get(), keep{}, backward_executor{3});
        gemm(s, a.in(), b.in(), biased.out(), scratch.get(), column_bias{bias.in().data}, backward_executor{2});
        gemm(s, a.in(), b.in(), residual.out(), scratch.get(), plus{residual.in()});
        gemm(s, a.in(), b.in(), onto.out(), scratch.get(), add_to(onto.out()));
        bool same = true;
        bool same_onto = true;
        for (std::size_t i = 0; i < s.m; ++i) {
          for (std::size_t j = 0; j < s.n; ++j) {
            const float sum = sum_in_order(a, b, i, j, false, 0);
            same = same && plain.at(i, j) == sum && packed.at(i, j) == sum;
            same = same && biased.at(i, j) == sum + bias.at(0, j) && residual.at(i, j) == sum + start.at(i, j);
            same_onto = same_onto && onto.at(i, j) == sum_in_order(a, b, i, j, true, start.at(i, j));
          }
        }
        CHECK(same);
        // In registers that C ends within, the elements of C are added last where a register cannot be loaded in part.
        if (detail::packs_a<default_arch>(a.in(), s.m, s.n) || s.n % lanes<default_arch> == 0) CHECK(same_onto);
      }
    }
  }
}

TEST_CASE("gemm: several blocks of k, several tasks") {
  constexpr std::size_t d = tile::depth;
  for (std::size_t k : {d - 1, d, d + 1, 2 * d, 2 * d + 3}) {
    for (layout lb : {layout::rows, layout::columns, layout::scattered}) {
      check_gemm({3, 20, k}, layout::rows, lb, layout::rows);
      check_gemm({13, 70, k}, layout::rows, lb, layout::columns);
      check_gemm({40, 33, k}, layout::columns, lb, layout::rows);
    }
  }
  check_gemm({600, 70, 40}, layout::rows, layout::rows, layout::rows);
  check_gemm({2, 1100, 70}, layout::rows, layout::rows, layout::rows);
  // Thin ones: runs of k with a rest, parts of k, several blocks of columns.
  for (std::size_t m = 1; m <= 4; ++m) {
    for (std::size_t k : {1, 2, 3, 5, 7, 1030}) {
      check_gemm({m, 300, k}, layout::rows, layout::rows, layout::rows);
      check_gemm({m, 300, k}, layout::rows, layout::columns, layout::columns);
      check_gemm({300, m, k}, layout::rows, layout::columns, layout::rows);
    }
    check_gemm({m, 4500, 70}, layout::columns, layout::padded_rows, layout::padded_rows);
    check_gemm({m, 600, 70}, layout::padded_rows, layout::padded_columns, layout::scattered);
    check_gemm({600, m, 70}, layout::padded_rows, layout::columns, layout::rows);
  }
  check_gemm({200, 3, 70}, layout::rows, layout::columns, layout::rows);
}

TEST_CASE("gemm: random shapes") {
  std::mt19937 random(7);
  const auto pick = [&](std::size_t most) { return 1 + random() % most; };
  for (int i = 0; i < 150; ++i) {
    const gemm_shape s{pick(80), pick(150), pick(250)};
    check_gemm(s, all_layouts[random() % 5], all_layouts[random() % 5], all_layouts[random() % 5]);
  }
}

TEST_CASE("gemm: zero extents") {
  for (const gemm_shape& s : {gemm_shape{0, 5, 5}, {5, 0, 5}, {0, 0, 0}, {7, 9, 0}, {1, 1, 0}, {40, 70, 0}}) {
    check_gemm(s, layout::rows, layout::rows, layout::padded_rows);
    check_gemm(s, layout::columns, layout::columns, layout::padded_rows);
  }
  // k = 0 is an empty sum, and its epilogue still runs.
  test_matrix a(7, 0, layout::rows, 1), b(0, 9, layout::rows, 2), c(7, 9, layout::rows, 3);
  const std::vector<float> bias(9, 2.5F);
  const auto scratch = aligned(gemm_scratch_bytes({7, 9, 0}));
  gemm({7, 9, 0}, a.in(), b.in(), c.out(), scratch.get(), column_bias{bias.data()});
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t j = 0; j < 9; ++j) CHECK(c.at(i, j) == 2.5F);
  }
}

TEST_CASE("gemm: epilogues") {
  for (const gemm_shape& s : {gemm_shape{13, 70, 20},
                              {3, 70, 20},
                              {13, 70, tile::depth + 5},
                              {1, 5, 9},
                              {8, 64, 20},
                              {37, 203, 2 * tile::depth + 5}}) {
    for (layout lc : {layout::padded_rows, layout::columns}) {
      CAPTURE(s.m);
      CAPTURE(s.k);
      const test_matrix a(s.m, s.k, layout::rows, 1), b(s.k, s.n, layout::rows, 2), r(s.m, s.n, layout::columns, 5);
      const test_matrix start(s.m, s.n, lc, 6);
      const test_matrix bias(1, s.n, layout::rows, 7), down(s.m, 1, layout::rows, 8);
      const auto scratch = aligned(gemm_scratch_bytes(s));
      const auto check = [&](const auto& c, auto expected) {
        double worst = 0;
        for (std::size_t i = 0; i < s.m; ++i) {
          for (std::size_t j = 0; j < s.n; ++j) {
            const exact_sum sum = exact(a, b, i, j);
            // Slopes of the epilogues are at most 2; each adds a few roundings of numbers below 8.
            const double allowed = 2 * tolerance(sum, s.k) + 40 * unit;
            worst = std::max(worst, std::fabs(c.at(i, j) - expected(i, j, sum.value)) / allowed);
          }
        }
        CHECK(worst <= 1);
      };
      test_matrix c = start;
      gemm(s, a.in(), b.in(), c.out(), scratch.get(), chain(scaled{-2.0F}, plus{c.in(), 0.5F}));
      check(c, [&](std::size_t i, std::size_t j, double x) { return -2 * x + 0.5 * start.at(i, j); });
      gemm(s, a.in(), b.in(), c.out(), scratch.get(),
           chain(column_bias{bias.in().data}, activated{tanh_of{}}, row_bias{down.in().data}, plus{r.in()}));
      check(c, [&](std::size_t i, std::size_t j, double x) {
        return std::tanh(x + bias.at(0, j)) + down.at(i, 0) + r.at(i, j);
      });
      gemm(s, a.in(), b.in(), c.out(), scratch.get(),
           [](auto x, std::size_t row, std::size_t, std::size_t) { return row == 0 ? x + x : x; });
      check(c, [&](std::size_t i, std::size_t, double x) { return i == 0 ? 2 * x : x; });
    }
  }
}

TEST_CASE("gemm: added to what C holds, on every path, for operands of every layout") {
  const gemm_shape shapes[] = {{1, 70, 300}, {3, 200, 64},  {64, 3, 500}, {13, 64, 500},  {40, 100, 900},
                               {70, 65, 1},  {520, 33, 20}, {30, 40, 0},  {96, 768, 400}, {5, 7, 9}};
  for (const gemm_shape& s : shapes) {
    for (const layout la : {layout::rows, layout::columns}) {
      for (const layout lb : {layout::rows, layout::columns}) {
        for (const layout lc : {layout::rows, layout::columns}) {
          CAPTURE(s.m);
          CAPTURE(s.n);
          CAPTURE(s.k);
          const test_matrix a(s.m, s.k, la, 1), b(s.k, s.n, lb, 2);
          test_matrix c(s.m, s.n, lc, 3);
          const test_matrix before = c;
          const auto scratch = aligned(gemm_scratch_bytes(s, 3));
          gemm(s, a.in(), b.in(), c.out(), scratch.get(), add_to(c.out()), backward_executor{3});
          bool right = true;
          for (std::size_t i = 0; i < s.m; ++i) {
            for (std::size_t j = 0; j < s.n; ++j) {
              exact_sum sum = exact(a, b, i, j);
              sum.value += before.at(i, j);
              sum.magnitude += std::fabs(before.at(i, j));
              right = right && std::fabs(c.at(i, j) - sum.value) <= tolerance(sum, s.k + 1);
            }
          }
          CHECK(right);
        }
      }
    }
  }
}

TEST_CASE("gemm: NaN and infinity reach their rows and columns, and no others") {
  for (const gemm_shape& s :
       {gemm_shape{13, 70, 20}, {3, 70, 20}, {1, 70, 20}, {1, 3, 20}, {30, 3, 20}, {30, 67, 20}}) {
    for (layout lb : {layout::rows, layout::columns, layout::scattered}) {
      test_matrix a(s.m, s.k, layout::rows, 1), b(s.k, s.n, lb, 2), c(s.m, s.n, layout::rows, 3);
      const bool has_nan = s.m > 1;  // the infinity needs a row of its own
      if (has_nan) { a.at(s.m - 1, 4) = std::numeric_limits<float>::quiet_NaN(); }
      b.at(7, s.n - 1) = infinity;
      b.at(4, 0) = 0;  // 0 times NaN is NaN: no term is skipped
      const auto scratch = aligned(gemm_scratch_bytes(s));
      gemm(s, a.in(), b.in(), c.out(), scratch.get());
      bool right = true;
      for (std::size_t i = 0; i < s.m; ++i) {
        for (std::size_t j = 0; j < s.n; ++j) {
          const float x = c.at(i, j);
          if (has_nan && i + 1 == s.m) right = right && std::isnan(x);
          else if (j + 1 == s.n) right = right && std::isinf(x) && std::signbit(x) == std::signbit(a.at(i, 7));
          else right = right && std::isfinite(x);
        }
      }
      CHECK(right);
    }
  }
}

TEST_CASE("gemm: the same bits for every number of workers and every order of tasks") {
  for (const gemm_shape& s : {gemm_shape{300, 200, 150},
                              {200, 300, 400},
                              {130, 130, tile::depth + 9},
                              {4, 1300, 300},
                              {1300, 4, 300},
                              {3, 700, 1100},
                              {300, 250, 2 * tile::depth + 32}}) {
    for (layout lb : {layout::rows, layout::columns}) {
      const test_matrix a(s.m, s.k, layout::rows, 1), b(s.k, s.n, lb, 2);
      const auto packed = aligned(packed_b_bytes(s.k, s.n));
      pack_b(s.k, s.n, b.in(), packed.get());
      test_matrix serial(s.m, s.n, layout::rows, 3), serial_packed = serial, serial_onto = serial;
      const auto one = aligned(gemm_scratch_bytes(s));
      gemm(s, a.in(), b.in(), serial.out(), one.get());
      gemm_packed(s, a.in(), packed.get(), serial_packed.out(), one.get());
      gemm(s, a.in(), b.in(), serial_onto.out(), one.get(), add_to(serial_onto.out()));
      for (std::size_t workers : {1, 2, 3, 7}) {
        const auto scratch = aligned(gemm_scratch_bytes(s, workers));
        test_matrix c(s.m, s.n, layout::rows, 4), d = c, onto(s.m, s.n, layout::rows, 3);
        gemm(s, a.in(), b.in(), c.out(), scratch.get(), keep{}, backward_executor{workers});
        gemm_packed(s, a.in(), packed.get(), d.out(), scratch.get(), keep{}, backward_executor{workers});
        gemm(s, a.in(), b.in(), onto.out(), scratch.get(), add_to(onto.out()), backward_executor{workers});
        CHECK(std::memcmp(onto.memory.data(), serial_onto.memory.data(), onto.memory.size() * sizeof(float)) == 0);
        CHECK(std::memcmp(c.memory.data(), serial.memory.data(), c.memory.size() * sizeof(float)) == 0);
        CHECK(std::memcmp(d.memory.data(), serial_packed.memory.data(), d.memory.size() * sizeof(float)) == 0);
      }
    }
  }
}

TEST_CASE("gemm: a batch is its problems one by one") {
  for (const gemm_shape& s :
       {gemm_shape{10, 10, 64}, {1, 40, 30}, {70, 90, 200}, {2, 700, 600}, {6, 7, 0}, {0, 4, 4}}) {
    constexpr std::size_t count = 5;
    std::vector<test_matrix> a, b, c;
    for (unsigned i = 0; i < count; ++i) {
      a.emplace_back(s.m, s.k, layout::rows, 10 + i);
      b.emplace_back(s.k, s.n, layout::padded_rows, 20 + i);
      c.emplace_back(s.m, s.n, layout::padded_rows, 30 + i);
    }
    const auto scratch = aligned(gemm_scratch_bytes(s, 3));
    gemm_batched(count, s, a[0].in(), b[0].in(), c[0].out(), scratch.get(), [&](std::size_t i) {
      return gemm_problem<>{a[i].in().data, b[i].in().data, c[i].out().data};
    }, backward_executor{3});
    for (std::size_t i = 0; i < count; ++i) check_product(a[i], b[i], c[i]);
  }
}

TEST_CASE("gemm: the path that a product takes") {
  const auto path = [](std::size_t m, std::size_t n, std::size_t k, layout la, layout lb) {
    const test_matrix a(m, k, la, 1), b(k, n, lb, 2);
    return plan_gemm({m, n, k}, a.in(), b.in()).path;
  };
  CHECK(path(1, 200, 100, layout::rows, layout::rows) == gemm_path::streamed);
  CHECK(path(4, 200, 100, layout::columns, layout::padded_rows) == gemm_path::streamed);
  CHECK(path(1, 200, 100, layout::rows, layout::columns) == gemm_path::dots);
  CHECK(path(200, 1, 100, layout::rows, layout::rows) == gemm_path::dots);
  CHECK(path(200, 2, 100, layout::rows, layout::padded_columns) == gemm_path::dots);
  CHECK(path(6, 200, 100, layout::rows, layout::rows) == gemm_path::in_place);
  CHECK(path(30, 200, 100, layout::rows, layout::rows) ==
        (lanes<default_arch> < 16 ? gemm_path::in_place : gemm_path::copied));
  CHECK(path(30, 512, 100, layout::rows, layout::rows) == gemm_path::copied);  // its rows are a multiple of 2 KB apart
  CHECK(path(200, 200, 100, layout::rows, layout::rows) == gemm_path::copied);
  CHECK(path(200, 200, 100, layout::rows, layout::columns) == gemm_path::copied);
  CHECK(plan_gemm_packed({200, 200, 100}, test_matrix(200, 100, layout::rows, 1).in()).path == gemm_path::packed);
  // A streamed product is cut along k where whole rows fit a task, so that several threads read.
  const test_matrix a(1, 1000, layout::rows, 1), b(1000, 1000, layout::rows, 2);
  CHECK(plan_gemm({1, 1000, 1000}, a.in(), b.in()).depth_parts > 1);
  CHECK(plan_gemm({1, 1000, 1000}, a.in(), b.in()).column_parts == 1);
  CHECK(plan_gemm({1, 100, 100}, a.in(), b.in()).tasks() == 1);
  // Packed rows and columns are shared by as many tiles as possible.
  const test_matrix turned(512, 768, layout::columns, 1);
  CHECK(plan_gemm_packed({512, 768, 768}, turned.in(), 1).tasks() == 1);
  CHECK(plan_gemm({512, 768, 768}, turned.in(), b.in(), 1).tasks() == 1);
  if (lanes<default_arch> < 16) {
    CHECK(plan_gemm_packed({512, 768, 768}, a.in(), 1).tasks() == 1);
    CHECK(plan_gemm_packed({512, 768, 768}, a.in(), 2).tasks() == 16);
    CHECK(plan_gemm_packed({512, 768, 768}, a.in(), 2).row_parts == 4);
    CHECK(plan_gemm_packed({4096, 128, 768}, a.in(), 2).row_parts == 16);
    CHECK(plan_gemm_packed({13, 4096, 768}, a.in(), 2).column_parts == 16);
  } else {
    CHECK(plan_gemm_packed({512, 768, 768}, a.in(), 1).tasks() > 1);
    CHECK(plan_gemm_packed({512, 768, 768}, turned.in(), 2).row_parts == 3);
    CHECK(plan_gemm_packed({512, 768, 768}, turned.in(), 2).column_parts == 3);
  }
}

TEST_CASE("gemm: scratch does not grow with the matrices") {
  constexpr std::size_t most = 3 << 20;
  CHECK(gemm_scratch_bytes({100000, 100000, 100000}) <= most);
  CHECK(gemm_scratch_bytes({1000000, 1000000, 100000}) <= most);
  CHECK(packed_b_bytes(0, 10) == 0);
  CHECK(packed_b_bytes(10, 0) == 0);
}
