// SPDX-License-Identifier: BSL-1.0
// benchmarks/rivals/by_products.hpp -- attention as a careful user writes it on top of a library of matrix products.
//
// `Library` has multiply(…), softmax(row, count) and a name. Measured twice: with all queries of a head at once, and in
// blocks of 128 queries that leave out the keys which no query of the block sees ("_blocks"). Heads are shared out
// among the threads, and rows of the projections. Scores are stored: that is what dimwise's fused plan avoids.
#pragma once

#include "workloads.hpp"

#include <cmath>
#include <memory>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace bench {

/// A row-major matrix in memory of its own or another's.
struct matrix {
  float* at = nullptr;
  std::size_t step = 0;  // from one row to the next
  [[nodiscard]] matrix from(std::size_t row, std::size_t column = 0) const { return {at + row * step + column, step}; }
};

class memory {
 public:
  explicit memory(std::size_t count, unsigned seed = 1, float scale = 1)
      : data_(static_cast<float*>(std::aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64)), &std::free) {
    fill(data_.get(), count, scale, seed);
  }
  [[nodiscard]] float* get() const { return data_.get(); }
  [[nodiscard]] matrix rows_of(std::size_t columns) const { return {data_.get(), columns}; }

 private:
  std::unique_ptr<float, void (*)(void*)> data_;
};

template <class F>
void in_parallel(std::size_t threads, std::size_t count, const F& f) {
#if defined(_OPENMP)
  if (threads > 1) {
#pragma omp parallel for num_threads(static_cast<int>(threads)) schedule(static)
    for (std::size_t i = 0; i < count; ++i) { f(i, static_cast<std::size_t>(omp_get_thread_num())); }
    return;
  }
#endif
  for (std::size_t i = 0; i < count; ++i) { f(i, std::size_t{0}); }
}

template <class Library>
class by_products {
 public:
  by_products(const workload& w, std::size_t threads, bool blocks)
      : w_(w),
        threads_(threads),
        block_(blocks ? std::min<std::size_t>(128, w.queries) : w.queries),
        scores_(threads * rows() * w.keys) {}

  // One head, or the queries of one group against their keys.
  void head(std::size_t queries, matrix q, matrix k, matrix v, matrix out, std::size_t thread) const {
    const float scale = 1.0F / std::sqrt(static_cast<float>(w_.d_k));
    const std::size_t step = w_.kind == 3 ? queries : block_;
    for (std::size_t first = 0; first < queries; first += step) {
      const std::size_t count = std::min(step, queries - first);
      const std::size_t keys = w_.causal && block_ < w_.queries ? first + count : w_.keys;
      const matrix s{scores_.get() + thread * rows() * w_.keys, keys};
      Library::multiply(count, keys, w_.d_k, scale, q.from(first), k, true, s);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t visible = w_.causal ? first + i + 1 : keys;
        Library::softmax(s.from(i).at, visible);
        std::fill(s.from(i).at + visible, s.from(i).at + keys, 0.0F);
      }
      Library::multiply(count, w_.d_v, keys, 1, s, v, false, out.from(first));
    }
  }

  void project(std::size_t n, std::size_t from, std::size_t to, matrix x, matrix weight, matrix y) const {
    in_parallel(threads_, threads_, [&](std::size_t part, std::size_t) {
      const std::size_t begin = n * part / threads_;
      const std::size_t end = n * (part + 1) / threads_;
      if (begin < end) { Library::multiply(end - begin, to, from, 1, x.from(begin), weight, false, y.from(begin)); }
    });
  }

 private:
  [[nodiscard]] std::size_t rows() const { return w_.kind == 3 ? w_.heads / w_.key_heads : block_; }

  workload w_;
  std::size_t threads_;
  std::size_t block_;
  memory scores_;
};

inline void softmax_in_place(float* row, std::size_t count) {
  float largest = row[0];
  for (std::size_t i = 1; i < count; ++i) { largest = std::max(largest, row[i]); }
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    row[i] = std::exp(row[i] - largest);
    sum += row[i];
  }
  for (std::size_t i = 0; i < count; ++i) { row[i] /= sum; }
}

// x = norm(x + y) for each row.
inline void add_and_norm(std::size_t threads, std::size_t n, std::size_t width, float* x, const float* y) {
  in_parallel(threads, n, [&](std::size_t i, std::size_t) {
    float* row = x + i * width;
    const float* other = y + i * width;
    float sum = 0;
    for (std::size_t j = 0; j < width; ++j) { sum += row[j] += other[j]; }
    const float mean = sum / static_cast<float>(width);
    float squares = 0;
    for (std::size_t j = 0; j < width; ++j) { squares += (row[j] - mean) * (row[j] - mean); }
    const float by = 1.0F / std::sqrt(squares / static_cast<float>(width) + 1e-5F);
    for (std::size_t j = 0; j < width; ++j) { row[j] = (row[j] - mean) * by; }
  });
}

