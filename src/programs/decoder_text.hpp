// src/programs/decoder_text.hpp -- a decoder with its tokenizer, whose features of tokens are pooled.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "encoder_text.hpp"

#include <memory>
#include <string>
#include <vector>

namespace programs {

/// Whether config.json names a decoder.
[[nodiscard]] bool is_decoder(const std::filesystem::path& folder);

/// The decoder of a HuggingFace folder, of any architecture.
class decoder_text {
 public:
  decoder_text(const std::filesystem::path& folder, const text_options& options);
  ~decoder_text();
  decoder_text(const decoder_text&) = delete;
  decoder_text& operator=(const decoder_text&) = delete;

  /// As those of `text_encoder`.
  [[nodiscard]] std::string description() const;
  [[nodiscard]] std::size_t tokens() const;
  [[nodiscard]] std::size_t features() const;
  [[nodiscard]] std::size_t prompt_tokens(const std::string& prompt) const;
  [[nodiscard]] std::vector<std::vector<float>> vectors(const std::vector<std::string>& texts, const std::string& what,
                                                        dimwise::models::pooling_kind how, std::size_t left_out,
                                                        const dimwise::models::vector_modules& modules);

 private:
  class loaded;
  std::unique_ptr<loaded> loaded_;
};

}  // namespace programs
