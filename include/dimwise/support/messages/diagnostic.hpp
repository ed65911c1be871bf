// SPDX-License-Identifier: BSL-1.0
// dimwise/support/messages/diagnostic.hpp -- a compile error as data: the type of the entries of
// support/diagnostics.hpp.
//
// Layer: support. Includes: nothing.
// Tests: tests/support/diagnostics.test.cpp
// No member has a default, so that an entry without one of them does not compile; nor does an empty text.
#pragma once

namespace dimwise::detail::messages {

// A text that is there.
struct required_text {
  const char* words;
  // NOLINTNEXTLINE(google-explicit-constructor): entries are written as literals
  consteval required_text(const char* given) : words(given) {
    if (*given == '\0') { throw "an empty text"; }
  }
};

// The name of an error, and the number of the rule in it: 7 of ERROR_R7_….
struct error_id : required_text {
  int rule = 0;
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval error_id(const char* given) : required_text(given) {
    const char* at = given;
    for (const char* expected = "ERROR_R"; *expected != '\0'; ++expected) {
      if (*at++ != *expected) { throw "an id begins with ERROR_R and the number of its rule"; }
    }
    for (; *at >= '0' && *at <= '9'; ++at) { rule = 10 * rule + (*at - '0'); }
    if (rule < 1 || *at != '_') { throw "rules are counted from 1"; }
  }
};

// Some texts, at least one.
struct texts {
  static constexpr int most = 8;
  const char* items[most] = {};
  int count;
  template <class... Text>
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval texts(const char* first, Text... others)
      : items{required_text(first).words, required_text(others).words...},
        count(1 + static_cast<int>(sizeof...(Text))) {
    static_assert(sizeof...(Text) < most);
  }
};

// Types that an operation leaves on its result, by their names.
inline constexpr const char* mark_names[] = {"raw",      "score",          "masked_for", "biased_for", "normalised",
                                             "weighted", "log_normalised", "rotated",    "indexed",    "partial"};

// The part of the shapes that a message marks. The last ones are marks of `mark_names`, in their order.
enum class culprit {
  over,        // the dimensions that the operation names
  lacking,     // those of them that an operand lacks
  differing,   // what only one of two shapes has
  composites,  // products and sums
  missing,     // named dimensions that no shape has
  given,       // what the second list names
  not_given,   // what the first list names and the second one lacks; the second list if it lacks nothing
  twice,       // what one shape lists twice
  types,       // what else was given
  right,       // the whole right shape
  free,        // dimensions that only one of two shapes has
  all,         // everything
  raw,
  score,
  masked_for,
  biased_for,
  normalised,
  weighted,
  log_normalised,
  rotated,
  indexed,
  partial
};

struct culprits {
  static constexpr int most = 4;
  culprit items[most] = {};
  int count;
  template <class... Culprit>
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval culprits(culprit first, Culprit... others)
      : items{first, others...}, count(1 + static_cast<int>(sizeof...(Culprit))) {
    static_assert(sizeof...(Culprit) < most);
  }
};

// An error of the library. `seen` holds patterns of the message: a fact in braces is taken from the error's type. The
// first pattern is used whose facts are all there. support/messages/message.hpp lists the facts.
struct diagnostic {
  error_id id;            // the name of its type in support/errors.hpp
  required_text title;    // what the error means
  texts seen;             // what the compiler saw
  culprits marked;        // what of it is wrong
  texts causes;           // mistakes that lead to it
  required_text fix;      // what to do
  required_text example;  // its case in tests/compile_fail, which the errors page shows
};

}  // namespace dimwise::detail::messages
