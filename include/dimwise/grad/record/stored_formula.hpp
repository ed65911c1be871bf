// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/stored_formula.hpp -- `tensor y = expr;` with tracked operands: the value and its record.
//
// Layer: grad. The library computes and sends any formula; what it needs of the formula's type is a constant.
// Tests: tests/grad/tracked.test.cpp, tests/grad/operations/attention.test.cpp
#pragma once

#include <dimwise/eval/records/form.hpp>
#include <dimwise/eval/written/erased.hpp>
#include <dimwise/grad/record/adjoints.hpp>
#include <dimwise/grad/record/recorded_value.hpp>

namespace dimwise::detail {

// A formula that is computed in T, without its type.
template <class T>
struct formula_type {
  std::size_t records;
  const record<T>* (*form)(record_stack<T>& all, const void* formula);
  void* (*copy)(const void* formula);
  void (*destroy)(void* copied);
  bool holds_erased;
};
template <class T, class E>
const record<T>* form_of_type(record_stack<T>& all, const void* formula) {
  return form_child<evaluation_pass>(all, *static_cast<const E*>(formula));
}
template <class E>
void* copy_of_type(const void* formula) {
  return new E(*static_cast<const E*>(formula));
}
template <class E>
void destroy_of_type(void* copied) {
  delete static_cast<E*>(copied);
}
template <class T, class E>
inline constexpr formula_type<T> formula_type_of = {records_in<E>, &form_of_type<T, E>, &copy_of_type<E>,
                                                    &destroy_of_type<E>, holds_erased<E>};

// The memory of a value.
template <class T>
struct stored_elements_of {
  const value_axes& axes;
  std::size_t count;
  T* first;
  bool are_computed;                // by a plan of the compiler
  const shared_storage<T>* shared;  // null if the elements are inside a tensor
};

// Computes the formula into a value, and records how it was computed. Gives the value's record; null if nothing in the
// formula was recorded. Throws `gradient_error` where something in it was recorded by another call.
template <class T>
origin_pointer store_formula(const formula_type<T>& type, const void* formula, const stored_elements_of<T>& to);

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/grad/record/stored_formula_definitions.hpp>
#endif
