// SPDX-License-Identifier: BSL-1.0
// The backward kernel of attention where queries, keys, values and a bias lack parallel dimensions of each other.
#include "missing_dimensions.hpp"
#include <dimwise/nn.hpp>

using namespace grad_tests;
using namespace grad_tests::missing;

namespace {

struct query : position_dim<7> {};
struct token : prime<query> {};
struct wide : feature_dim<20> {};
struct values : feature_dim<17> {};

template <int Has>
using queries_of = operand_of<Has, query, wide>;
template <int Has>
using one_query_of = operand_of<Has, wide>;
template <int Has>
using keys_of = operand_of<Has, token, wide>;
template <int Has>
using values_of = operand_of<Has, token, values>;
template <int Has>
using bias_of = operand_of<Has, query, token>;
template <int>
using keys_of_all = operand_of<3, token, wide>;
template <int>
using keys_of_none = operand_of<0, token, wide>;
template <int>
using values_of_all = operand_of<3, token, values>;

const auto attend = [](const auto& q, const auto& k, const auto& v) {
  return contract<token>(softmax<token>(scores<wide>(q, k)), v);
};

}  // namespace

TEST_CASE("queries, keys and values") {
  CHECK(wrong_combinations<3, false, queries_of, keys_of, values_of>(attend) == "");
}

TEST_CASE("one query without a position: attention pooling") {
  CHECK(wrong_combinations<2, false, one_query_of, keys_of, values_of_all>(attend) == "");
}

TEST_CASE("a learned bias, and a mask of positions") {
  const auto biased_attend = [](const auto& q, const auto& b, const auto& k) {
    const auto s = masked(biased(scores<wide>(q, k), b), window<query, token>{3, 2});
    return contract<token>(softmax<token>(s), k);
  };
  CHECK(wrong_combinations<2, false, queries_of, bias_of, keys_of_all>(biased_attend) == "");
  CHECK(wrong_combinations<2, false, queries_of, bias_of, keys_of_none>(biased_attend) == "");
}
