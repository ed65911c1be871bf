// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/other_names.hpp -- operations as other libraries spell them: one error that names the word to use.
//
// Layer: tensor. Members belong to operands alone. The functions are members of `no_adl`, take what no other function
// takes, and have names that programs rarely use for other things: a user's function of one of these names is called.
// Tests: tests/compile_fail/arguments/
#pragma once

#include <dimwise/shape/verdict.hpp>

namespace dimwise {

/// In an error: the words of the library for what was called by another name.
template <class... Words>
struct use_instead;

// Words that rules do not know.
namespace op {
struct matmul;
struct bmm;
struct einsum;
struct reshape;
struct view;
struct flatten;
struct transpose;
struct unsqueeze;
struct squeeze;
struct masked_fill;
}  // namespace op

namespace detail {

#define DIMWISE_DETAIL_OTHER_MEMBER(name, ...)                                                     \
  template <class... Named, class... Given,                                                        \
            class Error = ERROR_R1_operation_has_another_name<op::name, use_instead<__VA_ARGS__>>> \
  Error name(const Given&...) const;
struct other_names {
  DIMWISE_DETAIL_OTHER_MEMBER(matmul, op::contract)
  DIMWISE_DETAIL_OTHER_MEMBER(bmm, op::contract)
  DIMWISE_DETAIL_OTHER_MEMBER(reshape, op::split, op::merge)
  DIMWISE_DETAIL_OTHER_MEMBER(view, op::split, op::merge)
  DIMWISE_DETAIL_OTHER_MEMBER(flatten, op::merge)
  DIMWISE_DETAIL_OTHER_MEMBER(transpose, op::permute)
  DIMWISE_DETAIL_OTHER_MEMBER(permute, op::permute)
  DIMWISE_DETAIL_OTHER_MEMBER(unsqueeze, op::broadcast)
  DIMWISE_DETAIL_OTHER_MEMBER(squeeze, op::at)
  DIMWISE_DETAIL_OTHER_MEMBER(masked_fill, op::masked)
  DIMWISE_DETAIL_OTHER_MEMBER(sum, op::sum)
  DIMWISE_DETAIL_OTHER_MEMBER(mean, op::mean)
  DIMWISE_DETAIL_OTHER_MEMBER(max, op::max)
  DIMWISE_DETAIL_OTHER_MEMBER(argmax, op::argmax)
  DIMWISE_DETAIL_OTHER_MEMBER(softmax, op::softmax)
};

}  // namespace detail

// An ellipsis is the worst of all conversions: the function of a user is called where there is one.
#define DIMWISE_DETAIL_OTHER_NAME(name, ...)                                                                       \
  template <class... Named, class Error = ERROR_R1_operation_has_another_name<op::name, use_instead<__VA_ARGS__>>> \
  Error name(...);
namespace no_adl {
DIMWISE_DETAIL_OTHER_NAME(matmul, op::contract)
DIMWISE_DETAIL_OTHER_NAME(bmm, op::contract)
DIMWISE_DETAIL_OTHER_NAME(einsum, op::contract)
DIMWISE_DETAIL_OTHER_NAME(reshape, op::split, op::merge)
DIMWISE_DETAIL_OTHER_NAME(transpose, op::permute)
DIMWISE_DETAIL_OTHER_NAME(unsqueeze, op::broadcast)
DIMWISE_DETAIL_OTHER_NAME(squeeze, op::at)
DIMWISE_DETAIL_OTHER_NAME(masked_fill, op::masked)
}  // namespace no_adl
#undef DIMWISE_DETAIL_OTHER_NAME
#undef DIMWISE_DETAIL_OTHER_MEMBER

}  // namespace dimwise
