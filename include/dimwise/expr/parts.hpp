// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/parts.hpp -- several operands of one type as one child of a node: their number is a run-time value.
//
// Layer: expr.
// Tests: tests/eval/written/sequences.test.cpp, tests/grad/operations/parts.test.cpp
#pragma once

#include <dimwise/expr/untracked.hpp>
#include <dimwise/tensor/memory/counted.hpp>

#include <vector>

namespace dimwise::detail {

// The operands, shared by all copies of the node.
template <class X>
class parts {
 public:
  using part_type = X;

  explicit parts(const std::vector<X>& all) : all_(counted<std::vector<X>>::make(all)) {}
  [[nodiscard]] std::size_t count() const { return (*all_).size(); }
  [[nodiscard]] const X& operator[](std::size_t i) const { return (*all_)[i]; }
  /// f(operand) for each of them, in order.
  template <class F>
  void each_child(const F& f) const {
    for (const X& x : *all_) { f(x); }
  }

 private:
  counted<std::vector<X>> all_;
};

template <class X>
inline constexpr bool is_parts = false;
template <class X>
inline constexpr bool is_parts<parts<X>> = true;
template <class X>
inline constexpr bool is_tracked<parts<X>> = is_tracked<X>;
template <class X>
  requires is_tracked<X>
struct untracked_operand<parts<X>> {
  static auto of(const parts<X>& x) {
    std::vector<untracked_type<X>> all;
    all.reserve(x.count());
    x.each_child([&](const X& part) { all.push_back(untracked_of(part)); });
    return parts<untracked_type<X>>(all);
  }
};

// The extents that all parts have, from `extents(part)`; throws where a part differs from those before it.
template <class Atoms, class X, class Extents>
auto common_extents(const char* operation, const std::vector<X>& all, const Extents& extents) {
  if (all.empty()) {
    raise<extent_error>(error{} << operation << ": the vector is empty, at least one operand is expected (R10)");
  }
  auto e = merge_extents<Atoms>(operation, extents(all[0]));
  for (std::size_t i = 1; i < all.size(); ++i) {
    try {
      e = merge_extents<Atoms>(operation, e, extents(all[i]));
    } catch (const extent_error& differs) {
      raise<extent_error>(error{} << differs.what() << "; element " << i
                                  << " of the vector is the first that differs from those before it");
    }
  }
  return e;
}

}  // namespace dimwise::detail
