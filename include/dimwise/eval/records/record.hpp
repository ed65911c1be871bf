// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/record.hpp -- records: what an evaluation needs to know of a node, without its type.
//
// Layer: eval. A record says which operation computes a value, of which shape and from which records; operations are
// functions that the library compiles once. Records are formed when an expression is evaluated (records/form.hpp) and
// live as long as the evaluation: they point to the nodes.
// Tests: tests/eval/records.test.cpp
#pragma once

#include <dimwise/eval/attention/counts.hpp>
#include <dimwise/eval/context.hpp>
#include <dimwise/eval/lowering/views.hpp>
#include <dimwise/expr/rows/nodes.hpp>

#include <cstdint>
#include <string>

namespace dimwise {

class evaluation_plan;  // eval/plan/steps.hpp

}  // namespace dimwise

namespace dimwise::detail {

// The facts about an axis besides its name.
struct axis_facts {
  ability abilities;
  bool is_composite;
};
// The axes of a record's value, and where their extents are.
struct record_shape {
  name_list axes;
  const axis_facts* facts;
  const extent_source* sources;  // in slots; null: `write` knows
  void (*write)(const void* extents, axis* to);
  bool masked;

  void write_extents(const void* extents, axis* to) const {
    if (sources != nullptr) {
      detail::write_extents(sources, axes.size, static_cast<const slot*>(extents), to);
    } else {
      write(extents, to);
    }
  }
};

// One evaluation, or one plan, which holds no memory.
struct walk {
  context& cx;
  evaluation_plan* plan;  // null: it computes

  [[nodiscard]] bool computes() const { return plan == nullptr; }
};

template <class Pass>
[[gnu::always_inline]] inline walk walk_of(Pass& pass) {
  if constexpr (Pass::computes) {
    return {pass.cx, nullptr};
  } else {
    return {pass.cx, &pass.to};
  }
}
template <class Pass>
[[gnu::always_inline]] inline Pass pass_of(const walk& w) {
  if constexpr (Pass::computes) {
    return {w.cx};
  } else {
    return {w.cx, *w.plan};
  }
}

template <class C>
struct record;
class recorded_gradient;  // grad/record/recorded.hpp

// The kind of an operation, for the patterns that take several records together.
enum class record_kind : unsigned char {
  foreign,  // a node that computes itself
  stored,   // the same, of elements that kernels read as they are stored
  bias,     // made from positions
  leaf,
  number,
  view,
  product,
  softmax,
  standardize,
  root_mean_square,
  quantised,  // numbers rounded to 8 bits
  rows,
  total,
  unary,
  binary,
  function,  // of the user's own
  rounded,
  masked,
  biased,
  other  // that no pattern has
};
// How records are computed in C. What has `read` is in memory already, or becomes a buffer in a way of its own.
template <class C>
struct record_operation {
  record_kind kind;
  lowered<C> (*read)(walk& w, const record<C>& r, bool as_weights);
  void (*write)(walk& w, const record<C>& r, target<C> to);
};

// Sends `g`, the gradient of the value of `r`, to what is tracked below it (grad/record/adjoints.hpp).
template <class C>
using adjoint_function = void(walk& w, const record<C>& r, const record<C>& g);

struct mask_sink;  // records/attention.hpp

// A mask, or a condition: its elements, and what attention makes of it.
struct mask_facts_of_record {
  name_list axes;
  chain_counts counts;
  lowered<bool> (*read)(walk& w, const void* mask, const void* extents);
  void (*take)(const mask_sink& to, walk& w, const void* mask, const void* extents);
};

template <class C>
struct record {
  const record_operation<C>* operation;
  const record_shape* shape;
  const void* extents;  // slots, where `shape` has sources
  const char* name;     // of the operation
  const void* facts;    // of the operation: a constant for each type of node
  const void* node;
  const void* node_extents;
  const record* child[3];
  adjoint_function<C>* send;  // null where nothing is tracked
  recorded_gradient* origin;  // of a tracked leaf; null for a constant
  // Whether something below a tracked node that computes itself is part of a record; null for other nodes.
  bool (*has_origin)(const void* node, std::uint64_t record);
  const mask_facts_of_record* mask_facts;
  const void* mask;                           // or the user's function
  std::string (*describe)(const void* node);  // of a plan alone
  const void* described;
  double number;                 // ε, or the number itself
  std::ptrdiff_t index;          // of a view; the code of a function
  kernels::left_out leaves_out;  // by a product, of what the other operand has
  bool is_float;                 // its elements are, whatever C is
  bool has_kernels;              // in C

