// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/loss_sums.hpp -- sums of a loss over the positions that count, and their number.
//
// Layer: grad.
// Tests: tests/grad/training/loss.test.cpp
#pragma once

#include <dimwise/expr/elements/choose.hpp>
#include <dimwise/grad/average.hpp>
#include <dimwise/grad/loss_options.hpp>

namespace dimwise::detail {

template <class Rest, class X>
auto summed_all(const X& x) {
  return make_total<sum_shape_t<dims_t<Rest>>, value_of<X>, totals::sum, dims_t<Rest>>(x);
}
// How many elements of `Rest` there are.
template <class Rest, class Extents>
double places_in_all(const Extents& e) {
  return [&]<class... D>(list<D...>) {
    return (static_cast<double>(e.template extent<D>("loss")) * ... * 1.0);
  }(dims_t<Rest>{});
}
// How many of them are counted.
template <class Rest, class Extents, class Counts>
double counted_elements(const Extents& e, const Counts& counts) {
  if constexpr (is_constant<Counts>) {
    return places_in_all<Rest>(e);
  } else {
    std::size_t seen = 0;
    for (const bool counted : counts.values()) { seen += counted ? 1 : 0; }
    using beside = make_shape_t<difference_t<dims_t<Rest>, dims_t<shape_of<Counts>>>, list<>>;
    return static_cast<double>(seen) * places_in_all<beside>(e);
  }
}
template <class Shape, class X, class Counts>
auto where_counted(const X& x, const Counts& counts) {
  if constexpr (is_constant<Counts>) {
    return x;
  } else {
    const auto zero = make_constant<value_of<X>>(0);
    return make_node<Shape, value_of<X>>(apply<fn::choose>{}, x.extents(), counts, x, zero);
  }
}
template <class Rest, class X>
auto averaged(const X& sum, double count) {
  using average = typename average_over<value_of<X>, Rest>::type;
  return average{typename average::sum_type(sum), count};
}
// The average of elements that are already one for each place, of those that count.
template <class Rest, class X, class... Options>
auto average_of(const X& elements, const Options&... options) {
  const auto counts = counted_places<Rest>(elements.extents(), options...);
  return averaged<Rest>(summed_all<Rest>(where_counted<Rest>(elements, counts)),
                        counted_elements<Rest>(elements.extents(), counts));
}

}  // namespace dimwise::detail
