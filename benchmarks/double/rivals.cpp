// SPDX-License-Identifier: BSL-1.0
// benchmarks/double/rivals.cpp -- see rivals.hpp.
#include "rivals.hpp"

#include <Eigen/Dense>
#include <cblas.h>
#include <cmath>
#include <memory>
#include <type_traits>

extern "C" void openblas_set_num_threads(int);

namespace bench {
namespace {

template <class T>
using rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
Eigen::Map<const rows<T>> matrix(const T* at, std::size_t r, std::size_t c) {
  return {at, static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)};
}

template <class T>
void multiply(bool transposed, T scale, const T* a, const T* b, std::size_t m, std::size_t n, std::size_t k, T* c) {
  const auto i = [](std::size_t x) { return static_cast<blasint>(x); };
  const auto gemm = [] {
    if constexpr (std::is_same_v<T, float>) {
      return cblas_sgemm;
    } else {
      return cblas_dgemm;
    }
  }();
  gemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans, i(m), i(n), i(k), scale, a, i(k), b,
       i(transposed ? k : n), T{0}, c, i(n));
}

template <class T>
void softmax(rows<T>& s) {
  for (Eigen::Index i = 0; i < s.rows(); ++i) {
    auto row = s.row(i).array();
    row = (row - row.maxCoeff()).exp();
    row *= T{1} / row.sum();
  }
}

}  // namespace

template <class T>
std::vector<rival> rivals_of(operation what, const operands<T>& o) {
  openblas_set_num_threads(1);
  const auto out = std::make_shared<rows<T>>();
  const auto a = matrix(o.a, o.rows, o.columns);
  switch (what) {
    case operation::product: {
      out->resize(static_cast<Eigen::Index>(o.rows), static_cast<Eigen::Index>(o.columns));
      const auto left = matrix(o.a, o.rows, o.inner);
      const auto right = matrix(o.b, o.inner, o.columns);
      return {{"Eigen", [=] { out->noalias() = left * right; }},
              {"OpenBLAS", [=] { multiply(false, T{1}, o.a, o.b, o.rows, o.columns, o.inner, out->data()); }}};
    }
    case operation::attention: {
      const T scale = T{1} / std::sqrt(static_cast<T>(o.inner));
      const std::size_t each = o.rows * o.inner;
      const auto scores = std::make_shared<rows<T>>(o.rows, o.rows);
      out->resize(static_cast<Eigen::Index>(o.heads * o.rows), static_cast<Eigen::Index>(o.inner));
      const auto eigen = [=] {
        for (std::size_t h = 0; h < o.heads; ++h) {
          const auto q = matrix(o.a + h * each, o.rows, o.inner);
          const auto k = matrix(o.b + h * each, o.rows, o.inner);
          scores->noalias() = scale * q * k.transpose();
          softmax(*scores);
          Eigen::Map<rows<T>>(out->data() + h * each, q.rows(), q.cols()).noalias() =
              *scores * matrix(o.c + h * each, o.rows, o.inner);
        }
      };
      const auto blas = [=] {
        for (std::size_t h = 0; h < o.heads; ++h) {
          multiply(true, scale, o.a + h * each, o.b + h * each, o.rows, o.rows, o.inner, scores->data());
          softmax(*scores);
          multiply(false, T{1}, scores->data(), o.c + h * each, o.rows, o.inner, o.rows, out->data() + h * each);
        }
      };
      return {{"Eigen", eigen}, {"OpenBLAS", blas}};
    }
    case operation::softmax:
      return {{"Eigen", [=] {
        *out = a;
        softmax(*out);
      }}};
    case operation::sum:
      return {{"Eigen", [=] { *out = a.rowwise().sum(); }}};
    case operation::max:
      return {{"Eigen", [=] { *out = a.rowwise().maxCoeff(); }}};
    case operation::exp:
      return {{"Eigen", [=] { *out = a.array().exp(); }}};
    case operation::tanh:
      return {{"Eigen", [=] { *out = a.array().tanh(); }}};
    case operation::training:
      return {};
  }
  return {};
}

template std::vector<rival> rivals_of(operation, const operands<float>&);
template std::vector<rival> rivals_of(operation, const operands<double>&);

}  // namespace bench
