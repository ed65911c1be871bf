// tests/fuzz/attention/attention.cpp -- softmax of scores contracted with values: operands in any order, scales,
// caps, own functions.
//
// SPDX-License-Identifier: BSL-1.0
#include "attention.hpp"

#include <cmath>

namespace fuzz {

namespace {

void attention_alone(attempt& a) {
  const attention_operands o(a, positions::any);
  o.check(a, [](const auto& s) { return s; });
}
void values_left(attempt& a) {
  const attention_operands o(a, positions::any);
  const auto of = [&](const auto& v) { return contract<key>(v, softmax<key>(scores<d_k>(o.k.view(), o.q.view()))); };
  compare(a, of(o.v.view()), [&] {
    return of_attention(exactly(of(o.v.magnitudes())), o.scale(), o.e.k.extent(), o.e.t.extent(), o.v.largest());
  });
}
void weights_permuted(attempt& a) {
  const attention_operands o(a, positions::any);
  const auto of = [&](const auto& v) {
    return permute<heads, d_v, seq, batch>(
        contract<key>(permute<key, seq, heads, batch>(softmax<key>(scores<d_k>(o.q.view(), o.k.view()))), v));
  };
  compare(a, of(o.v.view()), [&] {
    return of_attention(exactly(of(o.v.magnitudes())), o.scale(), o.e.k.extent(), o.e.t.extent(), o.v.largest());
  });
}
// Scales of any sign and 0; a product that is divided, too.
void scaled_by_number(attempt& a) {
  const attention_operands o(a, positions::any);
  constexpr float scales[] = {0.0F, -0.0F, 1.0F, -1.0F, 0.125F, -0.3F, 2.0F, 1e-3F};
  const float x = a.random.one_of(scales);
  a.note("scale " + std::to_string(x));
  const double l = std::abs(x) * o.scale() * std::sqrt(static_cast<double>(o.e.k.extent()));
  o.check(a, [x](const auto& q, const auto& k) { return scaled(contract<d_k>(q, k), x); },
          [](const auto& s) { return s; }, l);
}
void temperature(attempt& a) {
  const attention_operands o(a, positions::any);
  constexpr float scales[] = {1.0F, -1.0F, 0.5F, 3.0F, -0.25F};
  const float x = a.random.one_of(scales);
  a.note("temperature " + std::to_string(x));
  o.check(a, [x](const auto& s) { return s * 2.0F / x; }, 2 * o.scale() / std::abs(x));
}
// One learned temperature for each head.
void scaled_by_head(attempt& a) {
  const attention_operands o(a, positions::any);
  const held<float, heads> t(a, "temperatures", numbers(a.random), repeats::sometimes, o.e.h);
  const double l = t.largest() * o.scale() * std::sqrt(static_cast<double>(o.e.k.extent()));
  o.check(a, [&](const auto& q, const auto& k) { return scaled(contract<d_k>(q, k), t.view()); },
          [](const auto& s) { return s; }, l);
}
void soft_cap(attempt& a) {
  const attention_operands o(a, positions::any);
  constexpr float caps[] = {1.0F, 5.0F, 30.0F, -2.0F};
  const float cap = a.random.one_of(caps);
  a.note("cap " + std::to_string(cap));
  // tanh is steep at 0 alone: an error of its argument passes, at most as it is.
  o.check(a, [cap](const auto& s) { return tanh(s / cap) * cap; }, 4 * std::abs(cap));
}
void soft_cap_masked(attempt& a) {
  const attention_operands o(a, positions::equal);
  const causal<seq, key> m;
  o.check(a, [&](const auto& s) { return masked(tanh(s * 0.2F) * 5.0F, m); }, 20);
}
void own_function(attempt& a) {
  const attention_operands o(a, positions::any);
  const float slope = static_cast<float>(a.random.between(-4, 4)) / 4;
  a.note("slope " + std::to_string(slope));
  o.check(a, [slope](const auto& s) {
    return map([slope](auto x) { return x > 0 ? x : static_cast<decltype(x)>(slope) * x; }, s);
  });
}
void own_function_masked(attempt& a) {
  const attention_operands o(a);
  const auto w = draw_window(a, o.e);
  o.check(a, [&](const auto& s) { return masked(map([](auto x) { return x / (1 + std::abs(x)); }, s), w); }, 1);
}
// Keys that are values, too (latent attention).
void keys_are_values(attempt& a) {
  const attention_operands o(a, positions::any);
  const auto of = [&](const auto& v) { return contract<key>(softmax<key>(scores<d_k>(o.q.view(), o.k.view())), v); };
  compare(a, of(o.k.view()), [&] {
    return of_attention(exactly(of(o.k.magnitudes())), o.scale(), o.e.k.extent(), o.e.t.extent(), o.k.largest());
  });
}
// Weights and scores that are asked for themselves.
void weights_alone(attempt& a) {
  const attention_operands o(a, positions::any);
  const auto p = softmax<key>(scores<d_k>(o.q.view(), o.k.view()));
  compare(a, p, [&] { return of_attention(exactly(p), o.scale(), o.e.k.extent(), o.e.t.extent(), 1); });
}
void operands_computed(attempt& a) {
  const attention_operands o(a, positions::any);
  const auto of = [&](const auto& v) {
    return contract<key>(softmax<key>(scores<d_k>(o.q.view() * 0.5F, o.k.view() + o.k.view())), v * 2.0F);
  };
  compare(a, of(o.v.view()), [&] {
    return of_attention(exactly(of(o.v.magnitudes())), 1 + o.scale(), o.e.k.extent(), o.e.t.extent(),
                        2 * o.v.largest());
  });
}

const families_of_file all{
    {"attention", attention_alone},
    {"attention.values_left", values_left},
    {"attention.permuted", weights_permuted},
    {"attention.scaled", scaled_by_number},
    {"attention.temperature", temperature},
    {"attention.scaled_by_head", scaled_by_head},
    {"attention.soft_cap", soft_cap},
    {"attention.soft_cap_masked", soft_cap_masked},
    {"attention.own_function", own_function},
    {"attention.own_function_masked", own_function_masked},
    {"attention.keys_are_values", keys_are_values},
    {"attention.weights", weights_alone},
    {"attention.operands_computed", operands_computed},
};

}  // namespace

}  // namespace fuzz
