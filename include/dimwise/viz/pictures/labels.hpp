// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/labels.hpp -- labels for the elements of a dimension, such as tokens or class names.
//
// Layer: viz. Tables, pictures and reports accept labels; other elements are labelled by their index.
// Tests: tests/viz/print.test.cpp
//
//   labels<key>({"the", "old", "cat"})
#pragma once

#include <dimwise/expr/explain/shapes.hpp>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dimwise {

/// A label for each element of the dimension D.
template <class D>
class labels {
 public:
  /// Takes one label per element of D.
  explicit labels(std::vector<std::string> words) : words_(std::move(words)) {}
  /// The labels.
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  std::vector<std::string> words_;
};

namespace op {
struct labels;
}  // namespace op

namespace detail {

template <class X, class D>
inline constexpr bool has_labelled = is_in<D, dims_t<shape_of<X>>>;
template <class X, class... D>
using labels_of_another_tensor = missing_t<op::labels, difference_t<list<D...>, dims_t<shape_of<X>>>, shape_of<X>>;

// The labels given for D; empty if there are none.
template <class D, class X, class... L>
std::vector<std::string> words_for([[maybe_unused]] const char* operation, [[maybe_unused]] const X& x,
                                   const labels<L>&... given) {
  std::vector<std::string> found;
  [[maybe_unused]] const auto take = [&]<class G>(const labels<G>& words) {
    if constexpr (std::is_same_v<D, G>) {
      const std::size_t extent = x.extents().template extent<D>();
      if (words.words().size() != extent) {
        raise<extent_error>(error{} << operation << ": dimension " << dimension_name<D>() << " has extent " << extent
                                    << " and " << words.words().size() << " labels (R15)");
      }
      found = words.words();
    }
  };
  (take(given), ...);
  return found;
}

}  // namespace detail

}  // namespace dimwise
