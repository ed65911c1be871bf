// SPDX-License-Identifier: BSL-1.0
// dimwise/support/messages/message_of.hpp -- the message of an error's type, made at compile time.
//
// Layer: support. support/error_messages.hpp includes it where the compiler prints such messages.
// Tests: tests/messages/in_clang.py
#pragma once

#include <dimwise/support/diagnostics.hpp>
#include <dimwise/support/messages/message.hpp>

namespace dimwise::detail {

// The message of an error: the pattern of its entry in support/diagnostics.hpp, filled in with the arguments of the
// type. An error without an entry does not compile.
template <class Error>
consteval messages::message message_of() {
  text name = messages::printed<Error>();
  // clang limits the steps of a computation. A longer type keeps its name only.
  if (name.length > 12000) {
    for (name.length = 0; name.begin[name.length] != '<'; ++name.length) {}
  }
  messages::facts<messages::message> facts(name);
  return facts.said(messages::find(facts.id())->seen);
}

// Whether a type is an error. The name of its template decides: completing the type would print its message.
template <template <class...> class E>
consteval bool names_error() {
  return messages::contains(messages::of(__PRETTY_FUNCTION__), "[E = dimwise::ERROR_");
}
template <class T>
inline constexpr bool is_error = false;
template <template <class...> class E, class... Facts>
inline constexpr bool is_error<E<Facts...>> = names_error<E>();

}  // namespace dimwise::detail
