// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training/gradients.hpp -- sums of gradients and losses over ranks: data-parallel training.
//
// Layer: ranks. Sums are added in the order of the ranks: P ranks have the bits of one rank that accumulates the P
// batches in this order (grad/accumulate.hpp).
// Tests: tests/ranks/training/training.test.cpp, tests/ranks/mpi/, tests/compile_fail/ranks/
//
//   auto [loss, gradient] = all_reduce<dp>(value_and_gradient(model, …), mesh);
//   optimiser.step(model, clip_norm(gradient, 1.0));
#pragma once

#include <dimwise/grad/accumulate.hpp>
#include <dimwise/grad/gradient.hpp>
#include <dimwise/grad/optimiser.hpp>
#include <dimwise/ranks/collectives.hpp>
#include <dimwise/ranks/mesh.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace dimwise {

/// How the terms of gradients are sent.
enum class gradient_format : unsigned char {
  exact,     ///< in the element type of the parameter
  bfloat16,  ///< float terms and their sum are rounded to 8 significant bits: an error of up to 2⁻⁷ · Σ |term|
};

namespace detail {

// Parameters whose terms are sent together: many small ones in one message (Li et al. 2020). The last parameters, of
// which the backward pass has the gradients first, are in the first bucket, so the order is the same on all ranks.
struct gradient_bucket {
  std::vector<std::size_t> parameters{};
  std::size_t elements = 0;
  std::size_t bytes_of_one = 0;
};
// The parameters that are whole along a mesh axis.
DIMWISE_DETAIL_LIBRARY std::vector<gradient_bucket> buckets_of(const parameter_list& all, axis_key along,
                                                               const std::vector<bool>& left_out = {});

// Adds the terms of all ranks.
DIMWISE_DETAIL_LIBRARY void reduce_terms(const parameter_list& terms, const ranks::communicator& along, axis_key axis,
                                         gradient_format format);

// The sum of numbers of all ranks.
DIMWISE_DETAIL_LIBRARY void reduce_numbers(double* numbers, std::size_t count, const ranks::communicator& along,
                                           const char* what);

// Reductions that run while the backward pass goes on.
class started_reduction {
 public:
  // The gradients arrive at `origins`, are taken into `taken` and added to `to`; these are one list, if `to` has no
  // terms of earlier batches. A parameter that is not read any more has `owners` owners. Those that are `left_out`,
  // if it is not empty, are neither taken nor sent.
  DIMWISE_DETAIL_LIBRARY started_reduction(const parameter_list& to, const parameter_list& taken,
                                           const parameter_origins& origins, long owners,
                                           const ranks::communicator& along, axis_key axis,
                                           std::vector<bool> left_out = {});
  started_reduction(const started_reduction&) = delete;
  started_reduction& operator=(const started_reduction&) = delete;
  DIMWISE_DETAIL_LIBRARY ~started_reduction();

  /// Advances the messages, and starts the buckets of which nothing more arrives.
  DIMWISE_DETAIL_LIBRARY void advance();
  /// Starts the others, and waits for all.
  DIMWISE_DETAIL_LIBRARY void finish();
  /// How many buckets were started before `finish`.
  [[nodiscard]] std::size_t started_early() const { return started_early_; }

 private:
  struct sum;
  [[nodiscard]] bool is_complete(const gradient_bucket& bucket) const;
  void take(std::size_t parameter);
  void start(const gradient_bucket& bucket);

