// tests/expr/name_lookup.test.cpp -- a user's functions that have the names of operations are called for all arguments.
//
// The operations are not members of the namespace of their arguments' types, so argument-dependent lookup does not find
// them.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>

#include <doctest/doctest.h>

// clang-format off: one list
// Every word that is a function.
#define EVERY_WORD(USE)                                                                                               \
  USE(contract) USE(outer) USE(scores) USE(scaled) USE(unscaled) USE(map) USE(plain) USE(relu) USE(gelu)              \
  USE(gelu_tanh) USE(silu) USE(sigmoid) USE(square) USE(masked) USE(biased) USE(indicator) USE(padding) USE(allow)    \
  USE(block) USE(allow_of) USE(where) USE(clamp) USE(softmax) USE(log_softmax) USE(renormalise) USE(sum) USE(mean)    \
  USE(max) USE(min) USE(norm) USE(logsumexp) USE(argmax) USE(top_k) USE(standardize) USE(layer_norm) USE(rms_norm)    \
  USE(rename) USE(relabel) USE(permute) USE(split) USE(merge) USE(part) USE(diagonal) USE(broadcast)                  \
  USE(broadcast_like) USE(at) USE(slice) USE(concat) USE(stack) USE(gather) USE(sinusoid) USE(rotary)                 \
  USE(relative_bias) USE(skew) USE(widened) USE(dequantised) USE(quantised) USE(rounded)                              \
  USE(unroll) USE(pool) USE(extent_of) USE(size_of) USE(cumsum) USE(cumprod) USE(prod) USE(softplus)                  \
  USE(sort) USE(argsort)                                                                                              \
  USE(evaluate) USE(evaluate_plainly) USE(reference) USE(plan) USE(describe) USE(explain) USE(pow) USE(split_ids)     \
  USE(partial_attention) USE(relative_ids) USE(ids_of) USE(one_hot) USE(scatter_add) USE(roll) USE(flip)              \
  USE(whole_rows) USE(random_uniform) USE(random_normal)                                                              \
  USE(matmul) USE(bmm) USE(einsum) USE(mm) USE(mv) USE(dot) USE(vdot) USE(inner) USE(tensordot) USE(addmm)            \
  USE(baddbmm) USE(linear) USE(scaled_dot_product_attention) USE(reshape) USE(view) USE(flatten) USE(unflatten)       \
  USE(ravel) USE(rearrange) USE(resize) USE(transpose) USE(swapaxes) USE(swapdims) USE(moveaxis) USE(movedim)         \
  USE(adjoint) USE(t) USE(unsqueeze) USE(expand_dims) USE(expand) USE(expand_as) USE(broadcast_to) USE(repeat)        \
  USE(repeat_interleave) USE(tile) USE(squeeze) USE(select) USE(unbind) USE(narrow) USE(chunk) USE(cat)               \
  USE(concatenate) USE(hstack) USE(vstack) USE(pad) USE(unfold) USE(tril) USE(triu) USE(masked_fill)                  \
  USE(masked_select) USE(index_select) USE(embedding) USE(index_add) USE(scatter) USE(amax) USE(amin) USE(argmin)     \
  USE(topk) USE(normalize) USE(var) USE(allclose) USE(array_equal) USE(native_layer_norm)    \
  USE(clip) USE(rsqrt) USE(multiply)
// The names of <cmath> are found through their arguments, as for numbers: a user's function for the same type is
// preferred.
#define EVERY_NAME_OF_CMATH(USE) USE(tanh) USE(erf) USE(exp) USE(log) USE(sqrt) USE(abs) USE(sin) USE(cos)
// clang-format on

namespace dims_of_a_user {
struct seq : dimwise::position_dim<2> {};
struct key : dimwise::prime<seq> {};
}  // namespace dims_of_a_user

