// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/collectives.hpp -- collectives on tensors: reductions, gathers and exchanges that the types ask for.
//
// Layer: ranks. Each one evaluates its operand, and is called by all ranks along the mesh axis in the same order. Sums
// are added in the order of the ranks: the same bits on every rank and in every run. The result of a tracked operand is
// recorded with the collective that sends its gradient back (ranks/training/collective_gradients.hpp).
// Tests: tests/ranks/typed_collectives.test.cpp, tests/ranks/training/gradients.test.cpp,
// tests/compile_fail/collectives/
//
//   const ranks::mesh grid(world, tp{2});
//   tensor y = all_reduce<tp>(contract<hidden_here>(h, down), grid);     // partial<tp> ends here
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/ranks/mesh.hpp>
#include <dimwise/ranks/messages/tensor_collectives.hpp>
#include <dimwise/ranks/training/collective_gradients.hpp>
#include <dimwise/shape/rules/collectives.hpp>

#include <memory>
#include <utility>
namespace dimwise {

/// A tensor on its way from another rank: compute, then `wait` for it.
template <class Tensor>
class arriving {
 public:
  /// The sent and the received elements; both stay where they are while the message is on its way.
  struct ends {
    Tensor sent;
    Tensor received;
  };
  arriving(std::unique_ptr<ends> both, ranks::request&& request)
      : both_(std::move(both)), request_(static_cast<ranks::request&&>(request)) {}
  /// The tensor, when it is there. Throws `rank_error` after the limit of the mesh.
  [[nodiscard]] Tensor wait() {
    request_.wait();
    return both_->received;
  }
  /// Whether `wait` would return immediately; advances the message.
  [[nodiscard]] bool done() { return request_.done(); }

 private:
  std::unique_ptr<ends> both_;
  ranks::request request_;  // ends before them
};
/// The same of a tracked tensor: `wait` records it, so all ranks wait for several in the same order.
template <class T, class... DimsAndMarks>
class arriving<tensor<tracked<T>, DimsAndMarks...>> {
 public:
  using tensor_type = tensor<tracked<T>, DimsAndMarks...>;
  arriving(arriving<tensor<T, DimsAndMarks...>>&& value, const tensor_type& sent, std::ptrdiff_t by,
           ranks::communicator along)
      : value_(static_cast<arriving<tensor<T, DimsAndMarks...>>&&>(value)),
        sent_(sent),
        by_(by),
        along_(std::move(along)) {}
  /// The tensor, when it is there. Throws `rank_error` after the limit of the mesh, and `gradient_error` after the end
  /// of the `value_and_gradient` in which it was sent.
  [[nodiscard]] tensor_type wait() {
    return detail::recorded_with(
        value_.wait(),
        detail::back_of_permute<tensor_type>{detail::gradient_target(sent_), along_, by_, sent_.extents()}, sent_);
  }
  /// Whether `wait` would return immediately; advances the message.
  [[nodiscard]] bool done() { return value_.done(); }

