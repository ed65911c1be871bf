// tests/fuzz/operands.hpp -- operands in memory of any order: permuted, with gaps, backwards, one element for many.
//
// What lies between the elements is NaN, true or a large number: nothing else may be read.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "attempt.hpp"
#include <dimwise/dimwise.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <vector>

namespace fuzz {

using dimwise::tensor;
using dimwise::tensor_view;

/// Whether one element may stand for all along a dimension: not where elements are changed one by one.
enum class repeats : bool { never, sometimes };

/// Strides of a random layout, where its first element is, and how much memory it takes.
struct layout {
  std::vector<std::ptrdiff_t> strides;
  std::size_t first = 0;
  std::size_t size = 0;
};
layout random_layout(source& random, std::span<const std::size_t> extents, repeats may_repeat);
std::string in_words(const layout& l);

/// A tensor of random elements; copies with other elements share its layout.
template <class T, class... D>
class held {
 public:
  using view_type = tensor_view<const T, D...>;
  using tensor_type = tensor<T, D...>;
  static constexpr std::size_t rank = view_type::rank;

  /// Elements from `generate()`, in the order of the type.
  template <class Generator, class... Given>
  held(attempt& a, const char* name, Generator&& generate, repeats may_repeat, const Given&... given)
      : make_([given...](const T* at, const dimwise::strides<rank>& by) { return view_type(at, by, given...); }) {
    const view_type shape(static_cast<const T*>(nullptr), given...);
    for (std::size_t i = 0; i < rank; ++i) { extents_.push_back(shape.layout()[i].extent); }
    size_ = shape.size();
    layout_ = random_layout(a.random, extents_, may_repeat);
    elements_ = std::make_unique<T[]>(size_ + 1);
    for (std::size_t i = 0; i < size_; ++i) { elements_[i] = static_cast<T>(generate()); }
    for (std::size_t i = 0; i < size_; ++i) { elements_[i] = elements_[place(i).same]; }
    view_ = std::make_unique<view_type>(like([](std::size_t, T x) { return x; }));
    if (a.telling()) { a.note(std::string(name) + " " + dimwise::describe(*view_) + in_words(layout_)); }
  }
  held(const held&) = delete;
  held& operator=(const held&) = delete;

  [[nodiscard]] const view_type& view() const { return *view_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t extent(std::size_t i) const { return extents_[i]; }
  /// An element by its number in the order of the type, or by its place.
  [[nodiscard]] const T& operator[](std::size_t i) const { return elements_[i]; }
  template <class... I>
  [[nodiscard]] const T& at(I... place) const {
    static_assert(sizeof...(I) == rank);
    std::size_t i = 0;
    std::size_t k = 0;
    ((i = i * extents_[k++] + static_cast<std::size_t>(place)), ...);
    return elements_[i];
  }
  /// Row-major, as a tensor owns it.
  [[nodiscard]] tensor_type dense() const { return tensor_type(*view_); }
  /// The same layout with f(number in the order of the type, element) for elements.
  template <class F>
  [[nodiscard]] view_type like(F f) const {
    memory_.push_back(std::make_unique<T[]>(layout_.size + 1));
    T* const memory = memory_.back().get();
    std::fill_n(memory, layout_.size + 1, between());
    for (std::size_t i = 0; i < size_; ++i) { memory[place(i).offset] = f(i, elements_[i]); }
    dimwise::strides<rank> by{};
    for (std::size_t k = 0; k < rank; ++k) { by.at[k] = layout_.strides[k]; }
    return make_(memory + layout_.first, by);
  }
  /// The same layout of magnitudes, for bounds.
  [[nodiscard]] view_type magnitudes() const {
    return like([](std::size_t, T x) { return std::abs(x); });
  }
  [[nodiscard]] double largest() const {
    double most = 0;
    for (std::size_t i = 0; i < size_; ++i) { most = std::max(most, std::abs(static_cast<double>(elements_[i]))); }
    return most;
  }

 private:
  struct found {
    std::size_t offset;  // in memory
    std::size_t same;    // the number of the first element that has this one's memory
  };
  [[nodiscard]] found place(std::size_t i) const {
    auto offset = static_cast<std::ptrdiff_t>(layout_.first);
    std::size_t same = 0;
    std::size_t step = 1;
    for (std::size_t k = rank; k-- > 0;) {
      const std::size_t along = i % extents_[k];
      offset += static_cast<std::ptrdiff_t>(along) * layout_.strides[k];
      if (layout_.strides[k] != 0) { same += along * step; }
      step *= extents_[k];
      i /= extents_[k];
    }
    return {static_cast<std::size_t>(offset), same};
  }
  static T between() {
    if constexpr (std::is_same_v<T, bool>) {
      return true;
    } else if constexpr (std::is_floating_point_v<T>) {
      return std::numeric_limits<T>::quiet_NaN();
    } else if constexpr (std::is_arithmetic_v<T>) {
      return std::numeric_limits<T>::max();
    } else {
      return T(std::size_t{1} << 40U);
    }
  }

  std::function<view_type(const T*, const dimwise::strides<rank>&)> make_;
  std::vector<std::size_t> extents_;
  std::size_t size_ = 0;
  layout layout_;
  std::unique_ptr<T[]> elements_;
  mutable std::list<std::unique_ptr<T[]>> memory_;
  std::unique_ptr<view_type> view_;
};

}  // namespace fuzz
