// SPDX-License-Identifier: BSL-1.0
// dimwise/text/sentencepiece/settings.hpp -- what HuggingFace's tokenizer classes add to a SentencePiece model:
// special tokens around a text, pieces of their own, added tokens, the dummy prefix.
//
// Layer: text. From tokenizer_config.json, or from the model_type of config.json and the defaults of its class. Without
// either file a text is encoded as SentencePiece does it.
// Tests: tests/text/sentencepiece_files.test.cpp
#pragma once

#include <dimwise/io/config.hpp>
#include <dimwise/io/files/json_tree.hpp>
#include <dimwise/text/models/model_files.hpp>
#include <dimwise/text/sentencepiece/classes.hpp>
#include <dimwise/text/sentencepiece/model_proto.hpp>
#include <dimwise/text/settings.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::text::detail {

// Converts texts to lower case before the normalizer of the file.
inline void add_lower_case(nlohmann::json& settings) {
  if (!settings.is_object()) { return; }
  io::detail::held_json own;
  own->swap(settings["normalizer"]);
  auto& sequence = io::detail::make_object(settings["normalizer"]);
  sequence["type"] = "Sequence";
  auto& steps = io::detail::make_list(sequence["normalizers"]);
  io::detail::make_object(steps.emplace_back())["type"] = "Lowercase";
  if (!own->is_null()) { steps.emplace_back().swap(*own); }
}

// A model with the settings of a tokenizer.json that it lacks.
struct sentencepiece_parts {
  sentencepiece_file file;
  io::detail::held_json settings{};    // added_tokens and post_processor
  io::detail::held_json vocabulary{};  // Marian's tokens and ids
  std::string vocabulary_title{};      // the path of their file
  bool always_adds_prefix = true;      // to each part of a text between added tokens
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // the pointers own nothing
// Applies the files of a folder to a model; nothing but the model's own settings without a folder.
class sentencepiece_additions {
 public:
  sentencepiece_additions(const reader& r, sentencepiece_parts& to, std::optional<std::filesystem::path> folder,
                          std::optional<sentencepiece_class> kind = {})
      : r_(&r), to_(&to), folder_(std::move(folder)) {
    if (const auto path = file("tokenizer_config.json")) {
      config_ = io::detail::held_json(io::read_json(*path));
      config_title_ = path->string();
      if (!config_->is_object()) { config_reader().refuse("an object was expected"); }
    }
    io::detail::make_list(io::detail::make_object(*to_->settings)["added_tokens"]);
    switch (kind ? *kind : class_of_folder()) {
      case sentencepiece_class::plain:
        break;
      case sentencepiece_class::llama:
        surround(flag("add_bos_token", true), flag("add_eos_token", false));
        break;
      case sentencepiece_class::t5:
        append_extra_ids();
        surround(false, true);
        break;
      case sentencepiece_class::xlm_roberta:
        renumber_as_fairseq();
        break;
      case sentencepiece_class::deberta:
        surround_as_deberta();
        break;
      case sentencepiece_class::marian:
        read_vocabulary();
        surround(false, true, false);
        break;
    }
    if (const json* const adds = setting("add_prefix_space"); adds != nullptr && adds->is_boolean()) {
      to_->file.add_dummy_prefix = adds->get<bool>();
    }
    to_->always_adds_prefix = flag("legacy", true);
    to_->file.check(*r_);
    add_tokens();
  }

