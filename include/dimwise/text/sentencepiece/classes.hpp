// SPDX-License-Identifier: BSL-1.0
// dimwise/text/sentencepiece/classes.hpp -- HuggingFace's tokenizer classes and files of SentencePiece models.
//
// Layer: text.
// Tests: tests/text/sentencepiece_files.test.cpp
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dimwise::text::detail {

// The file names in HuggingFace's folders.
inline constexpr std::array<const char*, 4> sentencepiece_names{"tokenizer.model", "spiece.model",
                                                                "sentencepiece.bpe.model", "spm.model"};

// Classes with the same additions. Marian's folders have the pieces of texts in source.spm, those of translations in
// target.spm, and the ids of both in vocab.json.
enum class sentencepiece_class : unsigned char { plain, llama, t5, xlm_roberta, deberta, marian };
inline constexpr const char* marian_unknown = "<unk>";

struct named_class {
  std::string_view name;
  sentencepiece_class kind;
};
// By tokenizer_class, without the ending Fast.
inline constexpr named_class sentencepiece_classes[] = {
    {"CodeLlamaTokenizer", sentencepiece_class::llama},
    {"DebertaV2Tokenizer", sentencepiece_class::deberta},
    {"GemmaTokenizer", sentencepiece_class::llama},
    {"LlamaTokenizer", sentencepiece_class::llama},
    {"MT5Tokenizer", sentencepiece_class::t5},
    {"T5Tokenizer", sentencepiece_class::t5},
    {"XLMRobertaTokenizer", sentencepiece_class::xlm_roberta},
};
// By model_type.
inline constexpr named_class sentencepiece_model_types[] = {
    {"deberta-v2", sentencepiece_class::deberta},
    {"gemma", sentencepiece_class::llama},
    {"gemma2", sentencepiece_class::llama},
    {"gemma3", sentencepiece_class::llama},
    {"gemma3_text", sentencepiece_class::llama},
    {"llama", sentencepiece_class::llama},
    {"mistral", sentencepiece_class::llama},
    {"mixtral", sentencepiece_class::llama},
    {"mt5", sentencepiece_class::t5},
    {"phi3", sentencepiece_class::llama},
    {"t5", sentencepiece_class::t5},
    {"umt5", sentencepiece_class::t5},
    {"xlm-roberta", sentencepiece_class::xlm_roberta},
};
template <std::size_t N>
[[nodiscard]] std::optional<sentencepiece_class> class_in(const named_class (&all)[N], std::string_view name) {
  const auto* const found = std::find_if(all, all + N, [&](const named_class& one) { return one.name == name; });
  return found == all + N ? std::nullopt : std::optional(found->kind);
}
template <std::size_t N>
[[nodiscard]] std::string names_in(const named_class (&all)[N]) {
  std::string names;
  for (const named_class& one : all) { names += (names.empty() ? "" : ", ") + std::string(one.name); }
  return names;
}

}  // namespace dimwise::text::detail
