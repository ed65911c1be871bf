// tests/fuzz/compare.hpp -- one formula in every way that there is: they agree with float64, with each other, with its
// plan.
//
// evaluate(e) and evaluate_plainly(e) are within what is allowed of reference(e); evaluate with several workers, and
// again, gives the same bits; destinations of another order, views and copies get them; plan(e) is what ran. Where one
// way throws, all throw the same, and destinations are as they were.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "operands.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace fuzz {

/// An executor of several workers: tasks in random order on this thread, or threads.
class workers {
 public:
  workers(source& random, std::size_t count, bool threads) : random_(&random), count_(count), threads_(threads) {}
  [[nodiscard]] std::size_t worker_count() const { return count_; }
  template <class F>
  void parallel_for(std::size_t count, F&& f) {
    run(count, [](const void* self, std::size_t task, std::size_t worker) {
      (*static_cast<const std::remove_reference_t<F>*>(self))(task, worker);
    }, &f);
  }

 private:
  void run(std::size_t count, void (*f)(const void*, std::size_t, std::size_t), const void* self);
  source* random_;
  std::size_t count_;
  bool threads_;
};

/// What one way of evaluating gave.
struct outcome {
  std::vector<float> values;
  std::string thrown;
};

// ---- what errors are allowed ----

/// 2^-24: the largest relative error of one rounding.
inline constexpr double u = 0x1p-24;
/// Below this, numbers have fewer digits, and kernels may take them for 0.
inline constexpr double least_float = 0x1p-126;

/// A number for each element of a formula, with the order of its dimensions: bounds of another order do not compile.
template <class Dims>
struct each {
  std::vector<double> of;
};
template <class E>
using each_of = each<dimwise::detail::dims_t<dimwise::detail::shape_of<E>>>;

/// The values of a formula in float64.
template <class E>
each_of<E> exactly(const E& e) {
  const auto y = dimwise::reference(e);
  return {{y.values().begin(), y.values().end()}};
}
/// `factor` roundings of each magnitude, and what is lost among numbers near 0.
template <class Dims>
each<Dims> roundings(each<Dims> magnitudes, double factor, double floor = 0) {
  for (double& m : magnitudes.of) { m = u * factor * std::abs(m) + floor; }
  return magnitudes;
}
/// A product of n terms: each errs by one rounding, and by one for each sum that it is in, u·n·Σ|a||b| at most (Higham,
/// Accuracy and Stability, 3.1). `magnitudes` are the same product of magnitudes. Products of numbers near 0 err
/// absolutely.
template <class E>
each_of<E> of_product(const E& magnitudes, std::size_t n, double more = 2) {
  return roundings(exactly(magnitudes), static_cast<double>(n) + more, static_cast<double>(n + 1) * least_float);
}

namespace detail {

outcome run(const std::function<std::vector<float>()>& way);
std::string run_exactly(const std::function<void()>& way);

struct results {
  outcome fast;
  outcome plain;
  outcome several;
  outcome again;
  outcome turned;
  std::string exact_thrown;
  std::vector<double> exact;
  std::vector<double> allowed;
  dimwise::plan_counts ran;
  std::string plan_text;
  std::vector<std::size_t> planned;
  outcome viewed;
  std::vector<float> memory;  // of the view, with guards
  bool untouched = true;
};
void judge(attempt& a, results& r, const std::function<std::string(std::size_t)>& place);

template <class T>
std::vector<float> values_of(const T& x) {
  return {x.values().begin(), x.values().end()};
}

// The dimensions of a tensor in the opposite order, its marks behind them.
template <class Done, class Marks, class... D>
struct turn;
template <class... Done, class... M>
struct turn<dimwise::detail::list<Done...>, dimwise::detail::list<M...>> {
  using type = tensor<float, Done..., M...>;
};
template <class... Done, class... M, class D, class... Rest>
struct turn<dimwise::detail::list<Done...>, dimwise::detail::list<M...>, D, Rest...>
    : std::conditional_t<dimwise::dimension_type<D>,
                         turn<dimwise::detail::list<D, Done...>, dimwise::detail::list<M...>, Rest...>,
                         turn<dimwise::detail::list<Done...>, dimwise::detail::list<M..., D>, Rest...>> {};
inline constexpr std::ptrdiff_t guard = 3;
template <class Extents, class... D>
auto view_over(const Extents& e, std::vector<float>& memory, const tensor<float, D...>&) {
  return tensor_view<float, D...>::over(
      {memory.data() + guard, memory.size() - 2 * guard},
      dimwise::detail::merge_extents<typename tensor<float, D...>::extents_type::atoms>("fuzz", e));
}
template <class T>
struct turned_of;
template <class... D>
struct turned_of<tensor<float, D...>> : turn<dimwise::detail::list<>, dimwise::detail::list<>, D...> {};

// The place of an element in the order of the type.
std::string in_one_line(std::string text);
std::string place_in_words(std::size_t i, const dimwise::detail::axis* axes, std::size_t rank);
template <class E>
std::size_t count_of(const E& e) {
  using axes = dimwise::detail::axes_for<dimwise::detail::shape_of<E>>;
  dimwise::detail::axis all[dimwise::detail::max_rank];
  dimwise::detail::axis_extents<axes>::write(e.extents(), all);
  std::size_t n = 1;
  for (std::size_t i = 0; i < axes::size; ++i) { n *= all[i].extent; }
  return n;
}
template <class E>
std::string place_of(const E& e, std::size_t i) {
  using axes = dimwise::detail::axes_for<dimwise::detail::shape_of<E>>;
  dimwise::detail::axis all[dimwise::detail::max_rank];
  dimwise::detail::axis_extents<axes>::write(e.extents(), all);
  return place_in_words(i, all, axes::size) + " of " + dimwise::describe(e);
}

}  // namespace detail

