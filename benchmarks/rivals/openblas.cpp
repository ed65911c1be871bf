// SPDX-License-Identifier: BSL-1.0
// benchmarks/rivals/openblas.cpp -- the workloads with OpenBLAS's sgemm.
//
// An OpenBLAS that does not know the processor falls back to kernels for an older one: compare.py sets
// OPENBLAS_CORETYPE.
#include "by_products.hpp"

#include <cblas.h>

extern "C" void openblas_set_num_threads(int);

namespace {

struct openblas {
  static constexpr const char* name = "openblas";
  // c[m, n] = scale · a[m, k] · b, which is [k, n] or, transposed, [n, k].
  static void multiply(std::size_t m, std::size_t n, std::size_t k, float scale, bench::matrix a, bench::matrix b,
                       bool transposed, bench::matrix c) {
    const auto i = [](std::size_t x) { return static_cast<blasint>(x); };
    cblas_sgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans, i(m), i(n), i(k), scale, a.at,
                i(a.step), b.at, i(b.step), 0, c.at, i(c.step));
  }
  static void softmax(float* row, std::size_t count) { bench::softmax_in_place(row, count); }
};

}  // namespace

int main(int count, char** arguments) {
  openblas_set_num_threads(1);  // by_products.hpp shares the work out
  return bench::run_all(count, arguments, bench::compiled_architecture(), bench::run_by_products<openblas>);
}
