// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/whole_rows.hpp -- a mask of queries that serves a softmax over keys: it hides or shows whole rows.
//
// Layer: expr. A mask serves the dimensions that it tells apart; one of queries tells no keys apart, and says so here.
// Tests: tests/eval/whole_rows.test.cpp, tests/compile_fail/mask/
//
//   window<seq, key>{1, 1} | whole_rows(allow(global))                   tokens that see everything
//   padding<source>(s) & whole_rows(padding<target>(t))                  queries that are padding see nothing
#pragma once

#include <dimwise/expr/mask.hpp>

namespace dimwise {

template <class M>
class whole_rows_mask : public detail::mask_of_mask<M> {
 public:
  using facts =
      detail::mask_facts<typename M::facts::dims, typename detail::any_but_list<typename M::facts::dims>::type, false,
                         typename M::facts::taken>;
  using detail::mask_of_mask<M>::mask_of_mask;
};

namespace detail {

template <class M>
inline constexpr bool is_whole_rows = false;
template <class M>
inline constexpr bool is_whole_rows<whole_rows_mask<M>> = true;
template <class M>
struct brought<whole_rows_mask<M>> : brought<M> {};

}  // namespace detail

namespace no_adl {

/// The mask `m` for whatever softmax or reduction follows, over any dimension but its own: of a row that it hides
/// nothing is visible, of one that it shows everything.
///
/// Alone it leaves the rows that it shows as they are; a softmax gives 0 in the others. Combined by `&` and `|` it
/// serves what the other mask serves (R7).
template <mask M>
[[nodiscard]] auto whole_rows(const M& m) {
  return whole_rows_mask<M>(m);
}
template <class E, class Error = ERROR_R7_block_mask_is_turned_by_allow_of<op::whole_rows,
                                                                           detail::operand_t<detail::shape_of<E>>>>
Error whole_rows(const block_mask<E>& m);
template <operand E, class Error = ERROR_R7_mask_needs_a_polarity_allow_or_block<
                         op::whole_rows, detail::operand_t<detail::shape_of<E>>>>
Error whole_rows(const E& m);

}  // namespace no_adl
}  // namespace dimwise
