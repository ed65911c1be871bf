// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/positions/rotary.hpp -- rotary positions: pairs of features turned by an angle that grows with the
// position.
//
// Layer: expr. Origins come from the extents, positions of their own for each sequence from a tensor.
// Tests: tests/expr/positions/positions.test.cpp, tests/nn/rotary_scaling.test.cpp, tests/compile_fail/positions/
//
//   rotary<key, d_k>(k, {.base = 5e5, .scaling = llama3_scaling{.factor = 8, .trained = 8192}})
#pragma once

#include <dimwise/expr/elements/numbers.hpp>
#include <dimwise/expr/node.hpp>
#include <dimwise/shape/rules/positions.hpp>
#include <dimwise/support/library.hpp>

#include <variant>

namespace dimwise {

/// Which features rotary pairs: i with i + n/2, or 2i with 2i + 1.
enum class rotary_pairs { half_split, interleaved };

/// Frequencies as they are (Su et al. 2021).
struct no_scaling {};
/// Positions divided by `factor`: position interpolation (Chen et al. 2023).
struct linear_scaling {
  double factor = 1;
};
/// The base times factor^(n/(n−2)): the slowest frequency is divided by `factor`, the fastest stays ("NTK-aware").
struct ntk_scaling {
  double factor = 1;
};
/// YaRN (Peng et al. 2023, section 3.2): pairs that turn more than `fast` times in the `trained` positions stay, those
/// that turn less than `slow` times are divided by `factor`, between them is a ramp. Cosines and sines are multiplied
/// by `attention`; 0 means the paper's 0.1 ln(factor) + 1. The ramp begins and ends at whole pairs if `whole_pairs`.
struct yarn_scaling {
  double factor = 1;
  double trained = 4096;
  double fast = 32;
  double slow = 1;
  double attention = 0;
  bool whole_pairs = true;
};
/// Llama 3.1: wavelengths up to trained/high stay, those from trained/low on are divided by `factor`, between them the
/// two are mixed.
struct llama3_scaling {
  double factor = 8;
  double low = 1;
  double high = 4;
  double trained = 8192;
};
using rotary_scaling = std::variant<no_scaling, linear_scaling, ntk_scaling, yarn_scaling, llama3_scaling>;

/// How `rotary` turns: pair i of n features by the angle position · base^(−2i/n), which `scaling` changes.
struct rotary_options {
  double base = 10000;
  rotary_pairs pairs = rotary_pairs::half_split;
  rotary_scaling scaling = {};
  std::size_t features = 0;  ///< only so many are turned, the first ones; all where it is 0
};

namespace no_adl {

/// The angle of pair i of n features at position 1. Throws `number_error` for a base or a factor that is not positive
/// and finite.
[[nodiscard]] DIMWISE_DETAIL_LIBRARY double rotary_frequency(std::size_t pair, std::size_t features,
                                                             const rotary_options& options = {});
/// The factor of cosines and sines: 1, except for YaRN.
[[nodiscard]] DIMWISE_DETAIL_LIBRARY double rotary_attention(const rotary_options& options);

}  // namespace no_adl

namespace detail {

// Pairs of features turned by angles: those of the positions in the extents, of one more child (positions), or of two
// more (cosines and sines, one for each pair along `Pairs`).
template <class P, class F, class Pairs = nothing>
struct turned {
  static constexpr const char* name = "rotary";
  using positions = P;
  using features = F;
  using over = list<P, F>;
  rotary_options options;
  bool backwards = false;  // by the opposite angles: what a gradient is turned by
};
template <class Shape, class P, class F, class Pairs, class E, class... Angles>
using rotary_node = node<turned<P, F, Pairs>, Shape, value_of<E>, E, Angles...>;

// How many features are turned, checked (R9).
template <class F>
std::size_t turned_features(extent_t has, std::size_t asked) {
  if (asked == 0 && has % 2 != 0) {
    raise<extent_error>(error{} << "rotary: dimension " << dimension_name<F>() << " has the odd extent " << has
                                << " (R9)");
  }
  if (asked % 2 != 0 || asked > has) {
    raise<extent_error>(error{} << "rotary: " << asked << " features of dimension " << dimension_name<F>()
                                << " of extent " << has
                                << " are to be turned; it takes an even number of those that there are (R9)");
  }
  return asked == 0 ? has : asked;
}

template <class Cosines, class Shape>
using pairs_of = first_t<difference_t<dims_t<shape_of<Cosines>>, dims_t<Shape>>>;

template <class P, class F, class X>
using rotary_verdict = of_numbers<op::rotary, rule::rotary<P, F, shape_of<X>>, X>;
template <class P, class F, class X, class Positions>
using rotary_at_verdict = of_numbers<op::rotary, rule::rotary_at<P, F, shape_of<X>, shape_of<Positions>>, X>;
template <class P, class F, class X, class Cosines, class Sines>
using rotary_by_verdict =
    of_numbers<op::rotary, rule::rotary_by<P, F, shape_of<X>, shape_of<Cosines>, shape_of<Sines>>, X>;

}  // namespace detail

namespace no_adl {

/// `x` with pairs of the features F turned by their position in P (Su et al. 2021): queries and keys, never values.
///
///   [P, F, rest]  ->  the same, rotated<F, P>      of a prime P its dimension: queries and keys of one sequence agree
///
/// Positions are those of the extents; packed ones count from the beginning of their document. Rejects composites with
/// a heads factor, odd features, and what is rotated already (R9). Throws `extent_error` for an odd run-time extent.
template <class P, class F, operand X, class Verdict = detail::rotary_verdict<P, F, X>>
  requires allowed<Verdict>
[[nodiscard]] auto rotary(const X& x, const rotary_options& options = {}) {
  (void)detail::turned_features<F>(x.extents().template extent<F>(), options.features);
  (void)x.extents().template first_position<P>("rotary");
  return detail::rotary_node<typename Verdict::shape, P, F, detail::nothing, X>({options}, x.extents(), x);
}
template <class P, class F, operand X, class Verdict = detail::rotary_verdict<P, F, X>>
  requires refused<Verdict>
Verdict rotary(const X& x, const rotary_options& options = {});

/// Positions are given by a tensor of whole numbers, for each sequence its own.
///
///   [P, F, rest] x [P, subset of rest]  ->  [P, F, rest], rotated<F, P>
template <class P, class F, operand X, operand Positions, class Verdict = detail::rotary_at_verdict<P, F, X, Positions>>
  requires(allowed<Verdict> && whole_element<detail::value_of<Positions>>)
[[nodiscard]] auto rotary(const X& x, const Positions& positions, const rotary_options& options = {}) {
  using shape = typename Verdict::shape;
  (void)detail::turned_features<F>(x.extents().template extent<F>(), options.features);
  auto e = detail::extents_from<shape>("rotary", x.extents(), positions.extents());
  return detail::rotary_node<shape, P, F, detail::nothing, X, Positions>({options}, e, x, positions);
}
template <class P, class F, operand X, operand Positions, class Verdict = detail::rotary_at_verdict<P, F, X, Positions>>
  requires(refused<Verdict> && whole_element<detail::value_of<Positions>>)
Verdict rotary(const X& x, const Positions& positions, const rotary_options& options = {});
template <class P, class F, operand X, operand Positions,
          class Error = ERROR_R9_angles_do_not_belong_to_the_rotated_positions<
              op::rotary, over<detail::about_t<P>, detail::about_t<F>>, detail::lhs_t<detail::shape_of<X>>,
              detail::rhs_t<detail::shape_of<Positions>>>>
  requires(!whole_element<detail::value_of<Positions>>)
Error rotary(const X& x, const Positions& positions, const rotary_options& options = {});

/// Cosines and sines are given, one for each pair; of more features the first ones are turned. Rows of a cache
/// are taken by their positions: `rotary<seq, d_k>(x, gather<place>(cosines, ids), gather<place>(sines, ids))`.
///
///   [P, F, rest] x [P, pairs, subset of rest] x [the same]  ->  [P, F, rest], rotated<F, P>
template <class P, class F, operand X, operand Cosines, operand Sines,
          class Verdict = detail::rotary_by_verdict<P, F, X, Cosines, Sines>>
  requires allowed<Verdict>
[[nodiscard]] auto rotary(const X& x, const Cosines& cosines, const Sines& sines,
                          rotary_pairs pairs = rotary_pairs::half_split) {
  using shape = typename Verdict::shape;
  using counts = detail::pairs_of<Cosines, shape>;
  using all = detail::union_t<typename detail::extents_for<shape>::atoms, detail::list<counts>>;
  const auto met = detail::merge_extents<all>("rotary", x.extents(), cosines.extents(), sines.extents());
  rotary_options options;
  options.pairs = pairs;
  options.features =
      detail::checked_product("rotary", &detail::dimension_name<F>, {2, met.template extent<counts>("rotary")});
  (void)detail::turned_features<F>(x.extents().template extent<F>(), options.features);
  return detail::rotary_node<shape, P, F, counts, X, Cosines, Sines>(
      {options}, detail::extents_from<shape>("rotary", met), x, cosines, sines);
}
template <class P, class F, operand X, operand Cosines, operand Sines,
          class Verdict = detail::rotary_by_verdict<P, F, X, Cosines, Sines>>
  requires refused<Verdict>
Verdict rotary(const X& x, const Cosines& cosines, const Sines& sines, rotary_pairs pairs = rotary_pairs::half_split);
DIMWISE_DETAIL_MISUSED(rotary)

}  // namespace no_adl

}  // namespace dimwise

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/expr/positions/rotary_definitions.hpp>
#endif
