// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/attention_match_definitions.hpp -- which records are attention: softmax of scores,
// contracted with values.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/eval/plan/plan.test.cpp
#pragma once

#include <dimwise/eval/records/attention.hpp>

namespace dimwise::detail {

template <class C>
bool is_view_of(const record<C>& r, view_kind kind) {
  return r.kind() == record_kind::view && r.template facts_as<view_facts>().kind == kind;
}
template <class C>
bool is_operation(const record<C>& r, kernels::operation f) {
  return r.kind() == record_kind::binary && r.index == static_cast<std::ptrdiff_t>(f);
}
template <class C>
bool is_number(const record<C>& r) {
  return r.kind() == record_kind::number;
}
inline bool is_subset_of(name_list some, name_list all) {
  for (const name_of name : some) {
    if (all.place_of(name) < 0) { return false; }
  }
  return true;
}

// ---- scores: the steps between a product of queries and keys and its softmax ---------------------------------------

// Whether elements are computed with in C, and not rounded to a narrower type first.
template <class C>
bool is_computed(const record<C>& r) {
  return std::is_same_v<C, double> || r.is_float;
}
// Functions of scores, soft caps and slopes are computed in float alone.
template <class C>
inline constexpr bool takes_functions = std::is_same_v<C, float>;

// The steps of a chain of scores.
template <class C>
struct score_chain_of_records {
  const record<C>* product = nullptr;
  const record<C>* factor = nullptr;  // a scale that is a tensor
  chain_counts counts{};
};
template <class C>
bool match_scores(const record<C>& s, score_chain_of_records<C>& chain);

// A scale belongs before all that is not one.
template <class C>
bool match_scaled_scores(const record<C>& s, score_chain_of_records<C>& chain) {
  return match_scores(s, chain) && chain.counts.scaled_only();
}
// A scale for each head, each query, or some of these: queries are multiplied by it. Keys and features have none.
template <class C>
bool scales_queries(const record<C>& product, const record<C>& x) {
  return is_computed(x) && !x.shape->masked && is_subset_of(x.shape->axes, product.shape->axes) &&
         (is_subset_of(x.shape->axes, product.child[0]->shape->axes) ||
          is_subset_of(x.shape->axes, product.child[1]->shape->axes));
}
template <class C>
bool is_factor(const record<C>& scores, const record<C>& x, score_chain_of_records<C>& chain) {
  return !is_number(scores) && !is_number(x) && match_scaled_scores(scores, chain) && chain.factor == nullptr &&
         scales_queries(*chain.product, x);
}
// c · tanh(s), and which operand is the number: −1 if it is not a soft cap.
template <class C>
int number_of_cap(const record<C>& s) {
  for (int k = 0; k < 2; ++k) {
    const record<C>& inner = *s.child[1 - k];
    if (is_number(*s.child[k]) && inner.kind() == record_kind::unary &&
        inner.index == static_cast<std::ptrdiff_t>(kernels::function::tanh)) {
      return k;
    }
  }
  return -1;
}
// Which operand of a scale are the scores; the other is a number, or a factor. −1: the record is not a scale.
template <class C>
int scores_of_scale(const record<C>& s, score_chain_of_records<C>& chain) {
  const bool divides = is_operation(s, kernels::operation::divide);
  if (!divides && !is_operation(s, kernels::operation::multiply)) { return -1; }
  for (int k = 0; k < (divides ? 1 : 2); ++k) {
    const record<C>& scores = *s.child[k];
    const record<C>& x = *s.child[1 - k];
    if (is_number(x) ? match_scaled_scores(scores, chain) : is_computed(s) && is_factor(scores, x, chain)) {
      if (!is_number(x)) { chain.factor = &x; }
      return k;
    }
  }
  return -1;
}

template <class C>
bool match_scores(const record<C>& s, score_chain_of_records<C>& chain) {
  switch (s.kind()) {
    case record_kind::product:
      chain = {&s, nullptr, {}};
      return s.template facts_as<product_facts_of_record>().sums.size == 1;
    case record_kind::view:
      return is_view_of(s, view_kind::marks) && match_scores(*s.child[0], chain);
    case record_kind::binary: {
      if (is_operation(s, kernels::operation::multiply)) {
        if (const int number = number_of_cap(s); number >= 0) {
          const record<C>& capped = *s.child[1 - number]->child[0];
          if (!takes_functions<C> || !match_scaled_scores(capped, chain) || capped.shape->masked) { return false; }
          chain.counts.capped = true;
          return true;
        }
      }
      return scores_of_scale(s, chain) >= 0;
    }
    case record_kind::unary:
    case record_kind::function:
    case record_kind::rounded:
      // Any function of a score: the kernel calls it back.
      if (s.kind() == record_kind::function && s.template facts_as<function_facts<C>>().call == nullptr) {
        return false;
      }
      if (!takes_functions<C> || !s.is_float || !match_scaled_scores(*s.child[0], chain) || s.child[0]->shape->masked) {
        return false;
      }
      ++chain.counts.functions;
      return true;
    case record_kind::masked:
      if (!match_scores(*s.child[0], chain)) { return false; }
      chain.counts = chain.counts + s.mask_facts->counts;
      return true;
    case record_kind::biased: {
      if (!match_scores(*s.child[0], chain)) { return false; }
      const record<C>& bias = *s.child[1];
      const bool has_slopes =
          bias.kind() == record_kind::bias && bias.template facts_as<bias_facts_of_record>().slopes != nullptr;
      if (has_slopes && !takes_functions<C>) { return false; }
      ++(has_slopes ? chain.counts.slopes : chain.counts.biases);
      return true;
    }
    case record_kind::foreign:
    case record_kind::stored:
    case record_kind::bias:
    case record_kind::leaf:
    case record_kind::number:
    case record_kind::softmax:
    case record_kind::standardize:
    case record_kind::root_mean_square:
    case record_kind::quantised:
    case record_kind::rows:
    case record_kind::total:
    case record_kind::other:
      return false;
  }
  return false;
}

// ---- weights, and the roles of all axes ----------------------------------------------------------------------------

// The softmax of some weights, whatever was done to their marks or order; null if there is none.
template <class C>
const record<C>* softmax_below(const record<C>& weights, bool& rounded) {
  const record<C>* r = &weights;
  while (r->kind() != record_kind::softmax) {
    const bool rounds = r->kind() == record_kind::rounded && r->index == rounded_to_bfloat16;
    if (rounds ? !takes_functions<C> : !is_view_of(*r, view_kind::marks) && !is_view_of(*r, view_kind::regroup)) {
      return nullptr;
    }
    rounded = rounded || rounds;
    r = r->child[0];
  }
  return r;
}

// Operands whose numbers are those of bfloat16: rounded to them, or stored as such.
template <class C>
bool is_of_bfloat16(const record<C>& x) {
  const record<C>* r = &x;
  while (r->kind() == record_kind::view) { r = r->child[0]; }
  return (r->kind() == record_kind::rounded && r->index == rounded_to_bfloat16 && r->child[0]->is_float) ||
         (r->kind() == record_kind::stored && r->template facts_as<stored_facts_of_record>().is_bfloat16);
}

// An attention by its records: weights contracted with values, and which axis has which role.
template <class C>
struct attention_of_records {
  const record<C>* softmax;
  const record<C>* query;
  const record<C>* key;
  const record<C>* values;
  score_chain_of_records<C> scores;
  bool in_bfloat16;
  name_list result;  // the axes of the product, as its operands call them
  name_of key_axis;
  name_of row;  // of queries: positions that only they have; null: there is one query
  name_of feature;
  name_of value;
  // All else is computed head by head. The first `shared` have different keys and values.
  name_of heads[max_rank];
  std::size_t head_count;
  std::size_t shared;

