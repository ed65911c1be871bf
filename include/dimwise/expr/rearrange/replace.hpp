// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/rearrange/replace.hpp -- replace_at: an operand with other elements at one position, or from one
// position on.
//
// Layer: expr. `assign_at` (eval/written/sequences.hpp) writes them into a tensor.
// Tests: tests/eval/written/sequences.test.cpp, tests/compile_fail/index/
#pragma once

#include <dimwise/expr/node.hpp>
#include <dimwise/expr/operation.hpp>
#include <dimwise/expr/rearrange/take.hpp>
#include <dimwise/shape/rules/index.hpp>

namespace dimwise {

namespace detail {

// The first operand, where the second one takes the place of elements of D from one of them on.
template <class D>
struct replace_along {
  static constexpr const char* name = "replace_at";
  using over = list<D>;
  std::size_t first;
};

// R15, R18: `part` fits in `x` from this element on, and has its positions where it has any.
template <class D, class X, class Part>
void check_place(const char* operation, const X& x, const Part& part, std::size_t first) {
  const extent_t n = x.extents().template extent<D>();
  constexpr bool has_dim = is_in<D, dims_t<shape_of<Part>>>;
  extent_t count = 1;
  if constexpr (has_dim) { count = part.extents().template extent<D>(); }
  if (first > n || count > n - first) {
    raise<index_error>(error{} << operation << ": " << count << " elements from " << first
                               << " on are outside dimension " << dimension_name<D>() << " of extent " << n
                               << " (R18)");
  }
  if constexpr (has_dim && has_slot<D>) {
    const std::ptrdiff_t whole = x.extents().template of_atom<D>().origin;
    const std::ptrdiff_t own = part.extents().template of_atom<D>().origin;
    if (own >= 0 && whole >= 0 && own != position_after(whole, first, operation, &dimension_name<D>)) {
      raise<origin_error>(error{} << operation << ": the elements begin at position " << static_cast<long long>(own)
                                  << " of dimension " << dimension_name<D>() << ", and element " << first
                                  << " that they replace is at position "
                                  << static_cast<long long>(whole) + static_cast<long long>(first) << " (R18)");
    }
  }
  using rest = difference_t<typename extents_for<shape_of<X>>::atoms, list<D>>;
  (void)merge_extents<rest>(
      operation, merge_extents<rest>(operation, x.extents()),
      merge_extents<difference_t<typename extents_for<shape_of<Part>>::atoms, list<D>>>(operation, part.extents()));
}

namespace calls {

struct replace_at {
  template <class D, operand X, operand Part, class Place>
    requires((std::integral<Place> || std::is_same_v<Place, id<D>>) &&
             (std::is_same_v<value_of<X>, value_of<Part>> || (is_real<X> && is_real<Part>)))
  static auto judge(list<D>, const X&, Place, const Part&) -> rule::replace_at<D, shape_of<X>, shape_of<Part>>;
  template <class Verdict, class D, operand X, operand Part, class Place>
  static auto make(list<D>, const X& x, Place place, const Part& part) {
    using shape = typename Verdict::shape;
    const std::size_t first = place_number<D>("replace_at", place, x.extents().template extent<D>());
    check_place<D>("replace_at", x, part, first);
    return make_node<shape, std::common_type_t<value_of<X>, value_of<Part>>>(
        replace_along<D>{first}, extents_from<shape>("replace_at", x.extents()), x, part);
  }
};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// `x` with other elements along D from the i-th on: as many as `part` has along D, or one where `part` lacks D.
///
///   replace_at<D>(x, i, part):  [D, rest] x [rest]     ->  [D, rest]
///   replace_at<D>(x, i, part):  [D, rest] x [D, rest]  ->  [D, rest]        of a run-time extent
///
/// `i` is a whole number or an `id<D>`. All else is identical by type (R10). Throws `index_error` outside, and
/// `origin_error` where `part` has other positions (R18).
DIMWISE_DETAIL_OPERATION(replace_at)

}  // namespace no_adl

}  // namespace dimwise
