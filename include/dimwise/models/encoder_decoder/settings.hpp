// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder_decoder/settings.hpp -- the settings of an encoder-decoder, and the names of its arrays.
//
// Layer: models. Both stacks share norms, feed-forward layers, biases and the scale of the scores.
// Tests: tests/models/encoder_decoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/common/whole_number.hpp>
#include <dimwise/models/encoder/names.hpp>
#include <dimwise/models/generation_config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dimwise::models {

/// The dimensions of an encoder-decoder with extents from the configuration: `seq` has the positions of the source,
/// `target` those of the text that the decoder reads and writes.
struct encoder_decoder_dims : encoder_dims {
  struct target : position_dim<> {};
  struct past : prime<target> {};
  struct one : batch_dim<1> {};  // files store the bias of the logits as a row
};

/// The settings of an encoder-decoder: those of its encoder, which the decoder shares, and its own.
struct encoder_decoder_config {
  encoder_config encoder{};
  std::size_t layers = 0;  ///< of the decoder
  bool tied = true;        ///< the output is the table of the token embedding
  double logit_scale = 1;
  std::size_t start = 0;                ///< the token that a text of the decoder begins with
  std::optional<std::size_t> forced{};  ///< the token that follows it in every text
  std::vector<std::size_t> never{};     ///< tokens that are never written
  bool logit_bias = false;              ///< the logits have a bias
};

/// A token of the vocabulary; `otherwise` if the setting is absent. Records another id as a mismatch.
[[nodiscard]] inline std::size_t token_setting(io::config_check& c, const std::string& key, std::size_t otherwise,
                                               std::size_t vocab) {
  const std::size_t token = whole_number(c, key, otherwise);
  if (token < vocab) { return token; }
  c.differs(key + " is " + std::to_string(token) + ", the vocabulary has " + std::to_string(vocab) + " tokens");
  return 0;
}
/// Reads the tokens that a text of the decoder begins with, and those of `bad_words_ids`, which it never has: lists of
/// one token each. As in HuggingFace, a text may end: `eos_token_id`, by default `end`, is not excluded.
inline void read_given_tokens(io::config_check& c, encoder_decoder_config& to, std::size_t start, std::size_t end) {
  const std::size_t vocab = to.encoder.extents.vocab;
  to.start = token_setting(c, "decoder_start_token_id", start, vocab);
  if (c.has("forced_bos_token_id")) { to.forced = token_setting(c, "forced_bos_token_id", 0, vocab); }
  const nlohmann::json otherwise = end;
  const bool is_absent = !c.has("eos_token_id") && !c.is_null("eos_token_id");
  const nlohmann::json& ends = is_absent ? otherwise : c.setting("eos_token_id");
  detail::for_each_token_id(ends, [](std::int64_t) {},
                            [&](const std::string& wrong) { c.differs("eos_token_id" + wrong); });
  for (const nlohmann::json& words : c.setting("bad_words_ids")) {
    const bool one = words.is_array() && words.size() == 1 && words.at(0).is_number_unsigned();
    if (!one || words.at(0).get<std::size_t>() >= vocab) {
      c.differs(
          "bad_words_ids is a list of lists with one token of the vocabulary each, and other entries are not "
          "supported");
      break;
    }
    if (!detail::is_an_end(words, ends)) { to.never.push_back(words.at(0).get<std::size_t>()); }
  }
}

/// The names of an attention's arrays, without ".weight" and ".bias".
struct attention_names {
  std::string query{};
  std::string key{};
  std::string value{};
  std::string output{};
};

/// The names of the arrays, without ".weight" and ".bias". Names of the decoder's layers follow its `blocks`.
struct encoder_decoder_names {
  encoder_names encoder{};
  std::string positions{};
  std::string embedding_norm{};
  std::string buckets{};              ///< follows `blocks` if every block has a table of its own
  std::vector<std::string> blocks{};  ///< the beginnings of the decoder's blocks
  std::string norm1{};
  attention_names self{};
  std::string norm2{};
  attention_names cross{};
  std::string norm3{};
  std::string gate{};
  std::string up{};
  std::string down{};
  std::string norm{};
  std::string output{};
  std::string logit_bias{};            ///< a whole name
  std::vector<std::string> ignored{};  ///< arrays that are no parameters: whole names
};

/// The settings of a checkpoint, and the names of its arrays.
struct encoder_decoder_description {
  encoder_decoder_config config{};
  encoder_decoder_names names{};
};

}  // namespace dimwise::models
