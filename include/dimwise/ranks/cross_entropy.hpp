// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/cross_entropy.hpp -- the cross-entropy of logits of which each rank has its part of the vocabulary.
//
// Layer: ranks. Shoeybi et al. 2019, section 3: the ranks exchange a maximum, a sum and the target's logit for each
// place, and never the logits.
// Tests: tests/ranks/cross_entropy.test.cpp, tests/compile_fail/collectives/
//
//   tensor losses = ranks::cross_entropies<vocab_here>(contract<d_model>(y, head), next, grid);
#pragma once

#include <dimwise/grad/loss_options.hpp>
#include <dimwise/ranks/collectives.hpp>
#include <dimwise/shape/rules/loss.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace dimwise {

namespace detail {

// Logits [rest, S], and ids [rest] of the dimension that S is a part of.
template <class S, class X, class Y, class Mesh>
consteval auto judge_shared_cross_entropy() {
  using logits = shape_of<X>;
  if constexpr (!is_in<S, dims_t<logits>>) {
    return answer<missing_t<op::cross_entropy, list<S>, logits>>{};
  } else if constexpr (!is_shard<S>) {
    return answer<nothing_to_gather<op::cross_entropy, list<S>, logits>>{};
  } else if constexpr (partials_t<logits>::size > 0) {
    return answer<ERROR_R23_partial_sum_is_reduced_first<op::cross_entropy, over<S>, operand_t<logits>>>{};
  } else if constexpr (!Mesh::template has<typename S::shard_along>) {
    return answer<ERROR_R25_mesh_has_no_such_axis<op::cross_entropy, over<typename S::shard_along>, Mesh>>{};
  } else if constexpr (!ranks::reducible<untracked_t<value_of<X>>> || !real_element<value_of<X>>) {
    return answer<ERROR_R13_needs_real_numbers<op::cross_entropy, operand_t<logits>>>{};
  } else if constexpr (std::is_same_v<ids_of_t<Y>, nothing>) {
    return answer<ERROR_R22_targets_have_other_dimensions<op::cross_entropy, lhs_t<logits>, rhs_t<shape_of<Y>>>>{};
  } else {
    using V = typename S::shard_of;
    return judge_alternatives<op::cross_entropy, V, list<>, exchanged_t<S, V, logits>, ids_of_t<Y>, shape_of<Y>,
                              true>();
  }
}

// Names for the places and the classes of a rank, so that kernels compute rows without the names of a program.
struct loss_places : batch_dim<> {};
struct loss_classes : feature_dim<> {};
template <class T>
using place_rows = tensor_view<T, loss_places, loss_classes>;
template <class T>
using place_column = tensor_view<T, loss_places>;

// Which class of a rank each target is; `none` for a class of another rank.
struct target_classes {
  static constexpr std::size_t none = ~std::size_t{0};
  std::vector<std::size_t> at{};
};
template <class D, class Ids>
target_classes targets_here(const Ids& ids, std::size_t places, const shared_rows& classes, std::size_t rank) {
  const std::size_t whole = classes.whole(), ranks = classes.extents.size();
  std::size_t before = 0;
  for (std::size_t r = 0; r < rank; ++r) { before += classes.extents[r]; }
  target_classes here;
  for (std::size_t p = 0; p < places; ++p) {
    const std::size_t of_whole = ids[p].value;
    if (of_whole >= whole) {
      raise<index_error>(error{} << "cross_entropies: id " << of_whole << " is outside dimension "
                                 << dimension_name<D>() << " of extent " << whole << " (R18)");
    }
    const bool is_here =
        classes.striped ? of_whole % ranks == rank : of_whole >= before && of_whole < before + classes.extents[rank];
    const std::size_t at = classes.striped ? of_whole / ranks : of_whole - before;
    here.at.push_back(is_here ? at : target_classes::none);
  }
  return here;
}

// The loss of each place, its largest logit, and the sum over the classes of all ranks of exp(logit - largest).
template <class T>
void shared_losses(const T* logits, std::size_t places, std::size_t classes, const target_classes& targets,
                   const ranks::communicator& along, T* losses, T* largest, T* sums) {
  const loss_places all{places};
  fill_elements(largest, places, -std::numeric_limits<T>::infinity());
  const place_rows<const T> x(logits, all, loss_classes{classes});
  if (classes > 0) { place_column<T>(largest, all) = max<loss_classes>(x); }
  along.all_reduce(largest, places, "cross_entropies: maxima", ranks::reduction::max);
  const place_column<const T> shift(largest, all);
  aligned_vector<T> both(2 * places);  // the sums, and the logits of the targets beside the largest
  fill_elements(both.data(), 2 * places, T(0));
  if (classes > 0) { place_column<T>(both.data(), all) = sum<loss_classes>(exp(x - shift)); }
  for (std::size_t p = 0; p < places; ++p) {
    if (targets.at[p] != target_classes::none) { both[places + p] = logits[p * classes + targets.at[p]] - largest[p]; }
  }
  along.all_reduce(both.data(), 2 * places, "cross_entropies: sums and targets");
  copy_elements(both.data(), places, sums);
  for (std::size_t p = 0; p < places; ++p) { losses[p] = std::log(sums[p]) - both[places + p]; }
}

// g (softmax - the target) for this rank's classes.
template <class T>
void shared_losses_back(const T* logits, std::size_t places, std::size_t classes, const target_classes& targets,
                        const T* largest, const T* sums, const T* g, T* to) {
  if (classes == 0) { return; }
  const loss_places all{places};
  const place_rows<const T> x(logits, all, loss_classes{classes});
  const place_column<const T> shift(largest, all), divisor(sums, all), gradient(g, all);
  place_rows<T>(to, all, loss_classes{classes}) = exp(x - shift) * (gradient / divisor);
  for (std::size_t p = 0; p < places; ++p) {
    if (targets.at[p] != target_classes::none) { to[p * classes + targets.at[p]] -= g[p]; }
  }
}

// Logits are the stored logits [rest, S].
template <class M, class Target, class Logits>
struct back_of_cross_entropies {
  Target to;
  ranks::communicator along;
  Logits logits;
  target_classes targets;
  aligned_vector<value_of<Logits>> largest;
  aligned_vector<value_of<Logits>> sums;
  template <class Value>
  void send(Value& value) const {
    const auto g = taken_whole<M>(value, along, "gradient of cross_entropies");
    auto all = gradient_like<Logits>::for_overwriting(logits.extents());
    const std::size_t places = targets.at.size();
    shared_losses_back(logits.data(), places, places == 0 ? 0 : logits.size() / places, targets, largest.data(),
                       sums.data(), g.data(), all.overwrite());
    to.add(std::as_const(all));
  }
};

template <class Rest, class S, class X, class Y, class Mesh>
auto cross_entropies_of(const X& x, const Y& y, const Mesh& mesh) {
  using M = typename S::shard_along;
  using T = untracked_t<value_of<X>>;
  const ranks::communicator& along = mesh.template along<M>();
  (void)merge_extents<atoms_of_list_t<dims_t<Rest>>>("cross_entropies",
                                                     extents_from<Rest>("cross_entropies", x.extents()),
                                                     extents_from<Rest>("cross_entropies", y.extents()));
  const tensor_of<value_of<X>, make_shape_t<join_t<dims_t<Rest>, list<S>>, marks_t<stored_t<shape_of<X>>>>> stored(x);
  const auto& logits = untracked_of(stored);
  const tensor_of<value_of<Y>, Rest> ids(y);
  const shared_rows classes = rows_of_parts<S>(parts_of_all<S>(logits.extents(), along, "cross_entropies"));
  const std::size_t places = ids.size();
  const target_classes targets = targets_here<typename S::shard_of>(ids.data(), places, classes, along.rank());
  auto losses = tensor_of<T, Rest>::for_overwriting(extents_from<Rest>("cross_entropies", logits.extents()));
  aligned_vector<T> largest(places), sums(places);
  shared_losses(logits.data(), places, classes.extents[along.rank()], targets, along, losses.overwrite(),
                largest.data(), sums.data());
  return recorded_after<M>(losses, along, stored, [&](const auto& to) {
    return back_of_cross_entropies<M, std::remove_cvref_t<decltype(to)>, std::remove_cvref_t<decltype(logits)>>{
        to, along, logits, targets, largest, sums};
  });
}

}  // namespace detail

