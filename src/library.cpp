// SPDX-License-Identifier: BSL-1.0
// src/library.cpp -- the functions that are compiled once for all programs (support/library.hpp).
#define DIMWISE_COMPILES_LIBRARY
#include <dimwise/implementation.hpp>
