// tests/shape/dim.test.cpp -- dimensions: kinds, extents, and dimensions that are made from dimensions.
// SPDX-License-Identifier: BSL-1.0
#include "vocabulary.hpp"
#include <dimwise/dim/error.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace shape_test {
namespace {

// Kinds are sets of abilities, and users combine their own.
static_assert(batch::abilities == ability::parallel);
static_assert(heads::abilities == (ability::parallel | ability::heads));
static_assert(seq::abilities == (ability::ordered | ability::attendable));
static_assert(d_model::abilities == ability::feature);
static_assert(vocab::abilities == ability::choice);
static_assert(packed_seq::abilities == (ability::ordered | ability::attendable | ability::packed));
static_assert(has_any(experts::abilities, ability::parallel) && has_any(experts::abilities, ability::choice) &&
              !has_any(experts::abilities, ability::feature));
static_assert(!has_any(ability::none, ability::parallel));

// Extents are static, or known when the program runs.
static_assert(d_model::static_extent == 12 && seq::static_extent == at_run_time);
static_assert(dimension_type<seq> && dimension_type<merged<heads, d_k>> && !dimension_type<int> &&
              !dimension_type<normalised<key>>);

// prime: another dimension of the same kind; its extent is D's where static, or its own.
static_assert(!std::is_same_v<key, seq> && key::abilities == seq::abilities);
static_assert(prime<src>::static_extent == 7 && prime<src, 9>::static_extent == 9 &&
              key::static_extent == at_run_time && prime<seq, 9>::static_extent == 9);
static_assert(prime<packed_seq>::abilities == packed_seq::abilities);

// related: a dimension with its prime or `out`, both ways, and nothing else.
static_assert(related_dimensions<seq, key> && related_dimensions<key, seq> &&
              related_dimensions<d_model, out<d_model>> && related_dimensions<out<d_model>, d_model>);
static_assert(!related_dimensions<seq, src> && !related_dimensions<seq, seq> &&
              !related_dimensions<prime<seq>, out<seq>> && !related_dimensions<seq, int>);
static_assert(out<d_model>::static_extent == 12 && out<d_model>::abilities == ability::feature);

// R4: divided has A's kind and A's extent divided by B's; the compiler refuses what does not divide.
static_assert(d_k::static_extent == 4 && d_k::abilities == ability::feature);
static_assert(divided<d_ff, heads>::static_extent == at_run_time &&
              divided<d_model, batch>::static_extent == at_run_time);
static_assert(divisible<d_model, heads> && divisible<d_ff, heads> && divisible<d_model, batch>);
struct five : heads_dim<5> {};
struct none_at_all : heads_dim<0> {};
static_assert(!divisible<d_model, five> && !divisible<d_model, none_at_all> && !divisible<heads, d_model> &&
              !divisible<int, heads>);

// merged: the product of the extents; feature if one factor is and the rest are parallel, else what all have in common.
static_assert(merged<heads, d_k>::static_extent == 12 && merged<batch, d_k>::static_extent == at_run_time);
static_assert(merged<heads, d_k>::abilities == ability::feature && merged<d_k, heads>::abilities == ability::feature);
static_assert(merged<batch, heads>::abilities == ability::parallel);
static_assert(merged<d_k, d_v>::abilities == ability::feature);
static_assert(merged<seq, d_k>::abilities == ability::none && merged<seq, vocab>::abilities == ability::none);
static_assert(merged<seq, key>::abilities == (ability::ordered | ability::attendable));
static_assert(!std::is_same_v<merged<heads, d_k>, merged<d_k, heads>>);

// summed: the sum of the extents, and what all parts have in common.
static_assert(summed<d_k, d_v>::static_extent == 10 && summed<d_k, d_ff>::static_extent == at_run_time);
static_assert(summed<d_k, d_v>::abilities == ability::feature && summed<d_k, seq>::abilities == ability::none);
static_assert(summed<merged<heads, d_k>, d_v>::static_extent == 18);

// A composite's axes are its factors; a sum is one axis of several extents.
static_assert(std::is_same_v<detail::axes_t<merged<batch, merged<heads, d_k>>, seq>, list<batch, heads, d_k, seq>>);
static_assert(std::is_same_v<detail::axes_t<summed<d_k, d_v>>, list<summed<d_k, d_v>>>);
static_assert(std::is_same_v<detail::atoms_t<merged<heads, summed<d_k, d_v>>, heads>, list<heads, d_k, d_v>>);
static_assert(detail::extents_differ<d_model, d_v> && !detail::extents_differ<d_model, d_model> &&
              !detail::extents_differ<d_model, d_ff> && !detail::extents_differ<d_ff, d_model>);

// R3: a struct that derives from a composite is another dimension.
struct model_from_heads : merged<heads, d_k> {};
static_assert(!std::is_same_v<model_from_heads, merged<heads, d_k>> && dimension_type<model_from_heads>);

// R18: an id belongs to its dimension.
static_assert(!std::is_convertible_v<id<vocab>, id<experts>> && !std::is_convertible_v<std::size_t, id<vocab>> &&
              std::is_constructible_v<id<vocab>, std::size_t>);
static_assert(id<vocab>(3) == id<vocab>(3) && !(id<vocab>(3) == id<vocab>(4)));

TEST_CASE("shape: extents are objects of their dimension") {
  CHECK(seq{5}.extent() == 5);
  CHECK(seq{}.extent() == 0);
  CHECK(d_model{}.extent() == 12);
  CHECK(d_model{12}.extent() == 12);
  CHECK(seq{5}.origin() == 0);
  CHECK(starting_at(seq{1}, 41).origin() == 41);
  CHECK(starting_at(seq{1}, 41).extent() == 1);
  CHECK(starting_at(seq{1}, -2).origin() == -2);
}

TEST_CASE("shape: a negative extent, and one that contradicts the type, throw") {
  CHECK_THROWS_AS((void)seq{-1}, extent_error);
  CHECK_THROWS_AS((void)d_model{11}, extent_error);
  CHECK_THROWS_AS((void)(prime<seq, 9>{8}), extent_error);
  try {
    (void)d_model{11};
  } catch (const error& problem) {
    CHECK(std::string(problem.what()).find("11") != std::string::npos);
    CHECK(std::string(problem.what()).find("12") != std::string::npos);
    CHECK(std::string(problem.what()).find("R15") != std::string::npos);
  }
}

TEST_CASE("shape: an extent of a packed dimension is the lengths of its documents") {
  const packed_seq all{{3, 4, 2}};
  CHECK(all.extent() == 9);
  CHECK(all.documents().size() == 3);
  CHECK(all.documents().total() == 9);
  CHECK(packed_key{{3, 4, 2}}.documents() == all.documents());
  CHECK_FALSE(packed_key{{3, 6}}.documents() == all.documents());
  CHECK_FALSE(packed_seq{}.documents().known());
  const std::vector<int> lengths{3, 4, 2};
  CHECK(packed_dim<>(lengths).documents() == all.documents());
  const packed_seq copy = all;
  CHECK(copy.documents().begin() == all.documents().begin());
}

}  // namespace
}  // namespace shape_test