  const parameter_list& to_;
  const parameter_list& taken_;
  const parameter_origins& origins_;
  long owners_;
  whole_passes passes_;
  const ranks::communicator& along_;
  axis_key axis_;
  std::vector<bool> left_out_;
  std::vector<gradient_bucket> buckets_;
  std::vector<std::unique_ptr<sum>> sums_{};
  std::size_t next_ = 0;
  std::size_t started_early_ = 0;
};

// The buckets of the last reduction of this thread that were started before the backward pass had ended.
inline std::size_t& buckets_started_early() {
  static thread_local std::size_t count = 0;
  return count;
}

// ---- the calls ------------------------------------------------------------------------------------------------------

template <class M, class Along, class Mesh>
consteval auto judge_reduced_gradient() {
  if constexpr (!Mesh::template has<M>) {
    return answer<ERROR_R25_mesh_has_no_such_axis<op::all_reduce, over<M>, Mesh>>{};
  } else if constexpr (!is_in<M, Along>) {
    return answer<ERROR_R23_operand_is_no_partial_sum<op::all_reduce, over<M>>>{};
  } else {
    return answer<accepted<shape<>>>{};
  }
}
template <class M, class Along, class Mesh>
using reduced_gradient_verdict = typename decltype(judge_reduced_gradient<M, Along, Mesh>())::type;

// The dimensions of an average after its reduction along M.
template <class M, class D>
struct reduced_dim {
  using type = D;
};
template <class M, class D>
  requires is_shard<D>
struct reduced_dim<M, D> : std::conditional<std::is_same_v<typename D::shard_along, M>, typename D::shard_of, D> {};
template <class M, class... D>
using reduced_dims = list<typename reduced_dim<M, D>::type...>;
template <class M, class Dims, class Mesh>
consteval auto judge_reduced_average() {
  using reduced = reduced_gradient_verdict<M, mesh_axes_of_list_t<Dims>, Mesh>;
  if constexpr (refused<reduced>) {
    return answer<reduced>{};
  } else {
    return []<class... D>(list<D...>) {
      if constexpr (is_in<M, mesh_axes_of_list_t<reduced_dims<M, D...>>>) {  // a product of which a factor is divided
        return answer<ERROR_R24_operand_has_no_such_shard<op::all_reduce, over<M>>>{};
      } else {
        return answer<accepted<shape<typename reduced_dim<M, D>::type...>>>{};
      }
    }(Dims{});
  }
}
template <class M, class Dims, class Mesh>
using reduced_average_verdict = typename decltype(judge_reduced_average<M, Dims, Mesh>())::type;

template <class M, class Model, class... Along>
auto reduced_gradient(partial_gradient<Model, Along...>&& g, const ranks::communicator& along, gradient_format format,
                      double* total = nullptr) {
  using rest = difference_t<list<Along...>, list<M>>;
  if (g.is_average) { reduce_numbers(&g.count, 1, along, "count of the loss"); }
  if (total != nullptr) { *total = g.count; }
  const parameter_list terms(g.terms);
  reduce_terms(terms, along, &axis_id<M>, format);
  if constexpr (rest::size > 0) {
    return gradient_along_t<Model, rest>{static_cast<Model&&>(g.terms), g.count, g.is_average};
  } else {
    if (g.is_average) { multiply_parameters(terms, g.count == 0 ? 0.0 : 1.0 / g.count); }
    return static_cast<Model&&>(g.terms);
  }
}

template <class T, class... Marks>
T number_in(const tensor<T, Marks...>& term) {
  return *term.data();
}
template <class T, class... D>
T number_in(const average<T, D...>& term) {
  return *term.sum.data();
}
// The sum of the losses of all ranks: of averages in float64, as `accumulated` adds them.
template <class T>
double reduced_number(T term, bool is_average, const ranks::communicator& along) {
  if (!is_average) {
    along.all_reduce(&term, 1, "loss");
    return static_cast<double>(term);
  }
  auto sum = static_cast<double>(term);
  reduce_numbers(&sum, 1, along, "sum of the losses");
  return sum;
}

}  // namespace detail

/// A reduction along M that overlaps the backward pass: `value_and_gradient(model, loss, reduced<M>(mesh))`.
template <class M>
struct gradient_reduction {
  ranks::communicator along;
};

