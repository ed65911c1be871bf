// SPDX-License-Identifier: BSL-1.0
// dimwise/io/shards.hpp -- reads the checkpoint of a folder: one file, or the shards of an index, compared both ways.
//
// Layer: io.
// Tests: tests/models/decoders/gpt2.test.cpp
//
//   const archive file = read_checkpoint("folder");       // model.safetensors, or model.safetensors.index.json
#pragma once

#include <dimwise/io/config.hpp>
#include <dimwise/io/safetensors.hpp>

#include <algorithm>

namespace dimwise::io {

namespace detail {

// Whether a name is a file next to the index, without a path.
inline bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

}  // namespace detail

/// The arrays of all shards of an index. Throws `file_error` that lists every array that only the index or only the
/// files have, or that the index assigns to another file.
[[nodiscard]] inline archive read_shards(const std::filesystem::path& index, file_access how = file_access::mapped) {
  const detail::held_json held(read_json(index));
  const nlohmann::json& json = *held;
  const auto refuse = [&](const std::string& what) { throw file_error(index.string() + ": " + what); };
  if (!json.is_object() || !json.contains("weight_map") || !json.at("weight_map").is_object()) {
    refuse("an object \"weight_map\" was expected");
  }
  std::map<std::string, std::map<std::string, bool>> shards;  // file -> array -> found
  for (const auto& [name, shard] : json.at("weight_map").items()) {
    if (!shard.is_string() || !detail::is_plain_name(shard.get<std::string>())) {
      refuse("the file of " + detail::printable(name) + " is not the name of a file beside the index");
    }
    shards[shard.get<std::string>()][name] = false;
  }
  archive all(index.parent_path().string());
  std::string problems;
  for (auto& [shard, arrays] : shards) {
    const archive part = read_safetensors(index.parent_path().append(shard), how);
    for (const auto& memory : part.memory()) { all.keep(memory); }
    for (const auto& [key, text] : part.metadata()) { all.add_text(key, text); }
    for (const stored_array& a : part.arrays()) {
      const auto listed = arrays.find(a.name);
      if (listed == arrays.end()) {
        problems += "\n  " + detail::printable(a.name) + " is in " + shard + ", where the index does not have it";
        continue;
      }
      listed->second = true;
      all.add(a);
    }
    for (const auto& [name, found] : arrays) {
      if (!found) { problems += "\n  " + detail::printable(name) + " is not in " + shard + ", where the index has it"; }
    }
  }
  if (!problems.empty()) { refuse("the index and the files differ:" + problems); }
  return all;
}

/// The checkpoint of a folder: `model.safetensors`, or the shards of `model.safetensors.index.json`. If both exist, the
/// index must list the arrays of `model.safetensors` alone, as written by MLX; then they are compared.
[[nodiscard]] inline archive read_checkpoint(const std::filesystem::path& folder,
                                             file_access how = file_access::mapped) {
  const auto one = folder / "model.safetensors";
  const auto index = folder / "model.safetensors.index.json";
  const bool is_one = std::filesystem::exists(one);
  const bool is_several = std::filesystem::exists(index);
  if (is_one && is_several) {
    const detail::held_json held(read_json(index));
    const bool has_map = held->is_object() && held->contains("weight_map");
    const nlohmann::json none;
    const nlohmann::json& map = has_map ? held->at("weight_map") : none;
    const bool of_itself = map.is_object() && !map.empty() && std::all_of(map.begin(), map.end(), [](const auto& file) {
      return file == "model.safetensors";
    });
    if (of_itself) { return read_shards(index, how); }
    throw file_error(folder.string() +
                     ": there is both model.safetensors and model.safetensors.index.json; one was expected");
  }
  if (!is_one && !is_several) {
    const bool has_pickle = std::filesystem::exists(folder / "pytorch_model.bin");
    throw file_error(
        folder.string() + ": model.safetensors or model.safetensors.index.json was expected" +
        (has_pickle ? "; pytorch_model.bin is not read: write its arrays by safetensors.torch.save_file" : ""));
  }
  return is_one ? read_safetensors(one, how) : read_shards(index, how);
}

}  // namespace dimwise::io
