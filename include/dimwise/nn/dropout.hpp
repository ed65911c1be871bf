// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/dropout.hpp -- leaving out elements by chance while a model is trained, and nothing in inference.
//
// Layer: nn. The element type decides: where origins are recorded it is training.
// Tests: tests/grad/recomputed.test.cpp, tests/nn/parameters.test.cpp
//
//   const nn::dropout_seed seed(42 + step);            // for the block; the same seed leaves out the same elements
//   auto [loss, gradient] = value_and_gradient(model, …);
#pragma once

#include <dimwise/expr/elementwise.hpp>
#include <dimwise/tensor/random.hpp>

#include <cstdint>

namespace dimwise::nn {

namespace detail {

// How many dropouts of this thread left out by chance: a gradient is compared with differences where none did.
inline std::uint64_t& dropouts_drawn() {
  static thread_local std::uint64_t count = 0;
  return count;
}

}  // namespace detail

/// The state of the random numbers of dropouts: the seed, and how many dropouts have drawn from it.
struct dropout_state {
  std::uint64_t seed = 0;
  std::uint64_t drawn = 0;
  bool said = false;
};

/// The seed of the dropouts of this thread, for a block.
class dropout_seed {
 public:
  /// Until its end: the dropouts of this thread draw from this seed.
  explicit dropout_seed(std::uint64_t seed) : dropout_seed(dropout_state{seed, 0, true}) {}
  /// Goes on from there: what was left out is left out again.
  explicit dropout_seed(const dropout_state& from) : outer_(current()) { current() = from; }
  dropout_seed(const dropout_seed&) = delete;
  dropout_seed& operator=(const dropout_seed&) = delete;
  ~dropout_seed() { current() = outer_; }

  /// Where the numbers are now, to go on from there.
  [[nodiscard]] static dropout_state now() { return current(); }
  /// The seed of one more dropout. Throws `gradient_error` where none was said.
  [[nodiscard]] static std::uint64_t next() {
    dropout_state& here = current();
    if (!here.said) {
      dimwise::detail::raise<gradient_error>(
          error{} << "dropout: tracked elements are left out by a seed, `const nn::dropout_seed seed(42);`, and none "
                     "was said in this thread");
    }
    // Seeds that follow each other are far apart (the increment of SplitMix64).
    return here.seed + 0x9E3779B97F4A7C15ULL * ++here.drawn;
  }

 private:
  static dropout_state& current() {
    static thread_local dropout_state state;
    return state;
  }
  dropout_state outer_;
};

/// x in inference. Where x is tracked each element is 0 with this probability, and 1 / (1 − probability) times itself
/// otherwise (Srivastava et al. 2014), by the thread's `dropout_seed`.
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

  // What each element is multiplied by.
  template <class Extents, class Factors>
  Factors kept(const Extents& e, Factors*) const {
    using T = typename Factors::value_type;
    if (!(probability >= 0 && probability < 1)) {
      dimwise::detail::raise<number_error>(error{} << "dropout: a probability is 0 or more, and less than 1");
    }
    auto factors = Factors::for_overwriting(e);
    if (probability == 0) {  // nothing is left out: no seed is needed
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
