// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops/rows.hpp -- the reference loops of rows: softmax, norms, cumulative sums, sums, maxima.
//
// Layer: eval.
// Tests: tests/expr/rows/reduce.test.cpp
#pragma once

#include <dimwise/eval/pass.hpp>
#include <dimwise/eval/sorting/order.hpp>
#include <dimwise/expr/rows/reduce.hpp>
#include <dimwise/expr/rows/sort.hpp>
#include <dimwise/support/math.hpp>

#include <cstdint>
#include <vector>

namespace dimwise::detail {

// Some axes of an operand, and the axes of the result that they correspond to.
struct axes_in_both {
  const short* in_result;
  const short* in_operand;
  std::size_t rank;

  [[nodiscard]] kernels::loop_nest<2> nest(const axis* to, const axis* from) const {
    kernels::loop_nest<2> nest;
    for (std::size_t i = 0; i < rank; ++i) {
      const axis& along = from[in_operand[i]];
      nest.add(along.extent, {in_result[i] < 0 ? 0 : to[in_result[i]].stride, along.stride});
    }
    return nest;
  }
};
template <class Axes, class ResultAxes, class OperandAxes>
inline constexpr axes_in_both in_both = {places<Axes, ResultAxes>::at, places<Axes, OperandAxes>::at, Axes::size};

// The loops outside a row and inside it: axes that `Over` lacks, and those it has.
struct row_loops {
  kernels::loop_nest<2> outside;
  kernels::loop_nest<2> inside;
};
// The axis map of rows. It has no names, so one function serves all operations on rows.
struct rows_form {
  axes_in_both outside;
  axes_in_both inside;

  [[nodiscard]] row_loops loops(const axis* to, const axis* from) const {
    return {outside.nest(to, from), inside.nest(to, from)};
  }
};
template <class ResultAxes, class OperandAxes, class Over>
inline constexpr rows_form rows_form_over = {in_both<difference_t<OperandAxes, Over>, ResultAxes, OperandAxes>,
                                             in_both<Over, ResultAxes, OperandAxes>};

// The indices of the elements of a row, sorted by their values.
template <bool Descending, class T>
std::vector<std::size_t> order_of_row(const kernels::loop_nest<2>& row, const T* from) {
  std::vector<std::uint64_t> keys;
  kernels::for_each_element(
      row, [&](std::ptrdiff_t, std::ptrdiff_t f) { keys.push_back(sort_key_of<Descending>(from[f])); });
  std::vector<std::size_t> order(keys.size());
  sort_order(keys.data(), keys.size(), keys.size(), order.data());
  return order;
}
template <bool Descending, class T>
void sort_row(const kernels::loop_nest<2>& row, T* to, const T* from) {
  std::vector<T> numbers;
  kernels::for_each_element(row, [&](std::ptrdiff_t, std::ptrdiff_t f) { numbers.push_back(from[f]); });
  const std::vector<std::size_t> order = order_of_row<Descending>(row, from);
  const std::size_t* next = order.data();
  kernels::for_each_element(row, [&](std::ptrdiff_t t, std::ptrdiff_t) { to[t] = numbers[*next++]; });
}

template <class C, class How>
void one_row(const kernels::loop_nest<2>& row, C* to, const C* from, C hidden, C epsilon) {
  if constexpr (std::is_same_v<How, rows::softmax>) {
    kernels::softmax_row(row, to, from, hidden);
  } else if constexpr (std::is_same_v<How, rows::log_softmax>) {
    kernels::log_softmax_row(row, to, from);
  } else if constexpr (std::is_same_v<How, rows::renormalise>) {
    kernels::renormalise_row(row, to, from);
  } else if constexpr (std::is_same_v<How, rows::standardize>) {
    kernels::standardize_row(row, to, from, epsilon);
  } else if constexpr (std::is_same_v<How, rows::root_mean_square>) {
    kernels::root_mean_square_row(row, to, from, epsilon);
  } else if constexpr (std::is_same_v<How, rows::quantised>) {
    kernels::quantised_row(row, to, from);
  } else if constexpr (std::is_same_v<How, rows::cumsum>) {
    kernels::cumsum_row(row, to, from);
  } else if constexpr (std::is_same_v<How, rows::cumprod>) {
    kernels::cumprod_row(row, to, from);
  } else if constexpr (is_sort<How>) {
    sort_row<std::is_same_v<How, rows::sort<true>>>(row, to, from);
  } else {
    static_assert(is_handled<How>, "dimwise: this operation over rows has no reference loop (one_row)");
  }
}

// The axis map of a node over the dimensions that its operation names.
template <class N>
inline constexpr const rows_form& form_of_rows = rows_form_over<axes_for<shape_of<N>>, axes_for<shape_of<child_t<N>>>,
                                                                axes_of_list_t<typename operation_of<N>::over>>;

template <class How, class T>
void row_by_row(const row_loops& loops, T* to, const T* from, T hidden, T epsilon) {
  if (loops.inside.empty()) { return; }
  kernels::for_each_element(loops.outside, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    one_row<T, How>(loops.inside, to + t, from + f, hidden, epsilon);
  });
}
// Rows of whole numbers.
template <class C, class Shape, class How, class Over, class E, class T, class Lowered>
void loops(const rowwise<Shape, How, Over, E>& n, target<T> to, const Lowered& in) {
  const auto& x = child_in<0>(in);
  row_by_row<How, T>(form_of_rows<rowwise<Shape, How, Over, E>>.loops(to.axes, x.axes), to.data, x.data, to.hidden,
                     static_cast<T>(n.op().epsilon));
}

