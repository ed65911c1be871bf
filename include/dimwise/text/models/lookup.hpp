// SPDX-License-Identifier: BSL-1.0
// dimwise/text/models/lookup.hpp -- hash tables of a tokenizer, with pairs of numbers or strings as keys, and a trie.
//
// Layer: text. Open addressing in one block of memory: a lookup reads one cache line, and loading a vocabulary
// takes one allocation instead of one per token.
// Tests: tests/text/components.test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::text::detail {

// Maps two numbers below 2^32, not both 2^32 − 1, to a value.
template <class Value>
class pair_table {
 public:
  // Returns false, and keeps the value, if the pair already has one.
  bool add(std::uint32_t a, std::uint32_t b, Value value) {
    if (Value* const known = find(a, b)) {
      (void)known;
      return false;
    }
    if (2 * (count_ + 1) > slots_.size()) { grow(); }
    slot& free = slots_[place(key_of(a, b))];
    free = {key_of(a, b), value};
    ++count_;
    return true;
  }
  [[nodiscard]] const Value* find(std::uint32_t a, std::uint32_t b) const {
    if (slots_.empty()) { return nullptr; }
    const slot& found = slots_[place(key_of(a, b))];
    return found.key == none ? nullptr : &found.value;
  }
  [[nodiscard]] Value* find(std::uint32_t a, std::uint32_t b) {
    return const_cast<Value*>(static_cast<const pair_table&>(*this).find(a, b));  // NOLINT
  }
  [[nodiscard]] std::size_t size() const { return count_; }
  void reserve(std::size_t count) {
    while (slots_.size() < 2 * count) { grow(); }
  }

 private:
  struct slot {
    std::uint64_t key = none;
    Value value{};
  };
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  static std::uint64_t key_of(std::uint32_t a, std::uint32_t b) { return (std::uint64_t{a} << 32) | b; }
  // The slot of the key, or the free slot for it.
  [[nodiscard]] std::size_t place(std::uint64_t key) const {
    std::uint64_t h = key * 0x9e3779b97f4a7c15U;
    h ^= h >> 32;
    std::size_t at = h & (slots_.size() - 1);
    while (slots_[at].key != key && slots_[at].key != none) { at = (at + 1) & (slots_.size() - 1); }
    return at;
  }
  void grow() {
    std::vector<slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (const slot& s : old) {
      if (s.key != none) { slots_[place(s.key)] = s; }
    }
  }

  std::vector<slot> slots_{};
  std::size_t count_ = 0;
};

// Maps strings to numbers. The strings are not owned.
class text_table {
 public:
  // Of equal strings the later one counts.
  void set(std::string_view text, std::uint32_t number) {
    if (2 * (count_ + 1) > slots_.size()) { grow(); }
    const std::size_t hash = std::hash<std::string_view>()(text);
    slot& s = slots_[place(text, hash)];
    count_ += s.used ? 0U : 1U;
    s = {text, static_cast<std::uint32_t>(hash >> 32), number, true};
  }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view text) const {
    if (slots_.empty()) { return std::nullopt; }
    const slot& s = slots_[place(text, std::hash<std::string_view>()(text))];
    return s.used ? std::optional(s.number) : std::nullopt;
  }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  struct slot {
    std::string_view text{};
    std::uint32_t hash = 0;
    std::uint32_t number = 0;
    bool used = false;
  };
  [[nodiscard]] std::size_t place(std::string_view text, std::size_t hash) const {
    const auto high = static_cast<std::uint32_t>(hash >> 32);
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].used && (slots_[at].hash != high || slots_[at].text != text)) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }
  void grow() {
    std::vector<slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (const slot& s : old) {
      if (s.used) { slots_[place(s.text, std::hash<std::string_view>()(s.text))] = s; }
    }
  }

  std::vector<slot> slots_{};
  std::size_t count_ = 0;
};

// Maps strings to numbers, and finds the strings with which a text begins: a trie of bytes.
class byte_trie {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  // The number of a string; `none` if it is new.
  std::uint32_t& operator[](std::string_view text) {
    std::uint32_t node = 0;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (const std::uint32_t* const next = nodes_.find(node, byte)) {
        node = *next;
      } else {
        const auto made = static_cast<std::uint32_t>(numbers_.size());
        nodes_.add(node, byte, made);
        numbers_.push_back(none);
        node = made;
      }
    }
    return numbers_[node];
  }
  // Calls found(end, number) for each string that `text` has at `begin`; the shortest first.
  template <class Found>
  void each_at(std::string_view text, std::size_t begin, const Found& found) const {
    std::uint32_t node = 0;
    for (std::size_t i = begin; i < text.size(); ++i) {
      const std::uint32_t* const next = nodes_.find(node, static_cast<unsigned char>(text[i]));
      if (next == nullptr) { return; }
      node = *next;
      if (numbers_[node] != none) { found(i + 1, numbers_[node]); }
    }
  }
  // The end and the number of the longest string that `text` has at `begin`.
  [[nodiscard]] std::optional<std::pair<std::size_t, std::uint32_t>> longest_at(std::string_view text,
                                                                                std::size_t begin) const {
    std::optional<std::pair<std::size_t, std::uint32_t>> longest;
    each_at(text, begin, [&](std::size_t end, std::uint32_t number) { longest.emplace(end, number); });
    return longest;
  }

 private:
  pair_table<std::uint32_t> nodes_{};         // node and byte to node
  std::vector<std::uint32_t> numbers_{none};  // of each node
};

}  // namespace dimwise::text::detail
