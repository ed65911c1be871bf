// SPDX-License-Identifier: BSL-1.0
// dimwise/support/messages/printed_type.hpp -- the parts of a type, from what the compiler prints, and how a user says
// them.
//
// Layer: support. support/messages/message.hpp includes it: for static_assert, and for the program dimwise-errors.
// Tests: tests/support/diagnostics.test.cpp, tests/messages/translated.py
#pragma once

#include <dimwise/support/name.hpp>

#include <cstddef>

namespace dimwise::detail::messages {

// A message that is made at compile time. A static_assert requires its `data` and `size`; a std::string could not leave
// the evaluation. Characters after the last place are dropped.
struct message {
  char characters[2000] = {};
  std::size_t length = 0;
  [[nodiscard]] constexpr const char* data() const { return characters; }
  [[nodiscard]] constexpr std::size_t size() const { return length; }
  constexpr void clear() { length = 0; }
  constexpr void push_back(char c) {
    if (length < sizeof(characters)) { characters[length++] = c; }
  }
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
constexpr bool contains(text a, text part) {
  for (; a.length > 0; a = behind(a, 1)) {
    if (starts(a, part)) { return true; }
  }
  return false;
}
constexpr bool contains(text a, const char* part) { return contains(a, of(part)); }

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr text without_end(text a, std::size_t n) { return {a.begin, a.length - n}; }
constexpr text trimmed(text a) {
  while (a.length > 0 && *a.begin == ' ') { a = behind(a, 1); }
  while (a.length > 0 && a.begin[a.length - 1] == ' ') { a = without_end(a, 1); }
  return a;
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
  bool has_name = false, of_library = false, is_operation = false, is_function = false;
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

// The type and all of its parts, the type itself first, and what is said of them. `Message` is a `message` or a
// std::string.
template <class Message>
class printed_type {
 public:
  // The type that the text begins with. What follows it is left, so a line of a compiler is read as it is.
  constexpr explicit printed_type(text whole) : source_(whole) {
    std::size_t most = 1;  // one more after each < and comma
    for (std::size_t i = 0; i < whole.length; ++i) { most += whole.begin[i] == '<' || whole.begin[i] == ',' ? 1 : 0; }
    parts = new type[most];
    parse();
  }
  constexpr ~printed_type() { delete[] parts; }
  printed_type(const printed_type&) = delete;
  printed_type& operator=(const printed_type&) = delete;

 protected:
  constexpr void put(char c) { words_said.push_back(c); }
  constexpr void put(text words) {
    for (std::size_t i = 0; i < words.length; ++i) { put(words.begin[i]); }
  }
  constexpr void put(const char* words) { put(of(words)); }

  // --- types, as compilers print them

  // The end of a type outside brackets: of an argument, or of a type that a compiler quotes.
  [[nodiscard]] constexpr bool ends() const {
    const char c = *source_.begin;
    return c == ',' || c == '>' || c == '\'' || c == '"' || c == ';' || c == ']' || starts(source_, of("\u2019"));
  }

  // The type that begins there; brackets of functions and lambdas are part of a name. -> its place, -1 without a name
  constexpr int parse() {
    const int place = count_++;
    const text begin = source_;
    int last = -1;
    text name = source_;
    for (int depth = 0; source_.length > 0; source_ = behind(source_, 1)) {
      const char c = *source_.begin;
      if ((c >= 'a' && c <= 'z') || c == '_' || c == ':') { continue; }  // clang counts the steps of what it computes
      depth += c == '(' || c == '{' ? 1 : (c == ')' || c == '}' ? -1 : 0);
      if (depth < 0 || (depth == 0 && ends())) { break; }
      if (depth > 0 || c != '<') { continue; }
      call(place, until(name));
      source_ = behind(source_, 1);
      while (source_.length > 0 && *source_.begin != '>') {
        const int one = parse();
        if (one >= 0) {
          (last < 0 ? parts[place].first : parts[last].next) = one;
          last = one;
          ++parts[place].count;
        }
        if (source_.length > 0 && *source_.begin == ',') {
          source_ = behind(source_, 1);
        } else if (source_.length > 0 && *source_.begin != '>') {
          return finish(place, begin);
        }
      }
      name = behind(source_, source_.length > 0 ? 1 : 0);
      if (source_.length == 0) { return finish(place, begin); }
    }
    call(place, until(name));
    return finish(place, begin);
  }
  constexpr int finish(int place, text begin) {
    parts[place].whole = trimmed(until(begin));
    return parts[place].word.length > 0 || parts[place].has_name ? place : -1;
  }
  constexpr text until(text begin) const { return {begin.begin, begin.length - source_.length}; }

  // A piece of a type's name: before its arguments, or after them.
  constexpr void call(int place, text name) {
    type& one = parts[place];
    name = trimmed(name);
    for (const char* kind : {"struct ", "class "}) {
      if (starts(name, of(kind))) { name = behind(name, of(kind).length); }
    }
    if (name.length > 0 && is_digit(*name.begin)) {  // 5ul
      std::size_t digits = 0;
      while (digits < name.length && is_digit(name.begin[digits])) { ++digits; }
      std::size_t end = digits;
      while (end < name.length && contains(of("uUlL"), text{name.begin + end, 1})) { ++end; }
      if (end == name.length) { name.length = digits; }
    }
    one.has_name = one.has_name || name.length > 0;
    one.of_library = one.of_library || contains(name, "dimwise");
    one.is_function = one.is_function || contains(name, "lambda");
    std::size_t word = 0, before = 0;  // after the last "::", and after the one before it
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
      const text scope = {name.begin + before, word - before};
      one.is_operation = word > 0 && (same(scope, "op::") || same(scope, "other_library::"));
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
    for (const char* list : {"shape", "operand_shape", "lhs", "rhs", "over", "list", "use_instead"}) {
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
  Message words_said{};

 private:
  text source_;
  int count_ = 0;
};

}  // namespace dimwise::detail::messages
