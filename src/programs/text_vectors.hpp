// src/programs/text_vectors.hpp -- the vectors of texts by a folder of sentence-transformers or Model2Vec, or by an
// encoder without modules.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "encoder_text.hpp"
#include <dimwise/models/sentence_settings.hpp>

#include <memory>
#include <string>
#include <vector>

namespace programs {

/// An encoder with a pooling, or a static embedding, and the modules after it. Texts are named `what` and their number,
/// from 1, in messages.
class text_vectors {
 public:
  text_vectors(const dimwise::models::sentence_settings& settings, const text_options& options);
  ~text_vectors();
  text_vectors(const text_vectors&) = delete;
  text_vectors& operator=(const text_vectors&) = delete;

  /// The model and how its vectors come about, in words.
  [[nodiscard]] std::string description() const;
  /// The tokens that were read.
  [[nodiscard]] std::size_t tokens() const;
  /// The vectors of texts, each of which begins with the prompt.
  [[nodiscard]] std::vector<std::vector<float>> vectors(std::vector<std::string> texts, const std::string& what,
                                                        const std::string& prompt);

 private:
  class loaded;
  std::unique_ptr<loaded> loaded_;
};

}  // namespace programs