  [[nodiscard]] record_kind kind() const { return operation->kind; }
  [[nodiscard]] std::size_t rank() const { return shape->axes.size; }
  template <class Facts>
  [[nodiscard]] const Facts& facts_as() const {
    return *static_cast<const Facts*>(facts);
  }
  void write_extents(axis* to) const { shape->write_extents(extents, to); }
};

// A record as memory to read, and computed into a target.
template <class C>
lowered<C> read_record(walk& w, const record<C>& r, bool as_weights = false);
template <class C>
void write_record(walk& w, const record<C>& r, target<C> to);

// ---- facts of operations -------------------------------------------------------------------------------------------

// Ids, which `node` are, and the dimension in which they name places.
struct id_facts_of_record {
  name_list dimension;
  name_of name;  // of the dimension, for words
  name_list id_axes;
  lowered<std::size_t> (*read)(walk& w, const void* ids);  // null: there are none
};

struct product_facts_of_record {
  name_list result;  // as the operands call its axes
  name_list sums;
  name_list over;  // the dimensions, for words
};

// A function of the user's own: of each element, and of scores within a kernel; null where it cannot be called there.
class own_function;
template <class C>
struct function_facts {
  void (*loop)(const kernels::loop_nest<2>& nest, const void* f, C* to, const C* x);
  void (*call)(own_function& from, const void* f);
};

// Slopes of heads: −slope · |distance|.
struct slopes_of_record {
  name_list axes;
  axis at[max_rank];
  extent_t heads;
  std::ptrdiff_t distance;
};
struct bias_facts_of_record {
  void (*slopes)(const void* bias, const void* extents, slopes_of_record& to);  // null: it has other elements
};

// Nodes whose elements kernels read as they are stored (records/stored.hpp).
template <class X>
inline constexpr bool is_stored_node = false;
// Elements as they are stored.
struct stored_elements {
  operand_layout layout;
  const void* data = nullptr;
  aligned_vector<unsigned char> copied{};  // where a view of them had to be copied
};
// Keys or values that attention reads as they are stored.
struct stored_rows {
  stored_elements elements;
  kernels::quantised_data data{};
  std::size_t bytes = 0;  // of an element
  lowered<float> scale;
  name_list scale_axes{nullptr, 0};
};
struct product_chain_of_records;  // records/products_definitions.hpp
// Weights that a product reads as they are stored.
struct stored_weights {
  kernels::number_format format;
  std::size_t bytes;       // of an element
  name_of packed;          // the axis along which a byte holds two numbers; null: there is none
  const name_list* along;  // the row whose blocks have a scale each; null: there are no scales
  void (*read)(walk& w, const void* node, stored_elements& numbers, stored_elements& scales);
  // Child `place` of the chain's product by its kernel, with what follows; false where it does not take them.
  bool (*multiply)(walk& w, const record<float>& r, const product_chain_of_records& chain, std::size_t place,
                   target<float> to);
};
struct stored_facts_of_record {
  bool is_bfloat16;  // without a scale
  // False where attention cannot read them along `key`.
  bool (*read)(walk& w, const void* node, name_of key, stored_rows& to);
  const stored_weights* weights;  // null: products read floats
};

// The index of the operation `rounded`.
inline constexpr std::ptrdiff_t rounded_to_bfloat16 = 0;
inline constexpr std::ptrdiff_t rounded_to_float16 = 1;

// The memory of a tensor by the names of its axes.
template <class T>
struct named_memory_of {
  T* data = nullptr;
  axis axes[max_rank]{};
  name_list names{nullptr, 0};
};
using named_memory = named_memory_of<float>;
template <class T>
named_memory_of<T> named_memory_at(T* data, const axis* axes, name_list names) {
  named_memory_of<T> memory{data, {}, names};
  for (std::size_t i = 0; i < names.size; ++i) { memory.axes[i] = axes[i]; }
  return memory;
}
// Its axes in the order of other names.
template <class T>
void write_axes(const named_memory_of<T>& memory, name_list names, axis* to) {
  for (std::size_t i = 0; i < names.size; ++i) {
    const short place = memory.names.place_of(names.at[i]);
    to[i] = place < 0 ? axis{1, 0} : memory.axes[place];
  }
}

// ---- the operations ------------------------------------------------------------------------------------------------

template <class C>
lowered<C> read_shared_leaf(walk& w, const record<C>& r, bool as_weights);
template <class C>
lowered<C> read_view(walk& w, const record<C>& r, bool as_weights);
template <class C>
lowered<C> read_product(walk& w, const record<C>& r, bool as_weights);
template <class C>
void write_product(walk& w, const record<C>& r, target<C> to);
template <class C, class To>
lowered<C> read_rounded(walk& w, const record<C>& r, bool as_weights);
template <class C, class To>
void write_rounded(walk& w, const record<C>& r, target<C> to);

template <class How>
inline constexpr record_kind kind_of_rows = record_kind::rows;
template <>
inline constexpr record_kind kind_of_rows<rows::softmax> = record_kind::softmax;
template <>
inline constexpr record_kind kind_of_rows<rows::standardize> = record_kind::standardize;
template <>
inline constexpr record_kind kind_of_rows<rows::root_mean_square> = record_kind::root_mean_square;
template <>
inline constexpr record_kind kind_of_rows<rows::quantised> = record_kind::quantised;

namespace records {
template <class C>
inline constexpr record_operation<C> shared_leaf = {record_kind::leaf, &read_shared_leaf<C>, nullptr};
template <class C>
inline constexpr record_operation<C> view = {record_kind::view, &read_view<C>, nullptr};
template <class C>
inline constexpr record_operation<C> product = {record_kind::product, &read_product<C>, &write_product<C>};
template <class C, class To>
inline constexpr record_operation<C> rounded = {record_kind::rounded, &read_rounded<C, To>, &write_rounded<C, To>};
}  // namespace records

// Operations that become a buffer: `write_word`, and the operation `records::word` of this kind.
#define DIMWISE_DETAIL_RECORD(word, kind)                                                     \
  template <class C>                                                                          \
  void write_##word(walk& w, const record<C>& r, target<C> to);                               \
  namespace records {                                                                         \
  template <class C>                                                                          \
  inline constexpr record_operation<C> word = {record_kind::kind, nullptr, &write_##word<C>}; \
  }
// The same of a row, or a total: `How`. Facts: the axes that it goes over.
#define DIMWISE_DETAIL_RECORD_OF(word, kind)                                          \
  template <class C, class How>                                                       \
  void write_##word(walk& w, const record<C>& r, target<C> to);                       \
  namespace records {                                                                 \
  template <class C, class How>                                                       \
  inline constexpr record_operation<C> word = {kind, nullptr, &write_##word<C, How>}; \
  }
DIMWISE_DETAIL_RECORD(number, number)
DIMWISE_DETAIL_RECORD_OF(rows, kind_of_rows<How>)
DIMWISE_DETAIL_RECORD_OF(total, record_kind::total)
// A total of the elements that the mask of its operand shows, also of those of −∞.
DIMWISE_DETAIL_RECORD_OF(visible_total, record_kind::other)
// Index: the code of the function.
DIMWISE_DETAIL_RECORD(unary, unary)
DIMWISE_DETAIL_RECORD(binary, binary)
DIMWISE_DETAIL_RECORD(function, function)
DIMWISE_DETAIL_RECORD(masked, masked)
DIMWISE_DETAIL_RECORD(biased, biased)
DIMWISE_DETAIL_RECORD(power, other)
DIMWISE_DETAIL_RECORD(clamped, other)
// Where the mask is true the first operand, elsewhere the second one; an operand that is null is the record's number.
DIMWISE_DETAIL_RECORD(chosen, other)
// Elements of a table where ids say, and values added up where they say. Facts: the ids.
DIMWISE_DETAIL_RECORD(gathered, other)
DIMWISE_DETAIL_RECORD(scattered, other)

}  // namespace dimwise::detail
