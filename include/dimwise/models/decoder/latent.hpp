// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/latent.hpp -- queries, keys and values of a decoder's attention: mapped from the features, or
// from latent vectors (multi-head latent attention, DeepSeek-AI 2024).
//
// Layer: models.
// Tests: tests/models/decoders/deepseek.test.cpp
#pragma once

#include <dimwise/models/common/division.hpp>
#include <dimwise/models/common/norm.hpp>
#include <dimwise/models/decoder/decoder_config.hpp>
#include <dimwise/nn/layers/linear.hpp>

#include <algorithm>
#include <vector>

namespace dimwise::models {

/// The maps of queries, keys and values from the features.
template <class Dims, class Weights = float>
struct mapped_inputs {
  using d_model = typename Dims::d_model;
  using kv_heads = part_of_dims<Dims, typename Dims::kv_heads>;
  using query_projection = nn::linear<nn::from<d_model>, nn::to<kv_heads, typename Dims::group, typename Dims::d_k>,
                                      nn::optional_bias, Weights>;
  using key_projection =
      nn::linear<nn::from<d_model>, nn::to<kv_heads, typename Dims::d_k>, nn::optional_bias, Weights>;
  using value_projection =
      nn::linear<nn::from<d_model>, nn::to<kv_heads, typename Dims::d_v>, nn::optional_bias, Weights>;
  query_projection query{};
  key_projection key{};
  value_projection value{};
  using members = nn::member_list<&mapped_inputs::query, &mapped_inputs::key, &mapped_inputs::value>;
};

/// The maps of keys and values from a latent vector, and of queries from another one or from the features. A head of
/// queries and keys has features that rotary positions turn and the others, which the file has first.
template <class Dims, class Weights = float>
struct latent_inputs {
  using seq = typename Dims::seq;
  using d_model = typename Dims::d_model;
  using kv_heads = part_of_dims<Dims, typename Dims::kv_heads>;
  using group = typename Dims::group;
  using d_k = typename Dims::d_k;
  using d_v = typename Dims::d_v;
  using latent = typename Dims::latent;
  using query_latent = typename Dims::query_latent;
  using d_content = typename Dims::d_content;
  using d_rotated = typename Dims::d_rotated;
  using features = tensor<float, seq, d_model>;
  using queries = tensor<float, seq, kv_heads, group, d_k>;
  using keys = tensor<float, seq, kv_heads, d_k>;
  using values = tensor<float, seq, kv_heads, d_v>;
  using query_list = std::vector<nn::linear<nn::from<d_model>, nn::to<kv_heads, group, d_k>, nn::no_bias, Weights>>;
  using down_list = std::vector<nn::linear<nn::from<d_model>, nn::to<query_latent>, nn::optional_bias, Weights>>;
  using norm_list = std::vector<any_norm<query_latent>>;
  using up_list = std::vector<nn::linear<nn::from<query_latent>, nn::to<kv_heads, group, d_k>, nn::no_bias, Weights>>;
  using compress_type = nn::linear<nn::from<d_model>, nn::to<latent>, nn::optional_bias, Weights>;
  using rotated_type = nn::linear<nn::from<d_model>, nn::to<d_rotated>, nn::optional_bias, Weights>;
  using key_type = nn::linear<nn::from<latent>, nn::to<kv_heads, d_content>, nn::no_bias, Weights>;
  using value_type = nn::linear<nn::from<latent>, nn::to<kv_heads, d_v>, nn::no_bias, Weights>;
  using norm_type = any_norm<latent>;

  // Lists of one or none: a model has `query`, or the three maps by way of a latent vector of queries.
  query_list query{};
  down_list query_down{};
  norm_list query_norm{};
  up_list query_up{};
  compress_type compress{};
  rotated_type rotated{};
  norm_type norm{};
  key_type key{};
  value_type value{};
  using members = nn::member_list<&latent_inputs::query, &latent_inputs::query_down, &latent_inputs::query_norm,
                                  &latent_inputs::query_up, &latent_inputs::compress, &latent_inputs::rotated,
                                  &latent_inputs::norm, &latent_inputs::key, &latent_inputs::value>;

  latent_inputs() = default;
  /// The maps of these settings, whose parameters are empty.
  explicit latent_inputs(const decoder_config& c)
      : query(c.query_latent == 0 ? 1 : 0),
        query_down(c.query_latent == 0 ? 0 : 1),
        query_norm(c.query_latent == 0 ? 0 : 1, any_norm<query_latent>(norm_of(c))),
        query_up(c.query_latent == 0 ? 0 : 1),
        compress(),
        rotated(),
        norm(norm_of(c)),
        key(),
        value() {
    for (auto& map : query_down) { map.has_bias(c.input_bias); }
    compress.has_bias(c.input_bias);
    rotated.has_bias(c.input_bias);
  }

  /// Queries; the features that rotary positions turn are the first ones of a head.
  [[nodiscard]] queries queries_of(const features& x) const {
    const queries q =
        query.empty()
            ? queries(query_up.front()(query_norm.front()(tensor<float, seq, query_latent>(query_down.front()(x)))))
            : queries(query.front()(x));
    const std::size_t width = extent_of<d_k>(q);
    const std::size_t content = key.weight.extents().template extent<d_content>();
    queries turned = queries::for_overwriting(q.extents());
    float* to = turned.overwrite();
    for (const float* head = q.data(); head != q.data() + q.size(); head += width) {
      to = std::rotate_copy(head, head + content, head + width, to);
    }
    return turned;
  }
  /// The latent vectors of keys and values.
  [[nodiscard]] tensor<float, seq, latent> compressed(const features& x) const {
    return norm(tensor<float, seq, latent>(compress(x)));
  }
  /// Keys with features in the order of `q`. All heads share the features that rotary positions turn.
  [[nodiscard]] keys keys_of(const features& x, const tensor<float, seq, latent>& from, const queries& q) const {
    const tensor<float, seq, d_rotated> first = rotated(x);
    const tensor<float, seq, kv_heads, d_content> rest = key(from);
    const std::size_t heads = extent_of<kv_heads>(rest);
    const std::size_t content = extent_of<d_content>(rest);
    const std::size_t turned = extent_of<d_rotated>(first);
    keys all = keys::for_overwriting(dimwise::detail::merge_extents<typename keys::extents_type::atoms>(
        "latent attention", q.extents(), rest.extents()));
    float* to = all.overwrite();
    for (std::size_t row = 0; row < extent_of<seq>(first) * heads; ++row) {
      to = std::copy_n(first.data() + row / heads * turned, turned, to);
      to = std::copy_n(rest.data() + row * content, content, to);
    }
    return all;
  }

 private:
  // transformers has this epsilon for latent vectors, whatever rms_norm_eps is.
  [[nodiscard]] static norm_settings norm_of(const decoder_config& c) {
    norm_settings of_latent = c.norm;
    of_latent.epsilon = 1e-6;
    return of_latent;
  }
};

}  // namespace dimwise::models
