// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/context.hpp -- the context of an evaluation: its executor, whether kernels may run, what has run.
//
// Layer: eval. Evaluation passes a context on; only `tensor y = expr;` takes the thread's current one. Kernels cut
// their work by the problem alone, so every executor gives the same bits.
// Tests: tests/eval/plan/plan.test.cpp, tests/eval/threads.test.cpp, tests/eval/context.test.cpp
//
//   context with_threads(pool);                 // a pool has worker_count() and parallel_for(count, f(task, worker))
//   const use_context scope(with_threads);      // until the end of the block, also within modules
#pragma once

#include <dimwise/kernels/dispatch/active.hpp>
#include <dimwise/kernels/dispatch/table.hpp>
#include <dimwise/tensor/memory/storage.hpp>

#include <cstddef>

namespace dimwise {

/// How a part of an expression is evaluated.
enum class plan_kind : unsigned char {
  copy,       ///< an operand's elements, copied: nothing is computed
  plain,      ///< the reference loops
  rows,       ///< vectorized rows: softmax, log_softmax, norms, sums, means, maxima, minima
  map,        ///< a vectorized function of contiguous elements
  product,    ///< matrix products
  attention,  ///< fused softmax(scores) · values, scores never stored
  decode,     ///< the same for few queries: keys and values are read once
};

// A kind without a name does not compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
/// The name of a plan.
[[nodiscard]] constexpr const char* name_of(plan_kind k) {
  switch (k) {
    case plan_kind::copy:
      return "copy";
    case plan_kind::plain:
      return "plain";
    case plan_kind::rows:
      return "rows";
    case plan_kind::map:
      return "map";
    case plan_kind::product:
      return "product";
    case plan_kind::attention:
      return "attention";
    case plan_kind::decode:
      return "decode";
  }
  return nullptr;
}
#pragma GCC diagnostic pop
/// How many kinds there are: those that have a name.
inline constexpr std::size_t plan_kinds = [] {
  std::size_t n = 0;
  while (name_of(static_cast<plan_kind>(n)) != nullptr) { ++n; }
  return n;
}();

/// How often each plan ran: tests of a fast path assert that it ran.
struct plan_counts {
  std::size_t of[plan_kinds] = {};
  /// How often plans of this kind ran.
  [[nodiscard]] std::size_t operator[](plan_kind k) const { return of[static_cast<std::size_t>(k)]; }
};

namespace detail {

template <kernels::Executor E>
kernels::runner runner_for(E& executor) {
  const std::size_t workers = executor.worker_count();
  if (workers == 0) {
    raise<number_error>(error{} << "evaluate: the executor's worker_count() is 0, at least 1 is expected");
  }
  return {workers, [](void* self, std::size_t count, kernels::runner::task f, void* argument) {
    static_cast<E*>(self)->parallel_for(count,
                                        [&](std::size_t task, std::size_t worker) { f(argument, task, worker); });
  }, &executor};
}

}  // namespace detail

/// Who does the work of an evaluation, whether kernels may run, and how often each plan ran. One thread uses it at a
/// time.
class context {
 public:
  /// The calling thread does everything.
  constexpr context() = default;
  /// The threads of an executor do it. Throws `number_error` where it has no worker.
  template <kernels::Executor E>
    requires(!std::is_same_v<E, context>)
  explicit context(E& executor) : runner_(detail::runner_for(executor)) {}

  /// Runs the tasks of an evaluation.
  [[nodiscard]] const kernels::runner& runner() const { return runner_; }
  /// Whether the reference loops alone run, in the element type.
  [[nodiscard]] bool reference_forced() const { return reference_forced_; }
  /// From now on the reference loops alone run, or not.
  void force_reference(bool forced = true) { reference_forced_ = forced; }
  /// The plans that ran since the context began, or since `reset_counts`.
  [[nodiscard]] const plan_counts& counts() const { return counts_; }
  void reset_counts() { counts_ = {}; }
  /// For the evaluator: a plan ran, or several.
  void count(plan_kind k) { ++counts_.of[static_cast<std::size_t>(k)]; }
  void count(const plan_counts& more) {
    for (std::size_t k = 0; k < plan_kinds; ++k) { counts_.of[k] += more.of[k]; }
  }

