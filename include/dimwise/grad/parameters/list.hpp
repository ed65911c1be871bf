// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/parameters/list.hpp -- the parameters of a model as a list for passes over all of them.
//
// Layer: grad. Optimisers, norms and gradients are loops over the list (passes.hpp).
// Tests: tests/grad/training/optimiser.test.cpp, tests/grad/training/kernels.test.cpp
//
//   const parameter_list all(model);
//   for (std::size_t i = 0; i < all.count(); ++i) { all.name(i); all.size(i); all.data(i); }
#pragma once

#include <dimwise/eval/parameter_steps.hpp>
#include <dimwise/grad/decay.hpp>
#include <dimwise/grad/tracked.hpp>
#include <dimwise/nn/model.hpp>
#include <dimwise/nn/parameters/part_list.hpp>
#include <dimwise/nn/parameters/stage.hpp>
#include <dimwise/support/library.hpp>
#include <dimwise/support/math.hpp>

#include <cstddef>
#include <limits>

namespace dimwise::detail {

// One step of `sgd` for one parameter.
struct sgd_numbers {
  double rate;
  double decay;
  double momentum;
  double fresh;  // what a gradient counts beside the momentum
  bool nesterov;
};

// The mesh axes that divide a parameter, up to a null pointer; null if there is none.
template <class Axes>
struct axis_keys;
template <>
struct axis_keys<list<>> {
  static constexpr const axis_key* all = nullptr;
};
template <class First, class... M>
struct axis_keys<list<First, M...>> {
  static constexpr axis_key ids[] = {&axis_id<First>, &axis_id<M>..., nullptr};
  static constexpr const axis_key* all = ids;
};

struct parameter_parts;
// The passes over elements of one type, by pointers to them, and what is done with a parameter of n elements.
struct element_passes {
  std::size_t bytes;  // of one element
  void (*adam)(whole_passes& passes, const adam_numbers<double>& by, std::size_t n, const void* gradient, void* p,
               void* m, void* v);
  void (*sgd)(const sgd_numbers& by, std::size_t n, const void* gradient, void* p, void* v);
  double (*sum_of_squares)(std::size_t n, const void* x);
  double (*largest)(std::size_t n, const void* x, double before);
  void (*add_scaled_squares)(std::size_t n, const void* x, int exponent, kernels::carried_sum<double>& to);
  void (*shorten)(std::size_t n, void* x, double factor, const scaled_norm& norm, double limit);
  void (*multiply)(std::size_t n, void* x, double by);
  void (*add)(whole_passes& passes, std::size_t n, void* x, const void* y);
  const void* (*data)(const parameter_parts& p, std::size_t n);
  void* (*overwrite)(const parameter_parts& p, std::size_t n);
  void (*clear)(const parameter_parts& p, std::size_t n);                            // zeros
  void (*take_gradient)(const parameter_parts& p, std::size_t n, recorded& origin);  // zeros if nothing has arrived
  void (*send_gradient)(const parameter_parts& p, std::size_t n, recorded& origin);
};

// Where a parameter has its extents and its elements.
struct parameter_parts {
  const void* extents;  // slots, where the shape of records has sources
  void* shared;         // a shared_storage; null if the elements are inside the tensor
  void* inside;
};
// What passes over parameters need to know of one type of parameter.
struct parameter_type {
  const record_shape* shape;
  const axis_key* mesh_axes;  // that divide it
  const element_passes* passes;
  parameter_parts (*parts)(void* p);
};

template <class T>
void adam_elements(whole_passes& passes, const adam_numbers<double>& by, std::size_t n, const void* gradient, void* p,
                   void* m, void* v) {
  const auto number = [](double x) { return static_cast<T>(x); };
  const adam_numbers<T> numbers{number(by.decay),       number(by.first_kept),   number(by.first_added),
                                number(by.second_kept), number(by.second_added), number(by.kept),
                                number(by.size),        number(by.root),         number(by.epsilon)};
  step_adam(passes, numbers, n, static_cast<const T*>(gradient), static_cast<T*>(p), static_cast<T*>(m),
            static_cast<T*>(v));
}
template <class T>
void sgd_elements(const sgd_numbers& by, std::size_t n, const void* gradient, void* parameter, void* velocity) {
  const auto r = static_cast<T>(by.rate);
  const auto d = static_cast<T>(by.decay);
  const auto m = static_cast<T>(by.momentum);
  const auto fresh = static_cast<T>(by.fresh);
  const T* const g = static_cast<const T*>(gradient);
  T* const p = static_cast<T*>(parameter);
  T* const v = static_cast<T*>(velocity);
  if (by.momentum == 0) {
    for (std::size_t i = 0; i < n; ++i) { p[i] -= r * (g[i] + d * p[i]); }
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const T decayed = g[i] + d * p[i];
    v[i] = m * v[i] + fresh * decayed;
    p[i] -= r * (by.nesterov ? decayed + m * v[i] : v[i]);
  }
}
template <class T>
double squares_of_elements(std::size_t n, const void* x) {
  return sum_of_squares(n, static_cast<const T*>(x));
}
template <class T>
double largest_element(std::size_t n, const void* x, double before) {
  return largest_magnitude(n, static_cast<const T*>(x), before);
}
template <class T>
void add_scaled_squares(std::size_t n, const void* x, int exponent, kernels::carried_sum<double>& to) {
  sum_scaled_squares(n, static_cast<const T*>(x), exponent, to);
}
template <class T>
void shorten_elements(std::size_t n, void* elements, double factor, const scaled_norm& norm, double limit) {
  T* const x = static_cast<T*>(elements);
  if (static_cast<T>(factor) >= std::numeric_limits<T>::min() || norm.rest - norm.rest != 0) {
    return multiply_elements(n, x, static_cast<T>(factor));
  }
  // A norm near the largest number: its inverse has few digits, or none.
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<T>(math::ldexp(static_cast<double>(x[i]), -norm.exponent) * (limit / norm.rest));
  }
}
template <class T>
void multiply_all(std::size_t n, void* x, double by) {
  multiply_elements(n, static_cast<T*>(x), static_cast<T>(by));
}
template <class T>
void add_all(whole_passes& passes, std::size_t n, void* x, const void* y) {
  add_elements(passes, n, static_cast<T*>(x), static_cast<const T*>(y));
}
template <class T>
const void* data_of_parameter(const parameter_parts& p, std::size_t n) {
  if (p.shared == nullptr) { return p.inside; }
  const auto& elements = *static_cast<const shared_storage<T>*>(p.shared);
  elements.refill(n);
  return elements.read();
}
template <class T>
void* overwrite_parameter(const parameter_parts& p, std::size_t n) {
  if (p.shared == nullptr) { return p.inside; }
  auto& elements = *static_cast<shared_storage<T>*>(p.shared);
  elements.refill(n);
  return elements.write();
}
template <class T>
void clear_parameter(const parameter_parts& p, std::size_t n) {
  if (p.shared != nullptr) { *static_cast<shared_storage<T>*>(p.shared) = shared_storage<T>(n); }
  fill_elements(static_cast<T*>(overwrite_parameter<T>(p, n)), n, T(0));
}
template <class T>
void take_gradient_of_parameter(const parameter_parts& p, std::size_t n, recorded& origin) {
  auto& from = static_cast<recorded_value<T>&>(origin);
  if (!from.arrived()) { return clear_parameter<T>(p, n); }
  const shared_storage<T>& arrived = from.whole();
  if (p.shared != nullptr) {
    *static_cast<shared_storage<T>*>(p.shared) = arrived;
  } else {
    copy_elements(arrived.read(), n, static_cast<T*>(p.inside));
  }
}
template <class T>
void send_gradient_of_parameter(const parameter_parts& p, std::size_t n, recorded& origin) {
  auto& to = static_cast<recorded_value<T>&>(origin);
  to.add(p.shared != nullptr ? *static_cast<const shared_storage<T>*>(p.shared)
                             : shared_copy(static_cast<const T*>(p.inside), n),
         n);
}
template <class T>
inline constexpr element_passes passes_over = {sizeof(T),
                                               &adam_elements<T>,
                                               &sgd_elements<T>,
                                               &squares_of_elements<T>,
                                               &largest_element<T>,
                                               &add_scaled_squares<T>,
                                               &shorten_elements<T>,
                                               &multiply_all<T>,
                                               &add_all<T>,
                                               &data_of_parameter<T>,
                                               &overwrite_parameter<T>,
                                               &clear_parameter<T>,
                                               &take_gradient_of_parameter<T>,
                                               &send_gradient_of_parameter<T>};

