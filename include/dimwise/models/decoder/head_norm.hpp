// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/head_norm.hpp -- norms of queries and keys, of the kind that a setting says.
//
// Layer: models.
// Tests: tests/models/decoders/decoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/common/run_time_extents.hpp>
#include <dimwise/models/decoder/decoder_config.hpp>

#include <cmath>
#include <vector>

namespace dimwise::models {

/// A norm of queries or keys with the heads H and the features F: [P, H…, F] -> the same.
template <class F, class... H>
struct head_norm {
  using scale_type = tensor<float, H..., F>;
  using shared_list = std::vector<any_norm<F>>;
  using own_list = std::vector<any_norm<F, scale_type>>;
  using scale_list = std::vector<scale_type>;
  // `shared` has one norm for all heads, or in `own_arrays`, until they are joined, one for each; `whole` is a scale of
  // all heads.
  shared_list shared{};
  own_list own{};
  scale_list whole{};
  head_norm_kind kind{};
  norm_settings settings{};
  using members =
      nn::member_list<&head_norm::shared, &head_norm::own, &head_norm::whole, &head_norm::kind, &head_norm::settings>;

  head_norm() = default;
  /// A norm for this many heads, whose parameters are empty.
  head_norm(head_norm_kind k, const norm_settings& s, std::size_t heads)
      : shared(k == head_norm_kind::shared ? 1 : (k == head_norm_kind::own_arrays ? heads : 0), any_norm<F>(s)),
        own(k == head_norm_kind::own ? 1 : 0, any_norm<F, scale_type>(s)),
        whole(k == head_norm_kind::whole ? 1 : 0),
        kind(k),
        settings(s) {}

  template <class Tensor>
  [[nodiscard]] Tensor operator()(const Tensor& x) const {
    switch (kind) {
      case head_norm_kind::none:
        return x;
      case head_norm_kind::shared:
        return shared.front()(x);
      case head_norm_kind::own:
        return own.front()(x);
      case head_norm_kind::own_arrays:
        return own.empty() ? joined(H{extent_of<H>(x)}..., F{extent_of<F>(x)})(x) : own.front()(x);
      case head_norm_kind::whole:
        if constexpr ((dimwise::detail::is_shard<H> || ...)) {
          break;  // rejected when the model is read
        } else {
          const auto squares = tensor(mean<H..., F>(x * x));
          const auto factors = tensor(map(inverse_root{static_cast<float>(settings.epsilon)}, squares));
          return Tensor(x * factors * whole.front());
        }
    }
    dimwise::detail::raise<number_error>(error{} << "head_norm: the norm is none of those listed");
  }

  /// Replaces norms that were read head by head by one norm whose scale has the heads: [H…, F]. Other kinds keep
  /// theirs.
  void join(const H&... heads, const F& features) {
    if (kind != head_norm_kind::own_arrays || shared.empty()) { return; }
    own.push_back(joined(heads..., features));
    shared.clear();
  }
  /// The inverse of `join`: the parameters as files store them.
  void split() {
    if (kind != head_norm_kind::own_arrays || own.empty()) { return; }
    const any_norm<F, scale_type>& all = own.front();
    const std::size_t width = (all.gamma.empty() ? 1 : extent_of<F>(all.gamma.front()));
    const std::size_t heads = all.gamma.empty() ? 0 : all.gamma.front().size() / width;
    for (std::size_t h = 0; h < heads; ++h) {
      any_norm<F>& one = shared.emplace_back(settings);
      const auto take = [&](auto& to, const auto& from) {
        for (std::size_t i = 0; i < to.size(); ++i) {
          to[i] = make_tensor<tensor<float, F>>(from[i].values().subspan(h * width, width), F{width});
        }
      };
      take(one.gamma, all.gamma);
      take(one.beta, all.beta);
    }
    own.clear();
  }

 private:
  struct inverse_root {
    float epsilon;
    float operator()(float x) const { return 1 / std::sqrt(x + epsilon); }
  };
  // The norms of all heads as one, whose scale has the heads.
  [[nodiscard]] any_norm<F, scale_type> joined(const H&... heads, const F& features) const {
    any_norm<F, scale_type> all(settings);
    const auto join = [&](auto& to, const auto& part_of) {
      std::vector<float> values;
      for (const any_norm<F>& one : shared) {
        const auto part = part_of(one).values();
        values.insert(values.end(), part.begin(), part.end());
      }
      to = make_tensor<scale_type>(values, heads..., features);
    };
    for (auto& g : all.gamma) {
      join(g, [](const any_norm<F>& one) -> const auto& { return one.gamma.front(); });
    }
    for (auto& b : all.beta) {
      join(b, [](const any_norm<F>& one) -> const auto& { return one.beta.front(); });
    }
    return all;
  }
};

}  // namespace dimwise::models
