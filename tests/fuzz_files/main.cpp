// tests/fuzz_files/main.cpp -- a fixed part of the fuzzing of files, for every compiler: seeds, and changes of them.
//
//   fuzz_files [--runs N] [--seed N] [--write FOLDER]      N changed files of each format; FOLDER: seeds for libFuzzer
//
// tests/fuzz_files/run.sh runs the same targets under libFuzzer for long.
// SPDX-License-Identifier: BSL-1.0
#include "support/pack.hpp"
#include "support/sentencepiece_bytes.hpp"
#include "targets.hpp"

#include <fstream>
#include <iostream>
#include <random>

namespace {

using bytes = std::vector<std::byte>;
using target = bool (*)(dimwise_fuzz::input);

bytes of_text(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}
template <class T>
std::string put(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}
std::string word(const std::string& text) { return put<std::uint64_t>(text.size()) + text; }

std::vector<bytes> safetensors_seeds() {
  const dimwise_test::pack data(dimwise_test::data_file("safetensors.dwpack"));
  std::vector<bytes> all;
  for (const auto& [name, array] : data.arrays()) {
    if (array.bytes.size() < 4000) { all.emplace_back(array.bytes.begin(), array.bytes.end()); }
  }
  return all;
}
std::vector<bytes> gguf_seeds() {
  const auto setting = [](const std::string& key, std::uint32_t type, const std::string& value) {
    return word(key) + put(type) + value;
  };
  const std::string settings = setting("general.architecture", 8, word("llama")) +
                               setting("general.alignment", 4, put<std::uint32_t>(8)) +
                               setting("l", 9, put<std::uint32_t>(5) + put<std::uint64_t>(1) + put<std::int32_t>(-1)) +
                               setting("f", 6, put(1.5F)) + setting("b", 7, "\1") + setting("d", 12, put(2.5));
  const auto tensor = [](const std::string& name, std::uint64_t n, std::uint32_t type, std::uint64_t offset) {
    return word(name) + put<std::uint32_t>(2) + put(n) + put<std::uint64_t>(1) + put(type) + put(offset);
  };
  std::string file = "GGUF" + put<std::uint32_t>(3) + put<std::uint64_t>(3) + put<std::uint64_t>(6) + settings +
                     tensor("a", 4, 0, 0) + tensor("b", 32, 8, 16) + tensor("c", 32, 2, 56);
  file += std::string((8 - file.size() % 8) % 8, '\0') + std::string(80, '\1');
  return {of_text(file)};
}
std::vector<bytes> npy_seeds() {
  std::vector<bytes> all;
  for (const char* shape : {"()", "(2,)", "(2, 3)", "(0, 4294967296)"}) {
    for (const char* type : {"<f4", "|b1"}) {
      const std::string header =
          std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': " + shape + ", }   \n";
      // Fortran order has one letter less.
      const std::string turned = std::string(header).replace(header.find("False"), 5, "True ");
      all.push_back(of_text(std::string("\x93NUMPY\x01\x00", 8) + put(static_cast<std::uint16_t>(turned.size())) +
                            turned + std::string(24, '\1')));
      const auto one = put(static_cast<std::uint16_t>(header.size()));
      const auto two = put(static_cast<std::uint32_t>(header.size()));
      all.push_back(of_text(std::string("\x93NUMPY\x01\x00", 8) + one + header + std::string(24, '\1')));
      all.push_back(of_text(std::string("\x93NUMPY\x02\x00", 8) + two + header + std::string(2, '\1')));
    }
  }
  return all;
}

constexpr const char* model_suites[] = {"architectures_decoders.dwpack",
                                        "architectures_encoders.dwpack",
                                        "architectures_encoder_decoders.dwpack",
                                        "encoder_decoders.dwpack",
                                        "mixtures.dwpack",
                                        "gpt_oss.dwpack",
                                        "bidirectional.dwpack",
                                        "deberta.dwpack",
                                        "gte.dwpack",
                                        "jina.dwpack",
                                        "deepseek.dwpack"};

std::vector<bytes> settings_seeds() {
  std::vector<bytes> all;
  for (
      const std::string text :
      {R"({"model_type":"gemma3","text_config":{"model_type":"gemma3_text","num_hidden_layers":2,"hidden_size":16,
           "rope_scaling":{"factor":8.0,"rope_type":"linear"}},"vision_config":{"hidden_size":8}})",
       R"({"model_type":"qwen2_5_vl","tie_word_embeddings":true,"vocab_size":20,"hidden_size":16,"intermediate_size":24,
           "num_hidden_layers":2,"num_attention_heads":8,"rope_scaling":{"type":"mrope","mrope_section":[1,1]}})",
       R"({"model_type":"qwen3","vocab_size":20,"hidden_size":16,"intermediate_size":24,"num_hidden_layers":2,
           "num_attention_heads":2,"quantization_config":{"quant_method":"fp8","weight_block_size":[2,2]}})"}) {
    const auto as_bytes = std::as_bytes(std::span(text.data(), text.size()));
    all.emplace_back(as_bytes.begin(), as_bytes.end());
  }
  for (const char* suite : model_suites) {
    const dimwise_test::pack data(dimwise_test::data_file(suite));
    for (const auto& [name, array] : data.arrays()) {
      if (name.ends_with("config.json")) { all.emplace_back(array.bytes.begin(), array.bytes.end()); }
    }
  }
  return all;
}