// Functions of tensors and masks alone, and `using dimwise::tensor` alone.
namespace one_user {
using dimwise::tensor;
using namespace dims_of_a_user;

#define OWN(word)                                          \
  int word(const tensor<float, seq>&) { return 1; }        \
  int word(const dimwise::causal<seq, key>&) { return 2; } \
  int word(const tensor<float, seq>&, int) { return 3; }
EVERY_WORD(OWN)
EVERY_NAME_OF_CMATH(OWN)
#undef OWN

bool all_are_called() {
  const tensor<float, seq> x;
  bool all = true;
#define CALLED(word) all = all && word(x) == 1 && word(dimwise::causal<seq, key>{}) == 2 && word(x, 3) == 3;
  EVERY_WORD(CALLED)
  EVERY_NAME_OF_CMATH(CALLED)
#undef CALLED
  return all;
}
}  // namespace one_user

// Templates for anything, which no exact match protects.
namespace generic_user {
using namespace dims_of_a_user;

#define OWN(word)                      \
  template <class X>                   \
  int word(const X&) {                 \
    return 4;                          \
  }                                    \
  template <class D, class X, class Y> \
  int word(const X&, Y) {              \
    return 5;                          \
  }
EVERY_WORD(OWN)
#undef OWN

bool all_are_called() {
  const dimwise::tensor<float, seq> x;
  const dimwise::tensor<bool, seq> m;
  bool all = true;
#define CALLED(word) all = all && word(x) == 4 && word(x + 1) == 4 && word(m) == 4 && word<seq>(x, 1) == 5;
  EVERY_WORD(CALLED)
#undef CALLED
  return all;
}

// The functions of an enclosing namespace hide those that a directive makes visible.
bool all_are_called_beside_the_library() {
  using namespace dimwise;
  const tensor<float, seq> x;
  bool all = true;
#define CALLED(word) all = all && word(x) == 4 && word<seq>(x, 1) == 5;
  EVERY_WORD(CALLED)
#undef CALLED
  return all;
}
}  // namespace generic_user

// At global scope the user's function and the library's stand side by side: what takes the user's type is called.
struct thing_of_a_user {};
int block(const thing_of_a_user&) { return 6; }
int softmax(const dimwise::tensor<float, dims_of_a_user::seq>&, const char*) { return 7; }
static bool chosen_at_global_scope() {
  using namespace dimwise;
  return block(thing_of_a_user{}) == 6 && softmax(tensor<float, dims_of_a_user::seq>(), "") == 7;
}

// A call names its first dimensions; those that its arguments name may be left out.
namespace left_out {
using namespace dimwise;
struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct distance : position_dim<> {};
struct kernel : position_dim<> {};
struct key : prime<seq> {};
struct vocab : choice_dim<> {};
struct best : choice_dim<> {};
struct d_model : feature_dim<4> {};

template <class A, class B>
constexpr bool one(const A&, const B&) {
  return std::is_same_v<A, B>;
}

bool found_in_the_arguments() {
  const tensor<float, seq, d_model> x(seq{5});
  const tensor<float, seq, distance> r(seq{2}, distance{3});
  const tensor<float, vocab> logits(vocab{5});
  return one(broadcast(x, batch{2}), broadcast<batch>(x, batch{2})) &&
         one(unroll<seq>(x, kernel{2}), unroll<seq, kernel>(x, kernel{2})) &&
         one(pool<seq>(x, kernel{5}), pool<seq, kernel>(x, kernel{5})) &&
         one(at(x, id<seq>(1)), at<seq>(x, id<seq>(1))) && one(at(x, id<seq>(1)), at<seq>(x, 1)) &&
         one(sinusoid(seq{3}, d_model{}), sinusoid<seq, d_model>(seq{3})) &&
         one(sinusoid<seq>(seq{3}, d_model{}, 100), sinusoid<seq, d_model>(seq{3})) &&
         one(skew<seq, distance>(r, key{2}), skew<seq, distance, key>(r, key{2})) &&
         one(top_k<vocab>(logits, best{2}), top_k<vocab, best>(logits, best{2}));
}
}  // namespace left_out

TEST_CASE("words: dimensions that the arguments name may be left out") { CHECK(left_out::found_in_the_arguments()); }

TEST_CASE("words: a user's own functions of these names are called") {
  CHECK(one_user::all_are_called());
  CHECK(generic_user::all_are_called());
  CHECK(generic_user::all_are_called_beside_the_library());
  CHECK(chosen_at_global_scope());
}
