// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/record.hpp -- records: what an evaluation needs to know of a node, without its type.
//
// Layer: eval. A record says which operation computes a value, of which shape and from which records; operations are
// functions that the library compiles once. Records are formed when an expression is evaluated (records/form.hpp) and
// live as long as the evaluation: they point to the nodes.
// Tests: tests/eval/records.test.cpp
#pragma once

#include <dimwise/eval/context.hpp>
#include <dimwise/eval/lowering/views.hpp>

#include <string>

namespace dimwise {

class evaluation_plan;  // eval/plan/steps.hpp

}  // namespace dimwise

namespace dimwise::detail {

// The axes of a record's value, and where their extents are.
struct record_shape {
  name_list axes;
  const extent_source* sources;  // in slots; null: `write` knows
  void (*write)(const void* extents, axis* to);
  bool masked;
};

// One evaluation, or one plan, which holds no memory.
struct walk {
  context& cx;
  evaluation_plan* plan;  // null: it computes

  [[nodiscard]] bool computes() const { return plan == nullptr; }
};

template <class C>
struct record;

// How records are computed in C. What has `read` is in memory already, or becomes a buffer of its own.
template <class C>
struct record_operation {
  lowered<C> (*read)(walk& w, const record<C>& r, bool as_weights);
  void (*write)(walk& w, const record<C>& r, target<C> to);
};

// The elements of a mask.
struct record_mask {
  const name_list* axes;
  lowered<bool> (*read)(walk& w, const void* mask, const void* extents);
  const void* mask;
  const void* extents;
};

template <class C>
struct record {
  const record_operation<C>* operation;
  const record_shape* shape;
  const void* extents;  // slots, where `shape` has sources
  const char* name;     // of the operation
  const void* facts;    // of the operation: one constant for each type of node
  const void* node;
  std::string (*describe)(const void* node);  // of a plan alone
  const record* child[2];
  record_mask mask;
  double number;                 // ε, or the number itself
  std::ptrdiff_t index;          // of a view
  kernels::left_out leaves_out;  // by a product, of what the other operand has
  bool may_hide;                 // that is known when it is read
  bool is_float;                 // its elements are, whatever C is
  bool has_kernels;              // in C

  void write_extents(axis* to) const {
    if (shape->sources != nullptr) {
      write_extents_from(to);
    } else {
      shape->write(extents, to);
    }
  }
  [[nodiscard]] std::size_t rank() const { return shape->axes.size; }

 private:
  void write_extents_from(axis* to) const {
    detail::write_extents(shape->sources, shape->axes.size, static_cast<const slot*>(extents), to);
  }
};

// A record as memory to read, and computed into a target.
template <class C>
lowered<C> read_record(walk& w, const record<C>& r, bool as_weights = false);
template <class C>
void write_record(walk& w, const record<C>& r, target<C> to);

// ---- the operations -------------------------------------------------------------------------------------------------

// A leaf that shares its memory; a number; views.
template <class C>
lowered<C> read_shared_leaf(walk& w, const record<C>& r, bool as_weights);
template <class C>
void write_number(walk& w, const record<C>& r, target<C> to);
template <class C>
lowered<C> read_view(walk& w, const record<C>& r, bool as_weights);

// Products.
struct product_facts_of_record {
  name_list result;  // as the operands call its axes
  name_list sums;
  name_list over;  // the dimensions, for words
};
template <class C>
void write_product(walk& w, const record<C>& r, target<C> to);

// Rows, and reductions of them; facts: the axes that they go over.
template <class C, class How>
void write_rows(walk& w, const record<C>& r, target<C> to);
template <class C, class How>
void write_total(walk& w, const record<C>& r, target<C> to);

// Element by element; facts: the code of the function.
template <class C>
void write_unary(walk& w, const record<C>& r, target<C> to);
template <class C>
void write_binary(walk& w, const record<C>& r, target<C> to);
template <class C>
void write_masked(walk& w, const record<C>& r, target<C> to);
template <class C>
void write_biased(walk& w, const record<C>& r, target<C> to);

namespace records {

template <class C>
inline constexpr record_operation<C> shared_leaf = {&read_shared_leaf<C>, nullptr};
template <class C>
inline constexpr record_operation<C> number = {nullptr, &write_number<C>};
template <class C>
inline constexpr record_operation<C> view = {&read_view<C>, nullptr};
template <class C>
inline constexpr record_operation<C> product = {nullptr, &write_product<C>};
template <class C, class How>
inline constexpr record_operation<C> rows = {nullptr, &write_rows<C, How>};
template <class C, class How>
inline constexpr record_operation<C> total = {nullptr, &write_total<C, How>};
template <class C>
inline constexpr record_operation<C> unary = {nullptr, &write_unary<C>};
template <class C>
inline constexpr record_operation<C> binary = {nullptr, &write_binary<C>};
template <class C>
inline constexpr record_operation<C> masked = {nullptr, &write_masked<C>};
template <class C>
inline constexpr record_operation<C> biased = {nullptr, &write_biased<C>};

}  // namespace records

}  // namespace dimwise::detail