// Settings, and a line for each array.
std::string with_arrays(const nlohmann::json& settings, const std::vector<dimwise::io::stored_array>& all) {
  std::string text = settings.dump() + dimwise_fuzz::part_end;
  for (const auto& a : all) {
    text += a.name + " " + std::string(dimwise::io::name_of(a.type));
    for (const std::size_t extent : a.extents) { text += " " + std::to_string(extent); }
    text += '\n';
  }
  return text;
}
// The settings and the array list of each packed model with one layer, or with all of them if it needs several.
std::vector<bytes> arrays_seeds() {
  std::vector<bytes> all;
  for (const char* suite : model_suites) {
    const dimwise_test::pack data(dimwise_test::data_file(suite));
    for (const auto& [name, array] : data.arrays()) {
      if (!name.ends_with("/config.json")) { continue; }
      const std::string folder = name.substr(0, name.rfind('/') + 1);
      const auto listed = data.arrays().find(folder + "model.safetensors");
      if (listed == data.arrays().end()) { continue; }
      const auto* const first = reinterpret_cast<const char*>(array.bytes.data());
      nlohmann::json settings = nlohmann::json::parse(first, first + array.bytes.size());
      if (!settings.contains("architectures")) { continue; }  // a dense layer after a model
      const auto weights = dimwise::io::parse_safetensors(listed->second.bytes, "x");
      std::vector<dimwise::io::stored_array> arrays = weights.arrays();
      const std::string whole = with_arrays(settings, arrays);
      for (nlohmann::json* const one : {&settings, &settings["text_config"]}) {
        for (const char* key : {"num_hidden_layers", "n_layer", "num_layers", "n_layers", "num_decoder_layers",
                                "encoder_layers", "decoder_layers"}) {
          if (one->contains(key)) { (*one)[key] = 1; }
        }
        if (one->contains("layer_types")) { (*one)["layer_types"] = {(*one)["layer_types"].front()}; }
      }
      if (settings["text_config"].is_null()) { settings.erase("text_config"); }
      std::erase_if(arrays, [](const auto& a) {
        const auto numbers = dimwise::models::detail::numbers_in(a.name).numbers;
        return !numbers.empty() && numbers.front() > 0;
      });
      const std::string shortened = with_arrays(settings, arrays);
      all.push_back(of_text(dimwise_fuzz::arrays(of_text(shortened)) ? shortened : whole));
    }
  }
  return all;
}