template <class C, class Shape, class D, bool Descending, class E, class Lowered>
void loops(const sorted_ids_node<Shape, D, Descending, E>&, target<id<D>> to, const Lowered& in) {
  const auto& x = child_in<0>(in);
  const row_loops all = form_of_rows<sorted_ids_node<Shape, D, Descending, E>>.loops(to.axes, x.axes);
  kernels::for_each_element(all.outside, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    const std::vector<std::size_t> order = order_of_row<Descending>(all.inside, x.data + f);
    const std::size_t* next = order.data();
    kernels::for_each_element(all.inside, [&](std::ptrdiff_t s, std::ptrdiff_t) { to.data[t + s] = id<D>(*next++); });
  });
}

// The Euclidean norm of the elements that `visit` gives, times `scale`: a power of two with which no square overflows
// and no square that matters underflows.
template <class C>
struct scaled_length {
  C root;
  C scale;

  [[nodiscard]] C value() const { return root / scale; }
};
template <class C, class Visit>
scaled_length<C> length_of(const Visit& visit) {
  using limits = std::numeric_limits<C>;
  const auto squares = [&](C scale) {
    kernels::carried_sum<C> sum;
    visit([&](C x, std::size_t) { sum += (x * scale) * (x * scale); });
    return sum.value();
  };
  const C sum = squares(C(1));
  if (sum >= math::ldexp(C(1), limits::min_exponent + 2 * limits::digits) && sum <= limits::max()) {
    return {math::sqrt(sum), C(1)};
  }
  if (sum != sum) { return {sum, C(1)}; }
  const int up = limits::max_exponent / 32 * 25;
  const C scale = math::ldexp(C(1), sum > C(1) ? -up : up);
  return {math::sqrt(squares(scale)), scale};
}

// One number from the visible elements of a row; `visit(f)` calls f(element, index in the row) for each of them.
template <class How, class T, class C, class Visit>
T total_of(const Visit& visit) {
  using selections = list<totals::max, totals::min, totals::argmax, totals::logsumexp>;
  constexpr bool least = std::is_same_v<How, totals::min>;
  if constexpr (std::is_same_v<How, totals::sum> || std::is_same_v<How, totals::mean>) {
    kernels::carried_sum<C> total;
    std::size_t count = 0;  // a float would stop at 2^24
    visit([&](C x, std::size_t) {
      total += x;
      ++count;
    });
    if constexpr (std::is_same_v<How, totals::mean>) {
      return count == 0 ? C(0) : total.value() / static_cast<C>(count);
    }
    return total.value();
  } else if constexpr (std::is_same_v<How, totals::norm>) {
    return length_of<C>(visit).value();
  } else if constexpr (std::is_same_v<How, totals::prod>) {
    C product = 1;
    visit([&](C x, std::size_t) { product = static_cast<C>(product * x); });
    return product;
  } else if constexpr (is_in<How, selections>) {
    C best = least ? std::numeric_limits<C>::infinity() : kernels::minus_infinity<C>;
    std::size_t at = 0;
    bool any = false;
    bool nan = false;
    visit([&](C x, std::size_t place) {
      if (!any || (!nan && (x != x || (least ? x < best : x > best)))) {
        nan = x != x;
        best = x;
        at = place;
      }
      any = true;
    });
    if constexpr (std::is_same_v<How, totals::argmax>) {
      if (!any) { raise<index_error>(error{} << "argmax: nothing is visible in a row"); }
      return T(at);
    } else if constexpr (std::is_same_v<How, totals::logsumexp>) {
      if (best == kernels::minus_infinity<C> || best == std::numeric_limits<C>::infinity()) { return best; }
      kernels::carried_sum<C> total;
      visit([&](C x, std::size_t) { total += math::exp(x - best); });
      return best + math::log(total.value());
    } else {
      return best;
    }
  } else {
    static_assert(is_handled<How>, "dimwise: this reduction has no reference loop (total_of)");
  }
}

