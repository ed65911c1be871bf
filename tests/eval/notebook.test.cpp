// tests/eval/notebook.test.cpp -- the numbers of the notebook: one head, several heads, cross attention.
//
// Weights in the files are [out, in]: a query is W x. Expected values were computed in float64 elsewhere (tests/data).
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"
#include "support/pack.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace dimwise_test;
using dimwise::at;
using dimwise::contract;
using dimwise::normalised;
using dimwise::raw;
using dimwise::rename;
using dimwise::scaled;
using dimwise::softmax;
using dimwise::tensor;

struct word : dimwise::position_dim<> {};
struct key : dimwise::prime<word> {};
struct other : dimwise::position_dim<> {};  // the words of the second sentence
struct embedding : dimwise::feature_dim<16> {};
struct d_k : dimwise::feature_dim<24> {};
struct d_v : dimwise::feature_dim<28> {};
struct heads : dimwise::heads_dim<3> {};
struct column : dimwise::feature_dim<5> {};
struct vocabulary : dimwise::choice_dim<6> {};

const pack& data() {
  static const pack all{data_file("seed_notebook.dwpack")};
  return all;
}

// A weight or input of a case.
template <class Tensor, class... Extents>
Tensor given(const std::string& name, const Extents&... extents) {
  return Tensor(data().at(name).template as<float>(), extents...);
}

// The number of elements of `y` that miss the expected ones by more than 1e-5 of a magnitude of 1 and of their own.
template <class T, class... D>
std::string misses(const tensor<T, D...>& y, const std::string& name, double tolerance = 1e-5) {
  const std::vector<double> expected = data().at(name).converted<double>();
  if (expected.size() != y.size()) { return name + " has another size"; }
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!within(static_cast<double>(y.values()[i]), expected[i], tolerance)) {
      return name + " at " + std::to_string(i);
    }
  }
  return {};
}
// In float32 and in float64.
template <class E>
std::string matches(const E& e, const std::string& name, double in_float64 = 1e-11) {
  const std::string single = misses(dimwise::evaluate(e), name);
  return single.empty() ? misses(dimwise::reference(e), name, in_float64) : single;
}

// The four decimals that the notebook shows.
template <class T, class... D>
std::string prints(const tensor<T, D...>& y, const std::string& name) {
  const std::vector<double> shown = data().at(name).converted<double>();
  if (shown.size() != y.size()) { return name + " has another size"; }
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double rounded = std::round(static_cast<double>(y.values()[i]) * 1e4);
    if (rounded != std::round(shown[i] * 1e4)) {
      return name + " at " + std::to_string(i) + ": " + std::to_string(y.values()[i]);
    }
  }
  return {};
}

}  // namespace

TEST_CASE("notebook: the embedding of the sentence") {
  const auto table = given<tensor<float, vocabulary, embedding>>("single_head/weight.embedding");
  std::vector<dimwise::id<vocabulary>> ids;
  for (const int i : data().at("single_head/input.sentence_int").converted<int>()) {
    ids.emplace_back(static_cast<std::size_t>(i));
  }
  const tensor<dimwise::id<vocabulary>, word> sentence(ids, word{6});
  const tensor<float, word, embedding> x = dimwise::gather<vocabulary>(table, sentence);
  CHECK(misses(x, "single_head/input.embedded_sentence", 0) == "");
  CHECK(prints(x, "single_head/printed.embedded_sentence") == "");
}

TEST_CASE("notebook: one head") {
  const auto x = given<tensor<float, word, embedding>>("single_head/input.embedded_sentence", word{6});
  const auto q = contract<embedding>(x, given<tensor<float, d_k, embedding>>("single_head/weight.W_query"));
  const auto k =
      rename<word, key>(contract<embedding>(x, given<tensor<float, d_k, embedding>>("single_head/weight.W_key")));
  const auto v =
      rename<word, key>(contract<embedding>(x, given<tensor<float, d_v, embedding>>("single_head/weight.W_value")));
  CHECK(matches(q, "single_head/output_f64.queries") == "");
  CHECK(matches(k, "single_head/output_f64.keys") == "");
  CHECK(matches(v, "single_head/output_f64.values") == "");
  CHECK(matches(contract<d_k>(q, k), "single_head/output_f64.omega") == "");
  const auto a = softmax<key>(dimwise::scores<d_k>(q, k));
  CHECK(matches(a, "single_head/output_f64.attention_weights") == "");
  CHECK(matches(contract<key>(a, v), "single_head/output_f64.context") == "");
}

TEST_CASE("notebook: one head, the second word alone, to the printed decimals") {
  const auto x = given<tensor<float, word, embedding>>("single_head/input.embedded_sentence", word{6});
  const auto x_2 = at<word>(x, 1);
  const auto w_k = given<tensor<float, d_k, embedding>>("single_head/weight.W_key");
  const auto w_v = given<tensor<float, d_v, embedding>>("single_head/weight.W_value");
  const auto q_2 = contract<embedding>(x_2, given<tensor<float, d_k, embedding>>("single_head/weight.W_query"));
  CHECK(matches(q_2, "single_head/output_f64.query_2") == "");
  CHECK(matches(contract<embedding>(x_2, w_k), "single_head/output_f64.key_2") == "");
  CHECK(matches(contract<embedding>(x_2, w_v), "single_head/output_f64.value_2") == "");
  const auto k = rename<word, key>(contract<embedding>(x, w_k));
  const auto v = rename<word, key>(contract<embedding>(x, w_v));
  const tensor omega_2 = dimwise::plain(contract<d_k>(q_2, k));
  CHECK(misses(omega_2, "single_head/output_f64.omega_2") == "");
  CHECK(prints(omega_2, "single_head/printed.omega_2") == "");
  CHECK(prints(tensor<float>(at<key>(omega_2, 4)), "single_head/printed.omega_24") == "");
  const auto a_2 = softmax<key>(dimwise::scores<d_k>(q_2, k));
  CHECK(matches(a_2, "single_head/output_f64.attention_weights_2") == "");
  CHECK(prints(dimwise::evaluate(a_2), "single_head/printed.attention_weights_2") == "");
  const auto context = contract<key>(a_2, v);
  CHECK(matches(context, "single_head/output_f64.context_vector_2") == "");
  CHECK(prints(dimwise::evaluate(context), "single_head/printed.context_vector_2") == "");
  const tensor<float, d_v> c = context;
  CHECK(std::round(el(c, 0) * 1e4) == -15993);  // −1.5993 … 1.7084
  CHECK(std::round(el(c, 27) * 1e4) == 17084);
}

