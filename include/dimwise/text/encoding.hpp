// SPDX-License-Identifier: BSL-1.0
// dimwise/text/encoding.hpp -- encodings of one or two texts: ids, type ids and masks, truncated and padded by the
// settings of a tokenizer.json.
//
// Layer: text. Order: truncation, post-processor, padding.
// Tests: tests/text/components.test.cpp
#pragma once

#include <dimwise/text/growth.hpp>
#include <dimwise/text/settings.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace dimwise::text::detail {

// Parallel lists, one entry for each id.
struct encoding {
  ids tokens{};
  ids types{};                           // 0 for the first text, 1 for the second, unless the file has other values
  std::vector<unsigned char> given{};    // 0 for padding
  std::vector<unsigned char> special{};  // 1 for special tokens and padding
  std::vector<encoding> overflowing{};   // the truncated parts

  [[nodiscard]] std::size_t size() const { return tokens.size(); }
  static encoding of(ids tokens, std::uint32_t type, bool special) {
    encoding e;
    const std::size_t n = tokens.size();
    e.tokens = std::move(tokens);
    e.types.assign(n, type);
    e.given.assign(n, 1);
    e.special.assign(n, special ? 1 : 0);
    return e;
  }
  void set_type(std::uint32_t type) {
    std::fill(types.begin(), types.end(), type);
    for (encoding& one : overflowing) { one.set_type(type); }
  }
  // Without the truncated parts.
  [[nodiscard]] encoding part(std::size_t begin, std::size_t end) const {
    const auto taken = [&](const auto& list) {
      return std::decay_t<decltype(list)>(list.begin() + static_cast<std::ptrdiff_t>(begin),
                                          list.begin() + static_cast<std::ptrdiff_t>(end));
    };
    return {taken(tokens), taken(types), taken(given), taken(special), {}};
  }
  void append(const encoding& other) {
    const auto join = [](auto& a, const auto& b) { a.insert(a.end(), b.begin(), b.end()); };
    join(tokens, other.tokens);
    join(types, other.types);
    join(given, other.given);
    join(special, other.special);
  }
};

// Concatenates encodings, and every truncated part with every possible continuation.
inline encoding merged(const std::vector<encoding>& all, const growth& limit) {
  encoding to;
  bool first = true;
  for (const encoding& next : all) {
    if (std::exchange(first, false)) {
      to = next;
      continue;
    }
    std::vector<encoding> cut_off;
    std::size_t size = 0;
    const auto add = [&](const encoding& a, const encoding& b) {
      encoding both = a.part(0, a.size());
      both.append(b);
      size += both.size();
      limit.check(size);
      cut_off.push_back(std::move(both));
    };
    for (const encoding& mine : to.overflowing) {
      add(mine, next);
      for (const encoding& other : next.overflowing) { add(mine, other); }
    }
    for (const encoding& other : next.overflowing) { add(to, other); }
    to.append(next);
    to.overflowing = std::move(cut_off);
  }
  return to;
}

// The truncation settings of a tokenizer.json.
class truncation {
 public:
  truncation(const reader& r, const json& from) {
    most_ = r.count(r.at(from, "max_length", "truncation"), "truncation: max_length");
    if (from.contains("stride")) { stride_ = r.count(from.at("stride"), "truncation: stride"); }
    const std::string strategy = r.word(from, "strategy", "truncation");
    if (strategy == "LongestFirst") {
      strategy_ = which::longest_first;
    } else if (strategy == "OnlyFirst") {
      strategy_ = which::only_first;
    } else if (strategy == "OnlySecond") {
      strategy_ = which::only_second;
    } else {
      r.refuse("the truncation's strategy " + io::detail::printable(strategy) + " is not supported");
    }
    left_ = is_left(r, from, "truncation");
    title_ = r.title();
  }
  // To `most` ids, those around the texts included: the end of the longer text is cut off.
  truncation(std::string title, std::size_t most) : title_(std::move(title)), most_(most) {}
  static bool is_left(const reader& r, const json& from, const char* where) {
    if (!from.contains("direction")) { return false; }
    const std::string direction = r.word(from, "direction", where);
    if (direction != "Left" && direction != "Right") {
      r.refuse(std::string(where) + ": the direction " + io::detail::printable(direction) +
               " is not supported, Left or Right was expected");
    }
    return direction == "Left";
  }

  // Truncates one or two texts; `around` special ids are added later.
  void apply(std::vector<encoding>& all, std::size_t around, const growth& limit) const {
    if (around > most_) {
      refuse("at most " + std::to_string(most_) + " ids are allowed, and the special tokens alone are " +
             std::to_string(around));
    }
    const std::size_t most = most_ - around;
    std::size_t total = 0;
    for (const encoding& one : all) { total += one.size(); }
    if (total <= most) { return; }
    if (most == 0) {
      for (encoding& one : all) { cut(one, 0, limit); }
      return;
    }
    switch (strategy_) {
      case which::longest_first:
        longest_first(all, most, limit);
        return;
      case which::only_first:
        only(all, 0, total - most, limit);
        return;
      case which::only_second:
        only(all, 1, total - most, limit);
        return;
    }
  }

