// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/partial_sums.hpp -- gradients of which each rank has one term, until they are added.
//
// Layer: grad. A value that is whole along a mesh axis and meets a shard has one term of its gradient on each rank. The
// terms are added once, before the gradient is sent on. What sends messages is behind `sum_over_ranks`.
// Tests: tests/ranks/training/gradients.test.cpp
#pragma once

#include <dimwise/shape/shape.hpp>
#include <dimwise/support/library.hpp>
#include <dimwise/tensor/memory/owner.hpp>

#include <cstddef>
#include <cstdint>

namespace dimwise::detail {

// The mesh axes of a shape: of its shards and of its partial sums.
struct axes_of_mesh {
  const axis_key* first;
  std::size_t count;
};
template <class Axes>
struct axis_ids;
template <class... M>
struct axis_ids<list<M...>> {
  static constexpr axis_key all[] = {&axis_id<M>...};
  static constexpr axes_of_mesh value{all, sizeof...(M)};
};
// Null if all of it is whole.
template <class Shape>
consteval const axes_of_mesh* axes_of_shape() {
  if constexpr (is_placed<Shape>) {
    return &axis_ids<unique_t<mesh_axes_of_shape_t<Shape>>>::value;
  } else {
    return nullptr;
  }
}

// The sum over the ranks along one mesh axis, in the order of the ranks; layer `ranks` sends the messages.
class sum_over_ranks {
 public:
  sum_over_ranks() = default;
  sum_over_ranks(const sum_over_ranks&) = delete;
  sum_over_ranks& operator=(const sum_over_ranks&) = delete;
  virtual ~sum_over_ranks() = default;
  virtual void add(float* terms, std::size_t count) const = 0;
  virtual void add(double* terms, std::size_t count) const = 0;
  // Called in a handler: the exception ends the gradient on this rank, so the others need not wait for it.
  virtual void abandon() const = 0;
};

// In place of the axes of a value: all that is sent to it comes from one statement, so it has one sum.
inline constexpr axes_of_mesh of_one_statement{nullptr, 0};

// A set of mesh axes, one bit each, in the order in which the thread's gradient met them.
using axis_set = std::uint32_t;

// The ranks of a thread while it computes gradients. Without shards it is a counter.
class gradient_ranks {
 public:
  // A call that computes a gradient: the outermost one forgets the ranks at its end.
  class scope {
   public:
    scope() { ++depth; }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope() {
      if (--depth == 0 && known != nullptr) { forget(); }
    }
  };
  // While it lives, what is sent comes from a statement with these axes.
  class root {
   public:
    explicit root(const axes_of_mesh* axes) : outer_(sent_from) { sent_from = axes; }
    root(const root&) = delete;
    root& operator=(const root&) = delete;
    ~root() { sent_from = outer_; }

   private:
    const axes_of_mesh* outer_;
  };
  // While it lives, the loss is a term of a sum along these axes. Gradients of what is whole along them are left as
  // terms, except where a collective along them needs the sum.
  class partial_loss {
   public:
    explicit partial_loss(const axes_of_mesh* axes) : outer_(left) { left = axes; }
    partial_loss(const partial_loss&) = delete;
    partial_loss& operator=(const partial_loss&) = delete;
    ~partial_loss() { left = outer_; }

   private:
    const axes_of_mesh* outer_;
  };

  /// Whether a gradient is computed that has no sum along this axis yet.
  [[nodiscard]] static bool lacks(const named_axis& axis) { return depth > 0 && !has_sum(axis); }
  /// A collective in the loss gives its ranks: sums along the axis are theirs.
  DIMWISE_DETAIL_LIBRARY static void give(const named_axis& axis, owner<const sum_over_ranks> sum);
  /// Whether the loss is a term of a sum along this axis.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY static bool is_left(const named_axis& axis);

  /// The axes along which a gradient that is sent now is a term of a sum, for a value with axes of its own.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY static axis_set met_by(const axes_of_mesh* own);
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY static axis_set bit_of(const named_axis& axis);
  /// Adds the terms of the ranks along the axes of the set; throws `gradient_error` for one without a sum.
  DIMWISE_DETAIL_LIBRARY static void add(axis_set axes, float* terms, std::size_t count);
  DIMWISE_DETAIL_LIBRARY static void add(axis_set axes, double* terms, std::size_t count);

  /// Called in a handler: tells the ranks along all axes that were met that this one ends.
  static void abandon() {
    if (known != nullptr) { abandon_known(); }
  }

  [[nodiscard]] static bool is_sent_on_ranks() { return sent_from != nullptr; }

 private:
  struct state;
  template <class T>
  static void add_terms(axis_set axes, T* terms, std::size_t count);
  DIMWISE_DETAIL_LIBRARY static state& now();
  DIMWISE_DETAIL_LIBRARY static bool has_sum(const named_axis& axis);
  DIMWISE_DETAIL_LIBRARY static void forget() noexcept;
  DIMWISE_DETAIL_LIBRARY static void abandon_known();

  inline static thread_local const axes_of_mesh* sent_from = nullptr;
  inline static thread_local const axes_of_mesh* left = nullptr;
  inline static thread_local std::size_t depth = 0;
  inline static thread_local state* known = nullptr;
};

// The elements of a gradient, for writing.
struct gradient_elements {
  enum class type : unsigned char { float32, float64, other };
  void* first;
  std::size_t count;
  std::size_t bytes;
  type of;
};

// The sums of one gradient: what is whole, and terms along sets of axes. One of them is at hand, in a derived class,
// which adds what is sent; the others wait.
class gradient_sums {
 public:
  /// Of a value with these axes; null if it is whole.
  explicit gradient_sums(const axes_of_mesh* own) : own_(own) {}
  gradient_sums(const gradient_sums&) = delete;
  gradient_sums& operator=(const gradient_sums&) = delete;

  [[nodiscard]] bool arrived() const { return arrived_; }

 protected:
  ~gradient_sums() {
    if (more_ != nullptr) { drop(); }
  }
  void set_arrived(bool has) { arrived_ = has; }
  /// Before something is added: the sum that it is a term of is at hand afterwards. `arrived` tells whether it has
  /// begun.
  [[gnu::noinline]] void meet() {
    if (gradient_ranks::is_sent_on_ranks() || more_ != nullptr) { meet_ranks(); }
  }
  /// Adds the terms of the ranks, except along these axes. What is at hand is the whole gradient afterwards, unless
  /// `holds_terms`.
  void complete(axis_set except = 0) {
    if (more_ != nullptr) { complete_sums(except); }
  }
  /// After `complete` with an exception: whether what is at hand is a term, and the other sum, if there are two.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY bool holds_terms() const;
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY const void* other_sum() const;
  /// There are no terms of other ranks.
  DIMWISE_DETAIL_LIBRARY void drop() noexcept;

 private:
  struct by_axes;
  /// The elements of the sum that is at hand.
  virtual gradient_elements elements() { return {nullptr, 0, 0, gradient_elements::type::other}; }
  DIMWISE_DETAIL_LIBRARY void meet_ranks();
  DIMWISE_DETAIL_LIBRARY void complete_sums(axis_set except);
  template <class T>
  static void complete_elements(by_axes& sums, axis_set except, T* at_hand, std::size_t count);

  const axes_of_mesh* own_;
  by_axes* more_ = nullptr;
  bool arrived_ = false;
};

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/grad/record/partial_sums_definitions.hpp>
#endif
