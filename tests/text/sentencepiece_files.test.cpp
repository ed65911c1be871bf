// tests/text/sentencepiece_files.test.cpp -- malformed models of SentencePiece, and what the files beside a model add.
// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include "support/sentencepiece_bytes.hpp"
#include <dimwise/text/folder.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace dimwise;
using namespace dimwise_test::sentencepiece;

namespace {

struct vocab : choice_dim<> {};
using words_of = text::tokenizer<vocab>;
using list = std::vector<std::size_t>;

list numbers(const std::vector<id<vocab>>& ids) {
  list all;
  for (const auto i : ids) { all.push_back(i.value); }
  return all;
}
std::string said(const std::string& file) {
  return dimwise_test::message(
      [&] { (void)words_of::parse_sentencepiece(dimwise_test::bytes_of_text(file), "m").encode("ab ba"); });
}
// The ids 0 to 6.
std::string model(const std::string& first, const std::string& second, const std::string& third) {
  const auto kind = [](const std::string& text) { return text == "<unk>" ? 2U : 3U; };
  return piece(first, 0, kind(first)) + piece(second, 0, kind(second)) + piece(third, 0, kind(third)) +
         piece("\u2581", -2) + piece("a", -3) + piece("\u2581a", -1) + piece("b", -4);
}

const std::string unknown = piece("<unk>", 0, 2);

}  // namespace

TEST_CASE("each malformed part of a model is rejected with its position and what was expected") {
  CHECK(said("") == "m: a SentencePiece model with pieces was expected, the file has none");
  CHECK(said(unknown).empty());
  CHECK(said("\x80") == "m: byte 0: the message ends within the tag of a field");
  CHECK(said(std::string(11, '\xFF')) == "m: byte 0: the tag of a field has more than 64 bits");
  CHECK(said(unknown + std::string("\0\0", 2)) == "m: byte 16: a field has the number 0, 1 to 2^29 - 1 was expected");
  CHECK(said("\x0b") == "m: byte 0: field 1 has the wire type 3, 0, 1, 2 or 5 was expected");
  CHECK(said("\x0a") == "m: byte 0: the message ends within the length of a field");
  CHECK(said("\x0a\x05xx") == "m: byte 0: field 1 has 5 bytes, 2 are left of its message");
  CHECK(said("\x48\xff") == "m: byte 0: the message ends within a varint");
  CHECK(said("\x4d\x01") == "m: byte 0: field 9 has 4 bytes, 1 are left of its message");
  CHECK(said("\x49\x01") == "m: byte 0: field 9 has 8 bytes, 1 are left of its message");
  CHECK(said("{\"model\": {}}") == "m: byte 0: field 15 has the wire type 3, 0, 1, 2 or 5 was expected");
  // The fields that are read.
  CHECK(said(whole(1, 5)) == "m: byte 0: a piece has the wire type 0, a message (type 2) was expected");
  CHECK(said(field(1, whole(1, 5))) == "m: byte 2: a piece has the wire type 0, bytes (type 2) was expected");
  CHECK(said(field(1, field(1, "a\xFF"))) == "m: byte 5: a piece is not UTF-8");
  CHECK(said(field(1, whole(2, 5))) ==
        "m: byte 2: the score of a piece has the wire type 0, a float of 32 bits (type 5) was expected");
  CHECK(said(field(1, whole(3, 7))) == "m: byte 2: the type of a piece is 7, 1 to 6 was expected");
  CHECK(said(field(1, whole(3, 1ULL << 32 | 1))) ==
        "m: byte 2: the type of a piece is 4294967297, 1 to 6 was expected");
  CHECK(said(trainer(whole(3, 3))) == "m: byte 2: model_type is WORD, UNIGRAM or BPE was expected");
  CHECK(said(trainer(whole(3, 0))) == "m: byte 2: model_type is 0, 1 to 4 was expected");
  CHECK(said(trainer(whole(35, 2))) == "m: byte 2: byte_fallback is 2, 0 or 1 was expected");
  CHECK(said(normalizer(field(3, "")) + unknown) ==
        "m: byte 2: add_dummy_prefix has the wire type 2, a varint (type 0) was expected");
  CHECK(said(field(5, field(2, "x")) + unknown) ==
        "m: byte 2: denormalizer_spec has a precompiled_charsmap, which is not supported");
  CHECK(said(normalizer(field(2, "xyz")) + unknown) == "m: the precompiled_charsmap is shorter than its array");
  // Fields of the training, of the self test and of later versions.
  CHECK(said(unknown + trainer(field(1, "corpus") + real(10, 0.5F)) + field(4, "\xFF") + whole(200, 1) +
             field(5, field(2, "")))
            .empty());
}

