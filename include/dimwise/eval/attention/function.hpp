// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/function.hpp -- a user's function of scores, called back by the attention kernel.
//
// Layer: eval.
// Tests: tests/eval/attention/scores.test.cpp
#pragma once

#include <dimwise/eval/context.hpp>
#include <dimwise/support/atomic.hpp>

#include <exception>
#include <string_view>

namespace dimwise::detail {

// A function of the user's own to each of some numbers; in groups of a constant count, which compilers turn into
// vectors.
template <class F>
[[gnu::always_inline]] inline void change_each_inline(const F& f, float* numbers, std::size_t count) {
  constexpr std::size_t group = 64;
  for (; count >= group; numbers += group, count -= group) {
    for (std::size_t i = 0; i < group; ++i) { numbers[i] = static_cast<float>(f(numbers[i])); }
  }
  for (std::size_t i = 0; i < count; ++i) { numbers[i] = static_cast<float>(f(numbers[i])); }
}
template <class F>
void change_each(const F& f, float* numbers, std::size_t count) {
  change_each_inline(f, numbers, count);
}
// Compiled kernels run on more than the user's flags allow: so does the user's function beside them.
#if defined(DIMWISE_COMPILED_KERNELS) && (defined(__x86_64__) || defined(__i386__))
template <class F>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]] void change_each_avx512(const F& f, float* numbers,
                                                                                       std::size_t count) {
  change_each_inline(f, numbers, count);
}
template <class F>
[[gnu::target("avx2,fma")]] void change_each_avx2(const F& f, float* numbers, std::size_t count) {
  change_each_inline(f, numbers, count);
}
template <class F>
auto change_each_of(const F&) -> void (*)(const F&, float*, std::size_t) {
  const std::string_view architecture = kernels::active().architecture;
  if (architecture.find("avx512") != std::string_view::npos) { return &change_each_avx512<F>; }
  if (architecture.find("avx2") != std::string_view::npos) { return &change_each_avx2<F>; }
  return &change_each<F>;
}
#else
template <class F>
auto change_each_of(const F&) -> void (*)(const F&, float*, std::size_t) {
  return &change_each<F>;
}
#endif

// A function of the user's own, called back by kernels, which throw nothing: what it throws is kept until they are
// done.
class own_function {
 public:
  template <class F>
  void call(const F& f) {
    using function = void (*)(const F&, float*, std::size_t);
    function_ = &f;
    change_ = reinterpret_cast<void (*)()>(change_each_of(f));
    apply_ = [](void* self, float* scores, std::size_t count) noexcept {
      auto& own = *static_cast<own_function*>(self);
      context own_context;  // what the function evaluates is its own business
      const use_context serial(own_context);
      try {
        reinterpret_cast<function>(own.change_)(*static_cast<const F*>(own.function_), scores, count);
      } catch (...) {
        if (!own.failed_.exchange_acquire_release(true)) { own.thrown_ = std::current_exception(); }
      }
    };
  }
  // The same of a function that has a kernel.
  void call(kernels::function f) {
    code_ = f;
    apply_ = [](void* self, float* scores, std::size_t count) noexcept {
      kernels::active().map(static_cast<own_function*>(self)->code_, count, scores, scores);
    };
  }
  void describe(kernels::score_function& to) {
    to.own = apply_;
    to.context = this;
  }
  void rethrow() const {
    if (thrown_ != nullptr) { std::rethrow_exception(thrown_); }
  }

 private:
  const void* function_ = nullptr;
  kernels::function code_ = kernels::function::none;
  void (*change_)() = nullptr;
  void (*apply_)(void*, float*, std::size_t) noexcept = nullptr;
  atomic_value<bool> failed_{false};
  std::exception_ptr thrown_{};
};

}  // namespace dimwise::detail
