// SPDX-License-Identifier: BSL-1.0
// dimwise/implementation.hpp -- the functions and kernels that a program compiles once.
//
// Compiled in src/library.cpp, and in the file of a program that defines DIMWISE_IMPLEMENTATION
// (support/implementation.hpp), which compiles the kernels as well.
#pragma once

#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/attention/gradient_definitions.hpp>
#include <dimwise/eval/kernels/epilogue_definitions.hpp>
#include <dimwise/eval/kernels/product_definitions.hpp>
#include <dimwise/eval/records/stored_definitions.hpp>
#endif
#include <dimwise/dim/error_definitions.hpp>
#include <dimwise/dim/extent_math_definitions.hpp>
#include <dimwise/eval/ids/by_ids_definitions.hpp>
#include <dimwise/eval/ids/table_gradient_definitions.hpp>
#include <dimwise/eval/kernels/backward_definitions.hpp>
#include <dimwise/eval/kernels/loss_definitions.hpp>
#include <dimwise/eval/lowering/views_definitions.hpp>
#include <dimwise/eval/plan/steps_definitions.hpp>
#include <dimwise/eval/records/form_definitions.hpp>
#include <dimwise/eval/sorting/order_definitions.hpp>
#include <dimwise/eval/written/erased_definitions.hpp>
#include <dimwise/expr/explain/shapes_definitions.hpp>
#include <dimwise/expr/masks/position_masks_definitions.hpp>
#include <dimwise/expr/positions/rotary_definitions.hpp>
#include <dimwise/expr/rearrange/join_definitions.hpp>
#include <dimwise/grad/parameters/list_definitions.hpp>
#include <dimwise/grad/parameters/passes_definitions.hpp>
#include <dimwise/grad/record/adjoints_definitions.hpp>
#include <dimwise/grad/record/partial_sums_definitions.hpp>
#include <dimwise/grad/record/recorded_definitions.hpp>
#include <dimwise/grad/record/recorded_value_definitions.hpp>
#include <dimwise/grad/record/stored_formula_definitions.hpp>
#include <dimwise/io/archive_definitions.hpp>
#include <dimwise/io/arrays/stored_order_definitions.hpp>
#include <dimwise/io/bindings_definitions.hpp>
#include <dimwise/io/files/bytes_definitions.hpp>
#include <dimwise/io/files/error_definitions.hpp>
#include <dimwise/io/files/new_file_definitions.hpp>
#include <dimwise/nn/parameters/part_list_definitions.hpp>
#include <dimwise/ranks/messages/communicator_definitions.hpp>
#include <dimwise/ranks/training/gradients_definitions.hpp>
#include <dimwise/ranks/training/optimiser_definitions.hpp>
#include <dimwise/ranks/training/stages_definitions.hpp>
#include <dimwise/ranks/training/tied_parameters_definitions.hpp>
#include <dimwise/support/files/file_draft_definitions.hpp>
#include <dimwise/tensor/axis_extents_definitions.hpp>
#include <dimwise/tensor/extents_definitions.hpp>
#include <dimwise/tensor/memory/block_pool_definitions.hpp>
#include <dimwise/tensor/memory/large_pages_definitions.hpp>
#include <dimwise/tensor/memory/storage_definitions.hpp>
#include <dimwise/tensor/random_definitions.hpp>
#include <dimwise/viz/colours_definitions.hpp>
#include <dimwise/viz/explain_definitions.hpp>
#include <dimwise/viz/picture_definitions.hpp>
#include <dimwise/viz/pictures/axis_definitions.hpp>
#include <dimwise/viz/pictures/curve_definitions.hpp>
#include <dimwise/viz/pictures/derivation_definitions.hpp>
#include <dimwise/viz/pictures/dots_definitions.hpp>
#include <dimwise/viz/pictures/network_definitions.hpp>
#include <dimwise/viz/pictures/weights_definitions.hpp>
#include <dimwise/viz/text/table_definitions.hpp>
#include <dimwise/viz/text/words_definitions.hpp>
#include <dimwise/viz/training_report_definitions.hpp>
#if __has_include(<nlohmann/json.hpp>)  // dimwise::io needs it
#include <dimwise/io/checkpoint_definitions.hpp>
#include <dimwise/io/safetensors_definitions.hpp>
#include <dimwise/ranks/checkpoint_definitions.hpp>
#endif

#if defined(DIMWISE_IMPLEMENTATION) && !defined(DIMWISE_PLAIN_ONLY)

#include <dimwise/kernels/dispatch/active_bfloat16.hpp>
#include <dimwise/kernels/dispatch/active_gradients.hpp>
#include <dimwise/kernels/dispatch/active_quantised.hpp>
#include <dimwise/kernels/dispatch/bfloat16_implementation.hpp>
#include <dimwise/kernels/dispatch/gradient_implementation.hpp>
#include <dimwise/kernels/dispatch/implementation.hpp>
#include <dimwise/kernels/dispatch/quantised_implementation.hpp>

namespace dimwise::kernels {

const table& active() noexcept { return table_of<default_arch>; }
const element_table<double>& active_doubles() noexcept { return element_table_of<in_double<default_arch>>; }
const gradient_table& active_gradients() noexcept { return gradient_table_of<default_arch>; }
const element_gradient_table<double>& active_double_gradients() noexcept {
  return gradient_table_of<in_double<default_arch>>;
}
const quantised_table& active_quantised() noexcept { return quantised_table_of<default_arch>; }
const bfloat16_table* active_bfloat16() noexcept {
#if defined(DIMWISE_DETAIL_BFLOAT16_ATTENTION)
  return &bfloat16_table_of<default_arch>;
#else
  return nullptr;
#endif
}

}  // namespace dimwise::kernels

#endif