 private:
  enum class which : unsigned char { longest_first, only_first, only_second };

  [[noreturn]] void refuse(const std::string& what) const {
    throw io::file_error(title_ + ": the text cannot be truncated: " + what);
  }
  void longest_first(std::vector<encoding>& all, std::size_t most, const growth& limit) const {
    if (all.size() == 1) {
      cut(all[0], most, limit);
      return;
    }
    std::size_t shorter = std::min(all[0].size(), all[1].size());
    std::size_t longer = shorter > most ? shorter : std::max(shorter, most - shorter);
    if (shorter + longer > most) {
      shorter = most / 2;
      longer = shorter + most % 2;
    }
    const bool swapped = all[0].size() > all[1].size();
    cut(all[0], swapped ? longer : shorter, limit);
    cut(all[1], swapped ? shorter : longer, limit);
  }
  void only(std::vector<encoding>& all, std::size_t which_one, std::size_t too_many, const growth& limit) const {
    if (which_one >= all.size()) { refuse("the strategy is OnlySecond, but only one text was given"); }
    encoding& one = all[which_one];
    if (one.size() <= too_many) { refuse("the text that may be truncated is too short"); }
    cut(one, one.size() - too_many, limit);
  }
  // The first or last `most` ids; the other parts have the same length and overlap by the stride.
  void cut(encoding& one, std::size_t most, const growth& limit) const {
    const std::size_t n = one.size();
    if (most >= n) { return; }
    encoding whole = std::move(one);
    if (most == 0) {
      one = encoding();
      one.overflowing.push_back(std::move(whole));
      return;
    }
    if (stride_ >= most) {
      refuse("the stride is " + std::to_string(stride_) + ", but only " + std::to_string(most) +
             " ids are left for the text");
    }
    const std::size_t step = most - stride_;
    limit.check(n / step * most);
    std::vector<encoding> parts;
    if (left_) {
      for (std::size_t end = n;; end -= step) {
        parts.push_back(whole.part(end - std::min(end, most), end));
        if (end <= most || end <= step) { break; }
      }
    } else {
      for (std::size_t begin = 0;; begin += step) {
        parts.push_back(whole.part(begin, std::min(begin + most, n)));
        if (begin + most >= n) { break; }
      }
    }
    one = std::move(parts.front());
    one.overflowing.assign(std::make_move_iterator(parts.begin() + 1), std::make_move_iterator(parts.end()));
  }

  std::string title_{};
  std::size_t most_ = 0;
  std::size_t stride_ = 0;
  which strategy_ = which::longest_first;
  bool left_ = false;
};

// The padding settings of a tokenizer.json.
class padding_rule {
 public:
  padding_rule(const reader& r, const json& from) {
    const json& strategy = r.at(from, "strategy", "padding");
    if (strategy.is_object() && strategy.contains("Fixed")) {
      fixed_ = r.count(strategy.at("Fixed"), "padding: Fixed");
    } else if (strategy != "BatchLongest") {
      r.refuse("the padding's strategy is not supported, BatchLongest or a Fixed number was expected");
    }
    left_ = truncation::is_left(r, from, "padding");
    if (from.contains("pad_to_multiple_of") && !from.at("pad_to_multiple_of").is_null()) {
      multiple_ = r.count(from.at("pad_to_multiple_of"), "padding: pad_to_multiple_of");
    }
    id_ = r.id(r.at(from, "pad_id", "padding"), "pad_id");
    if (from.contains("pad_type_id")) { type_ = r.id(from.at("pad_type_id"), "pad_type_id"); }
    if (fixed_.value_or(0) > most_padded || multiple_ > most_padded) {
      r.refuse("padding to more than " + std::to_string(most_padded) + " ids is not supported");
    }
  }
  void apply(std::vector<encoding>& batch) const {
    std::size_t to = 0;
    for (const encoding& one : batch) { to = std::max(to, one.size()); }
    to = fixed_.value_or(to);
    if (multiple_ > 0) { to = (to + multiple_ - 1) / multiple_ * multiple_; }
    for (encoding& one : batch) { pad(one, to); }
  }

 private:
  static constexpr std::size_t most_padded = std::size_t{1} << 20;
  void pad(encoding& one, std::size_t to) const {
    for (encoding& part : one.overflowing) { pad(part, to); }
    if (one.size() >= to) { return; }
    encoding padding = encoding::of(ids(to - one.size(), id_), type_, true);
    std::fill(padding.given.begin(), padding.given.end(), static_cast<unsigned char>(0));
    if (left_) {
      std::vector<encoding> cut_off = std::move(one.overflowing);
      padding.append(one);
      one = std::move(padding);
      one.overflowing = std::move(cut_off);
    } else {
      one.append(padding);
    }
  }

  std::optional<std::size_t> fixed_{};
  std::size_t multiple_ = 0;
  std::uint32_t id_ = 0;
  std::uint32_t type_ = 0;
  bool left_ = false;
};

}  // namespace dimwise::text::detail
