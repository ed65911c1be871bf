// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/rotary_frequencies.hpp -- the frequencies of rotary positions as a tensor.
//
// Layer: eval.
// Tests: tests/nn/rotary_scaling.test.cpp, tests/compile_fail/positions/
#pragma once

#include <dimwise/expr/operation.hpp>
#include <dimwise/expr/positions/rotary.hpp>

namespace dimwise {

namespace detail {

// Whether `rotary_frequencies<D…>()` needs no extent.
template <class... D>
inline constexpr bool knows_pairs = false;
template <dimension_type Pairs>
inline constexpr bool knows_pairs<Pairs> = is_feature<Pairs> && Pairs::static_extent != at_run_time;

template <class Named, class... Given>
struct frequencies_error {
  using type = ERROR_R1_operation_takes_other_arguments<op::rotary_frequencies, over_t<Named>, Given...>;
};
template <dimension_type Pairs>
  requires(is_feature<Pairs>)
struct frequencies_error<list<Pairs>> {
  using type = extents_given_once<op::rotary_frequencies, Pairs>;
};

}  // namespace detail

namespace no_adl {

/// The angle of every pair at position 1, of twice as many features as there are pairs.
///
///   rotary_frequencies(pairs{64}, {.scaling = …})  ->  [pairs]
///   rotary_frequencies<pairs>()                    ->  [pairs]     of a static extent: the same as of `pairs{}`
template <dimension_type Pairs>
  requires(detail::is_feature<Pairs>)
[[nodiscard]] tensor<double, Pairs> rotary_frequencies(const Pairs& pairs, const rotary_options& options = {}) {
  detail::aligned_vector<double> values(pairs.extent());
  for (std::size_t i = 0; i < values.size(); ++i) { values[i] = rotary_frequency(i, 2 * values.size(), options); }
  return tensor<double, Pairs>(std::span<const double>(values.data(), values.size()), pairs);
}
template <class Pairs>
  requires(detail::knows_pairs<Pairs>)
[[nodiscard]] tensor<double, Pairs> rotary_frequencies() {
  return rotary_frequencies(Pairs{});
}
// Not DIMWISE_DETAIL_MISUSED: without arguments, its ellipsis is as good as the call above.
template <class... D, class... Given,
          class Error = typename detail::frequencies_error<detail::list<D...>, Given...>::type>
  requires(!(sizeof...(Given) == 0 && detail::knows_pairs<D...>))
Error rotary_frequencies(const Given&... given);
template <
    auto First, auto... More,
    class Error = ERROR_R1_operation_names_its_dimension<op::rotary_frequencies, number_arguments<First, More...>>>
Error rotary_frequencies(...);

}  // namespace no_adl

}  // namespace dimwise
