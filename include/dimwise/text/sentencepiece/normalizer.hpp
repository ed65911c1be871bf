// SPDX-License-Identifier: BSL-1.0
// dimwise/text/sentencepiece/normalizer.hpp -- the normalizer of a SentencePiece model, and its inverse, the decoder.
//
// Layer: text. It maps characters, removes spaces, adds the dummy prefix, and writes spaces as ▁, as SentencePiece
// does.
// Tests: tests/text/sentencepiece.test.cpp
#pragma once

#include <dimwise/text/components/decoders.hpp>
#include <dimwise/text/components/precompiled.hpp>
#include <dimwise/text/components/splitters.hpp>
#include <dimwise/text/sentencepiece/model_proto.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::text::detail {

inline constexpr std::string_view space_sign = "\xE2\x96\x81";  // ▁, U+2581

// The user-defined pieces of a model and their ids.
inline std::shared_ptr<const byte_trie> user_defined_pieces(const sentencepiece_file& from) {
  auto all = std::make_shared<byte_trie>();
  for (std::size_t i = 0; i < from.pieces.size(); ++i) {
    if (from.pieces[i].kind == piece_kind::user_defined) {
      (*all)[from.pieces[i].text] = static_cast<std::uint32_t>(i);
    }
  }
  return all;
}

class sentencepiece_normalizer {
 public:
  sentencepiece_normalizer(const reader& r, const sentencepiece_file& from,
                           std::shared_ptr<const byte_trie> user_defined)
      : user_defined_(std::move(user_defined)),
        space_(from.escape_whitespaces ? space_sign : " "),
        adds_space_(from.add_dummy_prefix),
        at_end_(from.treat_whitespace_as_suffix),
        removes_(from.remove_extra_whitespaces) {
    if (!from.charsmap.empty()) { map_.emplace(r, from.charsmap); }
  }

  // Appends the normalised text. `adds_space` is whether the text may get the dummy prefix.
  void append_normal(std::string_view text, bool adds_space, std::string& to, const growth& limit) const {
    const std::size_t begin = to.size();
    std::size_t i = 0;
    while (removes_ && i < text.size()) {
      const auto [from, changed] = at(text, i);
      if (changed != " ") { break; }
      i += from;
    }
    if (i == text.size()) { return; }
    adds_space = adds_space && adds_space_;
    if (adds_space && !at_end_) { to += space_; }
    bool after_space = removes_;
    while (i < text.size()) {
      auto [from, changed] = at(text, i);
      i += from;
      while (after_space && changed.starts_with(' ')) { changed.remove_prefix(1); }
      for (const char c : changed) {
        if (c == ' ') {
          to += space_;
        } else {
          to += c;
        }
      }
      if (!changed.empty()) { after_space = removes_ && changed.ends_with(' '); }
      limit.check(to.size() / 4);  // in bytes, up to four per character; the end counts characters
    }
    while (removes_ && to.size() > begin && to.ends_with(space_)) { to.resize(to.size() - space_.size()); }
    if (adds_space && at_end_) { to += space_; }
  }

 private:
  // The number of bytes of the unit at `i`, and what replaces it: user-defined pieces are not changed, and of several
  // rules the longest counts.
  [[nodiscard]] std::pair<std::size_t, std::string_view> at(std::string_view text, std::size_t i) const {
    if (const auto piece = user_defined_->longest_at(text, i)) {
      return {piece->first - i, text.substr(i, piece->first - i)};
    }
    if (map_) {
      if (const auto rule = map_->longest(text.substr(i))) { return {rule->bytes, rule->to}; }
    }
    const std::size_t bytes = decode_at(text, i).bytes;
    return {bytes, text.substr(i, bytes)};
  }

  std::shared_ptr<const byte_trie> user_defined_;
  std::optional<character_map> map_{};
  std::string_view space_;
  bool adds_space_;
  bool at_end_;
  bool removes_;
};

// The normalizer as a step of a pipeline. `always` adds the dummy prefix to each part of a text between added tokens,
// otherwise only a part that begins the text gets it.
inline cut sentencepiece_cut(sentencepiece_normalizer normalizer, bool always) {
  return [normalizer = std::move(normalizer), always](pieces& p, const growth& limit) {
    rewrite(p, limit, [&](std::string_view text, bool first, std::string& to) {
      normalizer.append_normal(text, always || first, to, limit);
    });
  };
}

// Appends bytes as UTF-8, with U+FFFD for each byte that is not part of a character.
inline void append_characters(std::string_view bytes, std::string& to) {
  for (std::size_t i = 0; i < bytes.size();) {
    const auto [c, length, valid] = decode_at(bytes, i);
    if (valid) {
      to += bytes.substr(i, length);
    } else {
      to += "\xEF\xBF\xBD";
    }
    i += valid ? length : 1;
  }
}

// Tokens to text: ▁ becomes a space, except that of the dummy prefix; tokens of bytes become characters.
inline decode_step sentencepiece_decoder(const sentencepiece_file& from) {
  const bool has_bytes = from.byte_fallback;
  const bool drops_first = from.add_dummy_prefix || from.remove_extra_whitespaces;
  const bool drops_all = from.remove_extra_whitespaces;
  return decode_step([=](const std::vector<std::string>& tokens) {
    std::string text;
    std::string bytes;
    bool begins = drops_first;
    const auto finish_bytes = [&] {
      append_characters(bytes, text);
      bytes.clear();
    };
    for (const std::string& token : tokens) {
      if (const int byte = has_bytes ? byte_of_piece(token) : -1; byte >= 0) {
        bytes += static_cast<char>(byte);
        continue;
      }
      finish_bytes();
      std::string_view piece = token;
      begins = begins && text.empty();
      if (begins && piece.starts_with(space_sign)) {
        piece.remove_prefix(space_sign.size());
        begins = drops_all;
      }
      text += with_replaced(std::string(piece), space_sign, " ");
    }
    finish_bytes();
    return std::vector{text};
  });
}

}  // namespace dimwise::text::detail
