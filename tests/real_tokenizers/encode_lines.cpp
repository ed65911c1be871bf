// tests/real_tokenizers/encode_lines.cpp -- encodes the texts of a JSON list by a tokenizer.json: ids, and seconds of
// processor time.
//
//   encode_lines tokenizer.json texts.json
//
// tests/real_tokenizers/compare.py compares it with the Rust library. SPDX-License-Identifier: BSL-1.0
#include <dimwise/text/tokenizer.hpp>

#include <algorithm>
#include <ctime>
#include <iostream>

namespace {

struct vocab : dimwise::choice_dim<> {};

double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

int main(int count, char** words) {
  if (count != 3) { return 2; }
  try {
    const auto texts = dimwise::io::read_json(words[2]).get<std::vector<std::string>>();
    // The best of three.
    double load = 1e9;
    double encode = 1e9;
    nlohmann::json ids;
    for (int i = 0; i < 3; ++i) {
      const double begin = seconds();
      const auto tokenizer = dimwise::text::tokenizer<vocab>::read(words[1]);
      const double loaded = seconds();
      std::vector<std::vector<dimwise::id<vocab>>> all;
      all.reserve(texts.size());
      for (const std::string& text : texts) {
        all.push_back(tokenizer.encode(text, dimwise::text::tokenizer<vocab>::bare()));
      }
      encode = std::min(encode, seconds() - loaded);
      load = std::min(load, loaded - begin);
      if (i > 0) { continue; }
      for (const auto& of_text : all) {
        nlohmann::json list = nlohmann::json::array();
        for (const auto one : of_text) { list.push_back(static_cast<std::uint64_t>(one.value)); }
        ids.push_back(std::move(list));
      }
    }
    std::cout << nlohmann::json{{"load", load}, {"encode", encode}, {"ids", std::move(ids)}}.dump() << '\n';
    return 0;
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
