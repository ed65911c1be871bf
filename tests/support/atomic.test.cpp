// SPDX-License-Identifier: BSL-1.0
// Atomic values without <atomic>.
#include <dimwise/support/atomic.hpp>

#include <doctest/doctest.h>

TEST_CASE("an atomic value returns the value before, and replaces only the expected one") {
  dimwise::detail::atomic_value<long> x(5);
  CHECK(x.add_relaxed(2) == 5);
  CHECK(x.subtract_acquire_release(3) == 7);
  CHECK(x.exchange_acquire_release(9) == 4);
  long expected = 8;
  CHECK_FALSE(x.replace_acquire_release(expected, 1));
  CHECK(expected == 9);
  CHECK(x.replace_acquire_release(expected, 1));
  CHECK(x.load_acquire() == 1);
  x.store_relaxed(3);
  CHECK(x.load_relaxed() == 3);
}
