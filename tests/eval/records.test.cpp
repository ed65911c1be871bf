// tests/eval/records.test.cpp -- which nodes become records, that they name their axes, and that foreign nodes may be
// anywhere among them.
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/records/attention_match_definitions.hpp>
#endif

#include <doctest/doctest.h>

namespace {

using namespace dims;
using namespace dimwise_test;
using namespace dimwise;
using dimwise::detail::record_kind;

// The record of a formula and those below it, until the end of this object.
template <class N>
struct formed {
  N formula;
  dimwise::detail::record<float> all[1 + dimwise::detail::records_below<N>];
  const dimwise::detail::record<float>* root;

  explicit formed(const N& n) : formula(n) {
    dimwise::detail::record_stack<float> stack{&all[0]};
    root = dimwise::detail::form<dimwise::detail::evaluation_pass>(stack, formula);
    CHECK(stack.next == all + 1 + dimwise::detail::records_below<N>);
  }
  formed(const formed&) = delete;
  formed& operator=(const formed&) = delete;
};

struct row : feature_dim<> {};
struct column : feature_dim<> {};
const auto q = drawn<tensor<float, seq, d_k>>(1, seq{3});
const auto k = drawn<tensor<float, key, d_k>>(2, key{4});
const auto v = drawn<tensor<float, key, d_v>>(3, key{4});

}  // namespace

TEST_CASE("records: an operation for each node, the names of its axes, its operands") {
  const formed r(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>(seq{3}, key{4}))));
  CHECK(r.root->kind() == record_kind::softmax);
  REQUIRE(r.root->rank() == 2);
  CHECK((r.root->shape->axes.at[0] == &dimwise::detail::dimension_name<seq>));
  CHECK(r.root->shape->axes.place_of(&dimwise::detail::dimension_name<key>) == 1);
  CHECK(r.root->shape->axes.place_of(&dimwise::detail::dimension_name<d_k>) == -1);
  CHECK(r.root->leaves_out == kernels::left_out::hidden);
  const auto& hidden = *r.root->child[0];
  CHECK(hidden.kind() == record_kind::masked);
  CHECK(hidden.shape->masked);
  dimwise::detail::axis axes[dimwise::detail::max_rank];
  hidden.write_extents(axes);
  CHECK(axes[0].extent == 3);
  CHECK(axes[1].extent == 4);
}

TEST_CASE("records: what has no operation is foreign, and computes itself") {
  static_assert(!dimwise::detail::is_recorded<decltype(flip<key>(v))>);
  static_assert(!dimwise::detail::is_recorded<decltype(argmax<d_v>(v))>);
  const formed r(flip<key>(v) * 2.0F);
  CHECK(r.root->kind() == record_kind::binary);
  CHECK(r.root->child[0]->kind() == record_kind::foreign);
  const tensor y = sum<d_v>(flip<key>(v * 3.0F) + 1.0F);
  const auto row = [&](auto i) {
    return sum_of(d_v::static_extent, [&](auto f) { return 3.0 * double{el(v, 3 - i, f)} + 1; });
  };
  CHECK(differences(y, {4}, float32(8), row) == "");
}

TEST_CASE("records: what takes ids and numbers is an operation, also where the ids are computed") {
  const formed gathers(gather<key>(v, argmax<key>(v)));
  CHECK(gathers.root->operation == &dimwise::detail::records::gathered<float>);
  const auto ids = tensor<id<key>, seq>(seq{2});
  const formed scatters(scatter_add<key, seq>(drawn<tensor<float, seq, d_v>>(4, seq{2}), ids, key{4}));
  CHECK(scatters.root->operation == &dimwise::detail::records::scattered<float>);
  static_assert(!dimwise::detail::is_recorded<decltype(gather<key>(tensor<bool, key>(key{4}), ids))>);
}

TEST_CASE("records: choices, limits, powers and totals of what a mask shows are operations") {
  const formed chosen(where(q > 0.0F, q, 2.0F));
  CHECK(chosen.root->operation == &dimwise::detail::records::chosen<float>);
  CHECK(chosen.root->mask_facts->axes.size == 2);
  CHECK(chosen.root->child[0]->kind() == record_kind::leaf);
  CHECK(chosen.root->child[1]->kind() == record_kind::number);
  const formed clamped(clamp(q, -1.0F, 1.0F));
  CHECK(clamped.root->operation == &dimwise::detail::records::clamped<float>);
  CHECK(clamped.root->child[2]->number == 1);
  const formed power(pow(q, 2.0F));
  CHECK(power.root->operation == &dimwise::detail::records::power<float>);
  const formed shown(sum<key>(masked(scores<d_k>(q, k), causal<seq, key>(seq{3}, key{4}))));
  CHECK(shown.root->operation == &dimwise::detail::records::visible_total<float, dimwise::detail::totals::sum>);
  CHECK(shown.root->child[0]->kind() == record_kind::masked);
}

TEST_CASE("records: a plan names a function of the user's own") {
  const auto steps = plan(map([](float x) { return x + 1; }, q)).steps();
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].operation == "map");
}

#if !defined(DIMWISE_PLAIN_ONLY)