#if DIMWISE_DETAIL_HAS_LIBRARY
#define DIMWISE_DETAIL_PASSES(T)                                                                                      \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void adam_elements<T>(whole_passes&, const adam_numbers<double>&, std::size_t,      \
                                                        const void*, void*, void*, void*);                            \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void sgd_elements<T>(const sgd_numbers&, std::size_t, const void*, void*, void*);   \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE double squares_of_elements<T>(std::size_t, const void*);                            \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE double largest_element<T>(std::size_t, const void*, double);                        \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void add_scaled_squares<T>(std::size_t, const void*, int,                           \
                                                             kernels::carried_sum<double>&);                          \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void shorten_elements<T>(std::size_t, void*, double, const scaled_norm&, double);   \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void multiply_all<T>(std::size_t, void*, double);                                   \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void add_all<T>(whole_passes&, std::size_t, void*, const void*);                    \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE const void* data_of_parameter<T>(const parameter_parts&, std::size_t);              \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void* overwrite_parameter<T>(const parameter_parts&, std::size_t);                  \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void clear_parameter<T>(const parameter_parts&, std::size_t);                       \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void take_gradient_of_parameter<T>(const parameter_parts&, std::size_t, recorded&); \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void send_gradient_of_parameter<T>(const parameter_parts&, std::size_t, recorded&);
