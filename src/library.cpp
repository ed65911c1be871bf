// SPDX-License-Identifier: BSL-1.0
// src/library.cpp -- the functions that are compiled once for all programs (support/library.hpp).
#define DIMWISE_COMPILES_LIBRARY
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/attention_definitions.hpp>
#include <dimwise/eval/kernels_epilogue_definitions.hpp>
#include <dimwise/eval/kernels_product_definitions.hpp>
#endif
#include <dimwise/eval/erased_definitions.hpp>
#include <dimwise/eval/sort_order_definitions.hpp>
#include <dimwise/expr/explain_shapes_definitions.hpp>
#include <dimwise/expr/rotary_definitions.hpp>
#include <dimwise/grad/parameter_list_definitions.hpp>
#include <dimwise/grad/parameter_passes_definitions.hpp>
#include <dimwise/io/archive_definitions.hpp>
#include <dimwise/io/bindings_definitions.hpp>
#include <dimwise/io/checkpoint_definitions.hpp>
#include <dimwise/io/files/bytes_definitions.hpp>
#include <dimwise/io/files/error_definitions.hpp>
#include <dimwise/io/files/new_file_definitions.hpp>
#include <dimwise/io/stored_order_definitions.hpp>
#include <dimwise/nn/part_list_definitions.hpp>
#include <dimwise/ranks/communicator_definitions.hpp>
#include <dimwise/support/file_draft_definitions.hpp>
#include <dimwise/tensor/block_pool_definitions.hpp>
#include <dimwise/tensor/large_pages_definitions.hpp>
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
#include <dimwise/viz/table_definitions.hpp>
#include <dimwise/viz/training_report_definitions.hpp>
#include <dimwise/viz/words_definitions.hpp>
#if __has_include(<nlohmann/json.hpp>)  // dimwise::io needs it
#include <dimwise/io/safetensors_definitions.hpp>
#endif
