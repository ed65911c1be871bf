// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/lowering/layout.hpp -- layouts: extents and strides, and which axis of an operand corresponds to which
// axis of a result.
//
// Layer: eval, the only place that joins expressions and kernels. A layout is a value apart from memory: which kernel
// takes a node depends on types and layouts alone, so that a plan needs no memory.
// Tests: tests/eval/*.test.cpp
#pragma once

#include <dimwise/expr/node.hpp>
#include <dimwise/expr/parts.hpp>
#include <dimwise/kernels/loops.hpp>

namespace dimwise::detail {

// The type that a node is computed in: C if it holds real numbers, otherwise its own type (bool, ids).
template <class C, class T>
using compute_t = either_t<real_element<T>, C, T>;

// The real type that a node of any type is computed in, when its destination does not say: its own, or its operands'.
template <class N>
struct working;
template <class N>
using working_t = typename working<N>::type;
template <class... X>
struct working_of_all {
  using type = float;
};
template <class First, class... Rest>
struct working_of_all<First, Rest...> {
  using type = std::common_type_t<working_t<First>, working_t<Rest>...>;
};
template <class X>
struct working<parts<X>> {
  using type = typename working<X>::type;
};
template <class List>
struct working_of_operands;
template <class... X>
struct working_of_operands<list<X...>> {
  using type = working_of_all<X...>;
};
template <class List>
struct with_working;
template <class... X>
struct with_working<list<X...>> {
  using type = join_t<list_if<operand<X> || is_parts<X>, X>...>;
};
template <class N>
consteval auto working_type() {
  if constexpr (real_element<value_of<N>>) {
    return std::type_identity<untracked_t<value_of<N>>>{};
  } else {
    return typename working_of_operands<typename with_working<children_t<N>>::type>::type{};
  }
}
template <class N>
struct working {
  using type = typename decltype(working_type<N>())::type;
};
// A real destination's type decides, so that `tensor<double, …> y = expr;` computes in double throughout.
template <class T, class N>
using compute_in = either_t<real_element<T>, std::type_identity<T>, working<N>>;

// The names of some axes, or of some dimensions. Equal names are equal pointers.
struct name_list {
  const name_of* at;
  std::size_t size;

  [[nodiscard]] constexpr const name_of* begin() const { return at; }
  [[nodiscard]] constexpr const name_of* end() const { return at + size; }
  // Where a name is; -1 if it is not there.
  [[nodiscard]] short place_of(name_of name) const {
    for (std::size_t i = 0; i < size; ++i) {
      if (at[i] == name) { return static_cast<short>(i); }
    }
    return -1;
  }
};
template <class Names>
inline constexpr name_list name_list_of = {axis_extents<Names>::names, Names::size};

// The extent and stride of every axis of an operand, and the offset of its first element in the memory.
struct operand_layout {
  axis axes[max_rank];  // not initialised: each evaluation makes dozens
  std::ptrdiff_t first = 0;
};

// Memory to read: a leaf's own, or a buffer that lives as long as this. `data` is the first element and `first` is 0. A
// plan has the layout alone: no buffer, no data.
template <class T>
struct lowered : operand_layout {
  const T* data = nullptr;
  aligned_vector<T> buffer{};
  derived_slot* derived = nullptr;  // of a leaf's elements, while `data` and `axes` are views of them
  bool hides = false;               // −0 is a hidden weight, of an `expr`: its type does not tell

  // After a view. `data` is null in a plan, and where there are no elements.
  void move_to_first() {
    if (data != nullptr) { data += first; }
    first = 0;
  }
};

// The layout and the elements of a leaf that shares its memory. One function for all names.
template <class T>
[[gnu::noinline]] void read_shared(lowered<T>& x, const extent_source* sources, std::size_t rank, const slot* slots,
                                   const shared_storage<T>& elements) {
  const extent_t size = write_contiguous_extents(sources, rank, slots, x.axes);
  x.data = elements.read();
  if (x.data == nullptr) {
    elements.refill(size);
    x.data = elements.read();
  }
  x.derived = elements.derived();
}
#if DIMWISE_DETAIL_HAS_LIBRARY
DIMWISE_DETAIL_LIBRARY_TEMPLATE void read_shared<float>(lowered<float>&, const extent_source*, std::size_t, const slot*,
                                                        const shared_storage<float>&);
#endif

// For sizes that are only compared: views over little memory may have more elements than can be counted.
constexpr std::size_t saturating_product(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ~std::size_t{0} : product;
}

// Memory to write: the first element, and extent and stride of every axis of the node that is computed. A plan has no
// data.
template <class T>
struct target {
  T* data;
  const axis* axes;
  T hidden{};  // the weight that a softmax writes where the score is −∞
};

template <class Axes, class Operand>
struct places;
template <class... A, class Operand>
struct places<list<A...>, Operand> {
  static constexpr short at[sizeof...(A) + 1] = {place_in<Operand, A>..., -1};
};

// The strides of an operand along the axes of a result; 0 along those that it lacks. `at` says which axis of the
// operand runs along each: one function for all names.
[[gnu::noinline]] constexpr void align_by(const short* at, std::size_t rank, const axis* operand,
                                          std::ptrdiff_t* strides) {
  for (std::size_t i = 0; i < rank; ++i) { strides[i] = at[i] < 0 ? 0 : operand[at[i]].stride; }
}
template <class ResultAxes, class OperandAxes>
[[gnu::always_inline]] constexpr void align(const axis* operand, std::ptrdiff_t* strides) {
  align_by(places<ResultAxes, OperandAxes>::at, ResultAxes::size, operand, strides);
}

// The stride along an axis; 0 where there is none.
template <class Axis, class Axes>
constexpr std::ptrdiff_t stride_of(const operand_layout& x) {
  if constexpr (is_in<Axis, Axes>) {
    return x.axes[index_in<Axis, Axes>].stride;
  } else {
    return 0;
  }
}

// Whether some axes can be one axis: each continues the one outside it.
inline bool follow_each_other(const axis* axes, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) {
    if (axes[i - 1].stride != times(axes[i].stride, axes[i].extent)) { return false; }
  }
  return true;
}

