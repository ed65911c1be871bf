// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/explain/shapes.hpp -- shapes in words: dimensions with their extents, marks, and why a mark comes and
// goes.
//
// Layer: expr. Ordinary code over strings, so that `explain` instantiates next to nothing for each node.
// Tests: tests/viz/explain.test.cpp
#pragma once

#include <dimwise/support/library.hpp>
#include <dimwise/tensor/operand.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY std::string short_name(text name);

template <class D>
std::string name_in_words() {
  return short_name(dimension_name<D>());
}

struct dim_description {
  std::string name;
  ability abilities;
  extent_t extent;
  std::ptrdiff_t origin;
};
struct mark_description {
  int kind;          // mark_order
  std::string dims;  // "d_k", or "a, b"
  std::string name;  // "raw<d_k>"
};
struct shape_description {
  std::vector<dim_description> dims;
  std::vector<mark_description> marks;
  std::size_t element_bytes = 0;
};
// The memory that the elements would take.
DIMWISE_DETAIL_LIBRARY std::size_t bytes_of(const shape_description& s);

DIMWISE_DETAIL_LIBRARY std::string joined_names(const std::vector<std::string>& names, const char* between = ", ");
DIMWISE_DETAIL_LIBRARY std::string in_words(const shape_description& s);

template <class D, class Extents>
std::ptrdiff_t given_origin(const Extents& e) {
  if constexpr (is_in<D, typename Extents::atoms>) {
    return e.template of_atom<D>().origin;
  } else {
    return unknown_origin;
  }
}

template <class List>
struct names_in_list;
template <class... T>
struct names_in_list<list<T...>> {
  static std::vector<std::string> get() { return {name_in_words<T>()...}; }
  template <class Extents>
  static std::vector<dim_description> dims(const Extents& e) {
    (void)e;
    return {dim_description{name_in_words<T>(), T::abilities, e.template extent<T>(), given_origin<T>(e)}...};
  }
  static std::vector<mark_description> marks() {
    return {mark_description{mark_order<T>, joined_names(names_in_list<mark_dims_t<T>>::get()), name_in_words<T>()}...};
  }
};

// The bytes of an element; what is tracked is stored as its value is.
template <class T>
inline constexpr std::size_t element_bytes = sizeof(T);
template <class T>
  requires requires { typename T::value_type; } && (!std::is_default_constructible_v<T>)
inline constexpr std::size_t element_bytes<T> = sizeof(typename T::value_type);

template <class X>
shape_description shape_in_words(const X& x) {
  return {names_in_list<dims_t<shape_of<X>>>::dims(x.extents()), names_in_list<marks_t<shape_of<X>>>::marks(),
          element_bytes<value_of<X>>};
}

DIMWISE_DETAIL_LIBRARY bool has_name(const std::vector<dim_description>& dims, const std::string& name);
DIMWISE_DETAIL_LIBRARY bool has_mark(const std::vector<mark_description>& marks, const std::string& name);
DIMWISE_DETAIL_LIBRARY std::string short_number(double x);

// An operand that was already explained: "step 3", or "the number 0.25".
struct said {
  std::string reference;
  shape_description shape;
  std::size_t step = 0;  // its number; 0 for an operand that is not a step
};

// "step 1 and step 2".
DIMWISE_DETAIL_LIBRARY std::string references(const std::vector<said>& operands, const char* between);

// The dimensions of `a` that `b` lacks and that are not summed over; only those with one of `wanted`.
DIMWISE_DETAIL_LIBRARY std::string free_names(const shape_description& a, const shape_description& b,
                                              const std::vector<std::string>& over,
                                              ability wanted = static_cast<ability>(~0U));
DIMWISE_DETAIL_LIBRARY std::string shared_names(const shape_description& a, const shape_description& b,
                                                const std::vector<std::string>& over);

// One step: what is done to which operands, what comes out, and why marks came and went.
struct step_description {
  std::string operation;
  std::vector<std::string> over;
  std::vector<said> operands;
  shape_description result;
  std::string note = {};                  // what else it takes: a mask, a scale
  std::string what = {};                  // the operation in words
  std::vector<std::string> reasons = {};  // "raw<d_k>: free positions on both sides …"
};

inline bool is_product_step(const step_description& s) {
  return s.operation == "contract" || s.operation == "scores" || s.operation == "outer";
}
// Of a product: one for each element of the result and each term of its sum.
DIMWISE_DETAIL_LIBRARY std::size_t multiply_adds(const step_description& s);

DIMWISE_DETAIL_LIBRARY std::string why_raw(const step_description& s);
DIMWISE_DETAIL_LIBRARY std::string why_set(const mark_description& m, const step_description& s);
DIMWISE_DETAIL_LIBRARY std::string why_ended(const mark_description& m, const step_description& s);

DIMWISE_DETAIL_LIBRARY std::string angle(const std::string& operation, const std::vector<std::string>& over);
DIMWISE_DETAIL_LIBRARY std::string product_in_words(const std::string& operation, const step_description& s);
// The dimensions of the result along which an operand repeats.
DIMWISE_DETAIL_LIBRARY std::string repeated_in_words(const step_description& s);

// The steps, in the order in which they are formed.
class derivation {
 public:
  said add(const std::string& what, step_description step);
  [[nodiscard]] const std::vector<step_description>& steps() const { return steps_; }
  // The descriptions of formulas that are used more than once, by their numbers; `explain()` prints them once.
  template <class F>
  said once(std::uint64_t number, const F& explain) {
    if (const said* const known = words_of_formula(number)) { return *known; }
    said words = explain();
    keep_words(number, words);
    return words;
  }

 private:
  // Null before the formula is said.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY const said* words_of_formula(std::uint64_t number) const;
  DIMWISE_DETAIL_LIBRARY void keep_words(std::uint64_t number, const said& words);
  static bool replaced(const mark_description& m, const step_description& s);

  std::vector<step_description> steps_{};
  std::vector<std::pair<std::uint64_t, said>> formulas_{};
};

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/expr/explain/shapes_definitions.hpp>
#endif
