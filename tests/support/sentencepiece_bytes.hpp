// tests/support/sentencepiece_bytes.hpp -- writes small SentencePiece models in protobuf's wire format.
//
//   const std::string file = piece("<unk>", 0, 2) + piece("a", -1) + trainer(whole(3, 2)) + normalizer(whole(3, 0));
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace dimwise_test::sentencepiece {

// Fields by their numbers: a varint, bytes or a message, a float.
inline std::string varint(std::uint64_t value) {
  std::string made;
  for (; value > 0x7f; value >>= 7) { made += static_cast<char>((value & 0x7f) | 0x80); }
  return made + static_cast<char>(value);
}
inline std::string whole(std::uint32_t index, std::uint64_t value) {
  return varint(std::uint64_t{index} << 3) + varint(value);
}
inline std::string field(std::uint32_t index, const std::string& content) {
  return varint((std::uint64_t{index} << 3) | 2) + varint(content.size()) + content;
}
inline std::string real(std::uint32_t index, float value) {
  std::string made = varint((std::uint64_t{index} << 3) | 5) + std::string(4, '\0');
  std::memcpy(made.data() + made.size() - 4, &value, 4);
  return made;
}

/// A piece; kinds: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte.
inline std::string piece(const std::string& text, float score = 0, std::uint32_t kind = 1) {
  return field(1, field(1, text) + real(2, score) + whole(3, kind));
}
inline std::string trainer(const std::string& fields) { return field(2, fields); }
inline std::string normalizer(const std::string& fields) { return field(3, fields); }

}  // namespace dimwise_test::sentencepiece
