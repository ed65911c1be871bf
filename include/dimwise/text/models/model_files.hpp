// SPDX-License-Identifier: BSL-1.0
// dimwise/text/models/model_files.hpp -- tokenizers in other files, converted to the settings of a tokenizer.json:
// GPT-2's vocab.json and merges.txt, BERT's vocab.txt.
//
// Layer: text. added_tokens.json, special_tokens_map.json and tokenizer_config.json beside them are read as well.
// Tests: tests/text/tokenizer.test.cpp, tests/text/components.test.cpp
#pragma once

#include <dimwise/io/config.hpp>
#include <dimwise/io/files/json_tree.hpp>
#include <dimwise/text/settings.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace dimwise::text::detail {

// The tokens of special_tokens_map.json: strings, objects with a content, or lists of these.
inline std::set<std::string> special_tokens(const std::filesystem::path& path) {
  std::set<std::string> all;
  if (!std::filesystem::exists(path)) { return all; }
  const io::detail::held_json held(io::read_json(path));
  const json& map = *held;
  const auto take = [&](const json& one) {
    const json& text = one.is_object() && one.contains("content") ? one.at("content") : one;
    if (text.is_string()) { all.insert(text.get<std::string>()); }
  };
  for (const json& one : map) {
    if (one.is_array()) {
      std::for_each(one.begin(), one.end(), take);
    } else {
      take(one);
    }
  }
  return all;
}

// The settings of GPT-2's two files and the added_tokens.json beside them.
inline json gpt2_settings(const std::filesystem::path& vocab, const std::filesystem::path& merges) {
  const io::file_bytes file(merges);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  io::detail::held_json held_words(io::read_json(vocab));
  json& words = *held_words;
  const auto known = [&](const std::string& word) { return !words.is_object() || words.contains(word); };
  json pairs = json::array();
  std::size_t number = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find('\n', i), text.size());
    std::string line(text.substr(i, end - i));
    i = end + 1;
    ++number;
    if (line.ends_with('\r')) { line.pop_back(); }
    if (line.empty() || line.starts_with("#version")) { continue; }
    // Checked here, because only this function knows the file and the line.
    const reader r(merges.string() + ": line " + std::to_string(number));
    const std::size_t space = line.find(' ');
    if (space == 0 || space >= line.size() - 1 || line.find(' ', space + 1) != std::string::npos) {
      r.refuse("the merge " + io::detail::printable(line) + " is not a pair");
    }
    const std::string left = line.substr(0, space);
    const std::string right = line.substr(space + 1);
    if (!known(left) || !known(right) || !known(left + right)) {
      r.refuse("the merge of " + io::detail::printable(left) + " and " + io::detail::printable(right) +
               " is not in the vocabulary");
    }
    pairs.push_back(json::array({left, right}));
  }
  const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
  json added = json::array();
  if (words.is_object() && words.contains("<|endoftext|>")) {
    added.push_back({{"id", words.at("<|endoftext|>")}, {"content", "<|endoftext|>"}, {"special", true}});
  }
  const auto beside = vocab.parent_path().append("added_tokens.json");
  if (std::filesystem::exists(beside)) {
    const io::detail::held_json held(io::read_json(beside));
    const json& tokens = *held;
    const auto special = special_tokens(vocab.parent_path().append("special_tokens_map.json"));
    if (!tokens.is_object()) { reader(beside.string()).refuse("an object of tokens and ids was expected"); }
    for (const auto& [token, id] : tokens.items()) {
      if (token == "<|endoftext|>" && !added.empty()) { continue; }
      added.push_back({{"id", id}, {"content", token}, {"special", special.contains(token)}});
    }
  }
  return {{"added_tokens", added},
          {"pre_tokenizer", bytes},
          {"decoder", bytes},
          {"model", {{"type", "BPE"}, {"vocab", std::move(words)}, {"merges", std::move(pairs)}}}};
}

// The settings of BERT's vocab.txt, which has one token per line. tokenizer_config.json sets the lower-casing.
inline json bert_settings(const std::filesystem::path& vocab) {
  const reader r(vocab.string());
  const std::string text = io::detail::text_of_file(vocab);
  json words = json::object();
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < text.size(); ++id) {
    const std::size_t end = std::min(text.find('\n', i), text.size());
    std::string token = text.substr(i, end - i);
    i = end + 1;
    if (token.ends_with('\r')) { token.pop_back(); }
    if (first_invalid_utf8(token)) { r.refuse("line " + std::to_string(id + 1) + " is not UTF-8"); }
    if (words.contains(token)) { r.refuse("the token " + io::detail::printable(token) + " occurs on two lines"); }
    words[token] = id;
  }
  json normalizer = json::object();
  normalizer["type"] = "BertNormalizer";
  if (const auto path = vocab.parent_path().append("tokenizer_config.json"); std::filesystem::exists(path)) {
    const io::detail::held_json held(io::read_json(path));
    const json& config = *held;
    for (const auto& [from, to] : {std::pair("do_lower_case", "lowercase"), std::pair("strip_accents", "strip_accents"),
                                   std::pair("tokenize_chinese_chars", "handle_chinese_chars")}) {
      if (config.is_object() && config.contains(from)) { normalizer[to] = config.at(from); }
    }
  }
  json settings = json::object();
  settings["normalizer"] = normalizer;
  settings["pre_tokenizer"]["type"] = "BertPreTokenizer";
  settings["decoder"]["type"] = "WordPiece";
  settings["decoder"]["prefix"] = "##";
  settings["post_processor"]["type"] = "BertProcessing";
  settings["added_tokens"] = json::array();
  for (const char* token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
    if (!words.contains(token)) {
      if (std::string_view(token) == "[PAD]" || std::string_view(token) == "[MASK]") { continue; }
      r.refuse(std::string("the token ") + token + " is missing");
    }
    json added = json::object();
    added["id"] = words.at(token);
    added["content"] = token;
    added["special"] = true;
    settings["added_tokens"].push_back(added);
  }
  for (const auto& [key, token] : {std::pair("cls", "[CLS]"), std::pair("sep", "[SEP]")}) {
    settings["post_processor"][key].push_back(token);
    settings["post_processor"][key].push_back(words.at(token));
  }
  settings["model"]["type"] = "WordPiece";
  settings["model"]["unk_token"] = "[UNK]";
  settings["model"]["continuing_subword_prefix"] = "##";
  settings["model"]["vocab"] = std::move(words);
  return settings;
}

}  // namespace dimwise::text::detail