std::vector<bytes> generation_seeds() {
  return {of_text(R"({"eos_token_id":[2,7],"do_sample":true,"temperature":0.6,"top_k":20,"top_p":0.9,"min_p":0.1})"),
          of_text(R"({"suppress_tokens":[-1,3],"begin_suppress_tokens":4,"max_length":64,"max_new_tokens":9})")};
}
// The parts of a folder.
bytes of_parts(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) {
    if (&part != parts.data()) { all += dimwise_fuzz::part_end; }
    all += part;
  }
  return of_text(all);
}
std::vector<bytes> sentences_seeds() {
  const std::string modules = R"([{"path":"","type":"sentence_transformers.models.Transformer"},)"
                              R"({"path":"1_Pooling","type":"sentence_transformers.models.Pooling"}])";
  return {
      of_parts({modules, R"({"word_embedding_dimension":4,"pooling_mode_mean_tokens":true})",
                R"({"max_seq_length":8,"do_lower_case":true})", R"({"prompts":{"q":"a: "},"default_prompt_name":"q"})",
                R"({"model_max_length":9})", R"({"hidden_size":4})"}),
      of_parts({modules, R"({"pooling_mode":"cls","include_prompt":false})", "{}", "{}", "{}", "{}"}),
      of_parts({modules.substr(0, modules.size() - 1) +
                    R"(,{"path":"2_Dense","type":"sentence_transformers.models.Dense"},)"
                    R"({"path":"3","type":"sentence_transformers.models.Normalize"}])",
                R"({"pooling_mode":"mean"})", "{}", R"({"similarity_fn_name":"dot","truncate_dim":2})", "{}",
                R"({"d_model":4})",
                R"({"in_features":4,"out_features":3,"bias":false,"activation_function":"torch.nn.GELU"})"}),
      of_parts({R"([{"path":".","type":"sentence_transformers.models.StaticEmbedding"}])", "{}", "{}", "{}", "{}",
                R"({"model_type":"model2vec","normalize":true})"})};
}
std::vector<bytes> static_embedding_seeds() {
  const dimwise_test::pack data(dimwise_test::data_file("sentences.dwpack"));
  std::vector<bytes> all;
  for (const char* name :
       {"model2vec", "model2vec-clusters", "model2vec-bytes", "static-embedding/0_StaticEmbedding"}) {
    const auto file = data.at(std::string(name) + "/model.safetensors").bytes;
    all.emplace_back(file.begin(), file.end());
  }
  return all;
}

#if __has_include(<zip.h>)
std::vector<bytes> npz_seeds() {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("dimwise_fuzz_" + std::to_string(std::random_device{}()) + ".npz");
  const bytes zeros(24);
  const std::vector<dimwise::io::stored_array> arrays{{"a", dimwise::io::element_type::f32, {2, 3}, zeros},
                                                      {"b.c", dimwise::io::element_type::i64, {3}, zeros}};
  dimwise::io::write_npz(path, arrays);
  const dimwise::io::file_bytes file(path);
  std::filesystem::remove(path);
  return {{file.bytes().begin(), file.bytes().end()}};
}
#endif

