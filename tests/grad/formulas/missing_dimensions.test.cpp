// SPDX-License-Identifier: BSL-1.0
// The backward pass of each operation whose operands may lack parallel dimensions of each other.
#include "missing_dimensions.hpp"

using namespace grad_tests;
using namespace grad_tests::missing;

namespace {

struct position : position_dim<5> {};
struct twice : batch_dim<2> {};
struct wide : feature_dim<20> {};
struct narrow : feature_dim<18> {};
struct choices : choice_dim<19> {};

template <int Has>
using rows_of = operand_of<Has, position, wide>;
template <int Has>
using other_rows_of = operand_of<Has, position, narrow>;
template <int Has>
using row_of = operand_of<Has, wide>;
template <int Has>
using matrix_of = operand_of<Has, wide, narrow>;
template <int Has>
using logits_of = operand_of<Has, position, choices>;
template <int Has>
using logits_row_of = operand_of<Has, choices>;
template <int Has>
using table_of = operand_of<Has, choices, wide>;

const tensor<id<choices>, position> ids_of_all(std::vector{3, 18, 3, 0, 7});

}  // namespace

// One line for each: a formula of two operands.
#define CHECK_PAIR(first, second, ...) \
  CHECK(wrong_combinations<2, false, first, second>([](const auto& x, const auto& y) { return __VA_ARGS__; }) == "")
#define CHECK_NESTED(first, second, ...) \
  CHECK(wrong_combinations<2, true, first, second>([](const auto& x, const auto& y) { return __VA_ARGS__; }) == "")

TEST_CASE("products: over features, behind a sum, over positions, and with an activation") {
  CHECK_PAIR(rows_of, matrix_of, contract<wide>(x, y));
  CHECK_PAIR(rows_of, matrix_of, contract<wide>(y, x));
  CHECK_PAIR(rows_of, other_rows_of, contract<position>(x, y));
  CHECK_PAIR(rows_of, row_of, tanh(contract<wide>(x, y)));
}

TEST_CASE("elements") {
  CHECK_NESTED(rows_of, rows_of, x + y);
  CHECK_NESTED(rows_of, row_of, x * y - y);
  CHECK_NESTED(rows_of, row_of, x / exp(y));
  CHECK_NESTED(rows_of, row_of, max(tanh(x), gelu(y)));
  CHECK_NESTED(rows_of, row_of, where(x > y, x, y));
}

TEST_CASE("rows and reductions") {
  CHECK_NESTED(rows_of, row_of, layer_norm<wide>(x, y, y));
  CHECK_NESTED(rows_of, row_of, rms_norm<wide>(x, y));
  CHECK_NESTED(table_of, row_of, softmax<choices>(x + y));
  CHECK_NESTED(logits_of, logits_row_of, log_softmax<choices>(x * y));
  CHECK_NESTED(rows_of, row_of, cumsum<position>(x + y));
  CHECK_NESTED(rows_of, row_of, max<position>(x + y) * sum<position>(x));
}

TEST_CASE("ids, and joins of what is repeated") {
  CHECK_NESTED(table_of, row_of, gather<choices>(x * y, ids_of_all));
  CHECK_NESTED(rows_of, rows_of, scatter_add<choices>(x, ids_of_all) + scatter_add<choices>(y * y, ids_of_all));
  CHECK_NESTED(rows_of, row_of, stack<twice>(x + y, x * y));
}
