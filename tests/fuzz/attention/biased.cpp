// tests/fuzz/attention/biased.cpp -- attention with biases of every sort, with and without masks.
//
// SPDX-License-Identifier: BSL-1.0
#include "attention.hpp"

#include <cmath>

namespace fuzz {

namespace {

template <class... D>
class biased_operands : public attention_operands {
 public:
  template <class... Given>
  biased_operands(attempt& a, positions where, const Given attention_extents::*... which)
      : attention_operands(a, where), bias(a, "bias", numbers(a.random), repeats::sometimes, e.*which...) {}
  held<float, D...> bias;
};

void bias_of_pairs(attempt& a) {
  const biased_operands<heads, seq, key> o(a, positions::any, &attention_extents::h, &attention_extents::s,
                                           &attention_extents::t);
  o.check(a, [&](const auto& s) { return biased(s, o.bias.view()); }, o.bias.largest());
}
void bias_of_keys(attempt& a) {
  const biased_operands<key> o(a, positions::any, &attention_extents::t);
  o.check(a, [&](const auto& s) { return biased(s, o.bias.view()); }, o.bias.largest());
}
void bias_turned(attempt& a) {
  const biased_operands<key, batch, seq> o(a, positions::any, &attention_extents::t, &attention_extents::b,
                                           &attention_extents::s);
  o.check(a, [&](const auto& s) { return biased(s, o.bias.view()); }, o.bias.largest());
}
void bias_then_causal(attempt& a) {
  const biased_operands<seq, key> o(a, positions::told, &attention_extents::s, &attention_extents::t);
  o.check(a, [&](const auto& s) { return masked(biased(s, o.bias.view()), causal<seq, key>{}); }, o.bias.largest());
}
// What a bias has where nothing is visible does not count, whatever it is.
void bias_hidden(attempt& a) {
  const biased_operands<batch, seq, key> o(a, positions::told, &attention_extents::b, &attention_extents::s,
                                           &attention_extents::t);
  const auto w = draw_window(a, o.e);
  const float bad = poison(a);
  a.note("hidden biases are " + std::to_string(bad));
  const std::size_t keys = o.e.t.extent();
  // Where one number is the bias of many pairs, it may be visible for one of them.
  const held<float, batch, seq, key> bias(a, "own bias", numbers(a.random), repeats::never, o.e.b, o.e.s, o.e.t);
  const auto hidden = bias.like(
      [&](std::size_t i, float x) { return in_window(o.e, w, i / keys % o.e.s.extent(), i % keys) ? x : bad; });
  const auto of = [&](const auto& b, const auto& v) {
    return contract<key>(softmax<key>(masked(biased(scores<d_k>(o.q.view(), o.k.view()), b), w)), v);
  };
  compare(a, of(hidden, o.v.view()), of(bias.view(), o.v.view()), [&] {
    return of_attention(exactly(of(bias.view(), o.v.magnitudes())), o.scale() + bias.largest(), o.e.k.extent(), keys,
                        o.v.largest());
  });
}
void masked_then_bias(attempt& a) {
  const biased_operands<heads, key> o(a, positions::told, &attention_extents::h, &attention_extents::t);
  const auto w = draw_window(a, o.e);
  o.check(a, [&](const auto& s) { return biased(masked(s, w), o.bias.view()); }, o.bias.largest());
}
void bias_and_given(attempt& a) {
  const biased_operands<heads, seq, key> o(a, positions::any, &attention_extents::h, &attention_extents::s,
                                           &attention_extents::t);
  const held<bool, batch, key> visible(a, "visible", draw_bools(a), repeats::sometimes, o.e.b, o.e.t);
  const held<int, batch> lengths(a, "lengths", draw_lengths(a, o.e.t.extent()), repeats::sometimes, o.e.b);
  o.check(a, [&](const auto& s) {
    return masked(biased(s, o.bias.view()), allow(visible.view()) & padding<key>(lengths.view()));
  }, o.bias.largest());
}
void bias_after_cap(attempt& a) {
  const biased_operands<seq, key> o(a, positions::any, &attention_extents::s, &attention_extents::t);
  o.check(a, [&](const auto& s) { return biased(tanh(s / 3.0F) * 3.0F, o.bias.view()); }, 12 + o.bias.largest());
}
void bias_then_temperature(attempt& a) {
  const biased_operands<seq, key> o(a, positions::any, &attention_extents::s, &attention_extents::t);
  o.check(a, [&](const auto& s) { return biased(s, o.bias.view()) * 0.5F; }, o.bias.largest());
}
void two_biases(attempt& a) {
  const biased_operands<seq, key> o(a, positions::any, &attention_extents::s, &attention_extents::t);
  const held<float, heads, key> other(a, "other bias", numbers(a.random), repeats::sometimes, o.e.h, o.e.t);
  o.check(a, [&](const auto& s) { return biased(biased(s, o.bias.view()), other.view()); },
          o.bias.largest() + other.largest());
}
void bias_after_function(attempt& a) {
  const biased_operands<heads, seq, key> o(a, positions::told, &attention_extents::h, &attention_extents::s,
                                           &attention_extents::t);
  o.check(a, [&](const auto& s) {
    return masked(biased(map([](auto x) { return x / (1 + std::abs(x)); }, s), o.bias.view()), causal<seq, key>{});
  }, 1 + o.bias.largest());
}

// The farthest two positions of a formula.
double farthest(const attention_extents& e) { return static_cast<double>(e.s.extent() + e.t.extent()) + 50; }

void alibi_alone(attempt& a) {
  const attention_operands o(a);
  o.check(a, [](const auto& s) { return biased(s, alibi<seq, key, heads>{}); }, farthest(o.e));
}
void alibi_causal(attempt& a) {
  const attention_operands o(a);
  o.check(a, [](const auto& s) { return masked(biased(s, alibi<seq, key, heads>{}), causal<seq, key>{}); },
          farthest(o.e));
}
void alibi_and_bias(attempt& a) {
  const biased_operands<seq, key> o(a, positions::told, &attention_extents::s, &attention_extents::t);
  const held<int, batch> lengths(a, "lengths", draw_lengths(a, o.e.t.extent()), repeats::sometimes, o.e.b);
  o.check(a, [&](const auto& s) {
    return masked(biased(biased(s, alibi<seq, key, heads>{}), o.bias.view()), padding<key>(lengths.view()));
  }, farthest(o.e) + o.bias.largest());
}
void relative_clipped(attempt& a) {
  const attention_operands o(a);
  const distance r{2 * a.extent({0, 20}) + 1};
  const held<float, heads, distance> table(a, "table", numbers(a.random), repeats::sometimes, o.e.h, r);
  o.check(a, [&](const auto& s) { return biased(s, relative_bias<seq, key, distance>(table.view())); },
          table.largest());
}
void relative_t5(attempt& a) {
  const attention_operands o(a);
  const distance r{4 * a.extent({1, 12})};
  const held<float, distance> table(a, "table", numbers(a.random), repeats::sometimes, r);
  const t5_buckets buckets{a.random.one_in(2), static_cast<int>(a.random.between(20, 90))};
  o.check(a, [&](const auto& s) {
    return masked(biased(s, relative_bias<seq, key, distance>(table.view(), buckets)), causal<seq, key>{});
  }, table.largest());
}

const families_of_file all{
    {"bias.of_pairs", bias_of_pairs},
    {"bias.of_keys", bias_of_keys},
    {"bias.turned", bias_turned},
    {"bias.then_causal", bias_then_causal},
    {"bias.hidden", bias_hidden},
    {"bias.after_mask", masked_then_bias},
    {"bias.and_given", bias_and_given},
    {"bias.after_cap", bias_after_cap},
    {"bias.then_temperature", bias_then_temperature},
    {"bias.two", two_biases},
    {"bias.after_function", bias_after_function},
    {"bias.alibi", alibi_alone},
    {"bias.alibi_causal", alibi_causal},
    {"bias.alibi_and_bias", alibi_and_bias},
    {"bias.relative_clipped", relative_clipped},
    {"bias.relative_t5", relative_t5},
};

}  // namespace

}  // namespace fuzz
