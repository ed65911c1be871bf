// SPDX-License-Identifier: BSL-1.0
// dimwise/models/sentence/static_embedding.hpp -- a static embedding: the vector of a text is the mean of the
// vectors of its tokens. Model2Vec, and the module StaticEmbedding of sentence-transformers.
//
// Layer: models. The tokens of a text are those of text::bag_of_tokens.
// Tests: tests/models/encoders/sentence_models.test.cpp
//
//   const auto model = models::read_static_embedding("folder");
//   tensor vectors = model.vectors(texts);                              // batch d_model
#pragma once

#include <dimwise/eval/written/sequences.hpp>
#include <dimwise/io/arrays/tensors.hpp>
#include <dimwise/io/checkpoint.hpp>
#include <dimwise/io/shards.hpp>
#include <dimwise/models/encoder/settings.hpp>
#include <dimwise/models/language_model.hpp>
#include <dimwise/nn/layers/embedding.hpp>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dimwise::models {

/// The dimensions of a static embedding. Tokens of a cluster share a vector.
struct static_dims : encoder_dims {
  struct clusters : choice_dim<> {};
};

/// A static embedding. Each token has a vector or shares that of a cluster, and has a weight if the file says so.
struct static_embedding {
  using vocab = static_dims::vocab;
  using clusters = static_dims::clusters;
  using batch = static_dims::batch;
  using seq = static_dims::seq;
  using d_model = static_dims::d_model;
  using token = id<vocab>;
  using table_list = std::vector<nn::embedding<vocab, d_model>>;
  using cluster_list = std::vector<nn::embedding<clusters, d_model>>;
  using weight_list = std::vector<tensor<float, vocab>>;
  using vector_type = tensor<float, d_model>;
  using vectors_type = tensor<float, batch, d_model>;

  table_list table{};
  cluster_list clustered{};
  weight_list weights{};
  using members = nn::member_list<&static_embedding::table, &static_embedding::clustered, &static_embedding::weights>;
  std::vector<id<clusters>> cluster_of{};  ///< the cluster of each token
  bool is_model2vec = false;               ///< selects tokens as Model2Vec does (text/bag_of_tokens.hpp)

  /// The number of tokens.
  [[nodiscard]] std::size_t tokens() const {
    return clustered.empty() ? extent_of<vocab>(table.front().table) : cluster_of.size();
  }
  /// The number of features of a vector.
  [[nodiscard]] std::size_t features() const {
    return clustered.empty() ? extent_of<d_model>(table.front().table) : extent_of<d_model>(clustered.front().table);
  }

  /// The mean over the tokens of a text, each times its weight; zeros without tokens. Throws `index_error` for an id
  /// outside the vocabulary.
  [[nodiscard]] vector_type vector(const std::vector<token>& text) const {
    if (text.empty()) { return vector_type(d_model{features()}); }
    const seq n{text.size()};
    tensor<float, seq, d_model> x =
        clustered.empty() ? rows(table.front(), text, n) : rows(clustered.front(), clusters_of(text), n);
    if (!weights.empty()) { x = x * gather<vocab>(weights.front(), tensor<token, seq>(text, n)); }
    return mean<seq>(x);
  }
  /// The vectors of texts, which Normalize has not changed.
  [[nodiscard]] vectors_type vectors(std::span<const std::vector<token>> texts) const {
    vectors_type all(batch{texts.size()}, d_model{features()});
    for (std::size_t i = 0; i < texts.size(); ++i) { assign_at<batch>(all, i, vector(texts[i])); }
    return all;
  }

 private:
  template <class Table, class Id>
  static tensor<float, seq, d_model> rows(const Table& from, const std::vector<Id>& ids, const seq& n) {
    return from(tensor<Id, seq>(ids, n));
  }
  [[nodiscard]] std::vector<id<clusters>> clusters_of(const std::vector<token>& text) const {
    std::vector<id<clusters>> all;
    for (const token w : text) {
      if (w.value >= cluster_of.size()) {
        dimwise::detail::raise<index_error>(error{} << "vector: the id " << w.value << " is outside the "
                                                    << cluster_of.size() << " tokens of the embedding");
      }
      all.push_back(cluster_of[w.value]);
    }
    return all;
  }
};

