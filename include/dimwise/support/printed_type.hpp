// SPDX-License-Identifier: BSL-1.0
// dimwise/support/printed_type.hpp -- the parts of a type, from what the compiler prints, and how a user says them.
//
// Layer: support. Where the compiler takes messages that are made at compile time, support/sentence.hpp includes it.
// Tests: tools/check_said.py
#pragma once

#include <dimwise/support/name.hpp>

#include <cstddef>
#include <initializer_list>

namespace dimwise::detail::saying {

// A message. A static_assert requires its `data` and `size`.
struct message {
  char characters[2000] = {};
  std::size_t length = 0;
  [[nodiscard]] constexpr const char* data() const { return characters; }
  [[nodiscard]] constexpr std::size_t size() const { return length; }
};

constexpr text of(const char* s) {
  std::size_t length = 0;
  while (s[length] != '\0') { ++length; }
  return {s, length};
}
constexpr text behind(text a, std::size_t n) { return {a.begin + n, a.length - n}; }
constexpr bool starts(text a, text b) {
  if (a.length < b.length) { return false; }
  for (std::size_t i = 0; i < b.length; ++i) {
    if (a.begin[i] != b.begin[i]) { return false; }
  }
  return true;
}
constexpr bool same(text a, text b) { return a.length == b.length && starts(a, b); }
constexpr bool same(text a, const char* b) { return same(a, of(b)); }
constexpr bool contains(text a, const char* part) {
  for (; a.length > 0; a = behind(a, 1)) {
    if (starts(a, of(part))) { return true; }
  }
  return false;
}

// As `raw_type_name`, and of any length: nothing is counted.
template <class T>
consteval text printed() {
  text name{__PRETTY_FUNCTION__, sizeof(__PRETTY_FUNCTION__) - 2};  // without the last bracket
  while (!starts(name, of("T = "))) { name = behind(name, 1); }
  return behind(name, 4);
}

// A type: its name without namespaces, what follows its arguments (`*`), and the arguments.
struct type {
  text whole{}, word{}, tail{};
  bool of_library = false, is_operation = false, is_function = false;
  int first = -1, next = -1, count = 0;  // the first argument; the next sibling; how many arguments
};

// Some types, by their places in the list of all.
struct types {
  int places[64] = {};
  int size = 0;
  constexpr void add(int place) {
    if (size < 64) { places[size++] = place; }
  }
};

// The type and all of its parts, the type itself first, and what is said of them.
class printed_type {
 public:
  constexpr explicit printed_type(text whole) : source_(whole) {
    if (whole.length > 12000) {  // clang counts the steps of what it computes: then the name alone
      for (source_.length = 0; whole.begin[source_.length] != '<'; ++source_.length) {}
    }
    std::size_t most = 1;  // one more behind each < and comma
    for (std::size_t i = 0; i < source_.length; ++i) { most += whole.begin[i] == '<' || whole.begin[i] == ',' ? 1 : 0; }
    parts = new type[most];
    parse();
  }
  constexpr ~printed_type() { delete[] parts; }
  printed_type(const printed_type&) = delete;
  printed_type& operator=(const printed_type&) = delete;

 protected:
  constexpr void put(char c) {
    if (words_said.length < sizeof(words_said.characters)) { words_said.characters[words_said.length++] = c; }
  }
  constexpr void put(text words) {
    for (std::size_t i = 0; i < words.length; ++i) { put(words.begin[i]); }
  }
  constexpr void put(const char* words) { put(of(words)); }

  // --- types, as compilers print them

  // The type that begins there; brackets of functions and lambdas are part of a name.
  constexpr int parse() {
    const int place = count_++;
    while (source_.length > 0 && *source_.begin == ' ') { source_ = behind(source_, 1); }
    const text begin = source_;
    int last = -1;
    text name = source_;
    for (int depth = 0; source_.length > 0; source_ = behind(source_, 1)) {
      const char c = *source_.begin;
      depth += c == '(' || c == '{' ? 1 : (c == ')' || c == '}' ? -1 : 0);
      if (depth == 0 && (c == ',' || c == '>')) { break; }
      if (depth > 0 || c != '<') { continue; }
      call(place, until(name));
      while (source_.length > 1 && *source_.begin != '>') {
        source_ = behind(source_, 1);  // < or ,
        if (*source_.begin == '>') { break; }
        const int one = parse();
        (last < 0 ? parts[place].first : parts[last].next) = one;
        last = one;
        ++parts[place].count;
      }
      name = behind(source_, source_.length > 0 ? 1 : 0);
    }
    call(place, until(name));
    parts[place].whole = until(begin);
    return place;
  }
  constexpr text until(text begin) const { return {begin.begin, begin.length - source_.length}; }

  // A piece of a type's name: before its arguments, or behind them.
  constexpr void call(int place, text name) {
    type& one = parts[place];
    while (name.length > 0 && name.begin[name.length - 1] == ' ') { --name.length; }
    one.of_library = one.of_library || contains(name, "dimwise");
    one.is_function = one.is_function || contains(name, "lambda");
    std::size_t word = 0, before = 0;  // behind the last "::", and behind the one before it
    for (std::size_t i = 0; i + 1 < name.length; ++i) {
      if (name.begin[i] == ':' && name.begin[i + 1] == ':') {
        before = word;
        word = i + 2;
      }
    }
    if (word == 0 && one.word.length > 0) {
      one.tail = name;
    } else {
      one.word = behind(name, word);
      one.is_operation = word > 0 && same(text{name.begin + before, word - before}, "op::");
    }
  }

  constexpr bool is(int place, const char* word) const { return same(parts[place].word, word); }
  constexpr bool equal(int a, int b) const { return same(parts[a].whole, parts[b].whole); }

  constexpr types arguments(int place) const {
    types found;
    for (int one = parts[place].first; one >= 0; one = parts[one].next) { found.add(one); }
    return found;
  }

  constexpr void put_list(const types& some) {
    for (int i = 0; i < some.size; ++i) {
      if (i > 0) { put(", "); }
      put_type(some.places[i]);
    }
  }
  constexpr void put_name(text name) {  // float* of "float *"
    for (std::size_t i = 0; i < name.length; ++i) {
      const char next = i + 1 < name.length ? name.begin[i + 1] : '\0';
      if (name.begin[i] != ' ' || (next != '*' && next != '&')) { put(name.begin[i]); }
    }
  }
  constexpr void put_type(int place) {
    const type& one = parts[place];
    bool is_list = false;
    for (const char* list : {"shape", "operand_shape", "lhs", "rhs", "over", "list"}) {
      is_list = is_list || is(place, list);
    }
    if (one.is_function) {
      put("a function");
    } else if ((is(place, "node") || is(place, "contraction")) && one.count > 0) {
      put("an expression");
    } else if ((is(place, "about") || is(place, "extent")) && one.count > 0) {
      put_type(one.first);
    } else if (is(place, "number_arguments")) {
      put(one.count > 1 ? "the numbers " : "the number ");
      put_list(arguments(place));
    } else if (is_list) {
      put_list(arguments(place));
    } else {
      put_name(one.word), put_name(one.tail);
      if (one.count > 0) { put('<'), put_list(arguments(place)), put('>'); }
    }
  }

  type* parts = nullptr;
  message words_said{};

 private:
  text source_;
  int count_ = 0;
};

}  // namespace dimwise::detail::saying
