// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/packed_weights.hpp -- weights in the panels that the product kernel reads, kept beside their
// tensor.
//
// Layer: eval. A weight that two products have read is packed, and dropped when its tensor is written.
// Tests: tests/nn/pack_weights.test.cpp
#pragma once

#include <dimwise/support/library.hpp>
#include <dimwise/tensor/memory/storage.hpp>

#include <cstddef>

namespace dimwise::detail {

// Packs a weight of k x n contiguous elements, unless that is done. Returns the bytes of the packed copy: 0 if every
// product reads such a weight in place.
template <class T>
std::size_t pack_weight(derived_slot& slot, std::size_t k, std::size_t n, const T* b);

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/kernels/packed_weights_definitions.hpp>
#endif

#if DIMWISE_DETAIL_HAS_LIBRARY
namespace dimwise::detail {
DIMWISE_DETAIL_LIBRARY_TEMPLATE std::size_t pack_weight<float>(derived_slot&, std::size_t, std::size_t, const float*);
DIMWISE_DETAIL_LIBRARY_TEMPLATE std::size_t pack_weight<double>(derived_slot&, std::size_t, std::size_t, const double*);
}  // namespace dimwise::detail
#endif
