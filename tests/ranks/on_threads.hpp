// tests/ranks/on_threads.hpp -- a check on 1, 2 and 4 ranks that are threads (std::thread) of this process.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/ranks/threads.hpp>

#include <doctest/doctest.h>

namespace rank_checks {

template <class F>
void on_threads(const F& check) {
  for (const std::size_t count : {1U, 2U, 4U}) {
    CAPTURE(count);
    dimwise::ranks::run_threads(count, [&](const dimwise::ranks::communicator& world) { check(world); },
                                {.checks = true});
  }
}

}  // namespace rank_checks
