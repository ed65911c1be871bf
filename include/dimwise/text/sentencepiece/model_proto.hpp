// SPDX-License-Identifier: BSL-1.0
// dimwise/text/sentencepiece/model_proto.hpp -- SentencePiece's `tokenizer.model`: the message ModelProto.
//
// Layer: text. Field numbers and defaults are those of sentencepiece_model.proto. Settings of the training and unknown
// fields are skipped.
// Tests: tests/text/sentencepiece_files.test.cpp, tests/fuzz_files/
#pragma once

#include <dimwise/text/growth.hpp>
#include <dimwise/text/models/lookup.hpp>
#include <dimwise/text/sentencepiece/wire_format.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dimwise::text::detail {

// The kinds of pieces, with their numbers in the file.
enum class piece_kind : unsigned char { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct sentence_piece {
  std::string text{};
  float score = 0;
  piece_kind kind = piece_kind::normal;
};

// The kinds of models that are read, with their numbers in the file.
enum class sentencepiece_kind : unsigned char { unigram = 1, bpe = 2 };

// The byte of the piece `<0xB7>`, or -1.
inline int byte_of_piece(std::string_view piece) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') { return -1; }
  const std::size_t high = digits.find(piece[3]);
  const std::size_t low = digits.find(piece[4]);
  return high == digits.npos || low == digits.npos ? -1 : static_cast<int>(16 * high + low);
}

struct sentencepiece_file {
  std::vector<sentence_piece> pieces{};
  sentencepiece_kind kind = sentencepiece_kind::unigram;
  bool byte_fallback = false;
  bool treat_whitespace_as_suffix = false;
  std::string bos_piece = "<s>";
  std::string eos_piece = "</s>";
  // Of the normalizer.
  std::string charsmap{};
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;

  // From the bytes of a file. Throws for malformed and inconsistent files.
  sentencepiece_file(const reader& r, std::string_view file) {
    wire_reader all(r, file);
    while (all.next()) {
      switch (all.number()) {
        case 1:
          read_piece(all.message("a piece"));
          break;
        case 2:
          read_trainer(all.message("trainer_spec"));
          break;
        case 3:
          read_normalizer(all.message("normalizer_spec"));
          break;
        case 5:
          read_denormalizer(all.message("denormalizer_spec"));
          break;
        default:
          break;  // self_test_data and fields of later versions
      }
    }
    check(r);
  }

  // The conditions under which SentencePiece loads a file, and limits. To be called after changes.
  void check(const reader& r) const {
    if (pieces.empty()) { r.refuse("a SentencePiece model with pieces was expected, the file has none"); }
    if (pieces.size() > (1U << 24)) { r.refuse("the model has more than 2^24 pieces"); }
    text_table ordinary;
    text_table reserved;
    std::array<bool, 256> bytes{};
    std::size_t unknown = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const sentence_piece& one = pieces[i];
      const auto refuse = [&](const std::string& what) {
        r.refuse("piece " + std::to_string(i) + ", " + io::detail::printable(one.text) + ", " + what);
      };
      if (one.text.empty()) { refuse("is empty"); }
      if (one.text.size() > most_in_added_token) {
        refuse("has more than " + std::to_string(most_in_added_token) + " bytes");
      }
      if (!std::isfinite(one.score)) { refuse("has a score that is not finite"); }
      text_table& equals = is_reserved(one.kind) ? reserved : ordinary;
      if (equals.find(one.text)) { refuse("occurs twice"); }
      equals.set(one.text, static_cast<std::uint32_t>(i));
      if (one.kind == piece_kind::unknown && ++unknown > 1) { refuse("is the second unknown piece"); }
      if (one.kind == piece_kind::unused && kind == sentencepiece_kind::bpe) {
        refuse("is an unused piece of a BPE model, which is not supported");
      }
      if (one.kind != piece_kind::byte) { continue; }
      if (!byte_fallback) { refuse("is a byte, but byte_fallback is false"); }
      const int byte = byte_of_piece(one.text);
      if (byte < 0) { refuse("is not the piece of a byte, <0x00> to <0xFF> was expected"); }
      bytes[static_cast<std::size_t>(byte)] = true;
    }
    if (unknown == 0) { r.refuse("the model has no unknown piece"); }
    for (std::size_t b = 0; byte_fallback && b < bytes.size(); ++b) {
      if (!bytes[b]) { r.refuse("byte_fallback is true, but the byte " + std::to_string(b) + " has no piece"); }
    }
  }
  // Reserved pieces are not matched in texts.
  [[nodiscard]] static bool is_reserved(piece_kind kind) {
    switch (kind) {
      case piece_kind::normal:
      case piece_kind::user_defined:
      case piece_kind::unused:
        return false;
      case piece_kind::unknown:
      case piece_kind::control:
      case piece_kind::byte:
        return true;
    }
    return true;
  }

 private:
  void read_piece(wire_reader from) {
    sentence_piece& to = pieces.emplace_back();
    while (from.next()) {
      switch (from.number()) {
        case 1:
          to.text = from.text("a piece");
          break;
        case 2:
          to.score = from.real("the score of a piece");
          break;
        case 3:
          to.kind = static_cast<piece_kind>(from.choice("the type of a piece", 1, 6));
          break;
        default:
          break;
      }
    }
  }
  void read_trainer(wire_reader from) {
    while (from.next()) {
      switch (from.number()) {
        case 3: {
          const std::uint32_t type = from.choice("model_type", 1, 4);
          if (type > 2) {
            from.refuse(std::string("model_type is ") + (type == 3 ? "WORD" : "CHAR") +
                        ", UNIGRAM or BPE was expected");
          }
          kind = static_cast<sentencepiece_kind>(type);
          break;
        }
        case 24:
          treat_whitespace_as_suffix = from.flag("treat_whitespace_as_suffix");
          break;
        case 35:
          byte_fallback = from.flag("byte_fallback");
          break;
        case 46:
          bos_piece = from.text("bos_piece");
          break;
        case 47:
          eos_piece = from.text("eos_piece");
          break;
        default:
          break;
      }
    }
  }
  void read_normalizer(wire_reader from) {
    while (from.next()) {
      switch (from.number()) {
        case 2:
          charsmap = from.bytes("precompiled_charsmap");
          break;
        case 3:
          add_dummy_prefix = from.flag("add_dummy_prefix");
          break;
        case 4:
          remove_extra_whitespaces = from.flag("remove_extra_whitespaces");
          break;
        case 5:
          escape_whitespaces = from.flag("escape_whitespaces");
          break;
        default:
          break;
      }
    }
  }
  static void read_denormalizer(wire_reader from) {
    while (from.next()) {
      if (from.number() == 2 && !from.bytes("the precompiled_charsmap of denormalizer_spec").empty()) {
        from.refuse("denormalizer_spec has a precompiled_charsmap, which is not supported");
      }
    }
  }
};

}  // namespace dimwise::text::detail
