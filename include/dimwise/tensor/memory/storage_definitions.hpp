// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/memory/storage_definitions.hpp -- elements from the pool.
//
// Layer: tensor. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/tensor/memory/storage.test.cpp
#pragma once

#include <dimwise/tensor/memory/storage.hpp>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY void* take_elements(std::size_t n, std::size_t bytes_of_one, const char* what) {
  if (n > std::numeric_limits<std::size_t>::max() / bytes_of_one) { throw allocation_error(n, bytes_of_one, what); }
  try {
    return block_pool::take(n * bytes_of_one);
  } catch (const std::bad_alloc&) { throw allocation_error(n * bytes_of_one, what); }
}

}  // namespace dimwise::detail