TEST_CASE("records: weights in few bits are stored records, which say their format, their row and their scales") {
  const auto x = drawn<tensor<float, seq, column>>(1, seq{2}, column{40});
  const formed halves(contract<column>(x, widened(drawn<tensor<bfloat16, row, column>>(2, row{3}, column{40}))));
  REQUIRE(halves.root->child[1]->kind() == record_kind::stored);
  const auto* const stored = halves.root->child[1]->facts_as<dimwise::detail::stored_facts_of_record>().weights;
  REQUIRE(stored != nullptr);
  CHECK(stored->format == kernels::number_format::bfloat16);
  CHECK(stored->along == nullptr);
  CHECK(halves.root->child[0]->kind() == record_kind::leaf);
  const tensor<std::int8_t, row, column> numbers(row{3}, column{40});
  const tensor<float16, row, blocks<column>> scales(row{3}, blocks<column>{2});
  const formed in_blocks(contract<column>(quantised<column>(x), dequantised(numbers, scales)));
  CHECK(in_blocks.root->child[0]->kind() == record_kind::quantised);
  REQUIRE(in_blocks.root->child[1]->kind() == record_kind::stored);
  const auto* const blocked = in_blocks.root->child[1]->facts_as<dimwise::detail::stored_facts_of_record>().weights;
  REQUIRE(blocked != nullptr);
  CHECK(blocked->format == kernels::number_format::int8);
  CHECK(blocked->along->size == 1);
}

TEST_CASE("records: attention is found through marks, order and either place of the weights") {
  const auto weights = softmax<key>(scores<d_k>(q, k));
  dimwise::detail::attention_of_records<float> m;
  const formed first(contract<key>(weights, v));
  CHECK(dimwise::detail::match_attention(*first.root, m));
  CHECK((m.key_axis == &dimwise::detail::dimension_name<key>));
  CHECK((m.row == &dimwise::detail::dimension_name<seq>));
  CHECK((m.feature == &dimwise::detail::dimension_name<d_k>));
  CHECK((m.value == &dimwise::detail::dimension_name<d_v>));
  CHECK(m.head_count == 0);
  const formed second(contract<key>(v, permute<key, seq>(weights)));
  CHECK(dimwise::detail::match_attention(*second.root, m));
  // Weights that were changed are not those of a softmax.
  const formed changed(contract<key>(weights * weights, v));
  CHECK_FALSE(dimwise::detail::match_attention(*changed.root, m));
  const formed product(contract<d_k>(q, k));
  CHECK_FALSE(dimwise::detail::match_attention(*product.root, m));
}

TEST_CASE("records: what types call attention, which plans of the compiler and the backward pass know, is attention") {
  const auto is_attention = [](const auto& n) {
    const formed r(n);
    dimwise::detail::attention_of_records<float> m;
    const bool by_records = dimwise::detail::match_attention(*r.root, m);
    CHECK((by_records || !dimwise::detail::attention_match<std::remove_cvref_t<decltype(n)>>::matches));
    return by_records;
  };
  const auto of = [](const auto& s) { return contract<key>(softmax<key>(s), v); };
  const auto s = scores<d_k>(q, k);
  const auto row_scales = drawn<tensor<float, seq>>(4, seq{3});
  const auto key_scales = drawn<tensor<float, key>>(5, key{4});
  CHECK(is_attention(of(s)));
  CHECK(is_attention(of(s * 2.0F)));
  CHECK(is_attention(of(tanh(s / 3.0F) * 3.0F)));
  CHECK(is_attention(of(3.0F * tanh(s))));
  CHECK_FALSE(is_attention(of(tanh(tanh(s) * 2.0F) * 3.0F)));
  CHECK(is_attention(of(tanh(s))));
  CHECK(is_attention(of(rounded<bfloat16>(s))));
  CHECK(is_attention(of(map([](float x) { return x / 2; }, s))));
  CHECK(is_attention(of(s * row_scales)));
  CHECK(is_attention(of(row_scales * s)));
  CHECK(is_attention(of(s / row_scales)));
  CHECK_FALSE(is_attention(of(s * key_scales)));
  CHECK(is_attention(of(biased(s, drawn<tensor<float, seq, key>>(6, seq{3}, key{4})))));
  CHECK(is_attention(of(masked(s, causal<seq, key>(seq{3}, key{4})) * 2.0F)));
  CHECK_FALSE(is_attention(contract<key>(rounded<bfloat16>(softmax<key>(s)), v)));
  CHECK(is_attention(contract<key>(
      rounded<bfloat16>(softmax<key>(scores<d_k>(rounded<bfloat16>(q), rounded<bfloat16>(k)))), rounded<bfloat16>(v))));
}

TEST_CASE("records: keys that are stored in bfloat16, as part of a computed buffer") {
  using slice_of_keys = key;
  const tensor<bfloat16, vocab, d_k> table(vocab{50});
  const auto ids = tensor<id<vocab>, key>(key{4000});
  const auto some = slice<slice_of_keys>(gather<vocab>(table, ids), 3990, 4);
  const tensor y = contract<key>(softmax<key>(scores<d_k>(q, widened(some))), v);
  const tensor mean_value = mean<key>(v);
  CHECK(differences(y, {3, d_v::static_extent}, float32(8), [&](auto, auto f) { return double{el(mean_value, f)}; }) ==
        "");
}

#endif