TEST_CASE("notebook: three heads as they should have been, with both draws of the weights") {
  for (const std::string draw : {"multi_head_corrected", "multi_head_corrected_first_draw"}) {
    CAPTURE(draw);
    const auto x = given<tensor<float, word, embedding>>(draw + "/input.embedded_sentence", word{6});
    const auto w_q = given<tensor<float, heads, d_k, embedding>>(draw + "/weight.multihead_W_query");
    const auto q = contract<embedding>(w_q, x);
    const auto k = rename<word, key>(
        contract<embedding>(given<tensor<float, heads, d_k, embedding>>(draw + "/weight.multihead_W_key"), x));
    const auto v = rename<word, key>(
        contract<embedding>(given<tensor<float, heads, d_v, embedding>>(draw + "/weight.multihead_W_value"), x));
    const std::string out = draw + "/output_f64.";
    CHECK(matches(dimwise::permute<heads, word, d_k>(q), out + "queries") == "");
    CHECK(matches(dimwise::permute<heads, key, d_k>(k), out + "multihead_keys") == "");
    CHECK(matches(dimwise::permute<heads, key, d_v>(v), out + "multihead_values") == "");
    CHECK(matches(contract<d_k>(q, k), out + "omega") == "");
    const auto a = softmax<key>(dimwise::scores<d_k>(q, k));
    CHECK(matches(a, out + "attention_weights") == "");
    const auto z = contract<key>(a, v);
    CHECK(matches(z, out + "context") == "");
    CHECK(matches(dimwise::permute<word, dimwise::merged<heads, d_v>>(dimwise::merge<heads, d_v>(z)),
                  out + "context_concat") == "");
    const auto q_2 = at<word>(q, 1);
    CHECK(matches(q_2, out + "multihead_query_2") == "");
    CHECK(matches(dimwise::plain(contract<d_k>(q_2, k)), out + "multihead_omega_2") == "");
    const auto a_2 = softmax<key>(dimwise::scores<d_k>(q_2, k));
    CHECK(matches(a_2, out + "multihead_weights_2") == "");
    CHECK(matches(contract<key>(a_2, v), out + "multihead_context_vector_2") == "");
  }
}

TEST_CASE("notebook: cross attention to a sentence of eight words") {
  const auto x = given<tensor<float, word, embedding>>("cross_attention/input.embedded_sentence", word{6});
  const auto y = given<tensor<float, other, embedding>>("cross_attention/input.embedded_sentence_2", other{8});
  const auto q = contract<embedding>(x, given<tensor<float, d_k, embedding>>("cross_attention/weight.W_query"));
  const auto k = contract<embedding>(y, given<tensor<float, d_k, embedding>>("cross_attention/weight.W_key"));
  const auto v = contract<embedding>(y, given<tensor<float, d_v, embedding>>("cross_attention/weight.W_value"));
  const std::string out = "cross_attention/output_f64.";
  CHECK(matches(at<word>(q, 1), out + "query_2") == "");
  CHECK(matches(k, out + "keys") == "");
  CHECK(matches(v, out + "values") == "");
  CHECK(matches(contract<d_k>(q, k), out + "omega") == "");
  const auto a = softmax<other>(dimwise::scores<d_k>(q, k));
  CHECK(matches(a, out + "attention_weights") == "");
  CHECK(matches(contract<other>(a, v), out + "context") == "");
  const auto a_2 = softmax<other>(dimwise::scores<d_k>(at<word>(q, 1), k));
  CHECK(matches(dimwise::plain(contract<d_k>(at<word>(q, 1), k)), out + "omega_2") == "");
  CHECK(matches(a_2, out + "attention_weights_2") == "");
  CHECK(matches(contract<other>(a_2, v), out + "context_vector_2") == "");
}

TEST_CASE("notebook: attention of a matrix to itself, without weights") {
  const auto x = given<tensor<float, word, column>>("doc000_attention/input.X", word{4});
  const auto rows = rename<word, key>(x);
  const auto a = softmax<key>(dimwise::scores<column>(x, rows));
  // The file's √5 is one of float32: its float64 results err by 3e-8.
  CHECK(matches(a, "doc000_attention/output_f64.self_weights", 1e-7) == "");
  CHECK(matches(contract<key>(a, rows), "doc000_attention/output_f64.self_output", 1e-7) == "");
  const auto shown = [](const auto& y, const std::string& name) {
    return misses(dimwise::evaluate(y), "doc000_attention/printed." + name, 1e-4);
  };
  CHECK(shown(at<word>(a, 0), "weights") == "");
  CHECK(shown(at<word>(contract<key>(a, rows), 0), "output") == "");
}