 private:
  // A file of the folder that exists.
  [[nodiscard]] std::optional<std::filesystem::path> file(const char* name) const {
    if (!folder_) { return std::nullopt; }
    std::filesystem::path path = *folder_;
    path.append(name);
    return std::filesystem::exists(path) ? std::optional(std::move(path)) : std::nullopt;
  }
  [[nodiscard]] reader config_reader() const { return reader(config_title_); }
  // A value of tokenizer_config.json; null if it is absent.
  [[nodiscard]] const json* setting(const char* key) const {
    const json& all = *config_;
    return all.is_object() && all.contains(key) && !all.at(key).is_null() ? &all.at(key) : nullptr;
  }
  [[nodiscard]] bool flag(const char* key, bool otherwise) const {
    return config_->is_object() ? config_reader().flag(*config_, key, otherwise) : otherwise;
  }
  [[nodiscard]] sentencepiece_class class_of_folder() const {
    if (const json* const said = setting("tokenizer_class")) {
      const reader here = config_reader();
      std::string name = here.word(*config_, "tokenizer_class", "the file");
      if (name.ends_with("Fast")) { name.resize(name.size() - 4); }
      if (const auto found = class_in(sentencepiece_classes, name)) { return *found; }
      here.refuse("the tokenizer_class " + io::detail::printable(said->get<std::string>()) +
                  " is not supported with a SentencePiece model; supported are " + names_in(sentencepiece_classes));
    }
    const auto path = file("config.json");
    if (!path) { return sentencepiece_class::plain; }
    const io::detail::held_json config(io::read_json(*path));
    const reader here(path->string());
    const std::string type = here.word(*config, "model_type", "the file");
    if (const auto found = class_in(sentencepiece_model_types, type)) { return *found; }
    here.refuse("the model_type " + io::detail::printable(type) +
                " does not tell which special tokens surround a text; a tokenizer_config.json with a tokenizer_class, "
                "or one of these was expected: " +
                names_in(sentencepiece_model_types));
  }

  // The text of a special token, a string or an object with a content.
  [[nodiscard]] std::string token(const char* key, const std::string& otherwise) const {
    const json* const said = setting(key);
    if (said == nullptr) { return otherwise; }
    const json& text = said->is_object() && said->contains("content") ? said->at("content") : *said;
    if (!text.is_string()) {
      config_reader().refuse(std::string(key) + " is neither a string nor an object with a content");
    }
    return text.get<std::string>();
  }
  static void add_token(json& list, const std::string& text, std::uint32_t type) {
    auto& part = io::detail::make_object((*list.get_ptr<json::array_t*>()).emplace_back());
    auto& one = io::detail::make_object(part["SpecialToken"]);
    one["id"] = text;
    one["type_id"] = type;
  }
  static void add_text(json& list, const char* name, std::uint32_t type) {
    auto& part = io::detail::make_object((*list.get_ptr<json::array_t*>()).emplace_back());
    auto& one = io::detail::make_object(part["Sequence"]);
    one["id"] = name;
    one["type_id"] = type;
  }
  // The lists `single` and `pair` of a post_processor, to be filled.
  std::pair<json*, json*> make_template() {
    auto& around = io::detail::make_object((*to_->settings->get_ptr<json::object_t*>())["post_processor"]);
    around["type"] = "TemplateProcessing";
    json& single = around["single"];
    json& pair = around["pair"];
    io::detail::make_list(single);
    io::detail::make_list(pair);
    return {&single, &pair};
  }
  void surround(bool begin, bool end, bool ends_first_of_pair = true) {
    const std::string first = token("bos_token", to_->file.bos_piece);
    const std::string last = token("eos_token", to_->file.eos_piece);
    const auto [single, pair] = make_template();
    // T5 has one end after each text and no type ids, Marian one end after both; LLaMA's types are those of the texts.
    for (json* const list : {single, pair}) {
      for (const char* text : {"A", "B"}) {
        if (list == single && *text == 'B') { continue; }
        const std::uint32_t type = begin && *text == 'B' ? 1 : 0;
        if (begin) { add_token(*list, first, type); }
        add_text(*list, text, type);
        const bool goes_on = list == pair && *text == 'A' && !ends_first_of_pair;
        if (end && !goes_on) { add_token(*list, last, type); }
      }
    }
  }
  // T5's tokens for masked spans, after the pieces.
  void append_extra_ids() {
    std::size_t count = 100;
    if (const json* const said = setting("extra_ids")) {
      count = config_reader().count(*said, "extra_ids");
      if (count > (1U << 16)) {
        config_reader().refuse("extra_ids is " + std::to_string(count) + ", at most 2^16 was expected");
      }
    }
    for (std::size_t i = count; i-- > 0;) {
      to_->file.pieces.push_back({"<extra_id_" + std::to_string(i) + ">", 0, piece_kind::control});
    }
  }
  // The ids of fairseq's dictionary, for which XLM-RoBERTa was trained: <s>, <pad>, </s>, <unk>, the pieces after the
  // first three, <mask>.
  void renumber_as_fairseq() {
    std::vector<sentence_piece>& pieces = to_->file.pieces;
    if (pieces.size() < 3 || pieces[0].kind != piece_kind::unknown || pieces[1].kind != piece_kind::control ||
        pieces[2].kind != piece_kind::control) {
      r_->refuse("the pieces of XLM-RoBERTa begin with <unk>, <s> and </s>, the model has others");
    }
    std::vector<sentence_piece> all{{"<s>", 0, piece_kind::control},
                                    {"<pad>", 0, piece_kind::control},
                                    {"</s>", 0, piece_kind::control},
                                    {"<unk>", 0, piece_kind::unknown}};
    all.insert(all.end(), std::make_move_iterator(pieces.begin() + 3), std::make_move_iterator(pieces.end()));
    all.push_back({"<mask>", 0, piece_kind::control});
    pieces = std::move(all);
    const std::string first = "<s>";
    const std::string last = "</s>";
    const auto [single, pair] = make_template();
    for (json* const list : {single, pair}) {
      add_token(*list, first, 0);
      add_text(*list, "A", 0);
      add_token(*list, last, 0);
    }
    add_token(*pair, last, 0);
    add_text(*pair, "B", 0);
    add_token(*pair, last, 0);
    strips_mask_ = true;
  }

