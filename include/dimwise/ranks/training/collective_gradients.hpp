// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training/collective_gradients.hpp -- the vector-Jacobian products of collectives.
//
// Layer: ranks. The gradient of a collective's result is complete, or the terms of all ranks are added on the way:
//
//   all_reduce<M>:            each term has the gradient of the sum
//   reduce_scatter<M, D>:     all_gather<M, D>
//   all_gather<M, D>:         this rank's part; of terms: reduce_scatter<M, D>
//   all_to_all<M, From, To>:  all_to_all<M, To, From>
//   permute_ranks by k:       permute_ranks by -k
//   broadcast_from<M>:        the gradient of the result, on every rank
//
// Shoeybi et al. 2019 (f and g); Korthikanti et al. 2022 (their parts of a sequence).
// Tests: tests/ranks/training/gradients.test.cpp
#pragma once

#include <dimwise/grad/tracked.hpp>
#include <dimwise/ranks/messages/communicator.hpp>
#include <dimwise/ranks/messages/shared_rows.hpp>

#include <cstddef>
#include <exception>
#include <utility>

namespace dimwise::detail {

// The sum along a mesh axis, by a communicator.
class sum_along final : public sum_over_ranks {
 public:
  explicit sum_along(ranks::communicator along) : along_(std::move(along)) {}
  void add(float* terms, std::size_t count) const override { along_.all_reduce(terms, count, "gradient"); }
  void add(double* terms, std::size_t count) const override { along_.all_reduce(terms, count, "gradient"); }
  void abandon() const override { along_.withdraw(std::current_exception(), "value_and_gradient"); }

 private:
  ranks::communicator along_;
};
// Gradients that meet shards along M are added by these ranks, while a gradient is computed.
template <class M>
void remember_sum(const ranks::communicator& along) {
  if (gradient_ranks::lacks(axis_id<M>)) {
    gradient_ranks::give(axis_id<M>, owner<const sum_along>(new sum_along(along)));
  }
}

// A gradient with these dimensions and extents.
template <class T, class Dims>
using gradient_in_order = tensor_of<T, make_shape_t<Dims, list<>>>;
template <class Tensor>
using gradient_like = gradient_in_order<value_of<Tensor>, dims_t<shape_of<Tensor>>>;

// The gradient of a value that is whole along M: of a loss that is a partial sum along M, the terms are added.
template <class M, class Value>
auto taken_whole(Value& value, const ranks::communicator& along, const char* what) {
  auto g = value.taken();
  if (gradient_ranks::is_left(axis_id<M>)) { along.all_reduce(g.overwrite(), g.size(), what); }
  return g;
}

template <class M, class Target>
struct back_of_all_reduce {
  Target to;
  ranks::communicator along;
  template <class Value>
  void send(Value& value) const {
    const auto g = taken_whole<M>(value, along, "gradient of all_reduce");
    to.add(g);
  }
};

// Given is the operand with D in front, S the part of D.
template <class S, class Target, class Given>
struct back_of_reduce_scatter {
  Target to;
  ranks::communicator along;
  shared_rows rows;
  std::size_t row;
  typename Given::extents_type extents;
  template <class Value>
  void send(Value& value) const {
    using D = typename S::shard_of;
    using T = value_of<Given>;
    const gradient_in_order<T, replace_t<dims_t<shape_of<Given>>, D, list<S>>> part(value.taken());
    auto whole = gradient_like<Given>::for_overwriting(extents);
    gather_rows(rows, row, along, part.data(), whole.overwrite(), "gradient of reduce_scatter");
    to.add(std::as_const(whole));
  }
};

// Given is the operand with its part of D in front.
template <class M, class D, class Target, class Given>
struct back_of_all_gather {
  Target to;
  ranks::communicator along;
  shared_rows rows;
  std::size_t row;
  typename Given::extents_type extents;
  template <class Value>
  void send(Value& value) const {
    value.take_in_terms(axis_id<M>, [&](const auto& g) {
      send_part(g, [&](const auto* whole, auto* part) { take_rows(rows, row, along.rank(), whole, part); });
    }, [&](const auto& g) {
      send_part(
          g, [&](const auto* whole, auto* part) { add_rows(rows, row, along, whole, part, "gradient of all_gather"); });
    });
  }

 private:
  // Sends this rank's part of the gradient `g`, which `write(whole, part)` makes.
  template <class G, class Write>
  void send_part(const G& g, const Write& write) const {
    using part_axis = first_t<dims_t<shape_of<Given>>>;
    const gradient_in_order<value_of<Given>, replace_t<dims_t<shape_of<Given>>, part_axis, list<D>>> whole(g);
    auto part = gradient_like<Given>::for_overwriting(extents);
    write(whole.data(), part.overwrite());
    to.add(std::as_const(part));
  }
};

// Given is [To, S, rest]; Sent are the dimensions [From, P, rest], and Received are [S, To, rest].
template <class Sent, class Received, class Target, class Given>
struct back_of_all_to_all {
  Target target;
  ranks::communicator along;
  shared_rows to;
  shared_rows from;
  std::size_t row;
  typename Given::extents_type extents;
  template <class Value>
  void send(Value& value) const {
    using T = value_of<Given>;
    using received_type = gradient_in_order<T, Received>;
    const gradient_in_order<T, Sent> sent(value.taken());
    auto received =
        received_type::for_overwriting(merge_extents<typename received_type::extents_type::atoms>("gradient", extents));
    exchange_rows(from, to, row, along, sent.data(), received.overwrite(), "gradient of all_to_all");
    target.add(std::as_const(received));
  }
};

// The rank `distance` after this one, in a ring.
inline std::size_t rank_at(const ranks::communicator& along, std::ptrdiff_t distance) {
  const auto count = static_cast<std::ptrdiff_t>(along.size());
  const std::ptrdiff_t at = (static_cast<std::ptrdiff_t>(along.rank()) + distance % count) % count;
  return static_cast<std::size_t>(at < 0 ? at + count : at);
}
template <class Stored>
struct back_of_permute {
  gradient_target<Stored> to;
  ranks::communicator along;
  std::ptrdiff_t by;
  typename Stored::extents_type extents;
  template <class Value>
  void send(Value& value) const {
    const auto g = value.taken();
    auto received = Value::gradient_type::for_overwriting(extents);
    auto* const elements = received.overwrite();
    along
        .permute(g.data(), g.size(), rank_at(along, -by), elements, received.size(), rank_at(along, by),
                 "gradient of permute_ranks")
        .wait();
    to.add(std::as_const(received));
  }
};

template <class Target>
struct back_of_broadcast {
  Target to;
  template <class Value>
  void send(Value& value) const {
    to.add(value.taken());
  }
};

// The result of a collective along M over the stored operand: with the record that `back` makes, if it is tracked.
template <class M, class Value, class Stored, class Back>
auto recorded_after(const Value& value, const ranks::communicator& along, const Stored& stored, const Back& back) {
  if constexpr (is_tracked<Stored>) {
    remember_sum<M>(along);
    return recorded_with(value, back(gradient_target(stored)), stored);
  } else {
    return value;
  }
}

}  // namespace dimwise::detail
