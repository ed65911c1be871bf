// tests/viz/print.test.cpp -- what `std::cout << x` says: facts, then values under their dimensions' names.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace dims;
using namespace dimwise;
using namespace dimwise_test;

struct many : choice_dim<60000> {};

template <class X>
std::string printed(const X& x) {
  std::ostringstream s;
  s << x;
  return s.str();
}

std::size_t lines(const std::string& s) { return static_cast<std::size_t>(std::count(s.begin(), s.end(), '\n')); }

}  // namespace

TEST_CASE("print: numbers, rows, tables") {
  CHECK(printed(tensor<double, seq>{1, -2, 30}) ==
        "seq[3]: float64, min -2, mean 9.667, max 30, 0 NaN\n"
        "seq   0   1   2\n"
        "      1  -2  30\n");
  CHECK(printed(tensor<float, seq, pair>{{0.5F, -1}, {2, 100}}) ==
        "seq[2] pair[2]: float32, min -1, mean 25.38, max 100, 0 NaN\n"
        "seq \\ pair       0       1\n"
        "         0    0.50   -1.00\n"
        "         1    2.00  100.00\n");
  CHECK(printed(tensor<int, pair, seq, single>{{{1}, {2}}, {{3}, {-4}}}) ==
        "pair[2] seq[2] single[1]: int32, min -4, max 3\n"
        "pair 0\n"
        "seq \\ single   0\n"
        "           0   1\n"
        "           1   2\n"
        "pair 1\n"
        "seq \\ single   0\n"
        "           0   3\n"
        "           1  -4\n");
}

TEST_CASE("print: what has no dimensions is its number") {
  CHECK(printed(tensor<float>({2.5F})) == "2.5");
  CHECK(printed(tensor<std::int8_t>({65})) == "65");
  CHECK(printed(tensor<bool>({true})) == "1");
  CHECK(printed(mean<seq>(tensor<float, seq>{1, 2})) == "1.5");
  const float memory = 0.25F;
  CHECK(printed(tensor_view<const float>(&memory)) == "0.25");
  std::ostringstream precise;
  precise.precision(2);
  precise << "loss " << tensor<double>({2.229}) << '\n';
  CHECK(precise.str() == "loss 2.2\n");
  CHECK(printed(tensor<float, normalised<key>>({2})) == "one number, normalised<key>: float32 2\n");
  CHECK(printed(tensor<bfloat16>(std::vector<float>{0.5F})) == "one number: bfloat16 0.5000\n");
}

TEST_CASE("print: special values, truth, ids, few bits") {
  CHECK(printed(tensor<float, seq>{not_a_number, infinite, -infinite, -0.0F}) ==
        "seq[4]: float32, min -0, mean 0, max -0, 1 NaN, 1 inf, 1 -inf\n"
        "seq     0     1     2     3\n"
        "      nan   inf  -inf    -0\n");
  CHECK(printed(tensor<float, seq>{not_a_number}) == "seq[1]: float32, 1 NaN\nseq    0\n     nan\n");
  CHECK(printed(tensor<float, seq>{-infinite, 2, 4, -infinite})
            .rfind("seq[4]: float32, min 2, mean 3, max 4, 0 NaN, 2 -inf\n", 0) == 0);
  CHECK(printed(tensor<float, seq>{infinite}) == "seq[1]: float32, 0 NaN, 1 inf\nseq    0\n     inf\n");
  CHECK(printed(tensor<float, seq>{1e-7F, 3e20F}) ==
        "seq[2]: float32, min 1e-07, mean 1.5e+20, max 3e+20, 0 NaN\n"
        "seq          0          1\n"
        "     1.000e-07  3.000e+20\n");
  CHECK(printed(tensor<bool, seq>{true, false, true}) ==
        "seq[3]: bool, 2 of 3 true\n"
        "seq      0      1      2\n"
        "      true  false   true\n");
  CHECK(printed(tensor<id<vocab>, seq>(std::vector<int>{5, 11})) ==
        "seq[2]: id<vocab>, ids 5 to 11\n"
        "seq   0   1\n"
        "      5  11\n");
  CHECK(printed(tensor<id<many>, seq>(std::vector<int>{3, 50256})).rfind("seq[2]: id<many>, ids 3 to 50256\n", 0) == 0);
  CHECK(printed(tensor<std::int64_t, seq>{-50256, 3}).rfind("seq[2]: int64, min -50256, max 3\n", 0) == 0);
  CHECK(printed(tensor<id<vocab>, seq>(std::vector<int>{5, 5})).rfind("seq[2]: id<vocab>, ids 5\n", 0) == 0);
  CHECK(printed(tensor<std::int64_t, seq>{std::numeric_limits<std::int64_t>::max()}).find("9223372036854775807\n") !=
        std::string::npos);
  CHECK(printed(tensor<bfloat16, seq>(std::vector<float>{0.5F})) ==
        "seq[1]: bfloat16, min 0.5, mean 0.5, max 0.5, 0 NaN\nseq       0\n     0.5000\n");
  CHECK(printed(tensor<float, seq, width>(seq{0}, width{3})) == "seq[0] width[3]: float32, no elements\n");
  CHECK(printed(tensor<int4_pair, seq>(seq{2})) == "seq[2]: int4_pair\n");
}

