// src/programs/encoder_text.hpp -- an encoder with its tokenizer: texts in, numbers out. It is compiled once for the
// programs that use one.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/models/pooling.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dimwise::models {
struct vector_modules;
}

namespace programs {

/// How texts become tokens.
struct text_options {
  std::optional<std::size_t> most_tokens = {};  ///< of a text, if that is fewer than the model takes
  bool truncates = true;                        ///< longer texts are truncated; without `most_tokens` they are rejected
  bool lower_case = false;
  bool quiet = false;
  std::string adapter = {};  ///< of a task; empty: none
};

/// What an encoder computes beside vectors.
enum class labels_of { nothing, texts, tokens, masks };
[[nodiscard]] labels_of labels_in(const std::filesystem::path& folder);

/// A label and its probability, or its value if the labels are values.
struct labelled {
  double number;
  std::string label;
};
/// The most likely labels of a part of a text: of the whole, of a token, or of a mask.
struct part_labels {
  std::string part;
  std::vector<labelled> labels;
};

/// The encoder of a HuggingFace folder, of any family. Texts are named `what` and their number, from 1, in messages.
class text_encoder {
 public:
  text_encoder(const std::filesystem::path& folder, labels_of heads, const text_options& options);
  ~text_encoder();
  text_encoder(const text_encoder&) = delete;
  text_encoder& operator=(const text_encoder&) = delete;

  /// The family, the layers and the parameters, in words.
  [[nodiscard]] std::string description() const;
  /// The number of labels of texts or tokens.
  [[nodiscard]] std::size_t label_count() const;
  /// Whether labels have values instead of probabilities: a regression of texts.
  [[nodiscard]] bool labels_are_values() const;
  /// The tokens that were read.
  [[nodiscard]] std::size_t tokens() const;
  /// The number of features of a token.
  [[nodiscard]] std::size_t features() const;
  /// The number of ids of a prompt that a pooling leaves out: those before a text, and its own.
  [[nodiscard]] std::size_t prompt_tokens(const std::string& prompt) const;

  /// The vectors of texts without their first `left_out` tokens, by the modules after the pooling.
  [[nodiscard]] std::vector<std::vector<float>> vectors(const std::vector<std::string>& texts, const std::string& what,
                                                        dimwise::models::pooling_kind how, std::size_t left_out,
                                                        const dimwise::models::vector_modules& modules);
  /// The score of each text as an answer to a query.
  [[nodiscard]] std::vector<float> scores(const std::string& query, const std::vector<std::string>& texts,
                                          const std::string& what);
  /// The `count` most likely labels of a text, of each of its tokens, or of each of its masks.
  [[nodiscard]] std::vector<part_labels> labels(const std::string& text, const std::string& name, std::size_t count);

 private:
  class loaded;
  std::unique_ptr<loaded> loaded_;
};

}  // namespace programs