// The form with tanh, as x · sigmoid: the one that vectorizes with exp alone.
inline void gelu_in_place(std::size_t threads, std::size_t n, std::size_t width, float* x) {
  in_parallel(threads, n, [&](std::size_t i, std::size_t) {
    float* row = x + i * width;
    for (std::size_t j = 0; j < width; ++j) {
      row[j] /= 1.0F + std::exp(-1.5957691216F * (row[j] + 0.044715F * row[j] * row[j] * row[j]));
    }
  });
}

template <class Library>
void attention_alone(const by_products<Library>& by, const std::string& name, const workload& w, const options& o,
                     report& to) {
  const bool decode = w.kind == 3;
  const std::size_t per_key_head = decode ? w.heads / w.key_heads : w.queries;  // rows of q for each head of k
  const memory q(w.key_heads * per_key_head * w.d_k, 1);
  const memory k(w.key_heads * w.keys * w.d_k, 2);
  const memory v(w.key_heads * w.keys * w.d_v, 3);
  const memory y(w.key_heads * per_key_head * w.d_v);
  to.line(name, w, [&] {
    in_parallel(o.threads, w.key_heads, [&](std::size_t h, std::size_t thread) {
      by.head(per_key_head, q.rows_of(w.d_k).from(h * per_key_head), k.rows_of(w.d_k).from(h * w.keys),
              v.rows_of(w.d_v).from(h * w.keys), y.rows_of(w.d_v).from(h * per_key_head), thread);
    });
  });
}

template <class Library>
void whole_layer(const by_products<Library>& by, const std::string& name, const workload& w, const options& o,
                 report& to) {
  const std::size_t all_k = w.heads * w.d_k;
  const std::size_t all_v = w.heads * w.d_v;
  const std::size_t packed = 2 * all_k + all_v;
  const std::size_t n = w.queries;
  const std::size_t ff = std::max<std::size_t>(1, w.d_ff);
  const memory x(n * w.d_model, 1);
  const memory w_qkv(w.d_model * packed, 2, 0.05F);
  const memory w_o(all_v * w.d_model, 3, 0.05F);
  const memory up(w.d_model * ff, 4, 0.05F);
  const memory down(ff * w.d_model, 5, 0.05F);
  const memory qkv(n * packed);
  const memory z(n * all_v);
  const memory y(n * w.d_model);
  const memory a(n * w.d_model);
  const memory hidden(n * ff);
  to.line(name, w, [&] {
    by.project(n, w.d_model, packed, x.rows_of(w.d_model), w_qkv.rows_of(packed), qkv.rows_of(packed));
    in_parallel(o.threads, w.heads, [&](std::size_t h, std::size_t thread) {
      const matrix all = qkv.rows_of(packed);
      by.head(n, all.from(0, h * w.d_k), all.from(0, all_k + h * w.d_k), all.from(0, 2 * all_k + h * w.d_v),
              z.rows_of(all_v).from(0, h * w.d_v), thread);
    });
    if (w.heads == 1) { return; }  // W4_1h_n6 has no W_O
    by.project(n, all_v, w.d_model, z.rows_of(all_v), w_o.rows_of(w.d_model), y.rows_of(w.d_model));
    if (w.kind != 5) { return; }
    std::copy(x.get(), x.get() + n * w.d_model, a.get());
    add_and_norm(o.threads, n, w.d_model, a.get(), y.get());
    by.project(n, w.d_model, ff, a.rows_of(w.d_model), up.rows_of(ff), hidden.rows_of(ff));
    gelu_in_place(o.threads, n, ff, hidden.get());
    by.project(n, ff, w.d_model, hidden.rows_of(ff), down.rows_of(w.d_model), y.rows_of(w.d_model));
    add_and_norm(o.threads, n, w.d_model, y.get(), a.get());
  });
}

/// Every workload with this library.
template <class Library>
void run_by_products(const workload& w, const options& o, report& to) {
  for (const bool blocks : {false, true}) {
    if (blocks && (w.queries <= 128 || w.kind > 5)) { continue; }
    const by_products<Library> by(w, o.threads, blocks);
    const std::string name = std::string(Library::name) + (blocks ? "_blocks" : "");
    if (w.kind == 2 || w.kind == 3) {
      attention_alone(by, name, w, o, to);
    } else {
      whole_layer(by, name, w, o, to);
    }
  }
}

}  // namespace bench