#if __has_include(<utf8proc.h>)
// The packed tokenizers with their first words and what joins these: the rest of a file is as it was.
std::vector<bytes> tokenizer_seeds() {
  using nlohmann::json;
  const dimwise_test::pack data(dimwise_test::data_file("tokenizers.dwpack"));
  std::vector<bytes> all;
  for (const std::string name : {"gpt2", "bert", "pairs"}) {
    const auto packed = data.at(name + "/tokenizer.json").bytes;
    json settings = json::parse(std::string(reinterpret_cast<const char*>(packed.data()), packed.size()));
    json& model = settings.at("model");
    json words;
    for (const auto& [one, i] : model.at("vocab").items()) {
      if (i.get<std::size_t>() < 300) { words[one] = i; }
    }
    model["vocab"] = words;
    if (model.contains("merges")) {
      json merges = json::array();
      for (const json& pair : model.at("merges")) {
        const std::string text = pair.is_string() ? pair.get<std::string>() : "";
        const std::string left = pair.is_string() ? text.substr(0, text.find(' ')) : pair[0].get<std::string>();
        const std::string right = pair.is_string() ? text.substr(text.find(' ') + 1) : pair[1].get<std::string>();
        if (words.contains(left) && words.contains(right) && words.contains(left + right)) { merges.push_back(pair); }
      }
      model["merges"] = merges;
    }
    all.push_back(of_text(settings.dump()));
  }
  all.push_back(of_text(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})"));
  return all;
}
std::vector<bytes> merges_seeds() {
  return {of_parts({R"({"H":0,"e":1,"l":2,"o":3,"ll":4,"Ġ":5,"<s>":7})", "#version: 0.2\nl l\n", R"({"[MASK]":8})"}),
          of_parts({R"({"a":0,"b":1,"ab":2})", "a b"})};
}
std::vector<bytes> vocabulary_seeds() {
  return {of_parts({"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\nworld\n##s\n1\n", R"({"do_lower_case":true})"}),
          of_parts({"[UNK]\r\n[CLS]\r\n[SEP]\r\ne\r\n##y\r\n"})};
}
// Models of both kinds, one with a character map that maps H to h.
std::vector<bytes> marian_seeds() {
  using namespace dimwise_test::sentencepiece;
  const std::string space = "\u2581";
  return {of_parts({R"({"</s>":0,"<unk>":1,"\u2581a":2,"b":3,"\u2581":4,"<pad>":5,">>fr<<":6})",
                    piece("<unk>", 0, 2) + piece("</s>", 0, 3) + piece(space, -2) + piece(space + "a", -1) +
                        piece("b", -3) + piece("1234", 0, 4)})};
}
std::vector<bytes> sentencepiece_seeds() {
  using namespace dimwise_test::sentencepiece;
  std::string map = put<std::uint32_t>(4 * ('H' + 1));
  for (std::uint32_t unit = 0; unit <= 'H'; ++unit) {
    map += put<std::uint32_t>(unit == 'H' ? (1U << 10) | (1U << 8) | 'H' : unit == ('H' ^ 1) ? 1U << 31 : 0);
  }
  map += std::string("h\0", 2);
  std::string pieces = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("[MASK]", 0, 4) + piece("1234", 0, 5);
  for (const char* text :
       {"\u2581", "h", "H", "e", "l", "o", "ll", "he", "hell", "\u2581w", "\u4f60", "12", "\u00e9"}) {
    pieces += piece(text, -static_cast<float>(pieces.size()));
  }
  std::vector<bytes> all{of_text(pieces + normalizer(field(2, map))), of_text(pieces + normalizer(whole(3, 0))),
                         of_text(pieces + trainer(whole(24, 1)) + normalizer(whole(4, 0) + whole(5, 0)))};
  pieces.erase(pieces.find(piece("1234", 0, 5)), piece("1234", 0, 5).size());
  all.push_back(of_text(pieces + trainer(whole(3, 2)) + normalizer(field(2, map))));
  constexpr char digits[] = "0123456789ABCDEF";
  for (std::size_t b = 0; b < 256; ++b) {
    pieces += field(1, field(1, std::string("<0x") + digits[b / 16] + digits[b % 16] + ">") + whole(3, 6));
  }
  for (const std::uint32_t kind : {1U, 2U}) { all.push_back(of_text(pieces + trainer(whole(3, kind) + whole(35, 1)))); }
  return all;
}
#endif

// One change: bits, numbers at the borders, parts cut, copied or taken from another file.
void change(bytes& file, const std::vector<bytes>& seeds, std::mt19937_64& draw) {
  const auto below = [&](std::size_t n) { return n == 0 ? std::size_t{0} : static_cast<std::size_t>(draw() % n); };
  const std::size_t at = below(file.size());
  switch (below(8)) {
    case 0:
      if (!file.empty()) { file[at] ^= static_cast<std::byte>(1U << below(8)); }
      break;
    case 1:
      if (!file.empty()) { file[at] = static_cast<std::byte>(below(256)); }
      break;
    case 2:
      file.resize(at);
      break;
    case 3:
      file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), below(20), static_cast<std::byte>(below(256)));
      break;
    case 4: {
      const std::size_t n = std::min(below(16), file.size() - at);
      file.erase(file.begin() + static_cast<std::ptrdiff_t>(at), file.begin() + static_cast<std::ptrdiff_t>(at + n));
      break;
    }
    case 5: {
      constexpr std::uint64_t borders[] = {0,     1,         0x7f, 0xff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff,
                                           ~0ULL, 1ULL << 61};
      const std::uint64_t value = borders[below(std::size(borders))];
      const std::size_t width = std::size_t{1} << below(4);
      if (file.size() >= at + width) { std::memcpy(file.data() + at, &value, width); }
      break;
    }
    case 6: {
      const bytes& other = seeds[below(seeds.size())];
      const std::size_t from = below(other.size());
      const std::size_t n = std::min<std::size_t>(below(40), other.size() - from);
      file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), other.begin() + static_cast<std::ptrdiff_t>(from),
                  other.begin() + static_cast<std::ptrdiff_t>(from + n));
      break;
    }
    default:
      if (!file.empty()) {
        constexpr std::string_view signs = "{}[]\",:0123456789-.eE\\ \n()'";
        file[at] = static_cast<std::byte>(signs[below(signs.size())]);
      }
  }
}

}  // namespace

