// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder/read.hpp -- builds an encoder from the description of its family and the arrays of a file.
//
// Layer: models.
// Tests: tests/models/encoders/encoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/io/checkpoint.hpp>
#include <dimwise/models/encoder/adapters.hpp>
#include <dimwise/models/encoder/bind.hpp>
#include <dimwise/models/encoder/empty.hpp>
#include <dimwise/models/encoder/keys.hpp>

#include <tuple>

namespace dimwise::models {

/// The run-time and static extents of an encoder of these settings, as a tuple of dimensions. Records those that differ
/// from the static extents of Dims.
template <class Dims>
[[nodiscard]] auto extents_of_encoder(io::config_check& config, const encoder_config& c) {
  const encoder_extents& e = c.extents;
  const auto vocab = config.implied<typename Dims::vocab>("vocab_size", e.vocab);
  const auto segments =
      config.implied<typename Dims::segments>("type_vocab_size", std::max<std::size_t>(e.segments, 1));
  const auto labels = config.implied<typename Dims::labels>("the number of labels", e.labels);
  const auto buckets =
      config.implied<typename Dims::buckets>("the number of buckets", std::max<std::size_t>(e.buckets, 1));
  const auto seq = config.implied<typename Dims::seq>("the number of positions", std::max<std::size_t>(e.positions, 1));
  const auto d_embed = config.implied<typename Dims::d_embed>("the size of the embedding", e.embedding);
  const auto d_model = config.implied<typename Dims::d_model>("the hidden size", e.features);
  const auto heads = config.implied<typename Dims::heads>("the number of heads", e.heads);
  const auto d_k = config.implied<typename Dims::d_k>("the size of a head", e.of_head);
  const auto d_v = config.implied<typename Dims::d_v>("the size of a head", e.of_head);
  const auto hidden = config.implied<typename Dims::hidden>("the intermediate size", e.hidden);
  const auto taps = config.implied<typename Dims::taps>("conv_kernel_size", std::max<std::size_t>(e.taps, 1));
  const auto channels = config.implied<typename Dims::channels>("the hidden size", e.features);
  if (!c.projects && e.embedding != e.features) {
    config.differs("the tokens have " + std::to_string(e.embedding) + " features and the layers " +
                   std::to_string(e.features) + ", and no map between them");
  }
  return std::tuple(vocab, segments, labels, buckets, seq, d_embed, d_model, heads, d_k, d_v, hidden, taps, channels);
}

namespace detail {

// Calls `use` with an encoder of these settings whose parameters are empty, their bindings, and the arrays with the
// adapter of this name.
template <class Dims, class Weights, class Use>
void with_bound_encoder(const encoder_family& family, const io::config_check& settings, const io::archive& weights,
                        encoder_task task, const std::string& adapter, const Use& use) {
  io::config_check config = settings;
  const encoder_description described = family.read(config, weights);
  const auto extents = extents_of_encoder<Dims>(config, described.config);
  if (task == encoder_task::masked_tokens) {
    expect_tied(config);
    if (!described.other_predictor.empty()) { config.differs(described.other_predictor); }
  }
  config.finish();
  auto m = empty_encoder<Dims, Weights>(described.config, task);
  std::apply([&](const auto&... all) {
    io::bindings file(all...);
    bind_encoder(file, described.names, m);
    use(m, file, with_adapter(weights, described.adapters, adapter));
  }, extents);
}

}  // namespace detail

/// Reads an encoder of this family, with the adapter of this name if one is given. Throws `file_error` that lists every
/// mismatch.
template <class Dims = encoder_dims, class Weights = float>
[[nodiscard]] encoder<Dims, Weights> read_encoder_as(const encoder_family& family, const io::config_check& settings,
                                                     const io::archive& weights,
                                                     encoder_task task = encoder_task::features,
                                                     const std::string& adapter = "") {
  encoder<Dims, Weights> read;
  detail::with_bound_encoder<Dims, Weights>(family, settings, weights, task, adapter,
                                            [&](auto& m, const io::bindings& file, const io::archive& arrays) {
    io::load(m, arrays, file, weights_rounding<Weights>);
    read = std::move(m);
  });
  return read;
}

}  // namespace dimwise::models
