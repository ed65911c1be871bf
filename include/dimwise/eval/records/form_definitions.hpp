// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/form_definitions.hpp -- all operations of records.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/eval/records.test.cpp
#pragma once

#include <dimwise/eval/ids/by_ids_definitions.hpp>
#include <dimwise/eval/records/elements_definitions.hpp>
#include <dimwise/eval/records/products_definitions.hpp>
#include <dimwise/eval/records/rows_definitions.hpp>
#include <dimwise/eval/records/walk_definitions.hpp>