TEST_CASE("pieces that SentencePiece rejects are rejected, with their index") {
  const auto one = [&](const std::string& rest) { return said(unknown + rest); };
  CHECK(said(piece("a", -1)) == "m: the model has no unknown piece");
  CHECK(one(piece("", -1)) == "m: piece 1, \"\", is empty");
  CHECK(one(piece("a", -1) + piece("a", -2)) == "m: piece 2, \"a\", occurs twice");
  CHECK(one(piece("a", -1) + piece("a", 0, 3)).empty());
  CHECK(one(piece("<unk>", 0, 3)) == "m: piece 1, \"<unk>\", occurs twice");
  CHECK(one(piece("<u>", 0, 2)) == "m: piece 1, \"<u>\", is the second unknown piece");
  CHECK(one(piece("a", std::numeric_limits<float>::quiet_NaN())) ==
        "m: piece 1, \"a\", has a score that is not finite");
  CHECK(one(piece("<0x41>", 0, 6)) == "m: piece 1, \"<0x41>\", is a byte, but byte_fallback is false");
  CHECK(one(piece("<0x4a>", 0, 6) + trainer(whole(35, 1))) ==
        "m: piece 1, \"<0x4a>\", is not the piece of a byte, <0x00> to <0xFF> was expected");
  CHECK(one(piece("<0x00>", 0, 6) + trainer(whole(35, 1))) == "m: byte_fallback is true, but the byte 1 has no piece");
  CHECK(one(piece("a", 0, 5)).empty());
  CHECK(one(piece("a", 0, 5) + trainer(whole(3, 2))) ==
        "m: piece 1, \"a\", is an unused piece of a BPE model, which is not supported");
  CHECK(one(piece(std::string(1025, 'a'), -1)).find("has more than 1024 bytes") != std::string::npos);
}

TEST_CASE("a folder without tokenizer.json is read by its SentencePiece model") {
  for (const char* name : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model"}) {
    CAPTURE(name);
    const dimwise_test::temporary_folder folder;
    folder.write(name, model("<unk>", "<s>", "</s>"));
    const auto ids = [&] { return numbers(text::read_tokenizer(folder.path(), vocab{7}).encode("ab")); };
    CHECK(ids() == list{5, 6});
    CHECK(dimwise_test::message([&] { (void)text::read_tokenizer(folder.path(), vocab{8}); }) ==
          (folder / name).string() + ": the vocabulary has 7 ids, the model has 8 tokens: it belongs to another model");
    CHECK(numbers(text::read_tokenizer(folder.path(), vocab{7}, {}, true).encode("AB")) == list{5, 6});
    folder.write("tokenizer.json", R"({"model": {"type": "BPE", "vocab": {"a": 6, "b": 1}, "merges": []}})");
    CHECK(ids() == list{6, 1});
  }
}

