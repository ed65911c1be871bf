// tests/conformance/suite.cpp -- opens suites and runs their cases.
// SPDX-License-Identifier: BSL-1.0
#include "suite.hpp"

#include "support/pack.hpp"
#include <dimwise/io/files/bytes.hpp>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace conformance {

namespace {

suite open_pack(const std::string& file) {
  const auto data = std::make_shared<dimwise_test::pack>(file);
  const auto named = [data](const std::string& name) {
    const dimwise_test::packed_array& found = data->at(name);
    return array{found.name, found.dtype, found.shape, std::shared_ptr<const std::byte>(data, found.bytes.data())};
  };
  return {data->manifest(), [named](const nlohmann::json& entry) { return named(entry.at("array")); }, named};
}

array load_from(const std::string& folder, const nlohmann::json& entry) {
  array found = read_npy(folder + "/" + entry.at("file").get<std::string>());
  if (found.dtype != entry.at("dtype").get<std::string>() ||
      found.shape != entry.at("shape").get<std::vector<std::size_t>>()) {
    throw std::runtime_error(found.name + ": expected " + entry.at("dtype").dump() + " " + entry.at("shape").dump() +
                             " as the manifest says; the file holds " + found.dtype + " " +
                             nlohmann::json(found.shape).dump());
  }
  return found;
}

array bytes_from(const std::string& path) {
  const auto file = std::make_shared<const dimwise::io::file_bytes>(path, dimwise::io::file_access::read);
  return {path, "uint8", {file->bytes().size()}, std::shared_ptr<const std::byte>(file, file->bytes().data())};
}

suite open_folder(const std::string& folder) {
  const std::string file = folder + "/manifest.json";
  std::ifstream stream(file, std::ios::binary);
  if (!stream) { throw std::runtime_error(file + ": expected a readable manifest"); }
  try {
    return {nlohmann::json::parse(stream), [folder](const nlohmann::json& entry) { return load_from(folder, entry); },
            [folder](const std::string& path) { return bytes_from(folder + "/" + path); }};
  } catch (const nlohmann::json::exception& problem) {
    throw std::runtime_error(file + ": expected JSON: " + problem.what());
  }
}

// The operator or family that computes a case.
std::string runner_of(const nlohmann::json& entry) {
  if (entry.contains("op")) { return entry.at("op"); }
  if (entry.contains("config") && entry.at("config").contains("op")) { return entry.at("config").at("op"); }
  if (entry.contains("upstream")) { return "gradient of " + entry.at("config").at("operation").get<std::string>(); }
  if (entry.contains("family")) { return entry.at("family"); }
  if (entry.contains("architecture")) { return entry.at("architecture"); }
  if (entry.contains("kind")) { return entry.at("kind"); }  // of an architecture: encoder, decoder, seq2seq
  return "safetensors";                                     // files, and the verdict of their reference parser
}

std::map<std::string, runner>& runners() {
  static std::map<std::string, runner> all;
  return all;
}

}  // namespace

suite open_suite(const std::string& folder_or_pack) {
  suite opened =
      std::filesystem::is_regular_file(folder_or_pack) ? open_pack(folder_or_pack) : open_folder(folder_or_pack);
  if (opened.manifest.contains("models")) { opened.manifest["cases"] = opened.manifest.at("models"); }
  if (!opened.manifest.contains("cases") || !opened.manifest.at("cases").is_array()) {
    throw std::runtime_error(folder_or_pack + ": expected a list \"cases\" in the manifest");
  }
  return opened;
}

family::family(const char* name, runner how) { runners().emplace(name, how); }

runner find(const std::string& name) {
  const auto found = runners().find(name);
  return found == runners().end() ? nullptr : found->second;
}

std::vector<std::string> run_case(const suite& from, const nlohmann::json& entry) {
  run::state state{from, entry, entry.at("name"), {}, {}, {}};
  const std::string named = runner_of(entry);
  const runner how = find(named);
  if (how == nullptr) { return {"no runner for " + named}; }
  run r(state);
  try {
    how(r);
  } catch (const skip&) { throw; } catch (const std::exception& problem) {
    state.differences.push_back(std::string("threw: ") + problem.what());
    return state.differences;
  }
  std::set<std::string> missing;
  for (const char* list : {"outputs", "printed"}) {
    for (const auto& output : entry.value(list, nlohmann::json::array())) { missing.insert(output.at("name")); }
  }
  for (const std::string& name : missing) {
    if (!state.compared.contains(name)) { state.differences.push_back(name + ": was not computed"); }
  }
  return state.differences;
}

}  // namespace conformance
