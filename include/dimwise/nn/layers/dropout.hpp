// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/layers/dropout.hpp -- dropout in training, the identity in inference.
//
// Layer: nn. The element type selects the mode: tracked operands are in training.
// Tests: tests/grad/recomputed.test.cpp, tests/nn/parameters.test.cpp
//
//   const nn::dropout_seed seed(42 + step);            // for the block; equal seeds drop equal elements
//   const nn::dropout_seed seed(42 + step, mesh, examples{32});   // of a shard, the elements that one rank drops
//   auto [loss, gradient] = value_and_gradient(model, …);
#pragma once

#include <dimwise/expr/elements/elementwise.hpp>
#include <dimwise/nn/parameters/part_on_rank.hpp>
#include <dimwise/tensor/random.hpp>

#include <array>
#include <cstdint>

namespace dimwise::nn {

namespace detail {

// The number of random dropouts in this thread: finite differences are only compared with a gradient if there are none.
inline std::uint64_t& dropouts_drawn() {
  static thread_local std::uint64_t count = 0;
  return count;
}

}  // namespace detail

/// The state of the dropout generator: the seed, and the number of dropouts that have drawn from it; which part of
/// divided dimensions this rank has.
struct dropout_state {
  std::uint64_t seed = 0;
  std::uint64_t drawn = 0;
  bool said = false;
  std::array<detail::rank_along, 4> ranks{};
  std::array<detail::whole_extent, 4> wholes{};
};

namespace detail {

// The state as `parts_in_whole` reads it.
struct part_of_dropout : dropout_state {
  [[noreturn]] static void raise_unknown(dimwise::detail::text dimension, const char* what) {
    dimwise::detail::raise<gradient_error>(
        error{} << "dropout: " << what << " of dimension " << dimension
                << " is not known: `const nn::dropout_seed seed(42, mesh, batch{32});` has the mesh and whole extents");
  }
};

}  // namespace detail

/// Sets the dropout seed of this thread for a block.
class dropout_seed {
 public:
  /// Dropouts of this thread draw from this seed until the object is destroyed.
  explicit dropout_seed(std::uint64_t seed) : dropout_seed(dropout_state{seed, 0, true}) {}
  /// The same in a program on several ranks: of a tensor with shards, each rank drops the elements that one rank would
  /// drop of the whole one. `mesh` is a `ranks::mesh`; pass the whole extents of divided dimensions that are known when
  /// the program runs.
  template <template <class...> class Mesh, mesh_axis_type... Axes, dimension_type... Whole>
    requires(sizeof...(Axes) > 0)
  dropout_seed(std::uint64_t seed, const Mesh<Axes...>& mesh, const Whole&... whole)
      : dropout_seed(dropout_state{
            seed,
            0,
            true,
            {detail::rank_along{&dimwise::detail::axis_id<Axes>, mesh.template coordinate<Axes>(),
                                mesh.template count<Axes>()}...},
            {detail::whole_extent{&dimwise::detail::axis_id<Whole>, static_cast<std::size_t>(whole.extent())}...}}) {
    static_assert(sizeof...(Axes) <= 4 && sizeof...(Whole) <= 4, "dropout_seed: up to 4 mesh axes and 4 extents");
  }
  /// Restores a state: the same elements are dropped again.
  explicit dropout_seed(const dropout_state& from) : outer_(current()) { current() = from; }
  dropout_seed(const dropout_seed&) = delete;
  dropout_seed& operator=(const dropout_seed&) = delete;
  ~dropout_seed() { current() = outer_; }

  /// The current state, to be restored later.
  [[nodiscard]] static dropout_state now() { return current(); }
  /// The seed of the next dropout. Throws `gradient_error` if the thread has no seed.
  [[nodiscard]] static std::uint64_t next() {
    dropout_state& here = current();
    if (!here.said) {
      dimwise::detail::raise<gradient_error>(
          error{} << "dropout: tracked operands need a seed, `const nn::dropout_seed seed(42);`, and this thread "
                     "has none");
    }
    // Consecutive dropouts get distant seeds (the increment of SplitMix64).
    return here.seed + 0x9E3779B97F4A7C15ULL * ++here.drawn;
  }

 private:
  static dropout_state& current() {
    static thread_local dropout_state state;
    return state;
  }
  dropout_state outer_;
};

/// The identity in inference. For a tracked x, each element becomes 0 with this probability and is multiplied by
/// 1 / (1 − probability) otherwise (Srivastava et al. 2014). Draws from the thread's `dropout_seed`. Of a shard it
/// drops the elements that one rank would drop, if the seed has the mesh; it throws `gradient_error` otherwise.
struct dropout {
  double probability = 0.1;

  template <operand X>
    requires(!dimwise::detail::is_tracked_type<dimwise::detail::value_of<X>>)
  [[nodiscard]] X operator()(const X& x) const {
    return x;
  }
  template <operand X>
    requires(dimwise::detail::is_tracked_type<dimwise::detail::value_of<X>>)
  [[nodiscard]] auto operator()(const X& x) const {
    return x * kept(x.extents(), static_cast<plain_of<X>*>(nullptr));
  }
  /// Rejects all but one tensor, view or expression (R1).
  template <class... Given, class Error = ERROR_R1_module_takes_other_arguments<dropout, dimwise::over<Given...>>>
    requires(!dimwise::detail::refused_operand<Given> && ...) && (sizeof...(Given) != 1 || !(operand<Given> && ...))
  Error operator()(const Given&... given) const;
  template <class... Given>
    requires(dimwise::detail::refused_operand<Given> || ...)
  dimwise::detail::already_refused operator()(Given... given) const;

 private:
  template <class T, class Dims>
  struct plain_tensor;
  template <class T, class... D>
  struct plain_tensor<T, dimwise::detail::list<D...>> {
    using type = tensor<T, D...>;
  };
  template <class X>
  using plain_of = typename plain_tensor<dimwise::detail::untracked_t<dimwise::detail::value_of<X>>,
                                         dimwise::detail::dims_t<dimwise::detail::shape_of<X>>>::type;

  template <class Factors>
  using dims_of_factors = detail::all_factors_t<dimwise::detail::dims_t<dimwise::detail::shape_of<Factors>>>;

  // The factor of each element: 0 or 1 / (1 − probability).
  template <class Extents, class Factors>
  Factors kept(const Extents& e, Factors*) const {
    using T = typename Factors::value_type;
    if (!(probability >= 0 && probability < 1)) {
      dimwise::detail::throw_number("dropout", "the probability", probability, "number from 0 to less than 1");
    }
    auto factors = Factors::for_overwriting(e);
    if (probability == 0) {  // drops nothing and needs no seed
      factors.fill(T(1));
      return factors;
    }
    ++detail::dropouts_drawn();
    dimwise::detail::random_numbers numbers(dropout_seed::next());
    const auto whole = static_cast<T>(1 / (1 - probability));
    T* const to = factors.overwrite();
    const std::size_t n = factors.size();
    if constexpr (dimwise::detail::mesh_axes_of_list_t<dims_of_factors<Factors>>::size > 0) {
      const auto parts =
          detail::parts_in_whole<dims_of_factors<Factors>>::of(e, detail::part_of_dropout{dropout_seed::now()});
      detail::walk_whole(parts, n, [&] { (void)numbers.uniform(); },
                         [&](std::size_t i) { to[i] = numbers.uniform() < probability ? T(0) : whole; });
    } else {
      for (std::size_t i = 0; i < n; ++i) { to[i] = numbers.uniform() < probability ? T(0) : whole; }
    }
    return factors;
  }
};

}  // namespace dimwise::nn