TEST_CASE("Marian has the pieces of source.spm and the ids of vocab.json") {
  const dimwise_test::temporary_folder folder;
  const std::string pieces = model("<unk>", "<s>", "</s>");  // and \u2581, a, \u2581a, b
  const std::string words =
      R"({"</s>": 0, "<unk>": 1, "b": 2, "\u2581a": 3, "\u2581": 4, "q": 5, "qb": 6, ">>fr<<": 7)";
  folder.write("source.spm", pieces);
  folder.write("target.spm", "not read");
  folder.write("vocab.json", words + R"(, "<pad>": 8})");
  const auto read = [&] { return text::read_tokenizer(folder.path(), vocab{9}); };
  const auto ids = [&](const std::string& text) { return numbers(read().encode(text)); };
  CHECK(ids("ab b") == list{3, 2, 4, 2, 0});
  CHECK(ids("") == list{0});
  CHECK(ids("aa") == list{3, 1, 0});  // a piece of source.spm alone
  CHECK(ids("q") == list{4, 5, 0});   // a piece of target.spm alone: looked up as well
  CHECK(ids("qq") == list{4, 1, 0});  // unknown characters are one piece
  CHECK(ids(">>fr<< ab") == list{7, 3, 2, 0});
  CHECK(ids(">>de<< b") == list{4, 1, 4, 2, 0});
  CHECK(ids("a</s>b") == list{3, 0, 4, 2, 0});
  const auto pair = read().encode("ab", "b", words_of::at_most{20});  // no end between the texts
  CHECK(numbers(pair.ids) == list{3, 2, 4, 2, 0});
  CHECK(pair.types == std::vector<std::uint32_t>(5, 0));
  CHECK(numbers(text::read_tokenizer(folder.path(), vocab{9}, {}, true).encode("AB")) == list{3, 2, 0});
  std::vector<id<vocab>> all;
  for (const std::size_t i : {3U, 6U, 4U, 2U, 1U, 5U, 0U}) { all.emplace_back(i); }
  CHECK(read().decode(all) == "aqb bq");
  CHECK(read().size() == 9);
  CHECK(read().find("qb")->value == 6);
  const auto told = [&] { return dimwise_test::message([&] { (void)read(); }); };
  const std::string place = (folder / "vocab.json").string() + ": ";
  folder.write("vocab.json", R"(["a"])");
  CHECK(told() == place + "an object of tokens and ids was expected");
  folder.write("vocab.json", R"({"</s>": 0})");
  CHECK(told() == place + "the token <unk> is missing");
  folder.write("vocab.json", R"({"</s>": 0, "<unk>": -1})");
  CHECK(told() == place + R"(the id of "<unk>" is -1, not an integer from 0 to 2^24 - 1)");
  folder.write("vocab.json", R"({"</s>": 0, "<unk>": 1, "b": 1})");
  CHECK(told() == place + "two tokens of the vocabulary have the same id");
  folder.write("vocab.json", words + "}");
  CHECK(told().find("the vocabulary has 8 ids, the model has 9 tokens") != std::string::npos);
  folder.write("source.spm", pieces + trainer(whole(3, 2)));
  CHECK(told() ==
        (folder / "source.spm").string() + ": a Unigram model without byte_fallback was expected beside vocab.json");
  folder.write("source.spm", pieces);
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "MarianTokenizer", "separate_vocabs": true})");
  CHECK(told() == (folder / "tokenizer_config.json").string() +
                      ": separate_vocabs is true, one vocabulary for texts and translations was expected");
}