  [[nodiscard]] name_list loops() const { return {heads, head_count}; }
};

// The roles, where the weights of `m.softmax` are contracted with `values` in the product `r`.
template <class C>
bool match_roles(const record<C>& r, const record<C>& values, attention_of_records<C>& m) {
  const auto& facts = r.template facts_as<product_facts_of_record>();
  const auto& over = m.softmax->template facts_as<name_list>();
  if (over.size != 1 || over.at[0] != facts.sums.at[0]) { return false; }
  if (!match_scores(*m.softmax->child[0], m.scores)) { return false; }
  const chain_counts& counts = m.scores.counts;
  if (counts.lengths > 1 || counts.documents > 1 || counts.biases > 1 || counts.slopes > 1) { return false; }

  const record<C>& product = *m.scores.product;
  m.key_axis = over.at[0];
  const auto has = [](const record<C>& x, name_of name) { return x.shape->axes.place_of(name) >= 0; };
  const bool on_right = has(*product.child[1], m.key_axis);
  if (on_right == has(*product.child[0], m.key_axis)) { return false; }
  m.query = product.child[on_right ? 0 : 1];
  m.key = product.child[on_right ? 1 : 0];
  m.values = &values;
  m.result = facts.result;
  m.feature = product.template facts_as<product_facts_of_record>().sums.at[0];
  if (!has(values, m.key_axis)) { return false; }
  for (std::size_t i = 0; i < values.rank(); ++i) {
    const name_of name = values.shape->axes.at[i];
    if (has(*m.softmax, name)) { continue; }
    if (m.value != nullptr || values.shape->facts[i].is_composite) { return false; }
    m.value = name;
  }
  if (m.value == nullptr || m.result.place_of(m.value) < 0) { return false; }
  if (m.in_bfloat16 &&
      !(is_of_bfloat16(*m.query) && is_of_bfloat16(*m.key) && is_of_bfloat16(values) && m.scores.factor == nullptr)) {
    return false;  // queries times a scale of their own are no numbers of bfloat16
  }
  if (m.scores.factor != nullptr && !is_subset_of(m.scores.factor->shape->axes, m.query->shape->axes)) { return false; }

  const record_shape& scores = *m.softmax->shape;
  for (std::size_t i = 0; i < scores.axes.size && m.row == nullptr; ++i) {
    const name_of name = scores.axes.at[i];
    if (has_any(scores.facts[i].abilities, position_ability) && has(*m.query, name) && !has(*m.key, name) &&
        !has(values, name) && name != m.key_axis) {
      m.row = name;
    }
  }
  for (const bool shared : {true, false}) {
    for (const name_of name : m.result) {
      if (name == m.row || name == m.value || (has(*m.key, name) || has(values, name)) != shared) { continue; }
      if (m.head_count + 1 >= max_rank) { return false; }
      m.heads[m.head_count++] = name;
    }
    if (shared) { m.shared = m.head_count; }
  }
  return true;
}

// The attention that a product is; `m` holds none otherwise.
template <class C>
bool match_attention(const record<C>& r, attention_of_records<C>& m) {
  const auto& facts = r.template facts_as<product_facts_of_record>();
  if (facts.over.size != 1 || facts.sums.size != 1) { return false; }
  for (std::size_t k = 0; k < 2; ++k) {
    bool rounded = false;
    const record<C>* const softmax = softmax_below(*r.child[k], rounded);
    if (softmax == nullptr) { continue; }
    m.softmax = softmax;
    m.in_bfloat16 = rounded;
    m.scores = {};
    m.row = nullptr;
    m.value = nullptr;
    m.head_count = 0;
    if (match_roles(r, *r.child[1 - k], m)) { return true; }
  }
  return false;
}

}  // namespace dimwise::detail
