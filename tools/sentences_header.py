#!/usr/bin/env python3
"""Writes include/dimwise/support/sentences.hpp: the sentences of tools/dimwise_errors.py as a table that the compiler reads.

    python3 tools/sentences_header.py            # writes the header
    python3 tools/sentences_header.py --check    # fails when the header is not the one that would be written
    python3 tools/sentences_header.py --self-test

Where the compiler takes messages that are made at compile time, the header defines each error of support/errors.hpp as a class
whose static_assert says its sentence. The words are written in tools/dimwise_errors.py alone. Standard library only.
"""

import argparse
import json
import re
import sys

import compilers
import dimwise_errors

HEADER = "include/dimwise/support/sentences.hpp"
HEAD = """// SPDX-License-Identifier: BSL-1.0
// dimwise/support/sentences.hpp -- what each error says, where the compiler takes messages made at compile time.
//
// generated: python3 tools/sentences_header.py; do not edit
// Layer: support. support/errors.hpp includes it. The words are those of tools/dimwise_errors.py.
// Tests: tools/check_said.py
#pragma once

#include <dimwise/support/errors.hpp>

// clang-format off
#if defined(DIMWISE_DETAIL_SENTENCES)

#include <dimwise/support/sentence.hpp>

namespace dimwise {

"""
SENTENCE = """// The sentence of an error by its patterns, of which the first is taken whose facts are all there.
template <class Error, auto& Patterns>
inline constexpr auto sentence = saying::facts<saying_words>(saying::printed<Error>()).sentence(Patterns);
"""


def literal(words):
    return json.dumps(words, ensure_ascii=False)


def listed(items):
    """A list in braces, each item on a line of its own."""
    return "{" + ",".join(f"\n      {item}" for item in items) + "}"


def pattern(words):
    """A literal, cut where it would pass column 120."""
    parts = [literal(part) for part in re.findall(r"\S.{0,95}\S*\s*", words)]
    return parts[0] if len(parts) == 1 else "(" + "\n       ".join(parts) + ")"


def pairs(table):
    return listed(f"{{{literal(name)}, {literal(said)}}}" for name, said in table.items())


def header(sentences):
    lines = [HEAD + "namespace detail {", "", "struct saying_words {",
             f"  static constexpr saying::pair operations[] = {pairs(dimwise_errors.OPERATIONS)};",
             f"  static constexpr saying::pair shapes[] = {pairs(dimwise_errors.SHAPES)};",
             f"  static constexpr const char* marks[] = {listed(map(literal, dimwise_errors.MARKS))};",
             "};", "", SENTENCE, "}  // namespace detail", ""]
    for name, (_, *patterns) in sentences.items():
        lines += ["template <class... Facts>", f"struct {name} {{", f"  static constexpr const char* says[] = {listed(map(pattern, patterns))};",
                  f"  static_assert(false, detail::sentence<{name}, says>);", "};"]
    return "\n".join([*lines, "", "}  // namespace dimwise", "", "#endif", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    path, written = compilers.ROOT / HEADER, header(dimwise_errors.SENTENCES)
    if arguments.self_test:
        name, (kinds, *patterns) = next(iter(dimwise_errors.SENTENCES.items()))
        changed = header({**dimwise_errors.SENTENCES, name: (kinds, "other words", *patterns)})
        sys.exit("FAILED self-test: another pattern gives the same header" if changed == written else 0)
    if not arguments.check:
        path.write_text(written, encoding="utf-8")
    elif path.read_text(encoding="utf-8") != written:
        sys.exit(f"{HEADER} is not what tools/dimwise_errors.py says now; to write it again: python3 tools/sentences_header.py")
    print(f"{len(dimwise_errors.SENTENCES)} errors, {HEADER} is {'up to date' if arguments.check else 'written'}")


if __name__ == "__main__":
    main()
