// tests/conformance/torch/variants.cpp -- published variants of attention, as plain formulas of PyTorch.
//
// The suite gives each mask as a tensor (true: attend) and says in words what it is: where the words are known, the
// mask that the library has for them is tried as well.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/case.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace conformance::torch {
namespace {

using namespace dimwise;

struct batch : batch_dim<> {};
struct kv_heads : heads_dim<> {};
struct group : heads_dim<> {};  // the query heads of a key head
struct heads : heads_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct packed : packed_dim<> {};  // the same positions, of several documents
struct packed_key : prime<packed> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};
struct buckets : feature_dim<> {};
struct reach : choice_dim<> {};         // clipped distances
struct distance : position_dim<> {};    // key − query
struct backwards : prime<distance> {};  // the same from the other end

// Queries by groups, keys and values by key heads: [batch, kv_heads, group, Q, d_k], [batch, kv_heads, K, …].
template <class Q, class K>
struct operands {
  tensor<float, batch, kv_heads, group, Q, d_k> q;
  tensor<float, batch, kv_heads, K, d_k> k;
  tensor<float, batch, kv_heads, K, d_v> v;
};
template <class Q, class K>
operands<Q, K> read(run& r, const Q& queries, const K& keys) {
  const batch b{r.extent("q", 0)};
  const kv_heads h{r.extent("k", 1)};
  const group g{h.extent() == 0 ? 0 : r.extent("q", 1) / h.extent()};
  const tensor q = split<kv_heads, group>(r.get<float, batch, merged<kv_heads, group>, Q, d_k>("q", b, h, g, queries));
  return {q, r.get<float, batch, kv_heads, K, d_k>("k", b, h, keys),
          r.get<float, batch, kv_heads, K, d_v>("v", b, h, keys)};
}
auto read(run& r) { return read(r, seq{r.extent("q", 2)}, key{r.extent("k", 2)}); }

// Outputs have all heads in one axis.
template <class... Rest>
auto with_all_heads(const auto& x) {
  return merge<kv_heads, group>(tensor(permute<batch, kv_heads, group, Rest...>(x)));
}

// What the case expects of scores, whatever they are.
template <class Q, class K, class S>
void expect_attention(run& r, const S& s, const tensor<float, batch, kv_heads, K, d_v>& v) {
  const auto a = softmax<K>(s);
  r.expect("out", with_all_heads<Q, d_v>(contract<K>(a, v)));
  if (r.wants("weights")) { r.expect("weights", with_all_heads<Q, K>(a)); }
  if (r.wants("lse")) { r.expect("lse", with_all_heads<Q>(plain(logsumexp<K>(s)))); }
}
template <class Q, class K, class... How>
void attend(run& r, const operands<Q, K>& x, const How&... how) {
  expect_attention<Q, K>(r, nn::detail::functions::changed_scores<d_k>(x.q, x.k, how...), x.v);
}

// A number in the words of a formula: scan("scale = %lf").
double scan(const std::string& words, const char* pattern) {
  double found = 0;
  if (std::sscanf(words.c_str(), pattern, &found) != 1) {
    throw std::runtime_error("no number in \"" + words + "\" as \"" + pattern + "\" has it");
  }
  return found;
}
bool says(const std::string& words, const char* part) { return words.find(part) != std::string::npos; }

void by_documents(run& r, const std::vector<extent_t>& lengths) {
  attend(r, read(r, packed{lengths}, packed_key{lengths}),
         causal<packed, packed_key>{} & document<packed, packed_key>{});
}

