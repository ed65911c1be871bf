// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/parameter_steps.hpp -- passes over the elements of a parameter: a step of Adam, a sum of squares, sums,
// factors.
//
// Layer: eval. Kernels compute in float and double, unless the context forces the reference, which is the
// loops. Work is cut by the number of elements alone.
// Tests: tests/grad/training/kernels.test.cpp
#pragma once

#include <dimwise/eval/context.hpp>
#include <dimwise/eval/strategies.hpp>
#include <dimwise/kernels/dispatch/active_gradients.hpp>
#include <dimwise/support/math.hpp>

#include <exception>
#include <vector>

namespace dimwise::detail {

// One step of Adam: g = gradient + decay p, m = first_kept m + first_added g, v = second_kept v + second_added g²,
// p = kept p − size m / (√v root + epsilon).
template <class T>
struct adam_numbers {
  T decay;
  T first_kept;
  T first_added;
  T second_kept;
  T second_added;
  T kept;
  T size;
  T root;
  T epsilon;
};

// Passes that must not end halfway, although the executor may throw. What they need is taken before they begin: a byte
// for each part of the longest pass. `finish` throws what an executor threw, after all passes are complete.
class whole_passes {
 public:
  explicit whole_passes(std::size_t longest) : done_((longest + part_elements - 1) / part_elements) {}
  // f(begin, end), which does not throw, for each part of n elements. Parts that the executor leaves are done here.
  template <class F>
  void run(const context& cx, std::size_t n, const F& f) noexcept {
    const std::size_t parts = (n + part_elements - 1) / part_elements;
    for (std::size_t i = 0; i < parts; ++i) { done_[i] = 0; }
    try {
      in_parts(cx, n, part_elements, [&](std::size_t begin, std::size_t end) {
        f(begin, end);
        done_[begin / part_elements] = 1;
      });
    } catch (...) {
      if (!thrown_) { thrown_ = std::current_exception(); }
      for (std::size_t i = 0; i < parts; ++i) {
        if (done_[i] == 0) { f(i * part_elements, i + 1 == parts ? n : (i + 1) * part_elements); }
      }
    }
  }
  // The first exception of an executor, if there was one: the last call of the function that made the passes.
  void finish() const {
    if (thrown_) { std::rethrow_exception(thrown_); }
  }