 private:
  arriving<tensor<T, DimsAndMarks...>> value_;
  tensor_type sent_;
  std::ptrdiff_t by_;
  ranks::communicator along_;
};

namespace detail {

template <class Tensor, class Dims>
arriving<Tensor> start_sending(const Tensor& x, std::ptrdiff_t by, const ranks::communicator& along, Dims dims) {
  const std::size_t to = rank_at(along, by), from = rank_at(along, -by);
  using ends = typename arriving<Tensor>::ends;
  std::unique_ptr<ends> both(new ends{x, Tensor()});
  const Tensor& mine = both->sent;
  auto e = mine.extents();
  constexpr std::size_t slots = decltype(e)::slotted::size;
  if constexpr (slots > 0) {
    along.permute(mine.extents().slots(), slots, to, e.slots(), slots, from, "permute_ranks: extents").wait();
  }
  both->received = Tensor::for_overwriting(e);
  auto* const elements = both->received.overwrite();
  auto request = along.permute(mine.data(), mine.size(), to, elements, both->received.size(), from,
                               call_text("permute_ranks", dims, e));
  return arriving<Tensor>(std::move(both), static_cast<ranks::request&&>(request));
}
template <class M, class X, class Mesh>
auto start_permuted(const X& x, std::ptrdiff_t by, const Mesh& mesh) {
  using Tensor = tensor_of<value_of<X>, stored_t<shape_of<X>>>;
  const ranks::communicator& along = mesh.template along<M>();
  const Tensor stored(x);
  auto sent = start_sending(untracked_of(stored), by, along, dims_t<shape_of<X>>{});
  if constexpr (is_tracked<X>) {
    remember_sum<M>(along);
    return arriving<Tensor>(static_cast<decltype(sent)&&>(sent), stored, by, along);
  } else {
    return sent;
  }
}
template <class M, class X, class Mesh>
auto broadcast_elements(const X& x, std::size_t root, const Mesh& mesh) {
  const ranks::communicator& along = mesh.template along<M>();
  const tensor_of<value_of<X>, stored_t<shape_of<X>>> stored(x);
  auto all = untracked_of(stored);
  along.broadcast(all.data(), all.size(), root, call_text("broadcast_from", dims_t<shape_of<X>>{}, all.extents()));
  all.seal();
  return recorded_after<M>(all, along, stored,
                           [](const auto& to) { return back_of_broadcast<std::remove_cvref_t<decltype(to)>>{to}; });
}

}  // namespace detail

namespace no_adl {

/// The sum of the terms of all ranks along M, on each of them: [rest], partial<M> -> [rest] (R23).
template <class M, operand X, class... Axes,
          class Verdict = detail::sent_verdict<op::all_reduce, M, rule::all_reduce<M, detail::shape_of<X>>, X,
                                               ranks::mesh<Axes...>, true>>
  requires allowed<Verdict>
[[nodiscard]] auto all_reduce(const X& x, const ranks::mesh<Axes...>& mesh) {
  return detail::taking_part_along<M>(
      mesh, "all_reduce", [&] { return detail::all_reduced<detail::stored_t<typename Verdict::shape>, M>(x, mesh); });
}
template <class M, operand X, class... Axes,
          class Verdict = detail::sent_verdict<op::all_reduce, M, rule::all_reduce<M, detail::shape_of<X>>, X,
                                               ranks::mesh<Axes...>, true>>
  requires refused<Verdict>
Verdict all_reduce(const X& x, const ranks::mesh<Axes...>& mesh);

/// The sum of the terms of all ranks, of which each rank has its part of D:
/// [D, rest], partial<M> -> [shard<D, M>, rest] (R4, R23, R24). `reduce_scatter<M, D, striped>` gives stripes.
template <
    class M, class D, class... Way, operand X, class... Axes,
    class Verdict = detail::sent_verdict<op::reduce_scatter, M, rule::reduce_scatter<M, D, detail::shape_of<X>, Way...>,
                                         X, ranks::mesh<Axes...>, true>>
  requires allowed<Verdict>
[[nodiscard]] auto reduce_scatter(const X& x, const ranks::mesh<Axes...>& mesh) {
  return detail::taking_part_along<M>(mesh, "reduce_scatter", [&] {
    return detail::reduced_to_part<typename Verdict::shape, M, D, shard<D, M, Way...>>(x, mesh);
  });
}
template <
    class M, class D, class... Way, operand X, class... Axes,
    class Verdict = detail::sent_verdict<op::reduce_scatter, M, rule::reduce_scatter<M, D, detail::shape_of<X>, Way...>,
                                         X, ranks::mesh<Axes...>, true>>
  requires refused<Verdict>
Verdict reduce_scatter(const X& x, const ranks::mesh<Axes...>& mesh);

/// The whole of D from the parts of all ranks: [shard<D, M>, rest] -> [D, rest] (R24).
///
/// Parts have any extents. Throws `extent_error` for parts of positions that leave a gap.
template <class M, class D, operand X, class... Axes,
          class Verdict = detail::sent_verdict<op::all_gather, M, rule::all_gather<M, D, detail::shape_of<X>>, X,
                                               ranks::mesh<Axes...>>>
  requires allowed<Verdict>
[[nodiscard]] auto all_gather(const X& x, const ranks::mesh<Axes...>& mesh) {
  return detail::taking_part_along<M>(mesh, "all_gather", [&] {
    return detail::gathered_parts<typename Verdict::shape, M, D, detail::shard_in_t<M, D, detail::shape_of<X>>>(x,
                                                                                                                mesh);
  });
}
template <class M, class D, operand X, class... Axes,
          class Verdict = detail::sent_verdict<op::all_gather, M, rule::all_gather<M, D, detail::shape_of<X>>, X,
                                               ranks::mesh<Axes...>>>
  requires refused<Verdict>
Verdict all_gather(const X& x, const ranks::mesh<Axes...>& mesh);

/// From is whole afterwards, and To divided: [shard<From, M>, To, rest] -> [From, shard<To, M>, rest] (R4, R24).
template <class M, class From, class To, class... Way, operand X, class... Axes,
          class Verdict = detail::sent_verdict<
              op::all_to_all, M, rule::all_to_all<M, From, To, detail::shape_of<X>, Way...>, X, ranks::mesh<Axes...>>>
  requires allowed<Verdict>
[[nodiscard]] auto all_to_all(const X& x, const ranks::mesh<Axes...>& mesh) {
  return detail::taking_part_along<M>(mesh, "all_to_all", [&] {
    return detail::exchanged_parts<typename Verdict::shape, M, From, To,
                                   detail::shard_in_t<M, From, detail::shape_of<X>>, shard<To, M, Way...>>(x, mesh);
  });
}
template <class M, class From, class To, class... Way, operand X, class... Axes,
          class Verdict = detail::sent_verdict<
              op::all_to_all, M, rule::all_to_all<M, From, To, detail::shape_of<X>, Way...>, X, ranks::mesh<Axes...>>>
  requires refused<Verdict>
Verdict all_to_all(const X& x, const ranks::mesh<Axes...>& mesh);

/// The elements of the rank `root` along M, on all of them; the extents are equal on all ranks (R23, R24). The gradient
/// of x is that of the result, on every rank: what is whole is the same everywhere.
template <class M, operand X, class... Axes,
          class Verdict = detail::sent_verdict<op::broadcast_from, M, rule::broadcast_from<M, detail::shape_of<X>>, X,
                                               ranks::mesh<Axes...>>>
  requires allowed<Verdict>
[[nodiscard]] auto broadcast_from(const X& x, std::size_t root, const ranks::mesh<Axes...>& mesh) {
  return detail::taking_part_along<M>(mesh, "broadcast_from",
                                      [&] { return detail::broadcast_elements<M>(x, root, mesh); });
}
template <class M, operand X, class... Axes,
          class Verdict = detail::sent_verdict<op::broadcast_from, M, rule::broadcast_from<M, detail::shape_of<X>>, X,
                                               ranks::mesh<Axes...>>>
  requires refused<Verdict>
Verdict broadcast_from(const X& x, std::size_t root, const ranks::mesh<Axes...>& mesh);

/// The part or the term of the rank `by` before this one, in a ring: rank r sends its own to rank r + by (R24).
template <class M, operand X, class... Axes,
          class Verdict = detail::sent_verdict<op::permute_ranks, M, rule::permute_ranks<M, detail::shape_of<X>>, X,
                                               ranks::mesh<Axes...>>>
  requires allowed<Verdict>
[[nodiscard]] auto permute_ranks(const X& x, std::ptrdiff_t by, const ranks::mesh<Axes...>& mesh) {
  return detail::taking_part_along<M>(mesh, "permute_ranks",
                                      [&] { return detail::start_permuted<M>(x, by, mesh).wait(); });
}
template <class M, operand X, class... Axes,
          class Verdict = detail::sent_verdict<op::permute_ranks, M, rule::permute_ranks<M, detail::shape_of<X>>, X,
                                               ranks::mesh<Axes...>>>
  requires refused<Verdict>
Verdict permute_ranks(const X& x, std::ptrdiff_t by, const ranks::mesh<Axes...>& mesh);

/// The same without waiting: `arriving::wait` returns the tensor.
template <class M, operand X, class... Axes,
          class Verdict = detail::sent_verdict<op::permute_ranks, M, rule::permute_ranks<M, detail::shape_of<X>>, X,
                                               ranks::mesh<Axes...>>>
  requires allowed<Verdict>
[[nodiscard]] auto start_permute_ranks(const X& x, std::ptrdiff_t by, const ranks::mesh<Axes...>& mesh) {
  return detail::taking_part_along<M>(mesh, "start_permute_ranks",
                                      [&] { return detail::start_permuted<M>(x, by, mesh); });
}
template <class M, operand X, class... Axes,
          class Verdict = detail::sent_verdict<op::permute_ranks, M, rule::permute_ranks<M, detail::shape_of<X>>, X,
                                               ranks::mesh<Axes...>>>
  requires refused<Verdict>
Verdict start_permute_ranks(const X& x, std::ptrdiff_t by, const ranks::mesh<Axes...>& mesh);

DIMWISE_DETAIL_MISUSED(all_reduce)
DIMWISE_DETAIL_MISUSED(reduce_scatter)
DIMWISE_DETAIL_MISUSED(all_gather)
DIMWISE_DETAIL_MISUSED(all_to_all)
DIMWISE_DETAIL_MISUSED(broadcast_from)
DIMWISE_DETAIL_MISUSED(permute_ranks)

}  // namespace no_adl

}  // namespace dimwise
