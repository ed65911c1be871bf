// SPDX-License-Identifier: BSL-1.0
// dimwise/text/components/decoders.hpp -- the decoder of a tokenizer.json: tokens to text.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp, tests/text/components.test.cpp
#pragma once

#include <dimwise/text/components/normalizers.hpp>
#include <dimwise/text/components/split.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dimwise::text::detail {

// A step of the decoder that checks the length of the text.
class decode_step {
 public:
  // From f(tokens), or from f(tokens, limit) if f may lengthen them much.
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
    std::unordered_map<code_point, char> all;
    for (unsigned b = 0; b < 256; ++b) { all[sign_of_byte(static_cast<unsigned char>(b))] = static_cast<char>(b); }
    return all;
  }();
  std::string text;
  for (const auto& t : tokens) {
    const std::size_t before = text.size();
    for (std::size_t i = 0; i < t.size();) {
      const auto [c, n, valid] = decode_at(t, i);
      const auto found = bytes.find(c);
      if (found == bytes.end()) {
        text.replace(before, std::string::npos, t);  // an added token is text as a whole
        break;
      }
      text += found->second;
      i += n;
    }
  }
  return text;
}
inline std::vector<std::string> with_bytes(const std::vector<std::string>& tokens) {
  std::vector<std::string> all;
  std::string run;
  const auto close = [&] {
    if (run.empty()) { return; }
    // As in HuggingFace's library: one U+FFFD for each byte of a run that is not valid UTF-8.
    if (!first_invalid_utf8(run)) {
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

inline std::string with_replaced(const std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) { return text; }
  std::string all;
  std::size_t at = 0;
  for (std::size_t i = text.find(from); i != text.npos; i = text.find(from, at)) {
    all.append(text, at, i - at).append(to);
    at = i + from.size();
  }
  return all.append(text, at);
}

// The replacements of WordPiece's `cleanup`, in this order, applied to each token with the space before it.
inline std::string cleaned(std::string token) {
  for (const auto& [from, to] :
       {std::pair(" .", "."), std::pair(" ?", "?"), std::pair(" !", "!"), std::pair(" ,", ","), std::pair(" ' ", "'"),
        std::pair(" n't", "n't"), std::pair(" 'm", "'m"), std::pair(" do not", " don't"), std::pair(" 's", "'s"),
        std::pair(" 've", "'ve"), std::pair(" 're", "'re")}) {
    token = with_replaced(token, from, to);  // never longer
  }
  return token;
}

// Removes the code point at most `start` times from the beginning and `stop` times from the end.
inline std::string trimmed(const std::string& token, const std::string& what, std::size_t start, std::size_t stop) {
  std::size_t begin = 0;
  std::size_t end = token.size();
  for (std::size_t i = 0; i < start && token.compare(begin, what.size(), what) == 0; ++i) { begin += what.size(); }
  for (std::size_t i = 0;
       i < stop && end >= begin + what.size() && token.compare(end - what.size(), what.size(), what) == 0; ++i) {
    end -= what.size();
  }
  return token.substr(begin, end - begin);
}

inline decode_step strip_decoder(const reader& r, const json& from) {
  const std::string what = r.word(from, "content", "decoder");
  const std::size_t start = r.count(r.at(from, "start", "decoder"), "the decoder's start");
  const std::size_t stop = r.count(r.at(from, "stop", "decoder"), "the decoder's stop");
  return decode_step([=](std::vector<std::string> t) {
    if (what.empty()) { return t; }
    for (auto& one : t) { one = trimmed(one, what, start, stop); }
    return t;
  });
}
inline decode_step wordpiece_decoder(const reader& r, const json& from) {
  const std::string prefix = r.word(from, "prefix", "decoder");
  const bool cleanup = r.flag(from, "cleanup", true);
  return decode_step([=](std::vector<std::string> t) {
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (i > 0) { t[i] = t[i].starts_with(prefix) ? t[i].substr(prefix.size()) : " " + t[i]; }
      if (cleanup) { t[i] = cleaned(t[i]); }
    }
    return t;
  });
}
inline decode_step metaspace_decoder(const reader& r, const json& from) {
  const code_point sign = r.point(from, "replacement", "decoder");
  const bool drops_first = prepend_scheme_of(r, from, "decoder") != prepend_scheme::never;
  return decode_step([=](std::vector<std::string> t) {
    for (std::size_t i = 0; i < t.size(); ++i) {
      t[i] = changed_points(t[i], [&](code_point c, std::string& to) {
        if (c != sign) {
          append(to, c);
        } else if (i > 0 || !drops_first) {
          to += ' ';
        }
      });
    }
    return t;
  });
}
inline decode_step bpe_decoder(const reader& r, const json& from) {
  const std::string suffix =
      from.contains("suffix") && !from.at("suffix").is_null() ? r.word(from, "suffix", "decoder") : "</w>";
  return decode_step([suffix](std::vector<std::string> t) {
    for (std::size_t i = 0; i < t.size(); ++i) { t[i] = with_replaced(t[i], suffix, i + 1 < t.size() ? " " : ""); }
    return t;
  });
}
// Connectionist temporal classification (Graves et al. 2006): repeated tokens are merged.
inline decode_step ctc_decoder(const reader& r, const json& from) {
  const std::string padding = r.word(from, "pad_token", "decoder");
  const std::string delimiter_token = r.word(from, "word_delimiter_token", "decoder");
  const bool cleanup = r.flag(from, "cleanup", true);
  return decode_step([=](std::vector<std::string> t) {
    t.erase(std::unique(t.begin(), t.end()), t.end());
    for (auto& one : t) {
      one = with_replaced(one, padding, "");
      if (cleanup) { one = with_replaced(cleaned(one), delimiter_token, " "); }
    }
    std::erase_if(t, [](const std::string& one) { return one.empty(); });
    return t;
  });
}

inline void add_decoder(const reader& r, const json& from, std::vector<decode_step>& to) {
  const std::string type = r.word(from, "type", "decoder");
  if (type == "Sequence") {
    for (const json& one : r.list(from, "decoders", "decoder")) { add_decoder(r, one, to); }
  } else if (type == "ByteLevel") {
    to.emplace_back([](const std::vector<std::string>& t) { return std::vector{bytes_of_signs(t)}; });
  } else if (type == "Replace") {
    to.emplace_back([by = replacement(r, from, "decoder")](std::vector<std::string> t, const growth& limit) {
      std::size_t done = 0;
      for (auto& one : t) {
        one = by(std::move(one), limit, done);
        done += one.size();
      }
      return t;
    });
  } else if (type == "ByteFallback") {
    to.emplace_back([](const std::vector<std::string>& t) { return with_bytes(t); });
  } else if (type == "Fuse") {
    to.emplace_back([](const std::vector<std::string>& t) {
      std::string all;
      for (const auto& one : t) { all += one; }
      return std::vector{all};
    });
  } else if (type == "Strip") {
    to.push_back(strip_decoder(r, from));
  } else if (type == "WordPiece") {
    to.push_back(wordpiece_decoder(r, from));
  } else if (type == "Metaspace") {
    to.push_back(metaspace_decoder(r, from));
  } else if (type == "BPEDecoder") {
    to.push_back(bpe_decoder(r, from));
  } else if (type == "CTC") {
    to.push_back(ctc_decoder(r, from));
  } else {
    r.refuse("the decoder " + io::detail::printable(type) + " is not supported");
  }
}

}  // namespace dimwise::text::detail
