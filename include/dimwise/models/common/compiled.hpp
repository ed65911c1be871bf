// SPDX-License-Identifier: BSL-1.0
// dimwise/models/common/compiled.hpp -- the models that the library dimwise::models compiles: with the dimensions of
// their configuration and weights of each format.
//
// Layer: models.
// Tests: tests/models/compiled.sh, tests/consumer
//
// `DIMWISE_DETAIL_COMPILED_MODELS(INSTANCES)` declares INSTANCES(extern template, W) for each format W of weights in a
// program that links the library, and nothing in others: they compile the models that they use in each of their files.
// src/models defines each with INSTANCES(template, W). Functions that take long to compile are defined outside their
// classes: compilers instantiate those within a class again to inline them.
#pragma once

#include <dimwise/nn/weight.hpp>
#include <dimwise/support/library.hpp>

#if defined(DIMWISE_COMPILED_MODELS) && DIMWISE_DETAIL_HAS_LIBRARY
#define DIMWISE_DETAIL_COMPILED_MODELS(INSTANCES) \
  INSTANCES(extern template, float)               \
  INSTANCES(extern template, bfloat16)            \
  INSTANCES(extern template, float16)             \
  INSTANCES(extern template, nn::int8_blocks)     \
  INSTANCES(extern template, nn::int4_blocks)
#else
#define DIMWISE_DETAIL_COMPILED_MODELS(INSTANCES)
#endif
