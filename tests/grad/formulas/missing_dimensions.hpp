// SPDX-License-Identifier: BSL-1.0
// Gradients of formulas whose operands lack parallel dimensions of each other, in every combination of two operands.
// Three operands have 64 combinations, which compile for a minute: every pair of them in every combination, and all the
// same, unless DIMWISE_EVERY_COMBINATION is defined (the nightly test grad.missing_dimensions).
//
// A formula of operands that lack dimensions equals that of operands which have all of them and repeat their elements.
// So the gradient in float, by the kernels, is compared with one of full operands in double, summed over what is
// missing.
#pragma once

#include "grad/nodes.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace grad_tests::missing {

struct sample : batch_dim<> {};
struct head : heads_dim<3> {};
inline constexpr std::size_t samples = 2;
inline constexpr std::size_t heads_of_sample = 3;

// An operand: whether it has samples (1) and heads (2), and the dimensions that it always has, of static extents.
template <int Has, class... Own>
struct operand_of {
  static constexpr int has = Has;
  using full = operand_of<3, Own...>;
  template <class T>
  static auto zeros() {
    using detail::join_t;
    using detail::list;
    using shape = detail::make_shape_t<join_t<std::conditional_t<(Has & 1) != 0, list<sample>, list<>>,
                                              std::conditional_t<(Has & 2) != 0, list<head>, list<>>, list<Own...>>,
                                       list<>>;
    using type = detail::tensor_of<T, shape>;
    if constexpr ((Has & 1) != 0) {
      return type(sample{samples});
    } else {
      return type();
    }
  }
  // The element that sample `s` and head `h` read.
  static std::size_t at(std::size_t s, std::size_t h, std::size_t i, std::size_t size) {
    const std::size_t sample_part = (Has & 1) != 0 ? s : 0;
    return ((Has & 2) != 0 ? sample_part * heads_of_sample + h : sample_part) * size + i;
  }
};

// Every element of a result by another number: its cube and itself, as the sum of squares of a norm is a constant.
template <class Y>
auto uneven_total(const Y& y) {
  const tensor stored = y;
  const auto plain = detail::make_with_marks<detail::gradient_shape<Y>>(stored);
  using dims = detail::dims_t<detail::shape_of<Y>>;
  return total(square(plain) * plain + plain, dims{});
}

template <class F, class... Full>
auto full_gradient(const F& f, const std::tuple<Full...>& model) {
  return gradient(model, [&](const auto& m) { return uneven_total(std::apply(f, m)); });
}

// "" or what is wrong. The bound: in float, roundings of sums of up to 6 · 20 · 20 terms that have both signs.
template <class... Operands, class F>
std::string wrong_gradient(const F& f) {
  std::tuple model(Operands::template zeros<float>()...);
  std::tuple full(Operands::full::template zeros<double>()...);
  constexpr int together = (Operands::has | ...);
  std::uint64_t seed = 1;
  const auto each = [&](const auto& g) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (g.template operator()<I, Operands>(), ...);
    }(std::index_sequence_for<Operands...>{});
  };
  each([&]<std::size_t I, class Operand>() {
    auto& small = std::get<I>(model);
    auto& large = std::get<I>(full);
    nn::random r(seed++);
    float* const to = small.overwrite();
    for (std::size_t i = 0; i < small.size(); ++i) { to[i] = static_cast<float>(r.normal() * 0.5); }
    const std::size_t size = large.size() / (samples * heads_of_sample);
    double* const repeated = large.overwrite();
    for (std::size_t s = 0; s < samples; ++s) {
      for (std::size_t h = 0; h < heads_of_sample; ++h) {
        for (std::size_t i = 0; i < size; ++i) {
          repeated[Operand::full::at(s, h, i, size)] = to[Operand::at(s, h, i, size)];
        }
      }
    }
  });
  const auto fast = gradient(model, [&](const auto& m) { return uneven_total(std::apply(f, m)); });
  const auto precise = full_gradient(f, full);
  // Results that lack a dimension are counted once.
  const double counted =
      ((together & 1) != 0 ? 1.0 : double{samples}) * ((together & 2) != 0 ? 1.0 : double{heads_of_sample});
  std::string wrong;
  each([&]<std::size_t I, class Operand>() {
    const auto& got = std::get<I>(fast);
    const auto& all = std::get<I>(precise);
    const std::size_t size = all.size() / (samples * heads_of_sample);
    std::vector<double> expected(got.size());
    for (std::size_t s = 0; s < samples; ++s) {
      for (std::size_t h = 0; h < heads_of_sample; ++h) {
        for (std::size_t i = 0; i < size; ++i) {
          expected[Operand::at(s, h, i, size)] += all.data()[Operand::full::at(s, h, i, size)] / counted;
        }
      }
    }
    double largest = 0;
    for (const double x : expected) { largest = std::max(largest, std::abs(x)); }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (std::abs(got.data()[i] - expected[i]) <= 2e-5 * largest + 1e-6) { continue; }
      wrong += "operands that have";
      ((wrong += ' ' + std::to_string(Operands::has)), ...);
      wrong += ": the gradient of operand " + std::to_string(I) + " at " + std::to_string(i) + " is " +
               std::to_string(got.data()[i]) + " instead of " + std::to_string(expected[i]) + '\n';
      break;
    }
  });
  return wrong;
}

// Whether a combination is tried: two bits for each operand say whether it has samples (1) and heads (2).
#if defined DIMWISE_EVERY_COMBINATION
inline constexpr bool every_combination = true;
#else
inline constexpr bool every_combination = false;
#endif
constexpr bool is_tried(std::size_t operands, std::size_t combination) {
  const std::size_t x = combination & 3;
  const std::size_t y = combination >> 2 & 3;
  const std::size_t z = combination >> 4 & 3;
  return every_combination || operands < 3 || z == (x ^ y) || (x == y && y == z);
}

// The same for every combination: of each of the first operands, whether it has samples and heads. `Nested` leaves out
// those where the first operand lacks what another one has, which element by element is refused (R8).
template <std::size_t First, bool Nested, template <int> class... Operands, class F>
std::string wrong_combinations(const F& f) {
  constexpr std::size_t count = std::size_t{1} << (2 * First);
  std::string wrong;
  const auto one = [&]<std::size_t C, std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (!is_tried(First, C)) {
      return;
    } else if constexpr (!Nested || ((C >> (2 * I) & 3 & ~C) + ...) == 0) {
      wrong += wrong_gradient<Operands<static_cast<int>(C >> (2 * I) & 3)>...>(f);
    }
  };
  [&]<std::size_t... C>(std::index_sequence<C...>) {
    (one.template operator()<C>(std::index_sequence_for<Operands<0>...>{}), ...);
  }(std::make_index_sequence<count>{});
  return wrong;
}

}  // namespace grad_tests::missing
