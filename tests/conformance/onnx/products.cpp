// tests/conformance/onnx/products.cpp -- matrix products, and the equations of Einsum as named programs.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/case.hpp"

#include <algorithm>
#include <stdexcept>

namespace conformance {
namespace {

using namespace dimwise;

struct b0 : batch_dim<> {};
struct b1 : batch_dim<> {};
struct b2 : batch_dim<> {};
struct rows : position_dim<> {};
struct columns : position_dim<> {};
struct inner : feature_dim<> {};

template <class T>
void multiply(run& r) {
  // A vector on the left is one row, on the right one column. The axes before the matrices are stretched.
  const auto batch = [&](std::size_t from_right) {
    std::size_t n = 1;
    for (const int operand : {0, 1}) {
      const std::size_t rank = r.rank(operand);
      if (from_right + 2 < rank) { n = std::max(n, r.extent(operand, rank - 3 - from_right)); }
    }
    return n;
  };
  const b0 x{batch(2)};
  const b1 y{batch(1)};
  const b2 z{batch(0)};
  const inner n{r.extent(0, r.rank(0) - 1)};
  const rows m{r.rank(0) == 1 ? 1 : r.extent(0, r.rank(0) - 2)};
  const auto left = r.stretched<T>(0, x, y, z, m, n);
  if (r.rank(1) == 1) {
    r.expect(0, contract<inner>(left, r.get<T, inner>(1)));
  } else {
    r.expect(0, contract<inner>(left, r.stretched<T>(1, x, y, z, n, columns{r.extent(1, r.rank(1) - 1)})));
  }
}
const family matmul_cases{"MatMul", [](run& r) { r.dtype(0) == "float64" ? multiply<double>(r) : multiply<float>(r); }};

// α A B + β C; A and B may be stored the other way round.
void gemm(run& r) {
  const auto with = [&](const auto& a, const auto& b) {
    const tensor<float, rows, columns> product = float(r.number("alpha", 1.0)) * plain(contract<inner>(a, b));
    if (r.has(2)) {
      const auto c =
          r.stretched<float>(2, rows{product.extents().extent<rows>()}, columns{product.extents().extent<columns>()});
      r.expect(0, product + float(r.number("beta", 1.0)) * c);
    } else {
      r.expect(0, product);
    }
  };
  const auto right = [&](const auto& a) {
    r.flag("transB", false) ? with(a, r.get<float, columns, inner>(1)) : with(a, r.get<float, inner, columns>(1));
  };
  r.flag("transA", false) ? right(r.get<float, inner, rows>(0)) : right(r.get<float, rows, inner>(0));
}
const family gemm_cases{"Gemm", gemm};

// --- Einsum ---

struct i : position_dim<> {};
struct i2 : prime<i> {};
struct j : feature_dim<> {};
struct k : position_dim<> {};

template <class T>
void scalar(run& r) {
  r.expect(0, r.get<T>(0));
}
template <class T>
void transpose(run& r) {
  r.expect(0, permute<j, i>(r.get<T, i, j>(0)));
}
template <class T>
void row_sums(run& r) {
  r.expect(0, sum<j>(r.get<T, i, j>(0)));
}
template <class T>
void inner_product(run& r) {
  r.expect(0, contract<j>(r.get<T, j>(0), r.get<T, j>(1)));
}
template <class T>
void outer_product(run& r) {
  r.expect(0, outer(r.get<T, i>(0), r.get<T, j>(1)));
}
template <class T>
void product(run& r) {
  r.expect(0, contract<j>(r.get<T, i, j>(0), r.get<T, j, k>(1)));
}
template <class T>
void batch_product(run& r) {
  r.expect(0, contract<j>(r.get<T, b0, i, j>(0), r.get<T, b0, j, k>(1)));
}
template <class T>
void batch_diagonal(run& r) {
  const std::size_t rank = r.rank(0);
  r.expect(0, diagonal<i, i2>(
                  r.grouped<T>(0, b0{r.extents(0, 0, rank - 2)}, i{r.extent(0, rank - 2)}, i2{r.extent(0, rank - 1)})));
}

template <class T>
void einsum(run& r) {
  std::string equation = r.text("equation");
  std::erase(equation, ' ');
  struct program {
    const char* equation;
    runner how;
  };
  constexpr program programs[] = {
      {"->", scalar<T>},         {"ij->ji", transpose<T>},           {"ij->i", row_sums<T>},
      {"i,i", inner_product<T>}, {"i,i->", inner_product<T>},        {"i,j->ij", outer_product<T>},
      {"ij,jk->ik", product<T>}, {"bij,bjk->bik", batch_product<T>}, {"...ii->...i", batch_diagonal<T>}};
  for (const program& p : programs) {
    if (equation == p.equation) { return p.how(r); }
  }
  throw std::runtime_error("no program for the equation " + equation);
}
const family einsum_cases{"Einsum", [](run& r) { r.dtype(0) == "float64" ? einsum<double>(r) : einsum<float>(r); }};

}  // namespace
}  // namespace conformance
