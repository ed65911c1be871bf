// SPDX-License-Identifier: BSL-1.0
// dimwise/models/inspect.hpp -- what a folder or a file holds: the architecture, every array with its dimensions, the
// settings, and what would be rejected.
//
// Layer: models. The readers of models and files say all of it; no array is loaded.
// Tests: tests/models/inspect.test.cpp
//
//   const auto found = models::inspect("folder");          // or a file of safetensors or GGUF
//   for (const auto& a : found.arrays) { std::cout << a.name << ": " << a.dimensions << '\n'; }
//   for (const auto& why : found.rejected) { std::cout << why << '\n'; }
#pragma once

#include <dimwise/io/gguf.hpp>
#include <dimwise/models/decoders.hpp>
#include <dimwise/models/encoder_decoders.hpp>
#include <dimwise/models/encoders.hpp>
#include <dimwise/models/inspected_arrays.hpp>
#include <dimwise/models/sentence/static_embedding.hpp>
#include <dimwise/models/sentence/vector_modules.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::models {

/// The contents of a folder or a file.
struct inspection {
  std::string architecture{};  ///< "LLaMA, a decoder"; empty if no model is known
  std::vector<std::pair<std::string, std::string>> settings{};
  std::vector<inspected_array> arrays{};
  std::map<std::string, std::string> metadata{};  ///< of the files of arrays
  std::filesystem::path text_folder{};            ///< of the tokenizer
  std::vector<std::string> rejected{};            ///< why reading it throws, a reason each; empty if it is read

  /// The number of elements of the model's parameters; of all arrays if no model is known.
  [[nodiscard]] std::size_t parameters() const {
    const bool known = std::any_of(arrays.begin(), arrays.end(), [](const auto& a) { return a.is_parameter; });
    std::size_t count = 0;
    for (const inspected_array& a : arrays) { count += a.is_parameter || !known ? a.elements : 0; }
    return count;
  }
  /// The number of tokens of the model, if the dimensions of an array say it.
  [[nodiscard]] std::optional<std::size_t> vocabulary() const {
    constexpr std::string_view dimension = "vocab[";
    for (const inspected_array& a : arrays) {
      const std::size_t at = a.dimensions.find(dimension);
      if (at == std::string::npos) { continue; }
      std::size_t n = 0;
      const char* const first = a.dimensions.data() + at + dimension.size();
      if (std::from_chars(first, a.dimensions.data() + a.dimensions.size(), n).ec == std::errc()) { return n; }
    }
    return std::nullopt;
  }
  /// The number of bytes of all arrays.
  [[nodiscard]] std::size_t bytes() const {
    std::size_t count = 0;
    for (const inspected_array& a : arrays) { count += io::bytes_of(a.type, a.elements).value_or(0); }
    return count;
  }
};