// Masked elements are −∞ and do not count.
template <class How, class C, bool IsMasked, class Out, class R>
void fold_row_by_row(const row_loops& all, Out* to, const R* from) {
  kernels::for_each_element(all.outside, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    const auto visit = [&](auto&& each) {
      std::size_t place = 0;
      kernels::for_each_element(all.inside, [&](std::ptrdiff_t, std::ptrdiff_t g) {
        const R value = from[f + g];
        const bool hidden = IsMasked && value == static_cast<R>(kernels::minus_infinity<C>);
        if (!hidden) { each(value, place); }
        ++place;
      });
    };
    to[t] = total_of<How, Out, R>(visit);
  });
}
template <class C, class Shape, class T, class How, class Over, class E, class Out, class Lowered>
void loops(const reduction<Shape, T, How, Over, E>&, target<Out> to, const Lowered& in) {
  const auto& x = child_in<0>(in);
  fold_row_by_row<How, C, is_masked<E>>(form_of_rows<reduction<Shape, T, How, Over, E>>.loops(to.axes, x.axes), to.data,
                                        x.data);
}

// The reduction of a masked node to ids (those to numbers are records): the mask decides what is hidden, so a visible
// −∞ counts. `in` holds the children of the masked node.
template <class C, class Shape, class T, class How, class Over, class Inner, class E, class M, class Out, class Lowered>
void masked_total_loops(const reduction<Shape, T, How, Over, masked_node<Inner, E, M>>& n, target<Out> to,
                        const Lowered& in) {
  using R = compute_t<C, value_of<E>>;
  using over = axes_of_list_t<Over>;
  using rest = difference_t<axes_for<Inner>, over>;
  const auto& e = n.template child<0>().extents();
  const auto& x = child_in<0>(in);
  const auto& visible = child_in<1>(in);
  axis extents[max_rank];
  axis_extents<rest>::write(e, extents);
  std::ptrdiff_t strides[3][max_rank] = {};
  align<rest, axes_for<Shape>>(to.axes, strides[0]);
  align<rest, axes_for<shape_of<E>>>(x.axes, strides[1]);
  align<rest, mask_axes<M>>(visible.axes, strides[2]);
  const auto outside = nest_over(rest::size, extents, strides);
  std::ptrdiff_t row[2][max_rank] = {};
  align<over, axes_for<shape_of<E>>>(x.axes, row[0]);
  align<over, mask_axes<M>>(visible.axes, row[1]);
  axis_extents<over>::write(e, extents);
  const auto inside = nest_over(over::size, extents, row);
  kernels::for_each_row(outside, [&](const std::ptrdiff_t(&o)[3], std::size_t count, const std::ptrdiff_t(&s)[3]) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      const auto visit = [&](auto&& each) {
        std::size_t place = 0;
        kernels::for_each_element(inside, [&](std::ptrdiff_t f, std::ptrdiff_t v) {
          if (visible.data[o[2] + j * s[2] + v]) { each(x.data[o[1] + j * s[1] + f], place); }
          ++place;
        });
      };
      to.data[o[0] + j * s[0]] = total_of<How, Out, R>(visit);
    }
  });
}

}  // namespace dimwise::detail
