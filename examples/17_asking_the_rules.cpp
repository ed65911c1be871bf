// SPDX-License-Identifier: BSL-1.0
// 17_asking_the_rules -- testing what compiles, with concepts and without errors.
//
// Every rejected call selects an overload whose return type is the error, so that concepts can test it. Rules work on
// types only; dimwise/shape.hpp has them without tensors.

#include <dimwise/dimwise.hpp>
#include <dimwise/shape/hana.hpp>

#include <boost/hana/count_if.hpp>
#include <boost/hana/for_each.hpp>

#include <cstdio>

namespace lesson {
struct seq : dimwise::position_dim<4> {};
struct key : dimwise::prime<seq> {};
struct d_k : dimwise::feature_dim<8> {};
struct d_v : dimwise::feature_dim<8> {};
struct heads : dimwise::heads_dim<2> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

// A rule returns the shape of the result, or the error as a type.
using q_shape = shape<heads, seq, d_k>;
using k_shape = shape<heads, key, d_k>;
template <class Over, class A, class B>
using contracted = rule::contract<detail::list<Over>, detail::list<>, A, B>;

static_assert(allowed<contracted<d_k, q_shape, k_shape>>);
static_assert(std::is_same_v<contracted<d_k, q_shape, k_shape>::shape, shape<heads, seq, key, raw<d_k>>>);
static_assert(refused<contracted<d_v, q_shape, k_shape>>);                     // R1: neither has d_v
static_assert(refused<contracted<d_k, q_shape, q_shape>>);                     // R2: seq would be a diagonal
static_assert(valid_shape<heads, seq, d_k> && !valid_shape<seq, seq>);         // R17
static_assert(divisible<d_k, heads> && !divisible<d_k, heads_dim<3>>);         // R4
static_assert(related_dimensions<seq, key> && !related_dimensions<d_k, d_v>);  // R3

// The same for expressions: is the call valid?
template <class D, class X>
concept takes_softmax = requires(const X& x) {
  { softmax<D>(x) } -> operand;
};
template <class D, class A, class B>
concept contracts = requires(const A& a, const B& b) {
  { contract<D>(a, b) } -> operand;
};
template <class X, class M>
concept takes_mask = requires(const X& x, const M& m) {
  { masked(x, m) } -> operand;
};

// A rule of your own, from the dimensions as a Hana sequence: pooling needs exactly one dimension in an order, and no
// marks.
constexpr auto is_ordered = [](auto d) {
  return boost::hana::bool_c<has_any(decltype(d)::type::abilities, ability::ordered)>;
};
template <class X>
concept one_sequence = decltype(boost::hana::count_if(dims_of(std::declval<const X&>()), is_ordered))::value == 1 &&
                       decltype(boost::hana::is_empty(marks_of(std::declval<const X&>())))::value;
template <one_sequence X>
auto pooled(const X& x) {
  return mean<seq>(x);
}
template <class X>
concept takes_pooling = requires(const X& x) {
  { pooled(x) } -> operand;
};

int main() {
  tensor<float, heads, seq, d_k> q;
  tensor<float, heads, key, d_k> k;
  tensor<float, heads, key, d_v> v;
  auto products = contract<d_k>(q, k);
  auto s = scores<d_k>(q, k);
  auto a = softmax<key>(s);

  const auto say = [](const char* question, bool yes) { std::printf("  %-42s %s\n", question, yes ? "yes" : "no"); };
  std::printf("Does it compile?\n");
  say("softmax over key, of scores", takes_softmax<key, decltype(s)>);
  say("softmax over key, of raw products", takes_softmax<key, decltype(products)>);  // R6
  say("softmax over key, of weights", takes_softmax<key, decltype(a)>);              // R5
  say("softmax over heads, of scores", takes_softmax<heads, decltype(s)>);           // R13
  say("weights with values, over key", contracts<key, decltype(a), decltype(v)>);
  say("scores with values, over key", contracts<key, decltype(s), decltype(v)>);    // R6
  say("weights with queries, over seq", contracts<seq, decltype(a), decltype(q)>);  // R5
  say("causal mask on scores", takes_mask<decltype(s), causal<seq, key>>);
  say("causal mask on weights", takes_mask<decltype(a), causal<seq, key>>);  // R7
  say("pooling of queries, by a rule of this file", takes_pooling<decltype(q)>);
  say("pooling of scores, by a rule of this file", takes_pooling<decltype(s)>);  // two sequences

  // Iterate over a tensor's dimensions and marks with Boost.Hana.
  std::printf("The weights have %s, that is:\n", describe(a).c_str());
  boost::hana::for_each(dims_of(a), [](auto d) {
    using D = typename decltype(d)::type;
    const bool parallel = has_any(D::abilities, ability::parallel);
    std::printf("  a dimension of %zu, %s\n", D::static_extent, parallel ? "side by side" : "in an order");
  });
  std::printf("  and %zu mark\n", static_cast<std::size_t>(boost::hana::length(marks_of(a))));
}
