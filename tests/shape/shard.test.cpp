// tests/shape/shard.test.cpp -- mesh axes, and the parts of dimensions that ranks have.
// SPDX-License-Identifier: BSL-1.0
#include "vocabulary.hpp"
#include <dimwise/dim/error.hpp>

#include <doctest/doctest.h>

#include <string>

namespace shape_test {
namespace {

struct tp : mesh_axis<2> {};
struct dp : mesh_axis<> {};
struct sp : mesh_axis<4> {};
struct hidden : feature_dim<8> {};
struct words : choice_dim<> {};
struct other : position_dim<> {};
struct time_step : position_dim<12> {};
struct attended : prime<time_step> {};

// A mesh axis is not a dimension; its number of ranks is static, or that of an object.
static_assert(mesh_axis_type<tp> && mesh_axis_type<dp> && !mesh_axis_type<hidden> && !dimension_type<tp>);
static_assert(tp{}.ranks() == 2 && dp{3}.ranks() == 3);

// A shard is a dimension of its own, of the whole's abilities; static extents are divided.
using hidden_here = shard<hidden, tp>;
static_assert(dimension_type<hidden_here> && sharded_dimension<hidden_here> && !sharded_dimension<hidden>);
static_assert(hidden_here::abilities == hidden::abilities && hidden_here::static_extent == 4);
static_assert(!std::is_same_v<hidden_here, shard<hidden, dp>> && !related_dimensions<hidden_here, hidden>);
static_assert(shard<hidden, dp>::static_extent == at_run_time && shard<words, tp>::static_extent == at_run_time);
static_assert(shard<time_step, sp, striped>::static_extent == 3 &&
              !std::is_same_v<shard<time_step, sp, striped>, shard<time_step, sp>>);
static_assert(detail::divides_among<hidden, tp> && !detail::divides_among<d_v, sp> && detail::divides_among<d_v, dp> &&
              detail::divides_among<words, tp>);
static_assert(!detail::divides_among<hidden, mesh_axis<0>>);

// Composites and packed positions have no shards, and stripes need a static number of ranks.
static_assert(detail::has_shard<hidden, tp> && detail::has_shard<time_step, sp, striped>);
static_assert(!detail::has_shard<merged<heads, d_k>, tp> && !detail::has_shard<summed<d_k, d_v>, tp>);
static_assert(!detail::has_shard<packed_seq, tp> && !detail::has_shard<time_step, dp, striped> &&
              detail::has_shard<time_step, dp> && !detail::has_shard<hidden, tp, int>);

// The shard of a prime is a prime of the shard, and the shard of an output side is one.
static_assert(related_dimensions<shard<attended, sp>, shard<time_step, sp>> &&
              related_dimensions<shard<time_step, sp>, shard<attended, sp>>);
static_assert(related_dimensions<shard<attended, sp, striped>, shard<time_step, sp, striped>> &&
              !related_dimensions<shard<attended, sp, striped>, shard<time_step, sp>> &&
              !related_dimensions<shard<attended, sp>, shard<time_step, dp>>);
static_assert(related_dimensions<shard<out<hidden>, tp>, hidden_here> && detail::is_out<shard<out<hidden>, tp>>);
static_assert(std::is_same_v<detail::unprimed_t<shard<attended, sp>>, time_step>);

// The mesh axes of a dimension, under any name.
template <class D>
using axes = detail::mesh_axes_t<D>;
struct half : hidden_here {};
static_assert(std::is_same_v<axes<hidden>, list<>> && std::is_same_v<axes<hidden_here>, list<tp>> &&
              std::is_same_v<axes<half>, list<tp>>);
static_assert(std::is_same_v<axes<prime<hidden_here>>, list<tp>> && std::is_same_v<axes<out<hidden_here>>, list<tp>>);
static_assert(std::is_same_v<axes<shard<hidden_here, dp>>, list<dp, tp>>);
static_assert(std::is_same_v<axes<merged<shard<heads, dp>, d_k>>, list<dp>> &&
              std::is_same_v<axes<summed<hidden_here, prime<hidden_here>>>, list<tp>>);
static_assert(std::is_same_v<axes<divided<hidden_here, group_of>>, list<tp>> &&
              std::is_same_v<axes<divided<shard<words, tp>, shard<batch, tp>>>, list<>>);

// The distance between neighbouring positions.
static_assert(detail::position_step<time_step> == 1 && detail::position_step<shard<time_step, sp>> == 1 &&
              detail::position_step<shard<time_step, sp, striped>> == 4 &&
              detail::position_step<prime<shard<time_step, sp, striped>>> == 4 &&
              detail::position_step<shard<shard<seq, sp, striped>, tp>> == 4);
static_assert(detail::floor_quotient(7, 4) == 1 && detail::floor_quotient(-1, 4) == -1 &&
              detail::floor_quotient(-4, 4) == -1 && detail::floor_quotient(-5, 4) == -2 &&
              detail::floor_quotient(0, 4) == 0);

// R25: a mesh axis occurs once in a shape; queries and keys of one sequence count as one.
static_assert(valid_shape<hidden_here, shard<batch, dp>> && !valid_shape<hidden_here, shard<batch, tp>>);
static_assert(!valid_shape<hidden_here, prime<hidden_here>> && !valid_shape<hidden_here, partial<tp>> &&
              valid_shape<hidden_here, partial<dp>> && !valid_shape<shard<hidden_here, tp>>);
static_assert(valid_shape<shard<seq, sp>, shard<key, sp>> && !valid_shape<shard<seq, sp>, shard<other, sp>> &&
              !valid_shape<shard<seq, sp>, shard<key, sp>, partial<sp>>);
static_assert(!valid_shape<merged<shard<group_of, tp>, d_k>, hidden_here>);

TEST_CASE("the parts of a dimension are its elements, once each") {
  std::size_t all = 0;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const auto part = part_here<shard<seq, dp>>(seq{11}, rank, 3);
    CHECK(part.extent() == (rank == 2 ? 3 : 4));
    CHECK(part.given_origin() == static_cast<std::ptrdiff_t>(all));
    all += part.extent();
  }
  CHECK(all == 11);
  CHECK(part_here<shard<seq, dp>>(starting_at(seq{4}, 100), 1, 2).origin() == 102);
  CHECK(part_here<shard<seq, dp>>(seq{2}, 3, 4).extent() == 0);
  CHECK(part_here<shard<words, tp>>(words{5}, 1, 2).extent() == 2);
}

TEST_CASE("stripes begin at the rank") {
  const auto part = part_here<shard<seq, sp, striped>>(seq{10}, 3, 4);
  CHECK(part.extent() == 2);  // 3 and 7
  CHECK(part.origin() == 3);
  CHECK(part_here<shard<seq, sp, striped>>(starting_at(seq{10}, 20), 1, 4).origin() == 21);
}

TEST_CASE("ranks and extents that do not exist are rejected") {
  const auto refused = [](const auto& call) {
    try {
      call();
    } catch (const extent_error& e) { return std::string(e.what()); }
    return std::string();
  };
  CHECK(refused([] { (void)part_here<shard<seq, dp>>(seq{4}, 2, 2); }).find("rank 2 of 2") != std::string::npos);
  CHECK(refused([] { (void)part_here<hidden_here>(hidden{}, 0, 4); }).find("divided among 2") != std::string::npos);
  CHECK_THROWS_AS(static_cast<void>(tp{3}), extent_error);
  CHECK_THROWS_AS(static_cast<void>(dp{-1}), extent_error);
}

}  // namespace
}  // namespace shape_test
