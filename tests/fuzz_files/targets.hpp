// tests/fuzz_files/targets.hpp -- what is done with the bytes of a file that may be anything.
//
// A reader gives arrays that lie within the bytes and have the size that their extents say, or throws `file_error`. A
// tokenizer's ids are below its size. The settings of a model are rejected with a reason, or described and compared
// with the arrays of a file. All else ends the program.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/io/gguf.hpp>
#include <dimwise/io/npy.hpp>
#include <dimwise/io/safetensors.hpp>
#include <dimwise/models/generation_config.hpp>
#include <dimwise/models/inspect.hpp>
#include <dimwise/models/sentence/static_embedding.hpp>
#include <dimwise/models/sentence/vector_modules.hpp>
#if __has_include(<zip.h>)
#include <dimwise/io/npz.hpp>
#endif
#if __has_include(<utf8proc.h>)
#include <dimwise/text/tokenizer.hpp>
#endif

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace dimwise_fuzz {

using namespace dimwise::io;
using input = std::span<const std::byte>;

/// Divides the parts of an input.
constexpr char part_end = '\x1e';

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

// The description that a reader makes of settings: of a decoder, an encoder-decoder or an encoder. No model is
// built, so that many are tried.
inline bool settings(input bytes) {
  using namespace dimwise::models;
  static const archive weights = [] {
    archive all("x");
    for (std::size_t i = 0; i < 100; ++i) { all.add({"a." + std::to_string(i), element_type::f32, {0}, {}}); }
    return all;
  }();
  const auto is = [](const auto& all, const std::string& kind) {
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.model_type == kind; });
  };
  try {
    const config_check found(parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "x"), "x");
    config_check config = found;
    const std::string kind = config.word("model_type", "");
    (void)encoder_task_of(found);
    if (is(known_decoders(), kind)) {
      const decoder_config c = plan_decoder(found).config;
      require(c.vocab > 0 && c.d_model > 0 && c.kv_heads > 0 && c.group > 0 && c.d_k > 0 && !c.layers.empty());
      require(c.norm.epsilon >= 0 && std::isfinite(c.norm.epsilon));
      for (const decoder_layer_config& layer : c.layers) {
        require(layer.rotary == no_rotary || c.rotary.empty() || layer.rotary < c.rotary.size());
        require(!layer.sparse || (c.experts > 0 && c.expert_hidden > 0));
      }
    } else if (is(known_encoder_decoders(), kind)) {
      const auto plan = plan_encoder_decoder(found, weights);
      require(plan.config.encoder.layers.size() <= weights.arrays().size());
    }
    if (const encoder_family* const family = find_encoder_family(kind)) {
      const encoder_description d = family->read(config, weights);
      (void)extents_of_encoder<encoder_dims>(config, d.config);
      require(d.config.layers.size() <= weights.arrays().size());
    }
    config.finish();
    return true;
  } catch (const file_error& refused) {
    require(refused.what()[0] == 'x');
    return false;
  }
}

// A model of these settings and a list of arrays, a line each: name, type, extents. What differs is said.
inline bool arrays(input bytes) {
  static const std::vector<std::byte> zeros(std::size_t{1} << 16);
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto part = [&](char end) {
    const std::string_view found = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(found.size() + 1, rest.size()));
    return found;
  };
  const std::string_view text = part(part_end);
  archive weights("x");
  while (!rest.empty()) {
    std::string_view line = part('\n');
    const auto next = [&] {
      const std::string_view found = line.substr(0, line.find(' '));
      line.remove_prefix(std::min(found.size() + 1, line.size()));
      return found;
    };
    stored_array a;
    a.name = next();
    const std::string_view type = next();
    for (const element_type one : {element_type::bf16, element_type::f8_e4m3, element_type::u8}) {
      if (type == name_of(one)) { a.type = one; }
    }
    while (!line.empty()) {
      const std::string_view number = next();
      std::size_t extent = 0;
      if (std::from_chars(number.data(), number.data() + number.size(), extent).ec != std::errc()) { break; }
      a.extents.push_back(extent);
    }
    const auto size = bytes_of(a.type, count_of(a.extents).value_or(zeros.size() + 1));
    if (!size || *size > zeros.size()) { continue; }  // no file of this size
    a.bytes = input(zeros).first(*size);
    weights.add(std::move(a));
  }
  try {
    dimwise::models::inspection found;
    dimwise::models::detail::add_arrays(found, weights);
    dimwise::models::detail::inspect_model(found, config_check(parse_json(text, "x"), "x"), weights, true);
    require(!found.architecture.empty());
    return found.rejected.empty();
  } catch (const file_error&) {
    return false;
  } catch (const dimwise::extent_error&) {  // a parameter with too many elements
    return false;
  }
}

// generation_config.json.
inline bool generation(input bytes) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto found = dimwise::models::generation_config_of(config_check(parse_json(text, "x"), "x"));
    require(!found.top_p || (*found.top_p >= 0 && *found.top_p <= 1));
    require(!found.temperature || *found.temperature >= 0);
    return true;
  } catch (const file_error& refused) {
    require(std::strlen(refused.what()) < 4000);
    return false;
  }
}