TEST_CASE("LLaMA's class adds special tokens and the dummy prefix as its settings say") {
  const dimwise_test::temporary_folder folder;
  folder.write("tokenizer.model", model("<unk>", "<s>", "</s>") + normalizer(whole(4, 0)));
  const auto ids = [&](const std::string& config, const std::string& text) {
    folder.write("tokenizer_config.json", config);
    return numbers(text::read_tokenizer(folder.path(), vocab{7}).encode(text));
  };
  const std::string llama = R"("tokenizer_class": "LlamaTokenizer")";
  CHECK(ids("{" + llama + "}", "ab") == list{1, 5, 6});
  CHECK(ids("{" + llama + R"(, "add_bos_token": false, "add_eos_token": true})", "ab") == list{5, 6, 2});
  CHECK(ids("{" + llama + R"(, "bos_token": {"content": "</s>"}})", "ab") == list{2, 5, 6});
  // The dummy prefix of a part after an added token.
  CHECK(ids("{" + llama + "}", "b</s>a") == list{1, 3, 6, 2, 5});
  CHECK(ids("{" + llama + R"(, "legacy": true})", "b</s>a") == list{1, 3, 6, 2, 5});
  CHECK(ids("{" + llama + R"(, "legacy": false})", "b</s>a") == list{1, 3, 6, 2, 4});
  CHECK(ids("{" + llama + R"(, "legacy": false})", "</s>a") == list{1, 2, 4});
  CHECK(ids("{" + llama + R"(, "add_prefix_space": false})", "b</s>a") == list{1, 6, 2, 4});
  // Pairs of texts.
  const auto words = text::read_tokenizer(folder.path(), vocab{7});
  const auto pair = words.encode("a", "b", words_of::at_most{20});
  CHECK(numbers(pair.ids) == list{1, 4, 1, 6});
  CHECK(pair.types == std::vector<std::uint32_t>{0, 0, 1, 1});
  // The class by config.json, and other classes.
  std::filesystem::remove(folder / "tokenizer_config.json");
  folder.write("config.json", R"({"model_type": "mistral"})");
  CHECK(numbers(text::read_tokenizer(folder.path(), vocab{7}).encode("ab")) == list{1, 5, 6});
  folder.write("config.json", R"({"model_type": "albert"})");
  CHECK(dimwise_test::message([&] {
    (void)text::read_tokenizer(folder.path(), vocab{7});
  }).find("config.json: the model_type \"albert\" does not tell which special tokens surround a text") !=
        std::string::npos);
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "AlbertTokenizer"})");
  CHECK(dimwise_test::message([&] { (void)text::read_tokenizer(folder.path(), vocab{7}); }) ==
        (folder / "tokenizer_config.json").string() +
            ": the tokenizer_class \"AlbertTokenizer\" is not supported with a SentencePiece model; supported are "
            "CodeLlamaTokenizer, DebertaV2Tokenizer, GemmaTokenizer, LlamaTokenizer, MT5Tokenizer, T5Tokenizer, "
            "XLMRobertaTokenizer");
}

TEST_CASE("added tokens of tokenizer_config.json or added_tokens.json are matched") {
  const dimwise_test::temporary_folder folder;
  folder.write("tokenizer.model", model("<unk>", "<s>", "</s>"));
  folder.write("added_tokens.json", R"({"[PAD]": 7})");
  folder.write("special_tokens_map.json", R"({"pad_token": "[PAD]"})");
  auto words = text::read_tokenizer(folder.path(), vocab{7});
  CHECK(numbers(words.encode("a[PAD]")) == list{5, 7});
  CHECK(words.decode(words.encode("a[PAD]")) == "a");
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizerFast", "added_tokens_decoder": {
      "1": {"content": "<s>", "special": true}, "7": {"content": "<|end|>", "special": false, "rstrip": true}}})");
  words = text::read_tokenizer(folder.path(), vocab{8});
  CHECK(numbers(words.encode("a[PAD]")) == list{1, 5, 0});
  CHECK(numbers(words.encode("a<|end|>  a</s>")) == list{1, 5, 7, 5, 2});
  CHECK(words.decode(words.encode("a<|end|>  a")) == "a<|end|> a");
  const auto told = [&](const std::string& tokens) {
    folder.write("tokenizer_config.json",
                 R"({"tokenizer_class": "LlamaTokenizer", "added_tokens_decoder": )" + tokens + "}");
    return dimwise_test::message([&] { (void)text::read_tokenizer(folder.path(), vocab{8}); });
  };
  const std::string title = (folder / "tokenizer_config.json").string();
  CHECK(told("[]") == title + ": added_tokens_decoder is not an object");
  CHECK(told(R"({"x": {"content": "a"}})") == title + ": added_tokens_decoder: \"x\" is not an id");
  CHECK(told(R"({"7": {}})") == title + ": a token of added_tokens_decoder lacks content");
  CHECK(told(R"({"4": {"content": "c"}})").find("the added token \"c\" has the id 4") != std::string::npos);
}

