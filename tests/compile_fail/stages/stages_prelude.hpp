// tests/compile_fail/stages/stages_prelude.hpp -- one stage of a pipeline, and the functions of a step, for the
// mistakes of this folder.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks.hpp>
#include <dimwise/ranks/training.hpp>

namespace demo {

struct pp : mesh_axis<2> {};
struct dp : mesh_axis<2> {};

template <class T>
struct one_stage {
  using stage_along = pp;
  tensor<T, d_model> gain;
  using members = nn::member_list<&one_stage::gain>;
};
using passed = tensor<float, batch, seq, d_model>;

inline constexpr auto first = [](const auto&, std::size_t) { return x; };
inline constexpr auto layers = [](const auto& m, const auto& given, std::size_t) { return given * m.gain; };
inline constexpr auto loss = [](const auto&, const auto& given, std::size_t) { return mean_squared_error(given, x); };

}  // namespace demo
