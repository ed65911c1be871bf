// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/other_names.hpp -- names of operations in NumPy, PyTorch and Eigen: each gives one error that says
// which dimwise operation to use.
//
// Layer: tensor.
//
//   matmul(x, w)      // ERROR_R1_operation_has_another_name<other_library::matmul, use_instead<op::contract>>
//   x.reshape(2, 3)   // ERROR_R1_operation_has_another_name<other_library::reshape, use_instead<op::split, op::merge>>
//
// To add a name, add a row to the table. Tests: tests/other_names/check.py (every row),
// tests/compile_fail/arguments/, tests/expr/name_lookup.test.cpp
#pragma once

#include <dimwise/shape/verdict.hpp>
#include <dimwise/tensor/misused.hpp>
#include <dimwise/tensor/refused_shape.hpp>

#include <initializer_list>

// Each row has a name and the dimwise operations to use instead. The column says what the name becomes:
//
//   SCOPED    a member of operands, and a function of namespace `dimwise`
//   FUNCTION  a member, and a function that only argument-dependent lookup finds: a user's function, type or variable
//             of this name wins
//   MEMBER    a member alone: dimwise has a function of this name, or programs often have one
//   DATA      a data member, for names without a call, such as `x.T`
#define DIMWISE_DETAIL_OTHER_NAMES(SCOPED, FUNCTION, MEMBER, DATA) \
  /* products */                                                   \
  SCOPED(matmul, op::contract)                                     \
  SCOPED(bmm, op::contract)                                        \
  SCOPED(einsum, op::contract)                                     \
  FUNCTION(mm, op::contract)                                       \
  FUNCTION(mv, op::contract)                                       \
  FUNCTION(dot, op::contract)                                      \
  FUNCTION(vdot, op::contract)                                     \
  FUNCTION(inner, op::contract)                                    \
  SCOPED(tensordot, op::contract)                                  \
  FUNCTION(addmm, op::contract)                                    \
  SCOPED(baddbmm, op::contract)                                    \
  FUNCTION(linear, op::contract)                                   \
  SCOPED(scaled_dot_product_attention, op::scores, op::contract)   \
  MEMBER(outer, op::outer)                                         \
  /* shapes */                                                     \
  SCOPED(reshape, op::split, op::merge)                            \
  FUNCTION(view, op::split, op::merge)                             \
  FUNCTION(flatten, op::merge)                                     \
  FUNCTION(unflatten, op::split)                                   \
  FUNCTION(ravel, op::merge)                                       \
  SCOPED(rearrange, op::split, op::merge, op::permute)             \
  FUNCTION(resize, op::split, op::merge)                           \
  SCOPED(transpose, op::permute)                                   \
  SCOPED(swapaxes, op::permute)                                    \
  FUNCTION(swapdims, op::permute)                                  \
  SCOPED(moveaxis, op::permute)                                    \
  FUNCTION(movedim, op::permute)                                   \
  FUNCTION(adjoint, op::permute)                                   \
  FUNCTION(t, op::permute)                                         \
  MEMBER(permute, op::permute)                                     \
  SCOPED(unsqueeze, op::broadcast)                                 \
  SCOPED(expand_dims, op::broadcast)                               \
  FUNCTION(expand, op::broadcast)                                  \
  FUNCTION(expand_as, op::broadcast_like)                          \
  FUNCTION(broadcast_to, op::broadcast)                            \
  FUNCTION(repeat, op::broadcast)                                  \
  SCOPED(repeat_interleave, op::broadcast)                         \
  FUNCTION(tile, op::broadcast)                                    \
  MEMBER(broadcast, op::broadcast)                                 \
  SCOPED(squeeze, op::at)                                          \
  FUNCTION(select, op::at)                                         \
  FUNCTION(unbind, op::at)                                         \
  MEMBER(row, op::at)                                              \
  MEMBER(col, op::at)                                              \
  FUNCTION(narrow, op::slice)                                      \
  FUNCTION(chunk, op::slice, op::split)                            \
  MEMBER(split, op::slice, op::split)                              \
  MEMBER(slice, op::slice)                                         \
  MEMBER(block, op::slice)                                         \
  MEMBER(segment, op::slice)                                       \
  MEMBER(head, op::slice)                                          \
  MEMBER(tail, op::slice)                                          \
  MEMBER(topRows, op::slice)                                       \
  MEMBER(bottomRows, op::slice)                                    \
  MEMBER(middleRows, op::slice)                                    \
  MEMBER(leftCols, op::slice)                                      \
  MEMBER(rightCols, op::slice)                                     \
  MEMBER(middleCols, op::slice)                                    \
  SCOPED(cat, op::concat)                                          \
  FUNCTION(concatenate, op::concat)                                \
  SCOPED(hstack, op::concat)                                       \
  SCOPED(vstack, op::concat)                                       \
  FUNCTION(pad, op::concat)                                        \
  FUNCTION(unfold, op::unroll)                                     \
  FUNCTION(tril, op::causal)                                       \
  FUNCTION(triu, op::causal)                                       \
  MEMBER(roll, op::roll)                                           \
  MEMBER(flip, op::flip)                                           \
  MEMBER(diagonal, op::diagonal)                                   \
  /* indices and masks */                                          \
  SCOPED(masked_fill, op::masked)                                  \
  SCOPED(masked_select, op::where)                                 \
  SCOPED(index_select, op::gather)                                 \
  FUNCTION(embedding, op::gather)                                  \
  FUNCTION(index_add, op::scatter_add)                             \
  FUNCTION(scatter, op::scatter_add)                               \
  MEMBER(take, op::gather)                                         \
  MEMBER(gather, op::gather)                                       \
  MEMBER(scatter_add, op::scatter_add)                             \
  MEMBER(where, op::where)                                         \
  MEMBER(one_hot, op::one_hot)                                     \
  /* reductions and normalisations */                              \
  MEMBER(sum, op::sum)                                             \
  MEMBER(mean, op::mean)                                           \
  MEMBER(prod, op::prod)                                           \
  MEMBER(max, op::max)                                             \
  MEMBER(min, op::min)                                             \
  FUNCTION(amax, op::max)                                          \
  FUNCTION(amin, op::min)                                          \
  MEMBER(maxCoeff, op::max)                                        \
  MEMBER(minCoeff, op::min)                                        \
  MEMBER(rowwise, op::sum, op::mean, op::max)                      \
  MEMBER(colwise, op::sum, op::mean, op::max)                      \
  MEMBER(argmax, op::argmax)                                       \
  FUNCTION(argmin, op::argmax)                                     \
  FUNCTION(topk, op::top_k)                                        \
  MEMBER(sort, op::sort)                                           \
  MEMBER(argsort, op::argsort)                                     \
  MEMBER(logsumexp, op::logsumexp)                                 \
  MEMBER(cumsum, op::cumsum)                                       \
  MEMBER(cumprod, op::cumprod)                                     \
  MEMBER(norm, op::norm)                                           \
  MEMBER(squaredNorm, op::norm)                                    \
  FUNCTION(normalize, op::norm, op::standardize)                   \
  MEMBER(normalized, op::norm, op::standardize)                    \
  FUNCTION(var, op::standardize)                                   \
  MEMBER(std, op::standardize)                                     \
  FUNCTION(all, op::sum, op::indicator)                            \
  FUNCTION(any, op::sum, op::indicator)                            \
  FUNCTION(allclose, op::max, op::abs)                             \
  MEMBER(isApprox, op::max, op::abs)                               \
  SCOPED(array_equal, op::sum, op::indicator)                      \
  MEMBER(softmax, op::softmax)                                     \
  MEMBER(log_softmax, op::log_softmax)                             \
  MEMBER(layer_norm, op::layer_norm)                               \
  FUNCTION(native_layer_norm, op::layer_norm)                      \
  /* element by element */                                         \
  MEMBER(exp, op::exp)                                             \
  MEMBER(log, op::log)                                             \
  MEMBER(tanh, op::tanh)                                           \
  MEMBER(erf, op::erf)                                             \
  MEMBER(sqrt, op::sqrt)                                           \
  MEMBER(sin, op::sin)                                             \
  MEMBER(cos, op::cos)                                             \
  MEMBER(abs, op::abs)                                             \
  MEMBER(relu, op::relu)                                           \
  MEMBER(sigmoid, op::sigmoid)                                     \
  MEMBER(softplus, op::softplus)                                   \
  MEMBER(square, op::square)                                       \
  MEMBER(pow, op::pow)                                             \
  MEMBER(clamp, op::clamp)                                         \
  FUNCTION(clip, op::clamp)                                        \
  FUNCTION(rsqrt, op::map)                                         \
  MEMBER(add, op::elementwise)                                     \
  MEMBER(sub, op::elementwise)                                     \
  MEMBER(mul, op::elementwise)                                     \
  FUNCTION(multiply, op::elementwise)                              \
  MEMBER(div, op::divide)                                          \
  MEMBER(maximum, op::max)                                         \
  MEMBER(minimum, op::min)                                         \
  MEMBER(eq, op::compare)                                          \
  MEMBER(array, op::elementwise)                                   \
  MEMBER(matrix, op::contract)                                     \
  MEMBER(cwiseProduct, op::elementwise)                            \
  MEMBER(cwiseQuotient, op::divide)                                \
  MEMBER(cwiseAbs, op::abs)                                        \
  MEMBER(unaryExpr, op::map)                                       \
  MEMBER(apply, op::map)                                           \
  /* extents and elements */                                       \
  MEMBER(sizes, op::extent_of, op::describe)                       \
  MEMBER(dim, op::describe)                                        \
  MEMBER(dimension, op::extent_of)                                 \
  MEMBER(dimensions, op::extent_of, op::describe)                  \
  MEMBER(rows, op::extent_of)                                      \
  MEMBER(cols, op::extent_of)                                      \
  MEMBER(numel, op::size_of)                                       \
  MEMBER(item, op::evaluate)                                       \
  MEMBER(value, op::evaluate)                                      \
  MEMBER(eval, op::evaluate)                                       \
  MEMBER(clone, op::evaluate)                                      \
  MEMBER(copy, op::evaluate)                                       \
  MEMBER(contiguous, op::evaluate)                                 \
  MEMBER(numpy, op::evaluate)                                      \
  MEMBER(cpu, op::evaluate)                                        \
  MEMBER(cuda, op::evaluate)                                       \
  MEMBER(to, op::widened, op::rounded)                             \
  MEMBER(type, op::widened, op::rounded)                           \
  MEMBER(astype, op::widened, op::rounded)                         \
  MEMBER(cast, op::widened, op::rounded)                           \
  MEMBER(half, op::rounded)                                        \
  /* gradients */                                                  \
  MEMBER(backward, op::gradient)                                   \
  MEMBER(requires_grad_, op::gradient)                             \
  MEMBER(detach, op::plain)                                        \
  /* without a call */                                             \
  DATA(T, op::permute)                                             \
  DATA(mT, op::permute)                                            \
  DATA(H, op::permute)                                             \
  DATA(shape, op::extent_of, op::describe)                         \
  DATA(ndim, op::describe)                                         \
  DATA(dtype, op::describe)                                        \
  DATA(device, op::describe)                                       \
  DATA(grad, op::gradient)                                         \
  DATA(requires_grad, op::gradient)

