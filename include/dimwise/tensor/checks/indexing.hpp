// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/checks/indexing.hpp -- one element of a tensor or view, by one id of each dimension (R18).
//
// Layer: tensor.
// Tests: tests/tensor/tensor.test.cpp, tests/compile_fail/tensor/
#pragma once

#include <dimwise/tensor/operand.hpp>

#include <cstddef>
#include <type_traits>

namespace dimwise::detail {

template <class Axes>
struct axis_offset;
template <class... A>
struct axis_offset<list<A...>> {
  template <class Extents, class... Ids>
  static std::size_t of(const Extents& e, const axis* axes, const Ids&... ids) {
    std::size_t offset = 0;
    std::size_t i = 0;
    ((offset += one<A>(e, axes[i++], ids...)), ...);
    return offset;
  }

 private:
  template <class A1, class Extents, class... Ids>
  static std::size_t one(const Extents&, const axis& along, const Ids&... ids) {
    std::size_t found = 0;
    (void)((std::is_same_v<id<A1>, Ids> && (found = value(ids), true)) || ...);
    if (found >= along.extent) {
      raise<index_error>(error{} << "id " << static_cast<long long>(found) << " is outside dimension "
                                 << dimension_name<A1>() << " of extent " << along.extent << " (R18)");
    }
    return found * static_cast<std::size_t>(along.stride);
  }
  template <class D>
  static std::size_t value(id<D> i) {
    return i.value;
  }
};

// Of an element in row-major order.
template <class Axes, class Extents, class... Ids>
std::size_t element_offset(const Extents& e, const Ids&... ids) {
  axis all[Axes::size + 1];
  axis_extents<Axes>::write_contiguous(e, all);
  return axis_offset<Axes>::of(e, all, ids...);
}

template <class Axes>
struct ids_of;
template <class... A>
struct ids_of<list<A...>> {
  using type = list<id<A>...>;
};
template <class Shape, class... Ids>
inline constexpr bool indexes_all = axes_for<Shape>::size == sizeof...(Ids) && all_distinct(list<Ids...>{}) &&
                                    is_subset<list<Ids...>, typename ids_of<axes_for<Shape>>::type>;

template <class Shape, class... Places>
using taken_error = ERROR_R18_element_is_taken_by_one_id_of_each_dimension<over<Places...>, operand_t<Shape>>;

}  // namespace dimwise::detail
