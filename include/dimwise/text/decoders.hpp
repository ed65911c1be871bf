// SPDX-License-Identifier: BSL-1.0
// dimwise/text/decoders.hpp -- how pieces become text again: the decoder of a tokenizer.json.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/normalizers.hpp>
#include <dimwise/text/split.hpp>

#include <functional>
#include <map>
#include <utility>

namespace dimwise::text::detail {

// A step of the decoder, which checks how long the text becomes.
class decode_step {
 public:
  // Of f(tokens), or of f(tokens, limit) where f itself may make them much longer.
  template <class F>
  explicit decode_step(F f) {
    if constexpr (std::is_invocable_v<const F&, std::vector<std::string>, const growth&>) {
      f_ = std::move(f);
    } else {
      f_ = [g = std::move(f)](std::vector<std::string> t, const growth&) { return g(std::move(t)); };
    }
  }
  [[nodiscard]] std::vector<std::string> operator()(std::vector<std::string> tokens, const growth& limit) const {
    std::vector<std::string> made = f_(std::move(tokens), limit);
    std::size_t size = 0;
    for (const auto& one : made) { size += one.size(); }
    limit.check(size);
    return made;
  }

 private:
  std::function<std::vector<std::string>(std::vector<std::string>, const growth&)> f_{};
};

inline std::string bytes_of_signs(const std::vector<std::string>& tokens) {
  static const auto bytes = [] {
    std::map<code_point, char> all;
    for (unsigned b = 0; b < 256; ++b) { all[sign_of_byte(static_cast<unsigned char>(b))] = static_cast<char>(b); }
    return all;
  }();
  std::string text;
  for (const auto& t : tokens) {
    std::string made;
    for (const code_point c : decoded(t)) {
      const auto found = bytes.find(c);
      if (found == bytes.end()) {
        made = t;  // an added word, all of which is text
        break;
      }
      made += found->second;
    }
    text += made;
  }
  return text;
}
inline std::vector<std::string> with_bytes(const std::vector<std::string>& tokens) {
  std::vector<std::string> all;
  std::string run;
  const auto close = [&] {
    if (run.empty()) { return; }
    // As HuggingFace does: one U+FFFD for each byte of a run that is no UTF-8 as a whole.
    if (run == encoded(decoded(run))) {
      all.push_back(run);
    } else {
      for (std::size_t i = 0; i < run.size(); ++i) { all.emplace_back("\xEF\xBF\xBD"); }
    }
    run.clear();
  };
  for (const auto& t : tokens) {
    if (t.size() == 6 && t.starts_with("<0x") && t.back() == '>' &&
        t.find_first_not_of("0123456789ABCDEFabcdef", 3) == 5) {
      run += static_cast<char>(std::stoi(t.substr(3, 2), nullptr, 16));
    } else {
      close();
      all.push_back(t);
    }
  }
  close();
  return all;
}

// What WordPiece's `cleanup` mends, in this order: each token by itself, with the space before it.
inline std::string cleaned(std::string token) {
  for (const auto& [from, to] :
       {std::pair(" .", "."), std::pair(" ?", "?"), std::pair(" !", "!"), std::pair(" ,", ","), std::pair(" ' ", "'"),
        std::pair(" n't", "n't"), std::pair(" 'm", "'m"), std::pair(" do not", " don't"), std::pair(" 's", "'s"),
        std::pair(" 've", "'ve"), std::pair(" 're", "'re")}) {
    token = replaced(token, from, to, [](std::size_t) {});  // they become shorter
  }
  return token;
}

inline void add_decoder(const reader& r, const json& from, std::vector<decode_step>& to) {
  const std::string type = r.word(from, "type", "decoder");
  const auto then = [&to](auto step) { to.emplace_back(std::move(step)); };
  if (type == "Sequence") {
    for (const json& one : r.at(from, "decoders", "decoder")) { add_decoder(r, one, to); }
  } else if (type == "ByteLevel") {
    then([](std::vector<std::string> t) { return std::vector{bytes_of_signs(t)}; });
  } else if (type == "Replace") {
    const auto pattern = pattern_text(r, from, "decoder");
    const auto content = decoded(r.word(from, "content", "decoder"));
    then([=](std::vector<std::string> t, const growth& limit) {
      std::size_t done = 0;
      for (auto& one : t) {
        one = encoded(replaced(decoded(one), pattern, content, [&](std::size_t size) { limit.check(done + size); }));
        done += one.size();
      }
      return t;
    });
  } else if (type == "ByteFallback") {
    then([](const std::vector<std::string>& t) { return with_bytes(t); });
  } else if (type == "Fuse") {
    then([](const std::vector<std::string>& t) {
      std::string all;
      for (const auto& one : t) { all += one; }
      return std::vector{all};
    });
  } else if (type == "Strip") {
    const std::string content = r.word(from, "content", "decoder");
    const std::size_t start = r.id(r.at(from, "start", "decoder"), "start");
    const std::size_t stop = r.id(r.at(from, "stop", "decoder"), "stop");
    then([=](std::vector<std::string> t) {
      if (content.empty()) { return t; }
      for (auto& one : t) {
        std::size_t begin = 0;
        for (std::size_t i = 0; i < start && one.compare(begin, content.size(), content) == 0; ++i) {
          begin += content.size();
        }
        one.erase(0, begin);
        for (std::size_t i = 0; i < stop && one.ends_with(content); ++i) { one.resize(one.size() - content.size()); }
      }
      return t;
    });
  } else if (type == "WordPiece") {
    const std::string prefix = r.word(from, "prefix", "decoder");
    const bool cleanup = r.flag(from, "cleanup", true);
    then([prefix, cleanup](std::vector<std::string> t) {
      for (std::size_t i = 0; i < t.size(); ++i) {
        if (i > 0) { t[i] = t[i].starts_with(prefix) ? t[i].substr(prefix.size()) : " " + t[i]; }
        if (cleanup) { t[i] = cleaned(t[i]); }
      }
      return t;
    });
  } else {
    r.refuse("the decoder " + io::detail::printable(type) + " is not supported");
  }
}

}  // namespace dimwise::text::detail