namespace dimwise {

/// In an error: the dimwise operations to use instead.
template <class... Operations>
struct use_instead;

/// In an error: a name of the table. A class, because compilers propose names of namespaces for misspelled names.
struct other_library {
  struct size;
#define DIMWISE_DETAIL_DECLARED(name, ...) struct name;
  DIMWISE_DETAIL_OTHER_NAMES(DIMWISE_DETAIL_DECLARED, DIMWISE_DETAIL_DECLARED, DIMWISE_DETAIL_DECLARED,
                             DIMWISE_DETAIL_DECLARED)
#undef DIMWISE_DETAIL_DECLARED
};

namespace detail {

// Any argument of a call, a list in braces as well.
struct any_given {
  any_given(std::initializer_list<any_given>);  // implicit, declared only
  template <class X>
  any_given(const X&) {}  // implicit; defined, because g++ rejects a lambda otherwise
};

#if defined(DIMWISE_DETAIL_MESSAGES)
#define DIMWISE_DETAIL_USE(Error) noexcept(sizeof(Error) > 0)
#else
#define DIMWISE_DETAIL_USE(Error) = delete
#endif
#define DIMWISE_DETAIL_OTHER_NAME(name, ...) \
  ERROR_R1_operation_has_another_name<other_library::name, use_instead<__VA_ARGS__>>

// A data member of another library. Each use of its value is the error. The type is complete, because the library asks
// what type an argument is.
template <class Error>
struct other_data {
  other_data(const other_data&) DIMWISE_DETAIL_USE(Error);
  template <class T>
    requires(!std::is_same_v<T, any_given>)
  operator T() const DIMWISE_DETAIL_USE(Error);  // implicit, as every conversion is the error
  template <class... Given>
  DIMWISE_DETAIL_RESULT(Error)
  operator()(const Given&...) const DIMWISE_DETAIL_SAYS(Error);
  template <class Place>
  DIMWISE_DETAIL_RESULT(Error)
  operator[](const Place&) const DIMWISE_DETAIL_SAYS(Error);
  DIMWISE_DETAIL_RESULT(Error) operator-() const DIMWISE_DETAIL_SAYS(Error);
#define DIMWISE_DETAIL_OPERATOR(symbol)                                                                            \
  template <class Other>                                                                                           \
  friend DIMWISE_DETAIL_RESULT(Error) operator symbol(const other_data&, const Other&) DIMWISE_DETAIL_SAYS(Error); \
  template <class Other>                                                                                           \
    requires(!is_other_data<Other>)                                                                                \
  friend DIMWISE_DETAIL_RESULT(Error) operator symbol(const Other&, const other_data&) DIMWISE_DETAIL_SAYS(Error);
  DIMWISE_DETAIL_OPERATOR(+)
  DIMWISE_DETAIL_OPERATOR(-)
  DIMWISE_DETAIL_OPERATOR(*)
  DIMWISE_DETAIL_OPERATOR(/)
  DIMWISE_DETAIL_OPERATOR(+=)
  DIMWISE_DETAIL_OPERATOR(-=)
  DIMWISE_DETAIL_OPERATOR(*=)
  DIMWISE_DETAIL_OPERATOR(/=)
  DIMWISE_DETAIL_OPERATOR(==)
  DIMWISE_DETAIL_OPERATOR(!=)
  DIMWISE_DETAIL_OPERATOR(<)
  DIMWISE_DETAIL_OPERATOR(<=)
  DIMWISE_DETAIL_OPERATOR(>)
  DIMWISE_DETAIL_OPERATOR(>=)
#undef DIMWISE_DETAIL_OPERATOR
  template <class Stream>
  friend DIMWISE_DETAIL_RESULT(Error) operator<<(Stream&, const other_data&) DIMWISE_DETAIL_SAYS(Error);
  // The functions of the table take it by reference.
#define DIMWISE_DETAIL_OF_DATA(name, ...)   \
  template <class... Named, class... Given> \
  friend DIMWISE_DETAIL_RESULT(Error) name(const Given&...) DIMWISE_DETAIL_SAYS(Error);
#define DIMWISE_DETAIL_NONE(name, ...)
  DIMWISE_DETAIL_OTHER_NAMES(DIMWISE_DETAIL_OF_DATA, DIMWISE_DETAIL_OF_DATA, DIMWISE_DETAIL_NONE, DIMWISE_DETAIL_NONE)
#undef DIMWISE_DETAIL_OF_DATA
};
#undef DIMWISE_DETAIL_USE

#define DIMWISE_DETAIL_MEMBER(name, ...)                                                            \
  template <class... Named, class Error = DIMWISE_DETAIL_OTHER_NAME(name, __VA_ARGS__)>             \
  DIMWISE_DETAIL_MEMBER_RESULT(Error)                                                               \
  name(const any_given& = 0, const any_given& = 0, const any_given& = 0, const any_given& = 0, ...) \
      const DIMWISE_DETAIL_MEMBER_SAYS(Error);
#define DIMWISE_DETAIL_FUNCTION(name, ...) \
  DIMWISE_DETAIL_MEMBER(name, __VA_ARGS__) \
  template <class... Named>                \
  friend DIMWISE_DETAIL_OTHER_NAME(name, __VA_ARGS__) name(...);
#define DIMWISE_DETAIL_DATA(name, ...) static const other_data<DIMWISE_DETAIL_OTHER_NAME(name, __VA_ARGS__)> name;
struct other_names {
  DIMWISE_DETAIL_OTHER_NAMES(DIMWISE_DETAIL_MEMBER, DIMWISE_DETAIL_FUNCTION, DIMWISE_DETAIL_MEMBER, DIMWISE_DETAIL_DATA)
  // Without a macro: clang shows the tensor's own `size` as well.
  template <class... Named, class Error = DIMWISE_DETAIL_OTHER_NAME(size, op::extent_of, op::size_of)>
  DIMWISE_DETAIL_MEMBER_RESULT(Error)
  size(const any_given& = 0, const any_given& = 0, const any_given& = 0, ...) const DIMWISE_DETAIL_MEMBER_SAYS(Error);
};
#undef DIMWISE_DETAIL_DATA
#undef DIMWISE_DETAIL_FUNCTION
#undef DIMWISE_DETAIL_MEMBER

}  // namespace detail

// An ellipsis is the worst conversion: a user's function of the same name wins. It does not take a list in braces,
// which has no type.
namespace no_adl {
#define DIMWISE_DETAIL_SCOPED(name, ...)                                                \
  template <class... Named, class Error = DIMWISE_DETAIL_OTHER_NAME(name, __VA_ARGS__)> \
  Error name(...);                                                                      \
  template <class... Named, class Error = DIMWISE_DETAIL_OTHER_NAME(name, __VA_ARGS__)> \
  Error name(std::initializer_list<detail::any_given>, ...);                            \
  template <class... Named, class Error = DIMWISE_DETAIL_OTHER_NAME(name, __VA_ARGS__)> \
  Error name(const detail::any_given&, std::initializer_list<detail::any_given>, ...);
DIMWISE_DETAIL_OTHER_NAMES(DIMWISE_DETAIL_SCOPED, DIMWISE_DETAIL_NONE, DIMWISE_DETAIL_NONE, DIMWISE_DETAIL_NONE)
#undef DIMWISE_DETAIL_SCOPED
#undef DIMWISE_DETAIL_NONE
#undef DIMWISE_DETAIL_OTHER_NAME
}  // namespace no_adl

}  // namespace dimwise

#undef DIMWISE_DETAIL_OTHER_NAMES
