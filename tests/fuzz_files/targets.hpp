// tests/fuzz_files/targets.hpp -- what is done with the bytes of a file that may be anything.
//
// A reader gives arrays that lie within the bytes and have the size that their extents say, or throws `file_error`. A
// tokenizer's ids are below its size. The settings of a model are rejected with a reason, or compared with the arrays
// of a file. All else ends the program. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/io/gguf.hpp>
#include <dimwise/io/npy.hpp>
#include <dimwise/io/safetensors.hpp>
#include <dimwise/models/inspect.hpp>
#if __has_include(<zip.h>)
#include <dimwise/io/npz.hpp>
#endif
#if __has_include(<utf8proc.h>)
#include <dimwise/text/tokenizer.hpp>
#endif

#include <cstdlib>

namespace dimwise_fuzz {

using namespace dimwise::io;
using input = std::span<const std::byte>;

inline void require(bool holds) {
  if (!holds) { std::abort(); }
}

inline void check(const stored_array& a, input file) {
  const input bytes = a.own != nullptr ? input(*a.own) : file;
  const auto count = count_of(a.extents);
  require(count.has_value() && bytes_of(a.type, *count) == a.bytes.size());
  if (a.bytes.empty()) { return; }
  require(a.bytes.data() >= bytes.data() && a.bytes.data() + a.bytes.size() <= bytes.data() + bytes.size());
  volatile auto last = a.bytes.back();  // read by the address checks
  (void)last;
}

/// False where the file was refused.
template <class Read>
bool read_anything(const Read& read, input bytes) {
  try {
    const archive all = read(bytes);
    std::size_t sum = 0;
    for (const stored_array& a : all.arrays()) {
      check(a, bytes);
      sum += a.bytes.size();
      require(all.find(a.name) == &a);
    }
    require(sum <= bytes.size());  // no byte belongs to two
    return true;
  } catch (const file_error& refused) {
    require(std::strlen(refused.what()) < 2000);
    return false;
  }
}

inline bool safetensors(input bytes) {
  return read_anything([](input b) { return parse_safetensors(b, "x"); }, bytes);
}
inline bool gguf(input bytes) {
  return read_anything([](input b) { return parse_gguf(b, "x"); }, bytes);
}
inline bool npy(input bytes) {
  return read_anything([](input b) {
    archive one("x");
    one.add(parse_npy(b, "x", "x"));
    return one;
  }, bytes);
}

#if __has_include(<zip.h>)
inline bool npz(input bytes) {
  try {
    const archive all = parse_npz(bytes, "x", std::size_t{1} << 24);
    for (const stored_array& a : all.arrays()) {
      const auto count = count_of(a.extents);
      require(count.has_value() && bytes_of(a.type, *count) == a.bytes.size());
    }
    return true;
  } catch (const file_error& refused) {
    require(std::strlen(refused.what()) < 2000);
    return false;
  }
}
#endif

// The settings of a model of any kind, beside a file with many arrays.
inline bool settings(input bytes) {
  static const archive weights = [] {
    archive all("x");
    for (std::size_t i = 0; i < 400; ++i) { all.add({"a." + std::to_string(i), element_type::f32, {0}, {}}); }
    return all;
  }();
  try {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    dimwise::models::inspection found;
    dimwise::models::detail::inspect_model(found, config_check(parse_json(text, "x"), "x"), weights);
    require(!found.architecture.empty() && !found.rejected.empty());
    return true;
  } catch (const file_error&) {
    return false;
  } catch (const dimwise::extent_error&) {  // a parameter with too many elements
    return false;
  }
}

#if __has_include(<utf8proc.h>)
struct vocab : dimwise::choice_dim<> {};

template <class Read>
bool tokenizer_of(const Read& read) {
  try {
    const dimwise::text::tokenizer<vocab> words = read();
    const auto ids = words.encode("Hello  world, it\u2019s 1234 caf\u00e9 \u4f60\u597d\xff [MASK]<s>\n\tend");
    for (const auto i : ids) { require(i.value < words.size()); }
    require(words.decode(ids).size() < (std::size_t{1} << 20));
    require(words.fingerprint().size() == 16);
    return true;
  } catch (const file_error& refused) {
    require(std::strlen(refused.what()) < 4000);
    return false;
  }
}
inline bool tokenizer(input bytes) {
  return tokenizer_of([&] {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return dimwise::text::tokenizer<vocab>(parse_json(text, "x"), "x");
  });
}
inline bool sentencepiece(input bytes) {
  return tokenizer_of([&] { return dimwise::text::tokenizer<vocab>::parse_sentencepiece(bytes, "x"); });
}
#endif

}  // namespace dimwise_fuzz
