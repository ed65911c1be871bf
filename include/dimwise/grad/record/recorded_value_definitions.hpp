// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/recorded_value_definitions.hpp -- gradients added to those that have arrived.
//
// Layer: grad. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/operations/, tests/grad/check.test.cpp
#pragma once

#include <dimwise/grad/record/adjoint_records_definitions.hpp>
#include <dimwise/grad/record/recorded_value.hpp>

namespace dimwise::detail {

// to = a + b for `n` contiguous elements; `to` may be one of them.
template <class T>
void add_gradients(context& cx, std::size_t n, T* to, const T* a, const T* b) {
  if (kernels::available && !cx.reference_forced() && n >= least_row) {
    cx.count(plan_kind::map);
    return in_parts(cx, n, part_elements, [&](std::size_t begin, std::size_t end) {
      kernels::active_for<T>().zip(kernels::operation::add, end - begin, a + begin, 1, b + begin, 1, to + begin);
    });
  }
  cx.count(plan_kind::plain);
  for (std::size_t i = 0; i < n; ++i) { to[i] = a[i] + b[i]; }
}

// to = g, and + `onto` if it is not null, which has the layout of `to`, whose axes have these names.
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
const shared_storage<T>* shared_elements(const record<T>& g, name_list names) {
  if (g.operation != &records::shared_leaf<T> || g.rank() != names.size) { return nullptr; }
  for (std::size_t i = 0; i < names.size; ++i) {
    if (g.shape->axes.at[i] != names.at[i]) { return nullptr; }
  }
  return static_cast<const shared_storage<T>*>(g.node);
}
template <class T>
const record<T>* gradient_in(const gradient_in_record& g) {
  if constexpr (std::is_same_v<T, float>) {
    return g.in_float;
  } else {
    return g.in_double;
  }
}

template <class T>
recorded_value<T>::recorded_value(std::uint64_t record, const value_axes& of, const axes_of_mesh* sums)
    : recorded_gradient(record, sums), axes_(of) {}
template <class T>
recorded_value<T>::~recorded_value() = default;

template <class T>
void recorded_value<T>::add_record(const gradient_in_record& g, const axis* extents) {
  this->meet();
  axis to[max_rank];
  for (std::size_t i = 0; i < axes_.names.size; ++i) { to[i] = extents[i]; }
  const extent_t n = make_contiguous(to, axes_.names.size);
  const auto* const own = gradient_in<T>(g);
  if (const auto* const all = this->arrived() || own == nullptr ? nullptr : shared_elements(*own, axes_.names)) {
    elements_ = *all;
  } else {
    shared_storage<T> sum(n);
    write_gradient<T>(g, axes_.names, {sum.write(), to}, this->arrived() ? elements_.read() : nullptr);
    elements_ = static_cast<shared_storage<T>&&>(sum);
  }
  elements_.refill(n);
  count_ = n;
  this->set_arrived(true);
}
template <class T>
void recorded_value<T>::add(const shared_storage<T>& elements, std::size_t count) {
  this->meet();
  elements.refill(count);
  if (!this->arrived()) {
    elements_ = elements;
    count_ = count;
    return this->set_arrived(true);
  }
  if (count != count_) {
    raise<extent_error>(error{} << "gradient: " << count << " elements arrive where " << count_
                                << " are expected (R15)");
  }
  shared_storage<T> sum(count);
  add_gradients(current_context(), count, sum.write(), elements_.read(), elements.read());
  elements_ = static_cast<shared_storage<T>&&>(sum);
}
template <class T>
const shared_storage<T>& recorded_value<T>::whole() {
  this->complete();
  return elements_;
}
template <class T>
shared_storage<T> recorded_value<T>::taken() {
  this->complete();
  this->set_arrived(false);
  return std::exchange(elements_, {});
}
template <class T>
gradient_in_terms<T> recorded_value<T>::taken_in_terms(const named_axis& along) {
  this->complete(gradient_ranks::bit_of(along));
  gradient_in_terms<T> all{{}, this->holds_terms() || gradient_ranks::is_left(along), false, {}};
  if (const auto* const other = static_cast<const T*>(this->other_sum())) {
    all.has_other = true;
    all.other = shared_copy(other, count_);
  }
  this->drop();
  all.at_hand = taken();
  return all;
}
template <class T>
gradient_elements recorded_value<T>::elements() {
  constexpr auto type = std::is_same_v<T, float> ? gradient_elements::type::float32 : gradient_elements::type::float64;
  return {elements_.write(), count_, sizeof(T), type};
}

template <class T>
origin_pointer new_recorded_value(std::uint64_t record, const value_axes& of) {
  return new_recorded<recorded_value<T>>(record, of);
}
template <class T>
origin_pointer new_recorded_value(std::uint64_t record, const value_axes& of, const axes_of_mesh* sums) {
  return origin_pointer(new recorded_value<T>(record, of, sums));
}

template <class C>
void send_leaf(walk&, const record<C>& r, const record<C>& g) {
  if (r.origin == nullptr) { return; }
  axis extents[max_rank];
  r.write_extents(extents);
  if constexpr (std::is_same_v<C, float>) {
    r.origin->add_record({&g, nullptr}, extents);
  } else {
    r.origin->add_record({nullptr, &g}, extents);
  }
}

#if DIMWISE_DETAIL_HAS_LIBRARY
#define DIMWISE_DETAIL_COMPILED_IN(C)                                                                   \
  template class recorded_value<C>;                                                                     \
  template const shared_storage<C>* shared_elements<C>(const record<C>&, name_list);                    \
  template origin_pointer new_recorded_value<C>(std::uint64_t, const value_axes&);                      \
  template origin_pointer new_recorded_value<C>(std::uint64_t, const value_axes&, const axes_of_mesh*); \
  template void send_leaf<C>(walk&, const record<C>&, const record<C>&);
DIMWISE_DETAIL_COMPILED_IN(float)
DIMWISE_DETAIL_COMPILED_IN(double)
#undef DIMWISE_DETAIL_COMPILED_IN
#endif

}  // namespace dimwise::detail