TEST_CASE("T5's class adds its tokens for masked spans and an end") {
  const dimwise_test::temporary_folder folder;
  folder.write("spiece.model", model("<pad>", "</s>", "<unk>"));
  folder.write("config.json", R"({"model_type": "t5"})");
  const auto words = text::read_tokenizer(folder.path(), vocab{107});
  CHECK(numbers(words.encode("a<extra_id_0>b <extra_id_99>")) == list{5, 106, 3, 6, 7, 1});
  CHECK(numbers(words.encode("a", "b", words_of::at_most{20}).ids) == list{5, 1, 3, 6, 1});
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "T5Tokenizer", "extra_ids": 1})");
  CHECK(numbers(text::read_tokenizer(folder.path(), vocab{8}).encode("<extra_id_0>")) == list{7, 1});
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "T5Tokenizer", "extra_ids": 65537})");
  CHECK(dimwise_test::message([&] { (void)text::read_tokenizer(folder.path(), vocab{8}); }) ==
        (folder / "tokenizer_config.json").string() + ": extra_ids is 65537, at most 2^16 was expected");
}

TEST_CASE("XLM-RoBERTa's class has the ids of fairseq") {
  const dimwise_test::temporary_folder folder;
  folder.write("sentencepiece.bpe.model", model("<unk>", "<s>", "</s>"));
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "XLMRobertaTokenizer"})");
  const auto words = text::read_tokenizer(folder.path(), vocab{9});
  CHECK(numbers(words.encode("ab <mask>")) == list{0, 6, 7, 8, 2});
  CHECK(numbers(words.encode("aX")) == list{0, 6, 3, 2});
  CHECK(numbers(words.encode("<pad>")) == list{0, 1, 2});
  const auto pair = words.encode("a", "b", words_of::at_most{20});
  CHECK(numbers(pair.ids) == list{0, 6, 2, 2, 4, 7, 2});
  CHECK(pair.types == std::vector<std::uint32_t>(7, 0));
  folder.write("sentencepiece.bpe.model", model("<pad>", "</s>", "<unk>"));
  CHECK(dimwise_test::message([&] { (void)text::read_tokenizer(folder.path(), vocab{9}); }) ==
        (folder / "sentencepiece.bpe.model").string() +
            ": the pieces of XLM-RoBERTa begin with <unk>, <s> and </s>, the model has others");
}

TEST_CASE("DeBERTa's class has [CLS], [SEP] and [MASK]") {
  const dimwise_test::temporary_folder folder;
  const std::string pieces = piece("[PAD]", 0, 3) + piece("[CLS]", 0, 3) + piece("[SEP]", 0, 3) + piece("[UNK]", 0, 2) +
                             piece("\u2581", -2) + piece("a", -3) + piece("\u2581a", -1) + piece("b", -4);
  folder.write("spm.model", pieces);
  folder.write("config.json", R"({"model_type": "deberta-v2"})");
  folder.write("tokenizer_config.json", R"({"do_lower_case": false, "vocab_type": "spm"})");
  const auto read = [&](std::size_t rows = 9) { return text::read_tokenizer(folder.path(), vocab{rows}); };
  const auto ids = [&](const std::string& text) { return numbers(read().encode(text)); };
  CHECK(ids("ab [MASK] b") == list{1, 6, 7, 8, 4, 7, 2});
  CHECK(ids("aX") == list{1, 6, 3, 2});
  CHECK(ids("A") == list{1, 4, 3, 2});
  const auto pair = read().encode("a", "b", words_of::at_most{20});
  CHECK(numbers(pair.ids) == list{1, 6, 2, 4, 7, 2});
  CHECK(pair.types == std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1});
  CHECK(read().decode(read().encode("ab b")) == "ab b");
  folder.write("added_tokens.json", R"({"[MASK]": 8})");
  CHECK(ids("[MASK]") == list{1, 8, 2});
  folder.write("spm.model", pieces + piece("[MASK]", 0, 4));
  CHECK(ids("[MASK]") == list{1, 8, 2});
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "DebertaV2TokenizerFast", "do_lower_case": true,
      "cls_token": {"content": "[PAD]"}, "sep_token": "[CLS]"})");
  CHECK(ids("A") == list{0, 6, 1});
  folder.write("tokenizer_config.json", R"({"split_by_punct": true})");
  CHECK(dimwise_test::message([&] { (void)read(); }) ==
        (folder / "tokenizer_config.json").string() + ": split_by_punct is true, false was expected");
}
