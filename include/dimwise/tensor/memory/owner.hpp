// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/memory/owner.hpp -- owners of an object on the heap: of one object, and of a copy of any function.
//
// Layer: tensor. <memory> and <functional> would be a fifth of what dimwise/grad.hpp costs a program's compilation.
// Tests: tests/tensor/memory/owner.test.cpp
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace dimwise::detail {

/// Deletes what it owns: std::unique_ptr.
template <class T>
class owner {
 public:
  owner() = default;
  explicit owner(T* made) noexcept : value_(made) {}
  template <std::derived_from<T> Derived>
  owner(owner<Derived>&& other) noexcept : value_(other.release()) {}
  owner(const owner&) = delete;
  owner& operator=(const owner&) = delete;
  owner(owner&& other) noexcept : value_(other.release()) {}
  owner& operator=(owner&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~owner() { delete value_; }
  [[nodiscard]] T* get() const { return value_; }
  [[nodiscard]] T& operator*() const { return *value_; }
  [[nodiscard]] T* operator->() const { return value_; }
  [[nodiscard]] T* release() noexcept { return std::exchange(value_, nullptr); }

 private:
  T* value_ = nullptr;
};

/// A copy of a function object: std::function. Calls of one that is empty are undefined.
template <class Signature>
class function_copy;
template <class Result, class... From>
class function_copy<Result(From...)> {
 public:
  function_copy() = default;
  /// A null pointer and an empty std::function make it empty.
  template <class F>
    requires(!std::same_as<F, function_copy> && !std::is_member_pointer_v<F> &&
             std::is_invocable_r_v<Result, const F&, From...>)
  function_copy(F f) {  // implicit: a lambda as a setting. By value: the name of a function becomes a pointer
    if constexpr (requires { f == nullptr; } && !std::is_empty_v<F>) {
      if (f == nullptr) { return; }
    }
    called_ = owner<const callable>(new copied<F>(f));
  }
  function_copy(const function_copy& other)
      : called_(other.called_.get() == nullptr ? nullptr : other.called_->copy()) {}
  function_copy(function_copy&& other) noexcept = default;
  function_copy& operator=(function_copy other) noexcept {
    called_ = static_cast<owner<const callable>&&>(other.called_);
    return *this;
  }
  ~function_copy() = default;
  explicit operator bool() const { return called_.get() != nullptr; }
  Result operator()(From... from) const { return called_->call(static_cast<From&&>(from)...); }

 private:
  struct callable {
    callable() = default;
    callable(const callable&) = delete;
    callable& operator=(const callable&) = delete;
    virtual ~callable() = default;
    virtual Result call(From... from) const = 0;
    virtual const callable* copy() const = 0;
  };
  template <class F>
  struct copied final : callable {
    explicit copied(const F& given) : f(given) {}
    Result call(From... from) const override { return static_cast<Result>(f(static_cast<From&&>(from)...)); }
    const callable* copy() const override { return new copied(f); }
    F f;
  };
  owner<const callable> called_{};
};

}  // namespace dimwise::detail