void masks_by_name(run& r, const std::string& words) {
  const auto x = read(r);
  const auto queries = static_cast<std::ptrdiff_t>(extent_of<seq>(x.q));
  const auto keys = static_cast<std::ptrdiff_t>(extent_of<key>(x.k));
  if (says(words, "j <= i + (kv_len - q_len)")) {
    attend(r, read(r, starting_at(seq{queries}, keys - queries), starting_at(key{keys}, 0)), causal<seq, key>{});
  } else if (says(words, "j <= i and i - j <")) {
    attend(r, x, window<seq, key>(static_cast<std::ptrdiff_t>(scan(words, "j <= i and i - j < %lf")) - 1, 0));
  } else if (says(words, "window (left")) {
    double left = 0;
    double right = 0;
    if (std::sscanf(words.c_str(), "window (left %lf, right %lf)", &left, &right) == 2) {
      attend(r, x, window<seq, key>(static_cast<std::ptrdiff_t>(left), static_cast<std::ptrdiff_t>(right)));
    }
  } else if (says(words, "j <= i or j <")) {
    attend(r, x, prefix<seq, key>(static_cast<std::ptrdiff_t>(scan(words, "j <= i or j < %lf"))));
  } else if (says(words, "same document and j <= i")) {
    const auto documents = r.get<std::int64_t, seq>("document_id");
    std::vector<extent_t> lengths;
    for (std::size_t i = 0; i < documents.size(); ++i) {
      if (i == 0 || documents.values()[i] != documents.values()[i - 1]) { lengths.push_back(0); }
      ++lengths.back();
    }
    by_documents(r, lengths);
  } else if (says(words, "j <= i and j/")) {
    const auto chunk = static_cast<std::size_t>(scan(words, "j <= i and j/%lf"));
    std::vector<extent_t> lengths;
    for (std::size_t first = 0; first < r.extent("q", 2); first += chunk) {
      lengths.push_back(std::min(chunk, r.extent("q", 2) - first));
    }
    by_documents(r, lengths);
  } else if (says(words, "j <= i")) {
    attend(r, read(r, starting_at(seq{queries}, 0), starting_at(key{keys}, 0)), causal<seq, key>{});
  }
}

void alibi_causal(run& r) {
  const auto x = read(r);
  const auto one = [](const auto& t) { return at<group>(t, 0); };  // heads of their own: a group of one
  const auto s = scores<d_k>(one(x.q), x.k);
  const auto sloped = masked(biased(s, alibi<seq, key, kv_heads>{}), causal<seq, key>{});
  const auto a = softmax<key>(sloped);
  r.expect("out", permute<batch, kv_heads, seq, d_v>(contract<key>(a, x.v)));
  if (r.wants("lse")) { r.expect("lse", permute<batch, kv_heads, seq>(logsumexp<key>(sloped))); }
  if (r.wants("weights")) { r.expect("weights", permute<batch, kv_heads, seq, key>(a)); }
}

void t5(run& r, const std::string& words) {
  const auto x = read(r);
  const auto table = r.get<float, buckets, kv_heads>("table");
  const double reach_in_words = scan(words.substr(words.find("max distance")), "max distance %lf");
  const bool both_ways = says(r.name(), "bidirectional");
  const t5_buckets bucket{both_ways, static_cast<std::ptrdiff_t>(reach_in_words)};
  const auto bias = relative_bias<seq, key, buckets>(table, bucket);
  both_ways ? attend(r, x, nn::not_scaled{}, bias) : attend(r, x, nn::not_scaled{}, bias, causal<seq, key>{});
}

void shaw(run& r) {
  const auto x = read(r);
  const auto table = r.get<float, reach, d_k>("rel_k");
  const auto ids =
      relative_ids<seq, key, reach>(seq{extent_of<seq>(x.q)}, key{extent_of<key>(x.k)}, reach{extent_of<reach>(table)});
  const auto products = contract<d_k>(x.q, x.k) + contract<d_k>(x.q, gather<reach>(table, ids), along<seq>{});
  expect_attention<seq, key>(r, scaled<d_k>(products), x.v);
}