  // [CLS] A [SEP] B [SEP], and [MASK] after the pieces.
  void surround_as_deberta() {
    if (flag("split_by_punct", false)) { config_reader().refuse("split_by_punct is true, false was expected"); }
    if (flag("do_lower_case", false)) { add_lower_case(*to_->settings); }
    const std::string first = token("cls_token", "[CLS]");
    const std::string last = token("sep_token", "[SEP]");
    const std::string mask = token("mask_token", "[MASK]");
    std::vector<sentence_piece>& pieces = to_->file.pieces;
    const auto has = [&](const std::string& text) {
      return std::any_of(pieces.begin(), pieces.end(), [&](const sentence_piece& p) { return p.text == text; });
    };
    if (!has(mask)) { pieces.push_back({mask, 0, piece_kind::control}); }
    const auto [single, pair] = make_template();
    for (json* const list : {single, pair}) {
      add_token(*list, first, 0);
      add_text(*list, "A", 0);
      add_token(*list, last, 0);
    }
    add_text(*pair, "B", 1);
    add_token(*pair, last, 1);
  }

  // The ids of Marian, which has no bytes.
  void read_vocabulary() {
    std::filesystem::path path = *folder_;
    path.append("vocab.json");
    to_->vocabulary = io::detail::held_json(io::read_json(path));
    to_->vocabulary_title = path.string();
    const reader here(to_->vocabulary_title);
    if (!to_->vocabulary->is_object()) { here.refuse("an object of tokens and ids was expected"); }
    for (const char* token : {"</s>", marian_unknown}) {
      if (!to_->vocabulary->contains(token)) { here.refuse(std::string("the token ") + token + " is missing"); }
    }
    if (flag("separate_vocabs", false)) {
      config_reader().refuse("separate_vocabs is true, one vocabulary for texts and translations was expected");
    }
    if (to_->file.kind != sentencepiece_kind::unigram || to_->file.byte_fallback) {
      r_->refuse("a Unigram model without byte_fallback was expected beside vocab.json");
    }
  }

