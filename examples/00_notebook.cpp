// SPDX-License-Identifier: BSL-1.0
// 00_notebook -- self-attention of one sentence, from its embedding to its context vectors, on real data.
//
// Every tensor's type lists its dimensions, and the compiler checks every step by name. The weights and the expected
// float64 values were computed by torch; see tests/data/README.md.
//
//   00_notebook [seed_notebook.dwpack]
#include "support/difference.hpp"
#include "support/pack.hpp"
#include <dimwise/dimwise.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace notebook {
struct vocab : dimwise::choice_dim<6> {};      // the six tokens of the embedding
struct seq : dimwise::position_dim<> {};       // tokens of the sentence, as queries
struct key : dimwise::prime<seq> {};           // tokens of the same sentence, as keys
struct other : dimwise::position_dim<> {};     // tokens of another sentence
struct d_model : dimwise::feature_dim<16> {};  // features of a token
struct d_k : dimwise::feature_dim<24> {};      // features of queries and keys
struct d_v : dimwise::feature_dim<28> {};      // features of values
struct heads : dimwise::heads_dim<3> {};
}  // namespace notebook

namespace {

using namespace dimwise;
using namespace notebook;

const std::vector<std::string> sentence = {"Life", "is", "short", "eat", "dessert", "first"};

double worst = 0;
bool printed_alike = true;

// Compares with the float64 result and records the maximum difference.
template <class X>
void check(const char* name, const X& x, const dimwise_test::packed_array& expected) {
  const double d = examples::largest_difference(x.values(), expected.converted<double>());
  worst = std::fmax(worst, d);
  std::printf("%-18s %-40s off by %.0e at most\n", name, describe(x).c_str(), d);
}

// The values, rounded to four decimals, are those that the notebook prints.
template <class X>
void check_printed(const X& x, const dimwise_test::packed_array& printed) {
  const auto decimals = printed.converted<double>();
  for (std::size_t i = 0; i < decimals.size(); ++i) {
    printed_alike = printed_alike && std::round(x.values()[i] * 1e4) == std::round(decimals[i] * 1e4);
  }
}

// A tensor from a packed array; pass its run-time extents.
template <class Tensor, class... Extents>
Tensor load(const dimwise_test::pack& data, const char* name, const Extents&... extents) {
  return Tensor(data.at(name).as<float>(), extents...);
}

tensor<float, seq, d_model> embed(const dimwise_test::pack& data) {
  std::cout << "The sentence: Life is short, eat dessert first\n\n";
  const auto table = load<tensor<float, vocab, d_model>>(data, "single_head/weight.embedding");
  tensor<id<vocab>, seq> ids(seq{sentence.size()});
  const auto places = data.at("single_head/input.sentence_int").converted<std::size_t>();
  for (std::size_t i = 0; i < places.size(); ++i) { ids.set(id<vocab>{places[i]}, id<seq>{i}); }
  tensor x = gather<vocab>(table, ids);
  std::cout << "embedding: " << describe(table) << '\n';
  std::cout << "ids of words: " << describe(ids) << '\n';
  check("x", x, data.at("single_head/input.embedded_sentence"));
  check_printed(x, data.at("single_head/printed.embedded_sentence"));
  return x;
}

void single_head(const dimwise_test::pack& data, const tensor<float, seq, d_model>& x) {
  std::cout << "\nOne head\n\n";
  const auto w_q = load<tensor<float, d_k, d_model>>(data, "single_head/weight.W_query");
  const auto w_k = load<tensor<float, d_k, d_model>>(data, "single_head/weight.W_key");
  const auto w_v = load<tensor<float, d_v, d_model>>(data, "single_head/weight.W_value");
  const auto expected = [&](const char* name) { return data.at(std::string("single_head/output_f64.") + name); };

  tensor q = contract<d_model>(x, w_q);
  tensor k = rename<seq, key>(contract<d_model>(x, w_k));
  tensor v = rename<seq, key>(contract<d_model>(x, w_v));
  check("queries", q, expected("queries"));
  check("keys", k, expected("keys"));
  check("values", v, expected("values"));

  // The second token attends to all six: `at` removes seq from its query.
  const auto query = at<seq>(q, 1);
  tensor omega = contract<d_k>(query, k);
  tensor weights = softmax<key>(scaled<d_k>(contract<d_k>(query, k)));
  tensor context = contract<key>(weights, v);
  check("query of \"is\"", tensor(query), expected("query_2"));
  check("omega of \"is\"", omega, expected("omega_2"));
  check("weights of \"is\"", weights, expected("attention_weights_2"));
  check("context of \"is\"", context, expected("context_vector_2"));

  check_printed(omega, data.at("single_head/printed.omega_2"));
  check_printed(weights, data.at("single_head/printed.attention_weights_2"));
  check_printed(context, data.at("single_head/printed.context_vector_2"));

  std::cout << "\nHow much \"is\" attends to each word:\n";
  std::cout << labelled(weights, labels<key>(sentence));
  std::cout << "Its context vector:\n";
  std::cout << context;

  // All tokens at once; 06_scores_and_softmax has the equivalent loops.
  tensor all = softmax<key>(scores<d_k>(q, k));
  std::cout << "\nHow much every word attends to each:\n";
  std::cout << labelled(all, labels<seq>(sentence), labels<key>(sentence));
  std::cout << "\n";
  check("weights", all, expected("attention_weights"));
  check("context", tensor(contract<key>(all, v)), expected("context"));
}

void multi_head(const dimwise_test::pack& data, const tensor<float, seq, d_model>& x) {
  std::cout << "\nThree heads: one more dimension, that queries, keys and values share\n\n";
  const auto w_q = load<tensor<float, heads, d_k, d_model>>(data, "multi_head_corrected/weight.multihead_W_query");
  const auto w_k = load<tensor<float, heads, d_k, d_model>>(data, "multi_head_corrected/weight.multihead_W_key");
  const auto w_v = load<tensor<float, heads, d_v, d_model>>(data, "multi_head_corrected/weight.multihead_W_value");
  const auto expected = [&](const char* name) {
    return data.at(std::string("multi_head_corrected/output_f64.") + name);
  };

  // The declared order is the memory order; assignment permutes by name.
  tensor<float, heads, seq, d_k> q = contract<d_model>(x, w_q);
  tensor<float, heads, key, d_k> k = rename<seq, key>(contract<d_model>(x, w_k));
  tensor<float, heads, key, d_v> v = rename<seq, key>(contract<d_model>(x, w_v));
  tensor all = softmax<key>(scores<d_k>(q, k));
  tensor context = contract<key>(all, v);
  check("queries", q, expected("queries"));
  check("keys", k, expected("multihead_keys"));
  check("values", v, expected("multihead_values"));
  check("weights", all, expected("attention_weights"));
  check("context", context, expected("context"));
  check("weights of \"is\"", tensor(at<seq>(all, 1)), expected("multihead_weights_2"));
  // The concatenated heads of a token: a merged dimension that records its factors.
  tensor<float, seq, merged<heads, d_v>> side_by_side = merge<heads, d_v>(context);
  check("heads merged", side_by_side, expected("context_concat"));

  std::cout << "\nHow much \"is\" attends to each word, head by head:\n";
  std::cout << labelled(at<seq>(all, 1), labels<key>(sentence));
}

void cross_attention(const dimwise_test::pack& data, const tensor<float, seq, d_model>& x) {
  std::cout << "\nCross-attention: keys and values from another sentence, of eight words\n\n";
  const auto y = load<tensor<float, other, d_model>>(data, "cross_attention/input.embedded_sentence_2", other{8});
  const auto w_q = load<tensor<float, d_k, d_model>>(data, "cross_attention/weight.W_query");
  const auto w_k = load<tensor<float, d_k, d_model>>(data, "cross_attention/weight.W_key");
  const auto w_v = load<tensor<float, d_v, d_model>>(data, "cross_attention/weight.W_value");
  const auto expected = [&](const char* name) { return data.at(std::string("cross_attention/output_f64.") + name); };

  tensor k = contract<d_model>(y, w_k);
  tensor v = contract<d_model>(y, w_v);
  tensor all = softmax<other>(scores<d_k>(contract<d_model>(x, w_q), k));
  check("keys", k, expected("keys"));
  check("values", v, expected("values"));
  check("weights", all, expected("attention_weights"));
  check("context", tensor(contract<other>(all, v)), expected("context"));

  std::cout << "\nHow much every word attends to the eight others:\n";
  std::cout << labelled(all, labels<seq>(sentence));
}

}  // namespace

int main(int count, char** arguments) try {
  const dimwise_test::pack data(count > 1 ? arguments[1] : dimwise_test::data_file("seed_notebook.dwpack"));
  const tensor x = embed(data);
  single_head(data, x);
  multi_head(data, x);
  cross_attention(data, x);
  const bool right = worst <= 1e-5;
  std::printf("\nThe decimals that the notebook prints come out: %s\n", printed_alike ? "yes" : "NO");
  std::printf("The largest difference from float64 is %.1e: %s\n", worst, right ? "right" : "WRONG, 1e-5 is allowed");
  return right && printed_alike ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