// Vectors are stored for query − key, from the last key on: turned round, they stand for key − query.
void transformer_xl(run& r) {
  const auto x = read(r);
  const auto stored = r.get<float, distance, merged<kv_heads, group>, d_k>("r", kv_heads{extent_of<kv_heads>(x.q)},
                                                                           group{extent_of<group>(x.q)});
  const std::size_t n = extent_of<distance>(stored);
  std::vector<id<distance>> reversed;
  for (std::size_t i = n; i-- > 0;) { reversed.emplace_back(i); }
  const auto queries = static_cast<std::ptrdiff_t>(extent_of<seq>(x.q));
  const tensor<id<distance>, backwards> order(reversed, starting_at(backwards{n}, 1 - queries));
  const tensor by_distance = gather<distance>(tensor(split<kv_heads, group>(stored)), order);
  const auto by_heads = [&](const char* name) {
    return tensor(
        split<kv_heads, group>(r.get<float, merged<kv_heads, group>, d_k>(name, kv_heads{extent_of<kv_heads>(x.q)})));
  };
  const auto content = contract<d_k>(x.q + by_heads("u"), x.k);
  const auto position =
      skew<seq, backwards, key>(contract<d_k>(x.q + by_heads("vb"), by_distance), key{extent_of<key>(x.k)});
  expect_attention<seq, key>(r, scaled<d_k>(content + broadcast_like(position, content)), x.v);
}

// A logit beside those of the keys takes its share of the weights and gives nothing.
void sink(run& r) {
  const auto x = read(r);
  const auto logit =
      split<kv_heads, group>(r.get<float, merged<kv_heads, group>>("sink", kv_heads{extent_of<kv_heads>(x.q)}));
  const auto s = scores<d_k>(x.q, x.k);
  const auto lse = plain(logsumexp<key>(s));
  const tensor left = sigmoid(lse - logit);
  r.expect("out", with_all_heads<seq, d_v>(nn::attention_with_sinks<d_k, key>(x.q, x.k, x.v, logit)));
  if (r.wants("weights")) { r.expect("weights", with_all_heads<seq, key>(plain(softmax<key>(s)) * left)); }
  if (r.wants("lse")) { r.expect("lse", with_all_heads<seq>(lse - log(left))); }
}

void qk_norm(run& r) {
  auto x = read(r);
  x.q = nn::rms_norm<d_k>{r.get<float, d_k>("wq")}(x.q);
  x.k = nn::rms_norm<d_k>{r.get<float, d_k>("wk")}(x.k);
  attend(r, x);
}

void linear_causal(run& r) {
  const auto x = read(r);
  const auto phi = [](const auto& t) { return map([](auto e) { return e > 0 ? e + 1 : std::exp(e); }, t); };  // elu + 1
  const auto s = plain(contract<d_k>(phi(x.q), phi(x.k))) *
                 indicator(causal<seq, key>{}, seq{extent_of<seq>(x.q)}, key{extent_of<key>(x.k)});
  r.expect("out", with_all_heads<seq, d_v>(contract<key>(s, x.v) / sum<key>(s)));
}

void attention_variant(run& r) {
  const std::string& name = r.name();
  const std::string words = r.text("formula", "");
  if (says(name, "linear_elu")) { return linear_causal(r); }
  if (says(name, "alibi")) { return alibi_causal(r); }
  if (says(name, "t5_bias")) { return t5(r, words); }
  if (says(name, "shaw")) { return shaw(r); }
  if (says(name, "transformer_xl")) { return transformer_xl(r); }
  if (says(name, "sink")) { return sink(r); }
  if (says(name, "qk_norm")) { return qk_norm(r); }
  if (says(words, "scale =")) { return attend(r, read(r), nn::scaled_by{scan(words, "scale = %lf")}); }
  if (says(words, "* tanh(")) { return attend(r, read(r), nn::soft_cap{scan(words, "%lf * tanh")}); }
  if (says(words, "q scaled by")) {
    auto x = read(r);
    x.q = x.q * static_cast<float>(scan(words, "q scaled by %lf"));
    return attend(r, x);
  }
  if (r.has("attn_mask")) {
    const auto x = read(r);
    attend(r, x, allow(r.get<bool, seq, key>("attn_mask", seq{extent_of<seq>(x.q)}, key{extent_of<key>(x.k)})));
    return masks_by_name(r, words);
  }
  attend(r, read(r));
}
const family attention_variant_cases{"attention_variant", attention_variant};

}  // namespace
}  // namespace conformance::torch
