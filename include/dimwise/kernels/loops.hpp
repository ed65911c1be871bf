// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/loops.hpp -- the scalar path, and the reference implementation of the other kernels: loops over
// strided memory.
//
// Layer: kernels. Pointers, extents, strides; no names.
// Tests: tests/eval/*.test.cpp, tests/expr/*.test.cpp
#pragma once

#include <dimwise/kernels/loops/nest.hpp>
#include <dimwise/kernels/loops/product.hpp>
#include <dimwise/kernels/loops/rows.hpp>