  json& new_token(const std::string& text, std::size_t id, bool special) {
    auto& list = *(*to_->settings->get_ptr<json::object_t*>())["added_tokens"].get_ptr<json::array_t*>();
    json& made = list.emplace_back();
    auto& one = io::detail::make_object(made);
    one["content"] = text;
    one["id"] = id;
    one["special"] = special;
    one["normalized"] = false;
    return made;
  }
  // The tokens that are matched as a whole: those of the files beside the model, and all control pieces.
  void add_tokens() {
    std::set<std::string> known;
    if (const json* const decoder = setting("added_tokens_decoder")) {
      const reader here = config_reader();
      if (!decoder->is_object()) { here.refuse("added_tokens_decoder is not an object"); }
      for (auto one = decoder->begin(); one != decoder->end(); ++one) {
        const std::string& id = one.key();
        if (id.empty() || id.size() > 8 || id.find_first_not_of("0123456789") != id.npos) {
          here.refuse("added_tokens_decoder: " + io::detail::printable(id) + " is not an id");
        }
        const std::string text = here.word(*one, "content", "a token of added_tokens_decoder");
        json& made = new_token(text, std::stoul(id), here.flag(*one, "special", false));
        for (const char* key : {"normalized", "lstrip", "rstrip", "single_word"}) {
          (*made.get_ptr<json::object_t*>())[key] = here.flag(*one, key, false);
        }
        known.insert(text);
      }
    } else if (const auto path = file("added_tokens.json")) {
      const io::detail::held_json tokens(io::read_json(*path));
      const reader here(path->string());
      std::set<std::string> special;
      if (const auto map = file("special_tokens_map.json")) { special = special_tokens(*map); }
      if (!tokens->is_object()) { here.refuse("an object of tokens and ids was expected"); }
      for (auto one = tokens->begin(); one != tokens->end(); ++one) {
        new_token(one.key(), here.id(*one, one.key()), special.contains(one.key()));
        known.insert(one.key());
      }
    }
    if (to_->vocabulary->is_object()) {
      add_marian_tokens(known);
      return;
    }
    const auto& pieces = to_->file.pieces;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const bool is_added = pieces[i].kind == piece_kind::control || pieces[i].kind == piece_kind::unknown;
      if (!is_added || known.contains(pieces[i].text)) { continue; }
      json& made = new_token(pieces[i].text, i, true);
      if (strips_mask_ && pieces[i].text == "<mask>") { (*made.get_ptr<json::object_t*>())["lstrip"] = true; }
    }
  }

  // Special tokens, and those that name the language of a translation: >>fr<<.
  void add_marian_tokens(const std::set<std::string>& known) {
    const reader here(to_->vocabulary_title);
    for (auto one = to_->vocabulary->begin(); one != to_->vocabulary->end(); ++one) {
      const std::string& text = one.key();
      const bool special = text == "</s>" || text == marian_unknown || text == "<pad>";
      const bool language = text.size() > 4 && text.starts_with(">>") && text.ends_with("<<");
      if ((special || language) && !known.contains(text)) { new_token(text, here.id(*one, text), special); }
    }
  }

  const reader* r_;
  sentencepiece_parts* to_;
  std::optional<std::filesystem::path> folder_;
  io::detail::held_json config_{};
  std::string config_title_{};
  bool strips_mask_ = false;
};
#pragma GCC diagnostic pop

// A model in memory, as SentencePiece encodes texts, with its control pieces as added tokens.
inline sentencepiece_parts parse_sentencepiece(std::string_view bytes, const std::string& title) {
  const reader r(title);
  sentencepiece_parts parts{sentencepiece_file(r, bytes)};
  (void)sentencepiece_additions(r, parts, std::nullopt);
  return parts;
}
// A file with those beside it.
inline sentencepiece_parts read_sentencepiece(const std::filesystem::path& path,
                                              std::optional<sentencepiece_class> kind = {}) {
  const reader r(path.string());
  sentencepiece_parts parts{sentencepiece_file(r, io::detail::text_of_file(path))};
  (void)sentencepiece_additions(r, parts, path.parent_path(), kind);
  return parts;
}

}  // namespace dimwise::text::detail