namespace detail {

// The lines of a message after its first, or the only one. The first names the file, which the others keep unless they
// are of `settings`, the file of the model's settings.
inline std::vector<std::string> reasons_of(const std::string& message, const std::filesystem::path& settings) {
  std::vector<std::string> all;
  std::size_t at = 0;
  while (at <= message.size()) {
    const std::size_t end = std::min(message.find('\n', at), message.size());
    std::string line = message.substr(at, end - at);
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    if (!line.empty()) { all.push_back(std::move(line)); }
    at = end + 1;
  }
  if (all.size() < 2) { return all; }
  const std::string file = all.front().substr(0, all.front().rfind(": "));
  all.erase(all.begin());
  if (file != settings.string()) {
    for (std::string& line : all) { line.insert(0, file + ": "); }
  }
  return all;
}

// The message that `look` adds, or the reason why it throws.
template <class Look>
void look_or_reject(inspection& to, const Look& look) {
  try {
    look();
  } catch (const dimwise::error& problem) {
    const std::filesystem::path settings = std::filesystem::path(to.text_folder).append("config.json");
    for (std::string& why : reasons_of(problem.what(), settings)) { to.rejected.push_back(std::move(why)); }
  }
}

// The arrays of a file; `folder` is that of a module, before their names.
inline void add_arrays(inspection& to, const io::archive& from, const std::string& folder = "") {
  if (folder.empty()) { to.metadata = from.metadata(); }
  for (const io::stored_array& a : from.arrays()) {
    const auto said = from.metadata().find(io::detail::dimensions_key + a.name);
    to.arrays.push_back({folder + a.name, said == from.metadata().end() ? io::detail::listed(a.extents) : said->second,
                         a.type, io::count_of(a.extents).value_or(0), false});
  }
}
inline void add_settings(inspection& to, const io::archive& from) {
  for (const auto& [key, text] : from.metadata()) {
    if (!key.starts_with(io::detail::dimensions_key)) { to.settings.emplace_back(key, text); }
  }
}
inline void add_settings(inspection& to, const std::filesystem::path& file) {
  const io::detail::held_json held(io::read_json(file));
  if (!held->is_object()) { return; }
  for (const auto& [key, value] : held->items()) {
    if (value.is_null()) { continue; }
    to.settings.emplace_back(key, value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
}

// Gives the arrays the dimensions of the parameters that are bound to them, and adds what differs.
template <class Model>
void compare_arrays(inspection& to, const io::archive& from, Model& m, const io::bindings& file,
                    io::rounding how = io::rounding::refused, const std::string& folder = "") {
  const std::string prefix = io::detail::prefix_in(from, file);
  std::map<std::string, inspected_array*, std::less<>> by_name;
  for (inspected_array& a : to.arrays) { by_name.emplace(a.name, &a); }
  for (const auto& b : file.list().all) {
    const io::stored_array* const found = io::detail::find_array(from, prefix, *b);
    if (found == nullptr || found->extents != b->how.extents) { continue; }
    inspected_array& a = *by_name.at(folder + found->name);
    a.dimensions = a.is_parameter ? a.dimensions + " + " + b->how.words : b->how.words;
    a.is_parameter = true;
  }
  for (const std::string& line : io::compare(m, from, file, how)) { to.rejected.push_back(folder + line); }
}

// A static embedding; returns the extent of its vectors.
inline std::size_t inspect_static_embedding(inspection& to, const io::archive& weights) {
  const io::archive floats = with_floats(weights);
  std::size_t features = 0;
  with_bound_static_embedding(floats, [&](static_embedding& m, const io::bindings& file) {
    to.architecture = m.is_model2vec ? "model2vec, a static embedding" : "StaticEmbedding, a static embedding";
    features = floats.at(m.is_model2vec ? "embeddings" : "embedding.weight").extents[1];
    compare_arrays(to, floats, m, file, io::rounding::allowed);
    for (inspected_array& a : to.arrays) {
      if (a.name == "mapping" && !m.clustered.empty()) { a.dimensions = "vocab[" + std::to_string(a.elements) + "]"; }
    }
  });
  return features;
}
// The modules after a pooling or a static embedding.
inline void inspect_modules(inspection& to, const sentence_settings& settings, std::size_t features) {
  for_each_module(settings, features, [] {},
                  [&](const std::filesystem::path& folder, dense_layer& layer, const io::bindings& file,
                      const io::archive& weights) {
    const std::string name = folder.filename().string() + "/";
    add_arrays(to, weights, name);
    compare_arrays(to, weights, layer, file, io::rounding::refused, name);
  });
}

// Returns the extent of the features of an encoder or a decoder, 0 for encoder-decoders. `pooled`: modules follow.
inline std::size_t inspect_model(inspection& to, const io::config_check& settings, const io::archive& weights,
                                 bool pooled) {
  io::config_check config = settings;
  const std::string kind = model_type_of(config);
  config.finish();
  const auto compare = [&](auto& m, const io::bindings& file) { compare_arrays(to, weights, m, file); };
  std::size_t features = 0;
  const auto replace_arrays = [&](const io::archive& arrays) {
    to.arrays.clear();
    add_arrays(to, arrays);
  };
  const auto compare_decoder = [&](auto& m, const io::bindings& file, const io::archive& arrays) {
    features = m.config.d_model;
    if (m.config.bidirectional) { to.architecture += " with bidirectional attention"; }
    replace_arrays(arrays);  // one for each expert
    compare_arrays(to, arrays, m, file);
  };
  std::string known;
  const auto is = [&](const std::string& one) {
    known += (known.empty() ? "" : ", ") + one;
    return one == kind;
  };
  const std::vector<std::string> classes = config.words("architectures");
  const bool encoder_alone = (!classes.empty() && classes.front().ends_with("EncoderModel")) ||
                             encoder_task_of(settings) == encoder_task::token_labels;
  for (const decoder_architecture& one : known_decoders()) {
    if (!is(one.model_type)) { continue; }
    to.architecture = one.title + " (" + kind + "), a decoder";
    with_bound_decoder<decoder_dims, float>(settings, weights, {}, compare_decoder);
    if (pooled) { expect_known_direction(settings); }
    return features;
  }
  for (const encoder_decoder_architecture& one : known_encoder_decoders()) {
    if (!is(one.model_type) || encoder_alone) { continue; }
    to.architecture = one.title + " (" + kind + "), an encoder-decoder";
    with_bound_encoder_decoder<encoder_decoder_dims, float>(settings, weights, {}, compare);
    return 0;
  }
  for (const encoder_family* family : encoder_families) {
    for (const std::string& name : family->model_types) {
      if (!is(name)) { continue; }
      to.architecture = kind + ", an encoder";
      with_bound_encoder<encoder_dims, float>(*family, settings, weights, encoder_task_of(settings), "",
                                              [&](auto& m, const io::bindings& file, const io::archive& arrays) {
        features = m.config.extents.features;
        replace_arrays(arrays);  // without adapters
        compare_arrays(to, arrays, m, file);
      });
      return features;
    }
  }
  throw io::file_error(config.title() + ": model_type is " + io::detail::printable(kind) +
                       "; the types that are read are " + known);
}

}  // namespace detail

/// The arrays of a file of safetensors or GGUF, and its metadata as settings. Throws `file_error` for files that no
/// reader takes.
[[nodiscard]] inline inspection inspect_file(const std::filesystem::path& path) {
  const io::file_bytes file(path);
  const std::string_view begin(reinterpret_cast<const char*>(file.bytes().data()),
                               std::min<std::size_t>(file.bytes().size(), 4));
  const io::archive weights = begin == "GGUF" ? io::read_gguf(path) : io::read_safetensors(path);
  inspection to;
  detail::add_arrays(to, weights);
  detail::add_settings(to, weights);
  const auto said = weights.metadata().find("general.architecture");
  if (said != weights.metadata().end()) { to.architecture = said->second + ", in the form of GGUF"; }
  return to;
}
/// The model in a HuggingFace folder: `config.json`, and `model.safetensors` or its shards; in a folder of
/// sentence-transformers those of its modules. What the readers of models reject is listed in `rejected`.
[[nodiscard]] inline inspection inspect_folder(const std::filesystem::path& folder) {
  inspection to;
  to.text_folder = folder;
  std::optional<sentence_settings> sentences;
  detail::look_or_reject(to, [&] {
    const bool listed = std::filesystem::exists(std::filesystem::path(folder).append("modules.json"));
    if (!listed && !detail::is_model2vec(folder)) { return; }
    sentences = read_sentence_settings(folder);
    to.text_folder = sentences->transformer;
  });
  const std::vector<std::string> why = to.rejected;
  io::archive weights;
  bool has_weights = false;
  detail::look_or_reject(to, [&] {
    weights = io::read_checkpoint(to.text_folder);
    detail::add_arrays(to, weights);
    has_weights = true;
  });
  if (!why.empty()) {  // which model it is remains unknown
    to.rejected = why;
    return to;
  }
  detail::look_or_reject(to, [&] {
    const std::filesystem::path settings = std::filesystem::path(to.text_folder).append("config.json");
    const bool is_static = sentences && sentences->is_static;
    if (!is_static || std::filesystem::exists(settings)) { detail::add_settings(to, settings); }
    if (!has_weights) { return; }
    const std::size_t features =
        is_static ? detail::inspect_static_embedding(to, weights)
                  : detail::inspect_model(to, io::config_check(settings), weights, sentences.has_value());
    if (sentences && features > 0) { detail::inspect_modules(to, *sentences, features); }
  });
  return to;
}
/// The contents of a folder or a file: `inspect_folder` or `inspect_file`.
[[nodiscard]] inline inspection inspect(const std::filesystem::path& path) {
  return std::filesystem::is_directory(path) ? inspect_folder(path) : inspect_file(path);
}

}  // namespace dimwise::models