// The loops over some axes, moving several pointers; `strides[k][i]` is pointer k's along axis i.
template <std::size_t K>
constexpr kernels::loop_nest<K> nest_over(std::size_t rank, const axis* axes,
                                          const std::ptrdiff_t (&strides)[K][max_rank]) {
  kernels::loop_nest<K> nest;
  for (std::size_t i = 0; i < rank; ++i) {
    std::ptrdiff_t by[K] = {};
    for (std::size_t k = 0; k < K; ++k) { by[k] = strides[k][i]; }
    nest.add(axes[i].extent, by);
  }
  return nest;
}

// The loops over a result and its operands; `at[k]` says which axis of operand k runs along each axis of the result.
// One function for all names.
template <std::size_t K>
kernels::loop_nest<1 + K> nest_by(const short* const (&at)[K], std::size_t rank, const axis* to,
                                  const axis* const (&from)[K]) {
  kernels::loop_nest<1 + K> nest;
  for (std::size_t i = 0; i < rank; ++i) {
    std::ptrdiff_t by[1 + K] = {to[i].stride};
    for (std::size_t k = 0; k < K; ++k) {
      const short place = at[k][i];
      by[1 + k] = place < 0 ? 0 : from[k][place].stride;
    }
    nest.add(to[i].extent, by);
  }
  return nest;
}
// The same by names.
template <class Axes, class... OperandAxes, class... Layout>
[[gnu::always_inline]] inline kernels::loop_nest<1 + sizeof...(OperandAxes)> nest_of(const axis* to,
                                                                                     const Layout&... x) {
  static_assert(sizeof...(OperandAxes) == sizeof...(Layout));
  static constexpr const short* at[] = {places<Axes, OperandAxes>::at...};
  const axis* const from[] = {x.axes...};
  return nest_by(at, Axes::size, to, from);
}

// to = from, along axes of the same order.
template <class T, class From, class To>
void copy_axes(std::size_t rank, const axis* axes, const axis* to_axes, const axis* from_axes, To* to,
               const From* from) {
  std::ptrdiff_t strides[2][max_rank] = {};
  for (std::size_t i = 0; i < rank; ++i) {
    strides[0][i] = to_axes[i].stride;
    strides[1][i] = from_axes[i].stride;
  }
  kernels::copy(nest_over(rank, axes, strides), to, from);
}

// The elements in a buffer of their own, row-major; of a plan the layout alone.
template <class T>
void make_dense(lowered<T>& x, name_list names) {
  axis dense[max_rank] = {};
  for (std::size_t i = 0; i < names.size; ++i) { dense[i].extent = x.axes[i].extent; }
  make_contiguous(dense, names.size);
  if (x.data != nullptr) {
    aligned_vector<T> buffer(checked_size_of(dense, names.size, names.at, sizeof(T), "evaluate"));
    copy_axes<T>(names.size, dense, dense, x.axes, buffer.data(), x.data);
    x.buffer = static_cast<aligned_vector<T>&&>(buffer);
    x.data = x.buffer.data();
  }
  for (std::size_t i = 0; i < names.size; ++i) { x.axes[i] = dense[i]; }
  x.derived = nullptr;
}
template <class T, class Axes>
void make_dense(lowered<T>& x) {
  make_dense(x, name_list_of<Axes>);
}

// The order of a node's axes in a buffer of its own: its own, unless a plan writes another one better.
template <class N>
struct buffer_order {
  using type = axes_for<shape_of<N>>;
};

// The layout of a buffer whose axes are stored in an order.
template <class Axes, class Order, class Extents>
operand_layout layout_in_order(const Extents& extents) {
  static_assert(Axes::size <= max_rank, "dimwise: more than 16 dimensions in one tensor");
  operand_layout result;
  if constexpr (std::is_same_v<Order, Axes>) {
    axis_extents<Axes>::write_contiguous(extents, result.axes);
  } else {
    axis_extents<Axes>::write(extents, result.axes);
    axis stored[max_rank];
    axis_extents<Order>::write_contiguous(extents, stored);
    std::ptrdiff_t strides[max_rank] = {};
    align<Axes, Order>(stored, strides);
    for (std::size_t i = 0; i < Axes::size; ++i) { result.axes[i].stride = strides[i]; }
  }
  return result;
}
template <class N>
[[gnu::always_inline]] inline operand_layout buffer_layout(const N& n) {
  return layout_in_order<axes_for<shape_of<N>>, typename buffer_order<N>::type>(n.extents());
}
// The target of a buffer with this layout.
template <class T>
[[gnu::always_inline]] inline target<T> target_of(lowered<T>& buffer) {
  return {buffer.buffer.data(), buffer.axes};
}

}  // namespace dimwise::detail
