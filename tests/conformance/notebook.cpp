// tests/conformance/notebook.cpp -- the notebook that the project began from: W is [out, in], a query is W x.
// SPDX-License-Identifier: BSL-1.0
#include "case.hpp"

namespace conformance::notebook {
namespace {

using namespace dimwise;

struct word : position_dim<> {};
struct key : prime<word> {};
struct other : position_dim<> {};  // the words of the second sentence
struct embedding : feature_dim<> {};
struct heads : heads_dim<> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};
struct vocabulary : choice_dim<> {};

// The second word's query is the notebook's example.
constexpr std::size_t second = 1;

void single_head(run& r) {
  const auto x = r.get<float, word, embedding>("embedded_sentence");
  const auto w_query = r.get<float, d_k, embedding>("W_query");
  const auto w_key = r.get<float, d_k, embedding>("W_key");
  const auto w_value = r.get<float, d_v, embedding>("W_value");
  if (r.has("embedding")) {
    r.expect("embedded_sentence", gather<vocabulary>(r.get<float, vocabulary, embedding>("embedding"),
                                                     r.get<id<vocabulary>, word>("sentence_int")));
  }
  const tensor query = contract<embedding>(at<word>(x, second), w_query);
  const tensor queries = contract<embedding>(x, w_query);
  const tensor keys = rename<word, key>(contract<embedding>(x, w_key));
  const tensor values = rename<word, key>(contract<embedding>(x, w_value));
  r.expect("query_2", query);
  r.expect("key_2", at<key>(keys, second));
  r.expect("value_2", at<key>(values, second));
  r.expect("keys", keys);
  r.expect("values", values);
  r.expect("omega_24", plain(contract<d_k>(query, at<key>(keys, 4))));
  r.expect("omega_2", contract<d_k>(query, keys));
  r.expect("attention_weights_2", nn::attention_weights<d_k, key>(query, keys));
  r.expect("context_vector_2", nn::attention<d_k, key>(query, keys, values));
  r.expect("queries", queries);
  r.expect("omega", contract<d_k>(queries, keys));
  r.expect("attention_weights", nn::attention_weights<d_k, key>(queries, keys));
  r.expect("context", nn::attention<d_k, key>(queries, keys, values));
}

void several_heads(run& r) {
  const auto x = r.get<float, word, embedding>("embedded_sentence");
  const auto w_query = r.get<float, heads, d_k, embedding>("multihead_W_query");
  const auto w_key = r.get<float, heads, d_k, embedding>("multihead_W_key");
  const auto w_value = r.get<float, heads, d_v, embedding>("multihead_W_value");
  const tensor query = contract<embedding>(at<word>(x, second), w_query);
  const tensor queries = permute<heads, word, d_k>(contract<embedding>(x, w_query));
  const tensor keys = permute<heads, key, d_k>(rename<word, key>(contract<embedding>(x, w_key)));
  const tensor values = permute<heads, key, d_v>(rename<word, key>(contract<embedding>(x, w_value)));
  const tensor context = permute<heads, word, d_v>(nn::attention<d_k, key>(queries, keys, values));
  r.expect("multihead_query_2", query);
  r.expect("multihead_keys", keys);
  r.expect("multihead_values", values);
  r.expect("multihead_omega_2", contract<d_k>(query, keys));
  r.expect("multihead_weights_2", nn::attention_weights<d_k, key>(query, keys));
  r.expect("multihead_context_vector_2", nn::attention<d_k, key>(query, keys, values));
  r.expect("queries", queries);
  r.expect("omega", contract<d_k>(queries, keys));
  r.expect("attention_weights", nn::attention_weights<d_k, key>(queries, keys));
  r.expect("context", context);
  r.expect("context_concat", merge<heads, d_v>(permute<word, heads, d_v>(context)));
}

void cross_attention(run& r) {
  const auto x = r.get<float, word, embedding>("embedded_sentence");
  const auto there = r.get<float, other, embedding>("embedded_sentence_2");
  const auto w_query = r.get<float, d_k, embedding>("W_query");
  const tensor query = contract<embedding>(at<word>(x, second), w_query);
  const tensor queries = contract<embedding>(x, w_query);
  const tensor keys = contract<embedding>(there, r.get<float, d_k, embedding>("W_key"));
  const tensor values = contract<embedding>(there, r.get<float, d_v, embedding>("W_value"));
  r.expect("query_2", query);
  r.expect("keys", keys);
  r.expect("values", values);
  r.expect("omega_2", contract<d_k>(query, keys));
  r.expect("attention_weights_2", nn::attention_weights<d_k, other>(query, keys));
  r.expect("context_vector_2", nn::attention<d_k, other>(query, keys, values));
  r.expect("omega", contract<d_k>(queries, keys));
  r.expect("attention_weights", nn::attention_weights<d_k, other>(queries, keys));
  r.expect("context", nn::attention<d_k, other>(queries, keys, values));
}

// No projections: every word's vector is its query, key and value.
void without_projections(run& r) {
  const auto x = r.get<float, word, embedding>("X");
  const auto there = rename<word, key>(x);
  const auto weights = softmax<key>(scores<embedding>(x, there));
  const auto first = at<word>(x, 0);
  const auto one = softmax<key>(scores<embedding>(first, there));
  r.expect("weights", one);
  r.expect("output", contract<key>(one, there));
  r.expect("self_weights", weights);
  r.expect("self_output", contract<key>(weights, there));
}

void notebook(run& r) {
  if (r.has("X")) { return without_projections(r); }
  if (r.has("embedded_sentence_2")) { return cross_attention(r); }
  if (r.has("multihead_W_query")) { return several_heads(r); }
  single_head(r);
}
const family notebook_cases{"notebook", notebook};

// The notebook's mistake: every head's query against every head's keys, and a softmax over the heads. Neither is
// written by accident (R11, R13), so each is spelled with `relabel`.
struct asking : batch_dim<> {};       // the heads of the queries, as if they were examples
struct candidates : choice_dim<> {};  // the heads of the keys, as if one were to be chosen

void mistake(run& r) {
  const auto x = r.get<float, word, embedding>("embedded_sentence");
  const auto w_query = r.get<float, heads, d_k, embedding>("multihead_W_query");
  const tensor query = contract<embedding>(at<word>(x, second), w_query);
  const tensor stacked = permute<heads, embedding, word>(broadcast<heads>(x, heads{extent_of<heads>(w_query)}));
  const tensor keys =
      permute<heads, d_k, word>(contract<embedding>(x, r.get<float, heads, d_k, embedding>("multihead_W_key")));
  const tensor values =
      permute<heads, d_v, word>(contract<embedding>(x, r.get<float, heads, d_v, embedding>("multihead_W_value")));
  const auto omega = permute<heads, asking, word>(contract<d_k>(keys, relabel<heads, asking>(query)));
  r.expect("multihead_query_2", query);
  r.expect("stacked_inputs", stacked);
  r.expect("stacked_inputs_at_2", at<embedding>(stacked, 2));  // meant to be a word
  r.expect("multihead_keys", keys);
  r.expect("multihead_values", values);
  r.expect("multihead_omega_2", omega);
  r.expect("multihead_weights_2", softmax<candidates>(relabel<heads, candidates>(scaled<d_k>(omega))));
}
const family mistake_cases{"notebook-bug", mistake};

}  // namespace
}  // namespace conformance::notebook