 private:
  kernels::runner runner_{};
  bool reference_forced_ = false;
  plan_counts counts_{};
};

namespace detail {

inline thread_local context default_context;
inline thread_local context* used_context = nullptr;

}  // namespace detail

/// The context of `tensor y = expr;` on this thread: the default one, or that of the innermost `use_context`.
[[nodiscard]] inline context& current_context() {
  return detail::used_context == nullptr ? detail::default_context : *detail::used_context;
}

/// For as long as it lives, evaluations of this thread use another context.
class use_context {
 public:
  // Not inline: g++ 12 would warn of a `std::optional<use_context>` that `c` is stored beyond its life, and that
  // `before_` may be uninitialized.
  /// Until its end; `c` must outlive it.
  [[gnu::noinline]] explicit use_context(context& c) : before_(detail::used_context) { detail::used_context = &c; }
  use_context(const use_context&) = delete;
  use_context& operator=(const use_context&) = delete;
  [[gnu::noinline]] ~use_context() { detail::used_context = before_; }

 private:
  context* before_;
};

/// During its lifetime, this thread evaluates by the reference implementation alone, in the element type: it checks
/// the results of an unchanged program. `const plain_loops only;`
class plain_loops {
 public:
  /// Until its end, in the context that is current now.
  plain_loops() : of_(current_context()), before_(of_.reference_forced()) { of_.force_reference(); }
  plain_loops(const plain_loops&) = delete;
  plain_loops& operator=(const plain_loops&) = delete;
  ~plain_loops() { of_.force_reference(before_); }

 private:
  context& of_;
  bool before_;
};

/// The plans that ran in this thread's current context since it began, or since `reset_plans`.
[[nodiscard]] inline const plan_counts& plans_run() { return current_context().counts(); }
inline void reset_plans() { current_context().reset_counts(); }

/// Bytes that this thread keeps of freed tensors and buffers for its next evaluations. Without a limit, all threads
/// together keep and use at most 17/16 of their peak use since the last `trim_memory`, plus 8 MiB for each thread.
/// Blocks of at most 16 KiB are not counted there: a thread keeps at most 64 KiB of each of their nine sizes.
[[nodiscard]] inline std::size_t kept_memory() { return detail::block_pool::bytes(); }
/// No limit, for `limit_kept_memory`.
inline constexpr std::size_t as_much_as_was_in_use = detail::kept_blocks::no_limit;
/// Sets a limit in bytes for this thread; 0 keeps nothing, `as_much_as_was_in_use` removes the limit. A thread that
/// keeps more gives everything back at once.
inline void limit_kept_memory(std::size_t bytes) { detail::block_pool::limit(bytes); }
/// Gives back to the system what this thread keeps, and forgets what was in use before; returns the bytes.
inline std::size_t trim_memory() { return detail::block_pool::trim(); }

namespace detail {

// Memory for one call of a kernel. Each call has its own: a user's function that a kernel calls may evaluate, too.
inline aligned_vector<unsigned char> scratch(std::size_t bytes) { return aligned_vector<unsigned char>(bytes); }

// Cuts `count` items into parts of `part` items, equally for every executor, and calls f(begin, end) for each.
template <class F>
void in_parts(const context& c, std::size_t count, std::size_t part, const F& f) {
  const std::size_t parts = (count + part - 1) / part;
  c.runner().parallel_for(parts,
                          [&](std::size_t i, std::size_t) { f(i * part, i + 1 == parts ? count : (i + 1) * part); });
}
// Elements of a part: enough that handing it to a thread is cheap beside it.
inline constexpr std::size_t part_elements = std::size_t{1} << 14;

}  // namespace detail

}  // namespace dimwise
