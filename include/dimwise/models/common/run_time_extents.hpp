// SPDX-License-Identifier: BSL-1.0
// dimwise/models/common/run_time_extents.hpp -- constructs tensors and caches whose extents are static in some models
// and known at run time in others.
//
// Layer: models. A constructor takes run-time extents only; these functions take all extents and leave out static ones.
// Tests: tests/models/decoders/decoder.test.cpp, tests/models/decoders/gpt2.test.cpp,
// tests/models/decoders/llama.test.cpp
//
//   make_cache<cache>(key{128}, kv_heads{8}, d_k{64}, d_v{64})    // cache(key{128}), if the other extents are static
#pragma once

#include <dimwise/nn/parameters/initialise.hpp>

#include <span>
#include <tuple>

namespace dimwise::models {

namespace detail {

template <class... D>
auto run_time_extents(const D&... extents) {
  return [&]<class... RunTime>(dimwise::detail::list<RunTime...>) {
    [[maybe_unused]] const auto all = nn::detail::by_dimension(extents...);
    return std::tuple<RunTime...>(all.template of<RunTime>()...);
  }(typename dimwise::detail::run_time_atoms<dimwise::detail::list<D...>>::type{});
}

}  // namespace detail

/// An empty cache with the run-time extents among `extents`.
template <class Cache, class... D>
[[nodiscard]] Cache make_cache(const D&... extents) {
  return std::apply([](const auto&... run_time) { return Cache(run_time...); }, detail::run_time_extents(extents...));
}

/// A tensor of `values` with the run-time extents among `extents`.
template <class Tensor, class... D>
[[nodiscard]] Tensor make_tensor(std::span<const float> values, const D&... extents) {
  return std::apply([&](const auto&... run_time) { return Tensor(values, run_time...); },
                    detail::run_time_extents(extents...));
}

}  // namespace dimwise::models
