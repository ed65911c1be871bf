// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/leaf_gradients_definitions.hpp -- gradients in records, added to those that have arrived.
//
// Layer: grad. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/operations/, tests/grad/check.test.cpp
#pragma once

#include <dimwise/grad/record/adjoint_records_definitions.hpp>
#include <dimwise/grad/record/recorded.hpp>

namespace dimwise::detail {

template <class C>
void send_leaf(walk&, const record<C>& r, const record<C>& g) {
  if (r.origin == nullptr) { return; }
  if constexpr (std::is_same_v<C, float>) {
    r.origin->add_record({&g, nullptr}, r.node_extents);
  } else {
    r.origin->add_record({nullptr, &g}, r.node_extents);
  }
}

template <class T>
void add_gradients(context& cx, std::size_t n, std::size_t given, T* to, const T* a, const T* b) {
  if (n != given) {
    raise<extent_error>(error{} << "gradient: " << given << " elements arrive where " << n << " are expected (R15)");
  }
#if !defined(DIMWISE_PLAIN_ONLY)
  if (!cx.reference_forced() && n >= least_row) {
    cx.count(plan_kind::map);
    return in_parts(cx, n, part_elements, [&](std::size_t begin, std::size_t end) {
      kernels::active_for<T>().zip(kernels::operation::add, end - begin, a + begin, 1, b + begin, 1, to + begin);
    });
  }
#endif
  cx.count(plan_kind::plain);
  for (std::size_t i = 0; i < n; ++i) { to[i] = a[i] + b[i]; }
}

template <class T>
void write_record_of_gradient(const record<T>& g, name_list names, target<T> to, const T* onto) {
  walk w{current_context(), nullptr};
  axis axes[max_rank] = {};
  for (std::size_t i = 0; i < g.rank(); ++i) { axes[i] = to.axes[names.place_of(g.shape->axes.at[i])]; }
  if (onto == nullptr) { return write_record(w, g, {to.data, axes}); }
  lowered<T> at;
  for (std::size_t i = 0; i < g.rank(); ++i) { at.axes[i] = axes[i]; }
  at.data = onto;
  const record_in_memory<T> before(static_cast<lowered<T>&&>(at), g);  // one record with `g`: a product adds
  adjoint_record<T> sum(records::binary<T>, g);
  sum.r.index = static_cast<std::ptrdiff_t>(kernels::operation::add);
  sum.r.child[0] = &g;
  sum.r.child[1] = &before.r;
  write_record(w, sum.r, {to.data, axes});
}
// A number in double met a value in float, as in the losses that `check_gradient` compiles, or the reverse.
template <class T, class C>
void write_converted(const record<C>& g, name_list names, target<T> to, const T* onto) {
  walk w{current_context(), nullptr};
  const auto x = read_record(w, g);
  const auto nest = nest_by_names<1>(names, to.axes, {g.shape->axes}, {x.axes});
  kernels::for_each_element(nest, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    to.data[t] = (onto == nullptr ? T(0) : onto[t]) + static_cast<T>(x.data[f]);
  });
}
template <class T>
void write_gradient(const gradient_in_record& g, name_list names, target<T> to, const T* onto) {
  if constexpr (std::is_same_v<T, float>) {
    if (g.in_float == nullptr) { return write_converted(*g.in_double, names, to, onto); }
    write_record_of_gradient(*g.in_float, names, to, onto);
  } else {
    if (g.in_double == nullptr) { return write_converted(*g.in_float, names, to, onto); }
    write_record_of_gradient(*g.in_double, names, to, onto);
  }
}

template <class T>
const shared_storage<T>* shared_elements(const gradient_in_record& all, name_list names) {
  const record<T>* g = nullptr;
  if constexpr (std::is_same_v<T, float>) {
    g = all.in_float;
  } else {
    g = all.in_double;
  }
  if (g == nullptr || g->operation != &records::shared_leaf<T> || g->rank() != names.size) { return nullptr; }
  for (std::size_t i = 0; i < names.size; ++i) {
    if (g->shape->axes.at[i] != names.at[i]) { return nullptr; }
  }
  return static_cast<const shared_storage<T>*>(g->node);
}

#if DIMWISE_DETAIL_HAS_LIBRARY
#define DIMWISE_DETAIL_COMPILED_IN(C)                                                         \
  template void send_leaf<C>(walk&, const record<C>&, const record<C>&);                      \
  template void write_gradient<C>(const gradient_in_record&, name_list, target<C>, const C*); \
  template const shared_storage<C>* shared_elements<C>(const gradient_in_record&, name_list); \
  template void add_gradients<C>(context&, std::size_t, std::size_t, C*, const C*, const C*);
DIMWISE_DETAIL_COMPILED_IN(float)
DIMWISE_DETAIL_COMPILED_IN(double)
#undef DIMWISE_DETAIL_COMPILED_IN
#endif

}  // namespace dimwise::detail