int main(int count, char** words) {
  std::size_t runs = 10000;
  std::uint64_t seed = 1;
  std::string folder;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view option = words[i];
    if (option == "--runs") { runs = std::stoul(words[i + 1]); }
    if (option == "--seed") { seed = std::stoul(words[i + 1]); }
    if (option == "--write") { folder = words[i + 1]; }
  }
  struct format_of {
    const char* name;
    target run;
    std::vector<bytes> seeds;
    bool all_are_valid = true;
  };
  std::vector<format_of> formats{{"safetensors", dimwise_fuzz::safetensors, safetensors_seeds(), false},
                                 {"gguf", dimwise_fuzz::gguf, gguf_seeds()},
                                 {"npy", dimwise_fuzz::npy, npy_seeds(), false},
                                 {"settings", dimwise_fuzz::settings, settings_seeds(), false},
                                 {"arrays", dimwise_fuzz::arrays, arrays_seeds()},
                                 {"generation", dimwise_fuzz::generation, generation_seeds()},
                                 {"sentences", dimwise_fuzz::sentences, sentences_seeds(), false},
                                 {"static_embedding", dimwise_fuzz::static_embedding, static_embedding_seeds()}};
#if __has_include(<zip.h>)
  formats.push_back({"npz", dimwise_fuzz::npz, npz_seeds()});
#endif
#if __has_include(<utf8proc.h>)
  formats.push_back({"tokenizer", dimwise_fuzz::tokenizer, tokenizer_seeds()});
  formats.push_back({"merges", dimwise_fuzz::merges, merges_seeds()});
  formats.push_back({"vocabulary", dimwise_fuzz::vocabulary, vocabulary_seeds()});
  formats.push_back({"marian", dimwise_fuzz::marian, marian_seeds()});
  formats.push_back({"sentencepiece", dimwise_fuzz::sentencepiece, sentencepiece_seeds()});
#endif
  for (const auto& format : formats) {
    if (!folder.empty()) {
      for (std::size_t i = 0; i < format.seeds.size(); ++i) {
        std::ofstream to(folder + "/" + format.name + "/" + std::to_string(i), std::ios::binary);
        to.write(reinterpret_cast<const char*>(format.seeds[i].data()),
                 static_cast<std::streamsize>(format.seeds[i].size()));
      }
      continue;
    }
    std::size_t accepted = 0;
    for (std::size_t i = 0; i < format.seeds.size(); ++i) {
      const bool is_valid = format.run(format.seeds[i]);
      if (!is_valid && format.all_are_valid) {
        std::cerr << format.name << ": seed " << i << " is rejected\n";
        return 1;
      }
      accepted += is_valid ? 1 : 0;
    }
    dimwise_fuzz::require(accepted > 0);
    std::mt19937_64 draw(seed);
    for (std::size_t i = 0; i < runs; ++i) {
      bytes file = format.seeds[draw() % format.seeds.size()];
      for (std::size_t n = draw() % 4 + 1; n > 0; --n) { change(file, format.seeds, draw); }
      accepted += format.run(file) ? 1 : 0;
    }
    std::cout << format.name << ": " << format.seeds.size() << " seeds, " << runs << " changed files, " << accepted
              << " accepted\n";
  }
}
