// SPDX-License-Identifier: BSL-1.0
// benchmarks/rivals/eigen.cpp -- the workloads with Eigen; W4 also with matrices of fixed size ("eigen_fixed").
#include "by_products.hpp"

#include <Eigen/Dense>
#include <cmath>

namespace {

using rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct eigen {
  static constexpr const char* name = "eigen";
  static Eigen::Map<rows, 0, Eigen::OuterStride<>> look(bench::matrix m, std::size_t r, std::size_t c) {
    return {m.at, static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c),
            Eigen::OuterStride<>(static_cast<Eigen::Index>(m.step))};
  }
  static void multiply(std::size_t m, std::size_t n, std::size_t k, float scale, bench::matrix a, bench::matrix b,
                       bool transposed, bench::matrix c) {
    auto to = look(c, m, n);
    if (transposed) {
      to.noalias() = scale * look(a, m, k) * look(b, n, k).transpose();
    } else {
      to.noalias() = scale * look(a, m, k) * look(b, k, n);
    }
  }
  static void softmax(float* row, std::size_t count) {
    Eigen::Map<Eigen::ArrayXf> x(row, static_cast<Eigen::Index>(count));
    x = (x - x.maxCoeff()).exp();
    x *= 1.0F / x.sum();
  }
};

template <int R, int C>
using fixed = Eigen::Matrix<float, R, C, Eigen::RowMajor>;

// One layer of extents that the compiler knows; without W_O where there is one head, as W4_1h_n6 asks.
template <int N, int Model, int Heads, int K, int V>
struct small_layer {
  fixed<N, Model> x = fixed<N, Model>::Random();
  fixed<Model, Heads * K> w_q = fixed<Model, Heads * K>::Random();
  fixed<Model, Heads * K> w_k = fixed<Model, Heads * K>::Random();
  fixed<Model, Heads * V> w_v = fixed<Model, Heads * V>::Random();
  fixed<Heads * V, Model> w_o = fixed<Heads * V, Model>::Random();
  fixed<N, Heads * V> z;
  fixed<N, Model> y;

  void run() {
    fixed<N, Heads * K> q;
    fixed<N, Heads * K> k;
    fixed<N, Heads * V> v;
    fixed<N, N> s;
    q.noalias() = x * w_q;
    k.noalias() = x * w_k;
    v.noalias() = x * w_v;
    for (int h = 0; h < Heads; ++h) {
      s.noalias() = q.template middleCols<K>(h * K) * k.template middleCols<K>(h * K).transpose();
      s *= 1.0F / std::sqrt(static_cast<float>(K));
      for (int i = 0; i < N; ++i) {
        auto row = s.row(i).array();
        row = (row - row.maxCoeff()).exp();
        row *= 1.0F / row.sum();
      }
      z.template middleCols<V>(h * V).noalias() = s * v.template middleCols<V>(h * V);
    }
    if constexpr (Heads > 1) { y.noalias() = z * w_o; }
  }
};

template <class Layer>
void small(const bench::workload& w, bench::report& to) {
  static Layer layer;
  to.line("eigen_fixed", w, [] {
    layer.run();
    asm volatile("" : : "r"(&layer) : "memory");  // somebody may look at the result
  });
}

void run(const bench::workload& w, const bench::options& o, bench::report& to) {
  if (w.name == "W4_1h_n6") { small<small_layer<6, 16, 1, 24, 28>>(w, to); }
  if (w.name == "W4_8h_n10") { small<small_layer<10, 64, 8, 8, 8>>(w, to); }
  bench::run_by_products<eigen>(w, o, to);
}

}  // namespace

int main(int count, char** arguments) {
  Eigen::setNbThreads(1);  // by_products.hpp shares the work out
  return bench::run_all(count, arguments, bench::compiled_architecture(), run);
}
