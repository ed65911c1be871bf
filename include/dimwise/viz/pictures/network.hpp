// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/network.hpp -- draw_network(product): a contraction as a tensor network diagram.
//
// Layer: viz. The two operands are nodes. A line between them is a contracted dimension; an open line is a dimension of
// the result; a dotted line from both nodes is a shared (batch) dimension.
//
//   draw_network(contract<d_k>(q, k)).save("scores.svg");
#pragma once

#include <dimwise/support/library.hpp>
#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/pictures/derivation.hpp>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

namespace detail {

DIMWISE_DETAIL_LIBRARY picture network_of(const step_description& s);

}  // namespace detail

namespace no_adl {

/// Draws one product as a tensor network: `contract`, `outer`, or the raw product of scores.
template <class Shape, class Over, class A, class B>
[[nodiscard]] picture draw_network(const detail::contraction<Shape, Over, A, B>& x) {
  return detail::network_of(detail::derivation_of(x).steps().back());
}

}  // namespace no_adl

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/viz/pictures/network_definitions.hpp>
#endif