// A folder whose files are the parts of an input, which record separators divide; files without a part have another
// name meanwhile. The files stay open, and they keep their memory: making files takes longer than reading them.
class folder_of_parts {
 public:
  folder_of_parts(const std::string& target, const std::vector<std::string>& names) {
    const std::filesystem::path memory = "/dev/shm";
    path_ = (std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path()) /
            ("dimwise_fuzz_" + target + "_" + std::to_string(::getpid()));
    for (const std::string& name : names) {
      const std::filesystem::path path = path_ / name;
      std::filesystem::create_directories(path.parent_path());
      files_.push_back({path, path.string() + ".absent", ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600)});
      require(files_.back().open >= 0);
    }
  }
  folder_of_parts(const folder_of_parts&) = delete;
  folder_of_parts& operator=(const folder_of_parts&) = delete;
  ~folder_of_parts() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& with(input bytes) {
    std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    bool left = true;
    for (file& one : files_) {
      if (left != one.exists) {
        std::filesystem::rename(left ? one.absent : one.path, left ? one.path : one.absent);
        one.exists = left;
      }
      if (!left) { continue; }
      const std::string_view part = rest.substr(0, rest.find(part_end));
      require(::pwrite(one.open, part.data(), part.size(), 0) == static_cast<::ssize_t>(part.size()));
      if (part.size() != one.size) { require(::ftruncate(one.open, static_cast<::off_t>(part.size())) == 0); }
      one.size = part.size();
      left = part.size() < rest.size();
      if (left) { rest.remove_prefix(part.size() + 1); }
    }
    return path_;
  }

 private:
  struct file {
    std::filesystem::path path;
    std::filesystem::path absent;
    int open;
    std::size_t size = 0;
    bool exists = true;
  };
  std::vector<file> files_;
  std::filesystem::path path_;
};

// The modules of a sentence-transformers folder, and the settings of a Dense beside its arrays.
inline bool sentences(input bytes) {
  static folder_of_parts folder("sentences", {"modules.json", "1_Pooling/config.json", "sentence_bert_config.json",
                                              "config_sentence_transformers.json", "tokenizer_config.json",
                                              "config.json", "2_Dense/config.json"});
  try {
    const std::filesystem::path& at = folder.with(bytes);
    static const bool arrays = [&] {
      const std::vector<std::byte> zeros(48);
      write_safetensors(at / "2_Dense/model.safetensors",
                        std::vector<stored_array>{{"linear.weight", element_type::f32, {3, 4}, zeros}});
      return true;
    }();
    require(arrays);
    const auto found = dimwise::models::read_sentence_settings(at);
    require(!found.most_tokens || *found.most_tokens > 0);
    require(dimwise::models::read_vector_modules(found, 4).all.size() == found.modules.size());
    return true;
  } catch (const file_error& refused) {
    require(std::strlen(refused.what()) < 4000);
    return false;
  } catch (const dimwise::extent_error&) {  // a parameter with too many elements
    return false;
  }
}

// The arrays of a static embedding.
inline bool static_embedding(input bytes) {
  using model = dimwise::models::static_embedding;
  try {
    const model found = dimwise::models::read_static_embedding(parse_safetensors(bytes, "x"));
    std::vector<model::token> text;
    for (std::size_t i = 0; i < std::min<std::size_t>(found.tokens(), 3); ++i) { text.emplace_back(i); }
    require(found.vector(text).size() == found.features());
    return true;
  } catch (const file_error& refused) {
    require(std::strlen(refused.what()) < 4000);
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
// vocab.json, merges.txt and added_tokens.json of GPT-2.
inline bool merges(input bytes) {
  static folder_of_parts folder("merges", {"vocab.json", "merges.txt", "added_tokens.json"});
  return tokenizer_of([&] {
    const std::filesystem::path& at = folder.with(bytes);
    return dimwise::text::tokenizer<vocab>::read(at / "vocab.json", at / "merges.txt");
  });
}
// BERT's vocab.txt and tokenizer_config.json.
inline bool vocabulary(input bytes) {
  static folder_of_parts folder("vocabulary", {"vocab.txt", "tokenizer_config.json"});
  return tokenizer_of([&] { return dimwise::text::tokenizer<vocab>::read(folder.with(bytes) / "vocab.txt"); });
}
// Marian's vocab.json and source.spm.
inline bool marian(input bytes) {
  static folder_of_parts folder("marian", {"vocab.json", "source.spm"});
  return tokenizer_of([&] {
    const auto parts = dimwise::text::detail::read_sentencepiece(folder.with(bytes) / "source.spm",
                                                                 dimwise::text::detail::sentencepiece_class::marian);
    return dimwise::text::tokenizer<vocab>(parts, "x");
  });
}
inline bool sentencepiece(input bytes) {
  return tokenizer_of([&] { return dimwise::text::tokenizer<vocab>::parse_sentencepiece(bytes, "x"); });
}
#endif

}  // namespace dimwise_fuzz
