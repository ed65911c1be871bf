// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/sorting/top_k.hpp -- top_k: the largest elements along a dimension, and their ids.
//
// Layer: eval: it gives two tensors at once, so it computes at once.
// Tests: tests/eval/sorting/top_k.test.cpp
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/eval/sorting/order.hpp>
#include <dimwise/expr/rearrange/join.hpp>
#include <dimwise/expr/untracked.hpp>

#include <tuple>

namespace dimwise {

/// The largest elements in falling order, and their places.
template <class Values, class Ids>
struct top_k_result {
  Values values;
  Ids ids;
};

namespace detail::calls {

struct top_k {
  template <class D, class... N, operand X, class Best>
    requires begins<list<N...>, list<Best>>
  static auto judge(list<D, N...>, const X&, const Best&)
      -> of_numbers<op::top_k, rule::top_k<D, Best, shape_of<X>>, X>;
  template <class D, class Best, operand X>
  static auto judge(list<D, Best>, const X&)
      -> without_extent_t<op::top_k, Best, of_numbers<op::top_k, rule::top_k<D, Best, shape_of<X>>, X>>;
  template <class Verdict, class D, class... N, operand X, class Best = first_t<list<N...>>>
  static auto make(list<D, N...>, const X& x, const Best& best = {}) {
    using T = value_of<X>;
    using shape = stored_t<typename Verdict::shape>;
    using Values = tensor_of<T, shape>;
    using Ids = tensor_of<id<D>, make_shape_t<dims_t<shape>, list<>>>;
    const extent_t n = x.extents().template extent<D>();
    if (best.extent() > n) {
      raise<extent_error>(error{} << "top_k: the " << best.extent() << " largest were asked of dimension "
                                  << dimension_name<D>() << " of extent " << n << " (R18)");
    }
    const auto e = extents_from<shape>("top_k", one_extent(best), extents_beside<shape_of<X>, D>(x.extents()));
    if constexpr (is_tracked_type<T>) {  // the ids have no derivative: the values are those at the ids
      const auto found = make<Verdict>(list<D, N...>{}, untracked_of(x), best);
      return top_k_result<Values, Ids>{Values(gathered<shape, D, X, Ids>({}, e, x, found.ids)), found.ids};
    } else {
      return largest<Values, Ids, D, Best>(x, best, n, e);
    }
  }

 private:
  template <class Values, class Ids, class D, class Best, class X, class Extents>
  static top_k_result<Values, Ids> largest(const X& x, const Best& best, extent_t n, const Extents& e) {
    if constexpr (holds_erased<X>) { return largest<Values, Ids, D, Best>(tensor(x), best, n, e); }
    using T = value_of<X>;
    using axes = axes_for<shape_of<Values>>;
    top_k_result<Values, Ids> result{
        Values::for_overwriting(e), Ids::for_overwriting(merge_extents<typename Ids::extents_type::atoms>("top_k", e))};
    const auto from = lower<T>(x);
    axis to[max_rank];
    axis_extents<axes>::write_contiguous(e, to);
    const axis along_best = to[index_in<Best, axes>];
    const row_loops loops = rows_form_over<axes, axes_for<shape_of<X>>, axes_of_list_t<list<D>>>.loops(to, from.axes);
    aligned_vector<std::size_t> order(n);
    aligned_vector<std::uint64_t> keys(n);
    aligned_vector<T> row(n);
    T* values = result.values.overwrite();
    id<D>* ids = result.ids.overwrite();
    kernels::for_each_element(loops.outside, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
      std::size_t next = 0;
      kernels::for_each_element(loops.inside, [&](std::ptrdiff_t, std::ptrdiff_t g) {
        row[next] = from.data[f + g];
        keys[next] = sort_key_of<true>(row[next]);
        ++next;
      });
      sort_order(keys.data(), n, best.extent(), order.data());
      for (std::size_t i = 0; i < best.extent(); ++i) {
        const std::ptrdiff_t place = t + static_cast<std::ptrdiff_t>(i) * along_best.stride;
        values[place] = row[order[i]];
        ids[place] = id<D>(order[i]);
      }
    });
    return result;
  }
};

}  // namespace detail::calls

namespace no_adl {

/// The |Best| largest elements along D in falling order, the first of equals first, with their ids; NaN counts as
/// largest.
///
///   auto [values, ids] = top_k<vocab, best>(x);      [D, rest]  ->  [Best, rest], and id<D> over the same
///
/// Rejects dimensions that are neither attendable nor a choice (R13), more than there are (R18; `extent_error` at run
/// time).
DIMWISE_DETAIL_OPERATION(top_k)

}  // namespace no_adl

namespace detail {

// The element of factor F at a place in the product of F and others, the first slowest.
template <class F, class... All>
id<F> factor_of(std::size_t place, const All&... extents) {
  const extent_t n[] = {extents.extent()...};
  constexpr std::size_t which = index_in<F, list<All...>>;
  for (std::size_t i = sizeof...(All) - 1; i > which; --i) { place /= n[i]; }
  return id<F>(place % n[which]);
}

template <class F, class... All, class... D>
auto split_one(const tensor<id<merged<All...>>, D...>& ids, const All&... extents) {
  auto result = tensor<id<F>, D...>::for_overwriting(ids.extents());
  id<F>* to = result.overwrite();
  const extent_t all = checked_product("split_ids", &dimension_name<merged<All...>>, {extents.extent()...});
  for (const auto& i : ids.values()) {
    if (i.value >= all) {
      raise<index_error>(error{} << "split_ids: id " << static_cast<long long>(i.value) << " is outside dimension "
                                 << dimension_name<merged<All...>>() << " of extent " << all << " (R18)");
    }
    *to++ = factor_of<F>(i.value, extents...);
  }
  return result;
}

// The factors are those of the product, in its order; those whose extents the compiler knows may be left out, all at
// once.
template <class D, class... Given>
inline constexpr bool takes_apart = false;
template <class... Factors, class... Given>
inline constexpr bool takes_apart<merged<Factors...>, Given...> =
    std::is_same_v<list<Factors...>, list<Given...>> ||
    (sizeof...(Given) == 0 && ((Factors::static_extent != at_run_time) && ...));

}  // namespace detail

namespace no_adl {

/// The ids of each factor from ids of a product (R18): beams and words of the best continuations.
///
///   auto [beams, words] = split_ids(ids, beam{}, word{});      ids of merged<beam, word>
///
/// Throws `index_error` for an id outside the product of the extents.
template <class... Factors, class... D>
[[nodiscard]] auto split_ids(const tensor<id<merged<Factors...>>, D...>& ids, const Factors&... extents) {
  return std::tuple(detail::split_one<Factors>(ids, extents...)...);
}
/// The extents of factors may be left out where the compiler knows them. An expression is computed at once.
template <class... Factors, class... D>
  requires((Factors::static_extent != at_run_time) && ...)
[[nodiscard]] auto split_ids(const tensor<id<merged<Factors...>>, D...>& ids) {
  return split_ids(ids, Factors{}...);
}
template <expression X, dimension_type... Factors>
  requires(detail::takes_apart<detail::indexed_by_t<X>, Factors...>)
[[nodiscard]] auto split_ids(const X& ids, const Factors&... extents) {
  return split_ids(tensor(ids), extents...);
}
DIMWISE_DETAIL_MISUSED(split_ids)

}  // namespace no_adl

}  // namespace dimwise
