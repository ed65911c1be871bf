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
  const io::file_bytes file(merges, io::file_access::read);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  io::detail::held_json held_words(io::read_json(vocab));
  json& words = *held_words;
  const auto known = [&](const std::string& word) { return !words.is_object() || words.contains(word); };
  // Filled in its places: a list in braces would be copied, and its temporaries terminate if memory runs out.
  io::detail::held_json held;
  auto& settings = io::detail::make_object(*held);
  auto& added = io::detail::make_list(settings["added_tokens"]);
  for (const char* step : {"pre_tokenizer", "decoder"}) {
    auto& bytes = io::detail::make_object(settings[step]);
    bytes["type"] = "ByteLevel";
    bytes["add_prefix_space"] = false;
    bytes["use_regex"] = true;
  }
  auto& model = io::detail::make_object(settings["model"]);
  model["type"] = "BPE";
  auto& pairs = io::detail::make_list(model["merges"]);
  const auto add = [&](const std::string& token, const json& id, bool special) {
    auto& one = io::detail::make_object(added.emplace_back());
    io::detail::copy_into(one["id"], id);
    one["content"] = token;
    one["special"] = special;
  };
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
    auto& pair = io::detail::make_list(pairs.emplace_back());
    pair.emplace_back(left);
    pair.emplace_back(right);
  }
  if (words.is_object() && words.contains("<|endoftext|>")) { add("<|endoftext|>", words.at("<|endoftext|>"), true); }
  const auto beside = vocab.parent_path().append("added_tokens.json");
  if (std::filesystem::exists(beside)) {
    const io::detail::held_json held_tokens(io::read_json(beside));
    const json& tokens = *held_tokens;
    const auto special = special_tokens(vocab.parent_path().append("special_tokens_map.json"));
    if (!tokens.is_object()) { reader(beside.string()).refuse("an object of tokens and ids was expected"); }
    for (const auto& [token, id] : tokens.items()) {
      if (token == "<|endoftext|>" && !added.empty()) { continue; }
      add(token, id, special.contains(token));
    }
  }
  model["vocab"].swap(words);
  return std::move(held).take();
}

// The settings of BERT's vocab.txt, which has one token per line. tokenizer_config.json sets the lower-casing.
inline json bert_settings(const std::filesystem::path& vocab) {
  const reader r(vocab.string());
  const std::string text = io::detail::text_of_file(vocab);
  io::detail::held_json held;
  auto& settings = io::detail::make_object(*held);
  auto& model = io::detail::make_object(settings["model"]);
  auto& words = io::detail::make_object(model["vocab"]);
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
  auto& normalizer = io::detail::make_object(settings["normalizer"]);
  normalizer["type"] = "BertNormalizer";
  if (const auto path = vocab.parent_path().append("tokenizer_config.json"); std::filesystem::exists(path)) {
    const io::detail::held_json held_config(io::read_json(path));
    const json& config = *held_config;
    for (const auto& [from, to] : {std::pair("do_lower_case", "lowercase"), std::pair("strip_accents", "strip_accents"),
                                   std::pair("tokenize_chinese_chars", "handle_chinese_chars")}) {
      if (config.is_object() && config.contains(from)) { io::detail::copy_into(normalizer[to], config.at(from)); }
    }
  }
  io::detail::make_object(settings["pre_tokenizer"])["type"] = "BertPreTokenizer";
  auto& decoder = io::detail::make_object(settings["decoder"]);
  decoder["type"] = "WordPiece";
  decoder["prefix"] = "##";
  auto& post_processor = io::detail::make_object(settings["post_processor"]);
  post_processor["type"] = "BertProcessing";
  auto& special = io::detail::make_list(settings["added_tokens"]);
  for (const char* token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
    if (!words.contains(token)) {
      if (std::string_view(token) == "[PAD]" || std::string_view(token) == "[MASK]") { continue; }
      r.refuse(std::string("the token ") + token + " is missing");
    }
    auto& added = io::detail::make_object(special.emplace_back());
    added["id"] = words.at(token);
    added["content"] = token;
    added["special"] = true;
  }
  for (const auto& [key, token] : {std::pair("cls", "[CLS]"), std::pair("sep", "[SEP]")}) {
    auto& pair = io::detail::make_list(post_processor[key]);
    pair.emplace_back(token);
    pair.emplace_back(words.at(token));
  }
  model["type"] = "WordPiece";
  model["unk_token"] = "[UNK]";
  model["continuing_subword_prefix"] = "##";
  return std::move(held).take();
}

}  // namespace dimwise::text::detail
