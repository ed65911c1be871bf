// SPDX-License-Identifier: BSL-1.0
// dimwise/support/diagnostics.hpp -- every compile error of the library: its meaning, message, causes, fix and example.
//
// Layer: support. The entries are in support/diagnostics/, by their rules. support/error_messages.hpp includes them
// where the compiler takes messages made at compile time, and src/programs/errors/errors.cpp for dimwise-errors; other
// programs never do. The errors page is made from them.
// Tests: tests/support/diagnostics.test.cpp, tests/messages/translated.py
#pragma once

#include <dimwise/support/diagnostics/rules_10_to_15.hpp>
#include <dimwise/support/diagnostics/rules_16_to_21.hpp>
#include <dimwise/support/diagnostics/rules_1_to_4.hpp>
#include <dimwise/support/diagnostics/rules_22_to_25.hpp>
#include <dimwise/support/diagnostics/rules_5_to_6.hpp>
#include <dimwise/support/diagnostics/rules_7_to_9.hpp>
#include <dimwise/support/messages/printed_type.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace dimwise::detail::messages {

template <std::size_t... N>
consteval auto joined(const diagnostic (&... tables)[N]) {
  const diagnostic* const begins[] = {tables...};
  constexpr std::size_t sizes[] = {N...};
  const auto entry = [&](std::size_t i) -> const diagnostic& {
    std::size_t table = 0;
    for (; i >= sizes[table]; ++table) { i -= sizes[table]; }
    return begins[table][i];
  };
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<diagnostic, sizeof...(I)>{entry(I)...};
  }(std::make_index_sequence<(N + ...)>{});
}

// All entries, in the order of support/errors.hpp.
inline constexpr auto diagnostics =
    joined(of_rules_1_to_4, of_rules_5_to_6, of_rules_7_to_9, of_rules_10_to_15, of_rules_16_to_21, of_rules_22_to_25);

// The entry of an error, a null pointer if it has none.
constexpr const diagnostic* find(text id) {
  for (const diagnostic& one : diagnostics) {
    if (same(id, one.id.words)) { return &one; }
  }
  return nullptr;
}

}  // namespace dimwise::detail::messages