/// Compares; `expected` is evaluated by float64 (the same formula, or one of operands without what is hidden),
/// `allowed()` gives the error that each element may have.
template <class E, class Exact, class Allowed>
void compare(attempt& a, const E& e, const Exact& expected, const Allowed& allowed) {
  using result = decltype(dimwise::evaluate(e));
  static_assert(std::is_same_v<decltype(allowed()), each_of<E>>,
                "what is allowed has the dimensions of the formula, in the same order");
  detail::results r;
  dimwise::reset_plans();
  r.fast = detail::run([&] { return detail::values_of(dimwise::evaluate(e)); });
  r.ran = dimwise::plans_run();
  r.plain = detail::run([&] { return detail::values_of(dimwise::evaluate_plainly(e)); });
  workers executor(a.random, 1 + a.random.below(5), a.random.one_in(16));
  r.several = detail::run([&] { return detail::values_of(dimwise::evaluate(e, executor)); });
  r.exact_thrown = detail::run_exactly([&] {
    const auto exact = dimwise::reference(expected);
    r.exact.assign(exact.values().begin(), exact.values().end());
  });
  if (r.fast.thrown.empty() && r.exact_thrown.empty()) {
    r.allowed = allowed().of;
    const auto plan = dimwise::plan(e);
    for (std::size_t k = 0; k < dimwise::plan_kinds; ++k) {
      r.planned.push_back(plan[static_cast<dimwise::plan_kind>(k)]);
    }
    if (a.telling()) { r.plan_text = detail::in_one_line(plan.text()); }
  }
  // Destinations: one that has a value already, one of another order, and memory of somebody else.
  result y;
  y.fill(7);
  const std::vector<float> before = detail::values_of(y);
  r.again = detail::run([&] {
    y = e;
    return detail::values_of(y);
  });
  r.untouched = r.again.thrown.empty() || before == detail::values_of(y);
  r.turned = detail::run([&] {
    const typename detail::turned_of<result>::type turned = e;
    return detail::values_of(result(turned));
  });
  std::vector<float> memory(detail::count_of(e) + 2 * detail::guard, 7.0F);
  r.viewed = detail::run([&] {
    auto view = detail::view_over(e.extents(), memory, y);
    view = e;
    return std::vector<float>(memory.begin() + detail::guard, memory.end() - detail::guard);
  });
  r.untouched = r.untouched &&
                (r.viewed.thrown.empty() || std::all_of(memory.begin(), memory.end(), [](float x) { return x == 7; }));
  r.memory = memory;
  detail::judge(a, r, [&](std::size_t i) { return detail::place_of(e, i); });
}

/// The same formula in float64.
template <class E, class Allowed>
void compare(attempt& a, const E& e, const Allowed& allowed) {
  compare(a, e, e, allowed);
}

}  // namespace fuzz
