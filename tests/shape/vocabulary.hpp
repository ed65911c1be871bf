// tests/shape/vocabulary.hpp -- dimensions and short words that the tests of the rules share.
//
// No data and no expressions: a rule takes shapes as types and answers with a shape or with an error.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/shape.hpp>

#include <type_traits>

namespace shape_test {

using namespace dimwise;

struct batch : batch_dim<> {};
struct layers : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct src : position_dim<7> {};
struct d_model : feature_dim<12> {};
struct heads : heads_dim<3> {};
struct more_heads : prime<heads> {};
struct group_of : heads_dim<2> {};
struct d_k : divided<d_model, heads> {};
struct d_v : feature_dim<6> {};
struct d_ff : feature_dim<> {};
struct vocab : choice_dim<11> {};
struct experts : dimension<ability::parallel | ability::choice, 8> {};
struct packed_seq : packed_dim<> {};
struct packed_key : prime<packed_seq> {};
struct one : position_dim<1> {};
struct nothing_special : dimension<ability::none, 1> {};

template <class... D>
using list = detail::list<D...>;

/// The rule said yes, and the result has exactly this shape.
template <class Verdict, class Shape>
inline constexpr bool gives = std::is_same_v<Verdict, accepted<Shape>>;

/// The rule said no, and this is the error, whatever its facts.
template <template <class...> class Error, class Verdict>
inline constexpr bool says = false;
template <template <class...> class Error, class... Facts>
inline constexpr bool says<Error, Error<Facts...>> = true;

}  // namespace shape_test
