// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/recorded_value.hpp -- the gradient of a stored value: the sum of what arrives.
//
// Layer: grad. It knows the value's axes by their names and no type of a shape, so that the library has one class for
// all values of float, and one for those of double.
// Tests: tests/grad/tracked.test.cpp, tests/grad/operations/
#pragma once

#include <dimwise/eval/records/record.hpp>
#include <dimwise/grad/record/recorded.hpp>
#include <dimwise/tensor/memory/storage.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace dimwise::detail {

// The axes of a value in the order of its memory, and the mesh axes of its shape.
struct value_axes {
  name_list names;
  const axis_facts* facts;
  const axes_of_mesh* mesh;
};

// Whether tensors of this type share their elements; others have them inside.
template <class X>
inline constexpr bool in_shared_storage =
    std::is_same_v<decltype(std::declval<const X&>().handle()), const shared_storage<typename X::value_type>&>;
// Elements of their own, to be shared.
template <class T>
shared_storage<T> shared_copy(const T* from, std::size_t count) {
  shared_storage<T> copy(count);
  copy_elements(from, count, copy.write());
  return copy;
}

// A gradient in two sums: what is complete, and the terms that the ranks along an axis have.
template <class T>
struct gradient_in_terms {
  shared_storage<T> at_hand;
  bool are_terms;  // what is at hand
  bool has_other;
  shared_storage<T> other;
};

// Contiguous elements in the order of the value's axes.
template <class T>
class recorded_value : public recorded_gradient {
 public:
  recorded_value(std::uint64_t record, const value_axes& of) : recorded_value(record, of, of.mesh) {}
  /// With other mesh axes: `of_one_statement`.
  recorded_value(std::uint64_t record, const value_axes& of, const axes_of_mesh* sums);
  ~recorded_value() override;

  void add_record(const gradient_in_record& g, const axis* extents) final;
  /// Adds `count` elements. Throws `extent_error` where others were added before.
  void add(const shared_storage<T>& elements, std::size_t count);
  /// What has arrived.
  [[nodiscard]] const shared_storage<T>& whole();
  /// The same, moved out, so that its memory is free as soon as it was sent on.
  [[nodiscard]] shared_storage<T> taken();
  /// The same in two sums, for each one that arrived.
  [[nodiscard]] gradient_in_terms<T> taken_in_terms(const named_axis& along);
  [[nodiscard]] const value_axes& axes() const { return axes_; }

 private:
  gradient_elements elements() final;

  const value_axes& axes_;
  std::size_t count_ = 0;
  shared_storage<T> elements_{};
};

// The elements of `g` if a value with axes of these names can share them; null otherwise.
template <class T>
const shared_storage<T>* shared_elements(const record<T>& g, name_list names);

template <class T>
origin_pointer new_recorded_value(std::uint64_t record, const value_axes& of);
template <class T>
origin_pointer new_recorded_value(std::uint64_t record, const value_axes& of, const axes_of_mesh* sums);

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/grad/record/recorded_value_definitions.hpp>
#endif
