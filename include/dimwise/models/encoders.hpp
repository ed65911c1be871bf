// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders.hpp -- reads an encoder of any known family from a HuggingFace folder.
//
// Layer: models. One compiled formula computes all families; a family is a file in models/encoders.
// Tests: tests/models/encoders/encoder.test.cpp, the conformance suite `architectures`
//
//   const auto model = models::read_encoder("folder");                 // of any model_type in encoder_families
//   tensor vectors = model.embedded(texts);                            // batch d_model, each of length 1
#pragma once

#include <dimwise/io/shards.hpp>
#include <dimwise/models/common/compiled.hpp>
#include <dimwise/models/encoder/read.hpp>
#include <dimwise/models/encoders/albert.hpp>
#include <dimwise/models/encoders/bert.hpp>
#include <dimwise/models/encoders/deberta_v2.hpp>
#include <dimwise/models/encoders/distilbert.hpp>
#include <dimwise/models/encoders/electra.hpp>
#include <dimwise/models/encoders/gte.hpp>
#include <dimwise/models/encoders/modernbert.hpp>
#include <dimwise/models/encoders/mpnet.hpp>
#include <dimwise/models/encoders/nomic_bert.hpp>
#include <dimwise/models/encoders/roberta.hpp>
#include <dimwise/models/encoders/t5.hpp>
#include <dimwise/models/encoders/xlm_roberta.hpp>

#include <algorithm>
#include <filesystem>

namespace dimwise::models {

/// The families that `read_encoder` reads.
inline const encoder_family* const encoder_families[] = {
    &bert_family,  &deberta_v2_family, &distilbert_family, &roberta_family,    &xlm_roberta_family,
    &mpnet_family, &electra_family,    &albert_family,     &modernbert_family, &nomic_bert_family,
    &gte_family,   &t5_family,         &mt5_family,        &umt5_family};

/// The names of these families in `model_type`, separated by commas.
[[nodiscard]] inline std::string encoder_names_of_types() {
  std::string all;
  for (const encoder_family* family : encoder_families) {
    for (const std::string& name : family->model_types) { all += (all.empty() ? "" : ", ") + name; }
  }
  return all;
}
/// The family of this name in `model_type`; null if there is none.
[[nodiscard]] inline const encoder_family* find_encoder_family(const std::string& model_type) {
  for (const encoder_family* family : encoder_families) {
    const auto& names = family->model_types;
    if (std::find(names.begin(), names.end(), model_type) != names.end()) { return family; }
  }
  return nullptr;
}
/// The task of the class that the first of `architectures` names: …ForSequenceClassification, …ForTokenClassification,
/// …ForMaskedLM, or another class, of which only the features are read.
[[nodiscard]] inline encoder_task encoder_task_of(const io::config_check& settings) {
  io::config_check config = settings;
  const std::vector<std::string> classes = config.words("architectures");
  const std::string name = classes.empty() ? "" : classes.front();
  if (name.ends_with("ForSequenceClassification")) { return encoder_task::text_labels; }
  if (name.ends_with("ForTokenClassification")) { return encoder_task::token_labels; }
  if (name.ends_with("ForMaskedLM")) { return encoder_task::masked_tokens; }
  return encoder_task::features;
}

/// Reads an encoder from settings and arrays, with the layers of its task, and with the adapter of this name if one is
/// given. Throws `file_error` for an unknown `model_type`, and one that lists every mismatch between the settings, the
/// arrays and the types.
template <class Dims = encoder_dims, class Weights = float>
[[nodiscard]] encoder<Dims, Weights> read_encoder(const io::config_check& settings, const io::archive& weights,
                                                  encoder_task task = encoder_task::features,
                                                  const std::string& adapter = "") {
  io::config_check config = settings;
  const std::string type = model_type_of(config);
  config.finish();
  const encoder_family* const family = find_encoder_family(type);
  if (family == nullptr) {
    throw io::file_error(config.title() + ": model_type is " + io::detail::printable(type) +
                         "; the encoders that are read are " + encoder_names_of_types());
  }
  return read_encoder_as<Dims, Weights>(*family, settings, weights, task, adapter);
}
/// Reads a HuggingFace folder: `config.json`, and `model.safetensors` or its shards.
template <class Dims = encoder_dims, class Weights = float>
[[nodiscard]] encoder<Dims, Weights> read_encoder(const std::filesystem::path& folder,
                                                  encoder_task task = encoder_task::features,
                                                  const std::string& adapter = "") {
  return read_encoder<Dims, Weights>(io::config_check(folder / "config.json"), io::read_checkpoint(folder), task,
                                     adapter);
}

#define DIMWISE_DETAIL_ENCODER(TEMPLATE, W)                                                                    \
  TEMPLATE struct encoder<encoder_dims, W>;                                                                    \
  TEMPLATE encoder<encoder_dims, W> read_encoder<encoder_dims, W>(const io::config_check&, const io::archive&, \
                                                                  encoder_task, const std::string&);           \
  TEMPLATE encoder<encoder_dims, W> read_encoder<encoder_dims, W>(const std::filesystem::path&, encoder_task,  \
                                                                  const std::string&);
DIMWISE_DETAIL_COMPILED_MODELS(DIMWISE_DETAIL_ENCODER)

}  // namespace dimwise::models