namespace no_adl {

/// The gradient of the sum over the ranks along M, on each of them: complete, or terms along the axes that are left.
///
/// The terms of parameters that are whole along M are added in the order of the ranks, many parameters in one message;
/// parameters with a shard along M are complete. The sum of the gradients of an `average` is divided by the sum of the
/// counts: ranks may have different numbers of elements. With `gradient_format::bfloat16`, float terms are sent in half
/// the bytes. Rejects another axis than those of the gradient (R23), and a mesh without it (R25).
template <class M, class Model, class... Along, class... Axes,
          class Verdict = detail::reduced_gradient_verdict<M, detail::list<Along...>, ranks::mesh<Axes...>>>
  requires allowed<Verdict>
[[nodiscard]] auto all_reduce(partial_gradient<Model, Along...> gradient, const ranks::mesh<Axes...>& mesh,
                              gradient_format format = gradient_format::exact) {
  const ranks::communicator& along = mesh.template along<M>();
  return ranks::detail::taking_part(along, "all_reduce", [&] {
    return detail::reduced_gradient<M>(static_cast<partial_gradient<Model, Along...>&&>(gradient), along, format);
  });
}
template <class M, class Model, class... Along, class... Axes,
          class Verdict = detail::reduced_gradient_verdict<M, detail::list<Along...>, ranks::mesh<Axes...>>>
  requires refused<Verdict>
Verdict all_reduce(const partial_gradient<Model, Along...>& gradient, const ranks::mesh<Axes...>& mesh,
                   gradient_format format = gradient_format::exact);

// A gradient that is complete, or of no partial sum at all: it would be counted once for each rank.
template <class M, class Model, class... Axes,
          class Error = ERROR_R23_operand_is_no_partial_sum<op::all_reduce, over<M>>>
  requires(!operand<Model> && nn::detail::has_walked_parameters<Model>())
Error all_reduce(const Model& gradient, const ranks::mesh<Axes...>& mesh,
                 gradient_format format = gradient_format::exact);

/// The loss and its gradient over all ranks along M: a number and a model, or terms along the axes that are left.
template <class M, class V, class Model, class... Along, class... Axes,
          class Verdict = detail::reduced_gradient_verdict<M, detail::list<Along...>, ranks::mesh<Axes...>>>
  requires allowed<Verdict>
[[nodiscard]] auto all_reduce(value_with_gradient<V, partial_gradient<Model, Along...>> one,
                              const ranks::mesh<Axes...>& mesh, gradient_format format = gradient_format::exact) {
  using T = detail::model_element<Model>;
  using rest = detail::difference_t<detail::list<Along...>, detail::list<M>>;
  const ranks::communicator& along = mesh.template along<M>();
  return ranks::detail::taking_part(along, "all_reduce", [&] {
    const bool is_average = one.gradient.is_average;
    double count = one.gradient.count;
    const double sum = detail::reduced_number(detail::number_in(one.value), is_average, along);
    auto gradient = detail::reduced_gradient<M>(static_cast<partial_gradient<Model, Along...>&&>(one.gradient), along,
                                                format, &count);
    if constexpr (rest::size > 0) {
      using term =
          detail::term_of_loss<T, detail::make_shape_t<detail::list<>, typename detail::partial_marks<rest>::type>,
                               void>;
      return value_with_gradient<typename term::type, decltype(gradient)>{term::of(static_cast<T>(sum), {}),
                                                                          static_cast<decltype(gradient)&&>(gradient)};
    } else {
      const double factor = !is_average ? 1.0 : count == 0 ? 0.0 : 1.0 / count;
      return value_with_gradient<T, Model>{static_cast<T>(sum * factor), static_cast<Model&&>(gradient)};
    }
  });
}
template <class M, class V, class Model, class... Along, class... Axes,
          class Verdict = detail::reduced_gradient_verdict<M, detail::list<Along...>, ranks::mesh<Axes...>>>
  requires refused<Verdict>
Verdict all_reduce(const value_with_gradient<V, partial_gradient<Model, Along...>>& one,
                   const ranks::mesh<Axes...>& mesh, gradient_format format = gradient_format::exact);

/// The average over the elements of all ranks along M, which may have different numbers of them: [shard<D, M>, rest] ->
/// [D, rest]. Sums and counts are added in the order of the ranks, as `+` adds averages.
template <class M, class T, class... D, class... Axes,
          class Verdict = detail::reduced_average_verdict<M, detail::list<D...>, ranks::mesh<Axes...>>>
  requires allowed<Verdict>
[[nodiscard]] auto all_reduce(const average<T, D...>& term, const ranks::mesh<Axes...>& mesh) {
  using result = typename detail::average_over<T, typename Verdict::shape>::type;
  struct numbers {
    T sum;
    double count;
    double lost;
  };
  const ranks::communicator& along = mesh.template along<M>();
  return ranks::detail::taking_part(along, "all_reduce", [&] {
    const numbers mine{detail::number_in(term), term.count, term.lost};
    std::vector<numbers> all(along.size(), mine);
    const std::vector<std::size_t> one(along.size(), 1);
    along.all_gather(&mine, all.data(), one.data(), "average");
    result total;
    for (std::size_t r = 0; r < all.size(); ++r) {
      result part;
      part.sum.fill(all[r].sum);
      part.count = all[r].count;
      part.lost = all[r].lost;
      if (r == 0) {
        total = part;
      } else {
        total += part;
      }
    }
    return total;
  });
}
template <class M, class T, class... D, class... Axes,
          class Verdict = detail::reduced_average_verdict<M, detail::list<D...>, ranks::mesh<Axes...>>>
  requires refused<Verdict>
Verdict all_reduce(const average<T, D...>& term, const ranks::mesh<Axes...>& mesh);

/// The option of `value_and_gradient` that reduces along M during the backward pass: the terms of a bucket of
/// parameters are sent as soon as they are complete. Same bits as `all_reduce<M>` of the result.
template <class M, class... Axes>
  requires(ranks::mesh<Axes...>::template has<M>)
[[nodiscard]] gradient_reduction<M> reduced(const ranks::mesh<Axes...>& mesh) {
  return {mesh.template along<M>()};
}
template <class M, class... Axes,
          class Error = ERROR_R25_mesh_has_no_such_axis<op::all_reduce, over<M>, ranks::mesh<Axes...>>>
  requires(!ranks::mesh<Axes...>::template has<M>)
Error reduced(const ranks::mesh<Axes...>& mesh);

}  // namespace no_adl

}  // namespace dimwise

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/ranks/training/gradients_definitions.hpp>
#endif