namespace detail {

// The arrays with bytes as floats: the numbers of Model2Vec's int8 tables, which have no scale.
inline io::archive with_floats(const io::archive& from) {
  io::archive made = from.without_arrays();
  for (io::stored_array a : from.arrays()) {
    if (a.type == io::element_type::i8 && a.name != "mapping") {
      auto floats = std::make_shared<std::vector<std::byte>>(a.bytes.size() * sizeof(float));
      for (std::size_t i = 0; i < a.bytes.size(); ++i) {
        const auto value = static_cast<float>(static_cast<std::int8_t>(a.bytes[i]));
        std::memcpy(floats->data() + i * sizeof(float), &value, sizeof(float));
      }
      a.type = io::element_type::f32;
      a.bytes = *floats;
      made.keep(floats);
    }
    made.add(std::move(a));
  }
  return made;
}

// The cluster of each token.
inline std::vector<id<static_dims::clusters>> read_clusters(const io::stored_array& mapping, const std::string& title,
                                                            std::size_t clusters) {
  using ids = tensor<id<static_dims::clusters>, static_dims::vocab>;
  std::vector<id<static_dims::clusters>> all;
  try {
    const auto read = io::read_tensor<ids>(mapping);
    all.assign(read.values().begin(), read.values().end());
  } catch (const io::file_error& problem) { throw io::file_error(title + ": " + problem.what()); }
  for (const auto one : all) {
    if (one.value >= clusters) {
      throw io::file_error(title + ": \"mapping\" has " + std::to_string(one.value) + ", \"embeddings\" has " +
                           std::to_string(clusters) + " rows");
    }
  }
  return all;
}

// Calls `use` with a static embedding whose parameters are empty, and its bindings.
template <class Use>
void with_bound_static_embedding(const io::archive& weights, const Use& use) {
  static_embedding m;
  m.is_model2vec = weights.find("embeddings") != nullptr;
  const std::string name = m.is_model2vec ? "embeddings" : "embedding.weight";
  const io::stored_array* const table = weights.find(name);
  if (table == nullptr) {
    throw io::file_error(weights.title() +
                         R"(: "embeddings" of Model2Vec or "embedding.weight" of a StaticEmbedding was expected)");
  }
  if (table->extents.size() != 2) {
    throw io::file_error(weights.title() + ": \"" + name + "\" has the extents " + io::detail::listed(table->extents) +
                         ", those of tokens and features were expected");
  }
  const std::size_t rows = table->extents[0];
  const io::stored_array* const mapping = m.is_model2vec ? weights.find("mapping") : nullptr;
  if (mapping != nullptr) { m.cluster_of = read_clusters(*mapping, weights.title(), rows); }
  m.table.resize(mapping == nullptr ? 1 : 0);
  m.clustered.resize(mapping == nullptr ? 0 : 1);
  m.weights.resize(m.is_model2vec && weights.find("weights") != nullptr ? 1 : 0);
  const std::size_t tokens = mapping == nullptr ? rows : m.cluster_of.size();
  io::bindings file(static_dims::vocab{tokens}, static_dims::clusters{rows}, static_dims::d_model{table->extents[1]});
  for (auto& one : m.table) { file.bind<io::stored<static_dims::vocab, static_dims::d_model>>(name, one.table); }
  for (auto& one : m.clustered) { file.bind<io::stored<static_dims::clusters, static_dims::d_model>>(name, one.table); }
  for (auto& one : m.weights) { file.bind<io::stored<static_dims::vocab>>("weights", one); }
  if (mapping != nullptr) { file.ignore("mapping"); }
  use(m, file);
}

}  // namespace detail

/// Reads the arrays of Model2Vec (`embeddings`, and `weights` and `mapping` if there are) or of a StaticEmbedding
/// (`embedding.weight`), of floats or bytes. Throws `io::file_error` that lists every mismatch.
[[nodiscard]] inline static_embedding read_static_embedding(const io::archive& weights) {
  const io::archive floats = detail::with_floats(weights);
  static_embedding read;
  detail::with_bound_static_embedding(floats, [&](static_embedding& m, const io::bindings& file) {
    io::load(m, floats, file, io::rounding::allowed);  // weights may be double
    read = std::move(m);
  });
  return read;
}
/// Reads `model.safetensors` of a folder.
[[nodiscard]] inline static_embedding read_static_embedding(const std::filesystem::path& folder) {
  return read_static_embedding(io::read_checkpoint(folder));
}

}  // namespace dimwise::models