namespace ranks {

/// The cross-entropy of each place, of logits whose classes the ranks share: this rank's part of them, and ids among
/// all of them (Shoeybi et al. 2019).
///
///   [rest, shard<V, M>] x ids of V [rest]  ->  [rest], whole along M
///
/// The ranks exchange three numbers for each place. Sums over the classes are added in the order of the ranks. An id
/// outside V throws `index_error`. Rejects what `cross_entropy` rejects over V (R5, R6, R7, R13, R18, R22), V without
/// shards (R24), partial logits (R23), and a mesh without the axis (R25).
template <
    class S, operand X, operand Y, class... Axes,
    class Verdict = typename decltype(dimwise::detail::judge_shared_cross_entropy<S, X, Y, mesh<Axes...>>())::type>
  requires allowed<Verdict>
[[nodiscard]] auto cross_entropies(const X& logits, const Y& targets, const mesh<Axes...>& along) {
  return dimwise::detail::taking_part_along<typename S::shard_along>(along, "cross_entropies", [&] {
    return dimwise::detail::cross_entropies_of<typename Verdict::shape, S>(logits, targets, along);
  });
}
template <
    class S, operand X, operand Y, class... Axes,
    class Verdict = typename decltype(dimwise::detail::judge_shared_cross_entropy<S, X, Y, mesh<Axes...>>())::type>
  requires refused<Verdict>
Verdict cross_entropies(const X& logits, const Y& targets, const mesh<Axes...>& along);

}  // namespace ranks

}  // namespace dimwise
