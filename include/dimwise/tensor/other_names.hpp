// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/other_names.hpp -- names of operations in other libraries; each gives one error with the dimwise name.
//
// Layer: tensor. Member functions exist only for operands. The free functions are members of `no_adl`, are viable only
// if no other function is, and have names that programs rarely use otherwise: a user's function of the same name wins.
// Tests: tests/compile_fail/arguments/
#pragma once

#include <dimwise/shape/verdict.hpp>

namespace dimwise {

/// In an error: the dimwise operations to use instead.
template <class... Words>
struct use_instead;

// Operations without rules.
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

// An ellipsis is the worst conversion: a user's function of the same name wins.
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
