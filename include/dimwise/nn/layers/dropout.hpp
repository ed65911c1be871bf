// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/layers/dropout.hpp -- dropout in training, the identity in inference.
//
// Layer: nn. The element type selects the mode: tracked operands are in training.
// Tests: tests/grad/recomputed.test.cpp, tests/nn/parameters.test.cpp
//
//   const nn::dropout_seed seed(42 + step);            // for the block; equal seeds drop equal elements
//   auto [loss, gradient] = value_and_gradient(model, …);
#pragma once

#include <dimwise/expr/elementwise.hpp>
#include <dimwise/tensor/random.hpp>

#include <cstdint>

namespace dimwise::nn {

namespace detail {

// The number of random dropouts in this thread: finite differences are only compared with a gradient if there are none.
inline std::uint64_t& dropouts_drawn() {
  static thread_local std::uint64_t count = 0;
  return count;
}

}  // namespace detail

/// The state of the dropout generator: the seed, and the number of dropouts that have drawn from it.
struct dropout_state {
  std::uint64_t seed = 0;
  std::uint64_t drawn = 0;
  bool said = false;
};

/// Sets the dropout seed of this thread for a block.
class dropout_seed {
 public:
  /// Dropouts of this thread draw from this seed until the object is destroyed.
  explicit dropout_seed(std::uint64_t seed) : dropout_seed(dropout_state{seed, 0, true}) {}
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
/// 1 / (1 − probability) otherwise (Srivastava et al. 2014). Draws from the thread's `dropout_seed`.
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

  // The factor of each element: 0 or 1 / (1 − probability).
  template <class Extents, class Factors>
  Factors kept(const Extents& e, Factors*) const {
    using T = typename Factors::value_type;
    if (!(probability >= 0 && probability < 1)) {
      dimwise::detail::raise<number_error>(error{} << "dropout: the probability must be at least 0 and less than 1");
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
    for (std::size_t i = 0; i < n; ++i) { to[i] = numbers.uniform() < probability ? T(0) : whole; }
    return factors;
  }
};

}  // namespace dimwise::nn
