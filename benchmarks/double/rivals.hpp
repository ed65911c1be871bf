// SPDX-License-Identifier: BSL-1.0
// benchmarks/double/rivals.hpp -- the operations of bench_double with Eigen and OpenBLAS.
//
// A file of its own is compiled for this machine's instructions (rivals.cpp), as users of these libraries do.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bench {

enum class operation { product, attention, softmax, sum, max, exp, tanh, training };

/// product: a[rows, inner] times b[inner, columns]. attention: queries a, keys b and values c of `heads`, with `inner`
/// features. training: no library has it. Others: a[rows, columns].
template <class T>
struct operands {
  std::size_t heads, rows, columns, inner;
  const T *a, *b, *c;
};

struct rival {
  std::string name;
  std::function<void()> run;
};

/// Each library that has the operation. For float and double.
template <class T>
std::vector<rival> rivals_of(operation, const operands<T>&);

}  // namespace bench