 private:
  std::vector<unsigned char> done_;
  std::exception_ptr thrown_{};
};

// The reference.
struct parameter_loops {
  template <class T>
  static void adam(context&, whole_passes&, const adam_numbers<T>& by, std::size_t n, const T* gradient, T* p, T* m,
                   T* v) {
    for (std::size_t i = 0; i < n; ++i) {
      const T g = gradient[i] + by.decay * p[i];
      m[i] = by.first_kept * m[i] + by.first_added * g;
      v[i] = by.second_kept * v[i] + by.second_added * g * g;
      p[i] = by.kept * p[i] - by.size * m[i] / (math::sqrt(v[i]) * by.root + by.epsilon);
    }
  }
  template <class T>
  static double sum_of_squares(context&, std::size_t n, const T* x) {
    kernels::carried_sum<double> sum;
    for (std::size_t i = 0; i < n; ++i) { sum += static_cast<double>(x[i]) * static_cast<double>(x[i]); }
    return sum.value();
  }
  template <class T>
  static void multiply(context&, std::size_t n, T* x, T by) {
    for (std::size_t i = 0; i < n; ++i) { x[i] *= by; }
  }
  template <class T>
  static void add(context&, whole_passes&, std::size_t n, T* x, const T* y) {
    for (std::size_t i = 0; i < n; ++i) { x[i] += y[i]; }
  }
};

struct parameter_kernels {
  template <class T>
  static void adam(context& cx, whole_passes& passes, const adam_numbers<T>& by, std::size_t n, const T* gradient, T* p,
                   T* m, T* v) {
    passes.run(cx, n, [&](std::size_t begin, std::size_t end) {
      kernels::active_gradients_for<T>().adam({end - begin, gradient + begin, p + begin, m + begin, v + begin, by.decay,
                                               by.first_kept, by.first_added, by.second_kept, by.second_added, by.kept,
                                               by.size, by.root, by.epsilon});
    });
  }
  template <class T>
  static double sum_of_squares(context& cx, std::size_t n, const T* x) {
    constexpr std::size_t part = 4 * part_elements;
    std::vector<double> sums((n + part - 1) / part);
    in_parts(cx, n, part, [&](std::size_t begin, std::size_t end) {
      sums[begin / part] = kernels::active_gradients_for<T>().sum_of_squares(end - begin, x + begin);
    });
    kernels::carried_sum<double> sum;
    for (const double one : sums) { sum += one; }
    return sum.value();
  }
  template <class T>
  static void multiply(context& cx, std::size_t n, T* x, T by) {
    in_parts(cx, n, part_elements, [&](std::size_t begin, std::size_t end) {
      kernels::active_for<T>().zip(kernels::operation::multiply, end - begin, x + begin, 1, &by, 0, x + begin);
    });
  }
  template <class T>
  static void add(context& cx, whole_passes& passes, std::size_t n, T* x, const T* y) {
    passes.run(cx, n, [&](std::size_t begin, std::size_t end) {
      kernels::active_for<T>().zip(kernels::operation::add, end - begin, x + begin, 1, y + begin, 1, x + begin);
    });
  }
};

// f(context, steps) by the kernels, where there are some for T and they may run, else by the loops; counts which.
template <class T, class F>
void by_kernels_or_loops([[maybe_unused]] plan_kind kind, const F& f) {
  context& cx = current_context();
  if constexpr (has_kernels<T>) {
    if (!cx.reference_forced()) {
      f(cx, parameter_kernels{});
      return cx.count(kind);
    }
  }
  f(cx, parameter_loops{});
  cx.count(plan_kind::plain);
}

template <class T>
void step_adam(whole_passes& passes, const adam_numbers<T>& by, std::size_t n, const T* gradient, T* p, T* m, T* v) {
  by_kernels_or_loops<T>(plan_kind::map,
                         [&](context& cx, const auto& steps) { steps.adam(cx, passes, by, n, gradient, p, m, v); });
}

// The sum of the squares, in float64.
template <class T>
double sum_of_squares(std::size_t n, const T* x) {
  double sum = 0;
  by_kernels_or_loops<T>(plan_kind::rows,
                         [&](context& cx, const auto& steps) { sum = steps.sum_of_squares(cx, n, x); });
  return sum;
}

// √(Σ x²) of all parameters, as rest · 2^exponent: the squares of finite numbers, and the root as well, may be beyond
// float64.
struct scaled_norm {
  double rest = 0;
  int exponent = 0;
};
// The largest magnitude among these numbers and `before`; NaN if one of them is NaN.
template <class T>
double largest_magnitude(std::size_t n, const T* x, double before) {
  double largest = before;
  for (std::size_t i = 0; i < n; ++i) {
    const double size = math::fabs(static_cast<double>(x[i]));
    if (size > largest || size != size) { largest = size; }
    if (largest != largest) { return largest; }
  }
  return largest;
}
// Adds the squares of x · 2^−exponent.
template <class T>
void sum_scaled_squares(std::size_t n, const T* x, int exponent, kernels::carried_sum<double>& to) {
  for (std::size_t i = 0; i < n; ++i) {
    const double part = math::ldexp(static_cast<double>(x[i]), -exponent);
    to += part * part;
  }
}

// x = x times a number
template <class T>
void multiply_elements(std::size_t n, T* x, T by) {
  by_kernels_or_loops<T>(plan_kind::map, [&](context& cx, const auto& steps) { steps.multiply(cx, n, x, by); });
}

// x = x + y
template <class T>
void add_elements(whole_passes& passes, std::size_t n, T* x, const T* y) {
  by_kernels_or_loops<T>(plan_kind::map, [&](context& cx, const auto& steps) { steps.add(cx, passes, n, x, y); });
}

}  // namespace dimwise::detail