TEST_CASE("print: expressions, views and marks") {
  const tensor<float, seq, width> x{{1, 2}, {3, 4}};
  CHECK(printed(x + 1) ==
        "seq[2] width[2]: float32, min 2, mean 3.5, max 5, 0 NaN\n"
        "seq \\ width  0  1\n"
        "          0  2  3\n"
        "          1  4  5\n");
  const float memory[] = {1, 2, 3, 4};
  CHECK(printed(tensor_view<const float, width, seq>(memory, strides{1, 2}, width{2}, seq{2})) ==
        "width[2] seq[2]: float32, min 1, mean 2.5, max 4, 0 NaN\n"
        "width \\ seq  0  1\n"
        "          0  1  3\n"
        "          1  2  4\n");
  CHECK(printed(softmax<key>(tensor<float, seq, key>(seq{1}, key{2})))
            .rfind("seq[1] key[2], normalised<key>: float32, min 0.5", 0) == 0);
  const float loss = tensor<float>({3});
  CHECK(loss == 3);
}

TEST_CASE("print: long dimensions show their ends") {
  const auto row = printed(drawn<tensor<float, seq>>(1, seq{1000}));
  CHECK(lines(row) == 3);
  CHECK(row.find("996") != std::string::npos);
  CHECK(row.find("  …") != std::string::npos);
  CHECK(row.find("995") == std::string::npos);
  const auto nine = printed(tensor<int, seq>(seq{9}));
  CHECK(nine.find("…") == std::string::npos);
  const auto large =
      printed(drawn<tensor<float, batch, source, seq, key, d_k>>(2, batch{3}, source{7}, seq{50}, key{60}));
  CHECK(lines(large) <= 40);
  CHECK(large.find("batch 2, source 6, seq 49\n") != std::string::npos);
  CHECK(large.find("batch 0, source 0, seq 0\n") != std::string::npos);
}

TEST_CASE("print: rows and columns called by words") {
  const tensor<float, seq, key> x{{0.25F, 0.75F}, {1, 0}};
  std::ostringstream both;
  both << labelled(x, labels<key>({"the", "cat\n"}), labels<seq>({"\xE7\x8C\xAB", "abcdefghijklmnopqrst"}));
  CHECK(both.str() ==
        "seq[2] key[2]: float32, min 0, mean 0.5, max 1, 0 NaN\n"
        "       seq \\ key     the    cat␊\n"
        "              猫  0.2500  0.7500\n"
        "abcdefghijklmno…  1.0000  0.0000\n");
  std::ostringstream table;
  table << labelled(tensor<int, batch, seq>{{1}, {2}} + 1, labels<batch>({"yes", "no"}));
  CHECK(table.str() ==
        "batch[2] seq[1]: int32, min 2, max 3\n"
        "batch \\ seq  0\n"
        "        yes  2\n"
        "         no  3\n");
  CHECK_THROWS_WITH_AS((void)labelled(x, labels<key>({"one"})),
                       "labelled: dimension key has extent 2 and 1 labels (R15)", extent_error);
}

TEST_CASE("print: one colour for each dimension, on a terminal only") {
  dimwise::detail::dimension_colours colours;
  for (const char* name : {"batch", "merged<heads, d_k>", "prime<d_k>", "seq"}) { colours.add(name); }
  const std::string painted = colours.painted("heads[2] seq[5] sequence d_k2 d_k");
  CHECK(painted.find("m"
                     "heads\x1b[0m[2] ") != std::string::npos);
  CHECK(painted.find(" sequence d_k2 \x1b[38;5;") != std::string::npos);
  CHECK(std::count(painted.begin(), painted.end(), '\x1b') == 6);
  CHECK(colours.of("merged<heads, d_k>") == colours.of("heads"));
  CHECK(colours.of("prime<d_k>") == colours.of("d_k"));
  std::vector<std::size_t> used;
  for (const char* name : {"batch", "heads", "d_k", "seq"}) {
    CHECK(std::find(used.begin(), used.end(), colours.of(name)) == used.end());
    used.push_back(colours.of(name));
  }
  dimwise::detail::dimension_colours alone;  // a name keeps its colour from text to text
  alone.add("batch");
  CHECK(alone.of("batch") == colours.of("batch"));
  for (int i = 0; i < 20; ++i) { alone.add("d" + std::to_string(i)); }
  CHECK(alone.of("d19") < dimwise::detail::colour_count);

  CHECK(dimwise::detail::colour_wanted(true, nullptr, "xterm"));
  CHECK(dimwise::detail::colour_wanted(true, "", nullptr));
  CHECK_FALSE(dimwise::detail::colour_wanted(true, "1", "xterm"));
  CHECK_FALSE(dimwise::detail::colour_wanted(true, nullptr, "dumb"));
  CHECK_FALSE(dimwise::detail::colour_wanted(false, nullptr, "xterm"));
  CHECK(printed(tensor<float, seq>{1}).find('\x1b') == std::string::npos);
}