DIMWISE_DETAIL_PASSES(float)
DIMWISE_DETAIL_PASSES(double)
#undef DIMWISE_DETAIL_PASSES
#endif

template <class P>
parameter_parts parts_of_parameter(void* p) {
  auto& x = *static_cast<P*>(p);
  parameter_parts parts{&x.extents(), nullptr, nullptr};
  if constexpr (has_sources<axes_for<shape_of<P>>>) { parts.extents = x.extents().slots(); }
  if constexpr (in_shared_storage<P>) {
    parts.shared = const_cast<shared_storage<value_of<P>>*>(&x.handle());  // `x` is not constant
  } else {
    parts.inside = x.overwrite();
  }
  return parts;
}
template <class P>
inline constexpr parameter_type type_of_parameter = {&record_shape_of<axes_for<shape_of<P>>, extents_type_of<P>, false>,
                                                     axis_keys<unique_t<mesh_axes_of_list_t<dims_t<shape_of<P>>>>>::all,
                                                     &passes_over<value_of<P>>, &parts_of_parameter<P>};

// The facts about each parameter in a list for training (nn/parameters/part_list.hpp).
struct trained_parts {
  template <class P>
  static constexpr bool is = is_parameter<P>;
  template <class P>
  static const void* facts() {
    return &type_of_parameter<P>;
  }
  template <class Owner, class P>
  static constexpr bool flag = dimwise::is_decayed<Owner, P>;
};

// The parameters of a model in member order. A list of a constant model is only read.
class parameter_list : public nn::detail::part_list {
 public:
  template <class M>
  explicit parameter_list(const M& m) : stages_{key_of_stages(stage_axis_t<M>()), names_of_tied<M>} {
    nn::detail::list_parts<trained_parts, void>(*this, m);
  }
  [[nodiscard]] const parameter_type& type(std::size_t i) const {
    return *static_cast<const parameter_type*>(facts(i));
  }
  /// Whether weight decay falls on it, by the kind of the member.
  [[nodiscard]] bool is_decayed(std::size_t i) const { return flag(i); }
  [[nodiscard]] const void* data(std::size_t i) const { return type(i).passes->data(parts(i), size(i)); }
  [[nodiscard]] void* overwrite(std::size_t i) const { return type(i).passes->overwrite(parts(i), size(i)); }
  void clear(std::size_t i) const { type(i).passes->clear(parts(i), size(i)); }
  void take_gradient(std::size_t i, recorded& origin) const {
    type(i).passes->take_gradient(parts(i), size(i), origin);
  }
  /// Adds its elements to the gradient at `origin`.
  void send_gradient(std::size_t i, recorded& origin) const {
    type(i).passes->send_gradient(parts(i), size(i), origin);
  }
  /// The mesh axis of which each rank has other parameters: those of one stage. Null if the model is not a stage.
  [[nodiscard]] axis_key stages() const { return stages_.along; }
  /// Whether each rank along a mesh axis has a part of it, or other parameters.
  [[nodiscard]] bool is_divided(std::size_t i, axis_key along) const {
    if (along == stages_.along) { return true; }
    const axis_key* axis = type(i).mesh_axes;
    while (axis != nullptr && *axis != nullptr) {
      if (*axis++ == along) { return true; }
    }
    return false;
  }
  /// Whether several stages have it, and whether the model names such members.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY bool is_tied(std::size_t i) const;
  [[nodiscard]] bool has_tied() const { return stages_.tied != nullptr; }
  /// The number of elements.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY std::size_t size(std::size_t i) const;
  void write_extents(std::size_t i, axis* to) const { type(i).shape->write_extents(parts(i).extents, to); }
  /// Throws `extent_error` unless the models have the same layers and extents. `whose` is the other one's name.
  DIMWISE_DETAIL_LIBRARY void check_same_extents(const char* what, const parameter_list& other,
                                                 const char* whose) const;

 private:
  [[nodiscard]] parameter_parts parts(std::size_t i) const { return type(i).parts(at(i)); }
  static constexpr axis_key key_of_stages(list<>) { return nullptr; }
  template <class M>
  static constexpr axis_key key_of_stages(list<M>) {
    return &axis_id<M>;
  }
  struct key_of_axis {
    axis_key along;
    const char* const* tied;
  };
  key_of_axis stages_;
};

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/grad/parameters/list_definitions.hpp>
#endif
