// SPDX-License-Identifier: BSL-1.0
// dimwise/io/stored_order.hpp -- how the numbers of a parameter are arranged in a file, as a type.
//
// Layer: io. Files say extents; which dimensions these are, and in which convention the numbers are stored, only their
// writer knows. Said by type, a square weight that is stored transposed is another type than one that is not.
// Tests: tests/io/checkpoint.test.cpp, tests/compile_fail/io/
//
//   stored<vocab, d_model>                            two axes, in the file's order
//   stored<together<heads, d_k>, d_model>             the heads and their features are one axis of the file
//   stored<together<heads, pairs_as_halves<d_k>>, d_model>      rotary pairs next to each other, the model has halves
//   stored<d_model, together<part<1, 3>, heads, d_k>>           the second of three that are stored in one array
#pragma once

#include <dimwise/tensor/tensor.hpp>

#include <string>
#include <vector>

namespace dimwise::io {

/// The axes of an array in a file, the slowest first: dimensions of the parameter, or several `together`.
template <class... Axes>
struct stored {};
/// Dimensions that are one axis of the file, the slowest first.
template <class... Axes>
struct together;
/// The I-th of `Count` parameters that share an array, where they follow each other along one of its axes.
template <std::size_t I, std::size_t Count>
struct part;
/// The features D of a head, whose halves the model's rotary turns together: in the file, what is turned together is
/// next to each other. And the reverse.
template <class D>
struct pairs_as_halves;
template <class D>
struct halves_as_pairs;

/// Conventions, as types. The two features that rotary turns together are `halves` (i and i + n/2, HuggingFace) or
/// `pairs` (2i and 2i + 1, the original LLaMA and GGUF).
struct halves {};
struct pairs {};
/// A linear map's array: `[inputs, outputs]` (Conv1D of GPT-2) or `[outputs, inputs]` (PyTorch's Linear).
struct in_out {};
struct out_in {};
/// Queries, keys and values in one array: all queries, all keys, all values; or the three of each head together.
struct thirds {};
struct by_heads {};
/// The scale of a norm is stored as it is, or less one.
struct as_is {};
struct less_one {};

namespace detail {

using namespace dimwise::detail;

// One loop over a file's array: how many, and the step in the parameter's memory.
struct step {
  std::size_t count;
  std::size_t stride;
};
// A file's array as loops, the slowest first, and what of it a parameter is.
struct arrangement {
  std::vector<std::size_t> extents;  // of the file's axes
  std::string words;                 // their dimensions
  std::vector<step> steps;
  std::size_t part = 0;  // which of the parameters that share the array; of `parts`
  std::size_t parts = 1;
  std::size_t part_step = 0;  // the step that goes over them, where there are several
  bool even = true;           // every dimension in pairs or halves has an even extent
};

// The dimensions of a file's axis.
template <class Axis>
struct dims_of_axis {
  using type = list<Axis>;
};
template <class... A>
struct dims_of_axis<together<A...>> {
  using type = join_t<list<>, typename dims_of_axis<A>::type...>;
};
template <std::size_t I, std::size_t Count>
struct dims_of_axis<part<I, Count>> {
  using type = list<>;
};
template <class D>
struct dims_of_axis<pairs_as_halves<D>> {
  using type = list<D>;
};
template <class D>
struct dims_of_axis<halves_as_pairs<D>> {
  using type = list<D>;
};

template <class Order>
struct order_dims;
template <class... Axes>
struct order_dims<stored<Axes...>> {
  using type = join_t<list<>, typename dims_of_axis<Axes>::type...>;
};
template <class Order, class Shape>
using order_verdict =
    std::conditional_t<same_set<typename order_dims<Order>::type, axes_for<Shape>> &&
                           all_distinct(typename order_dims<Order>::type{}),
                       accepted<Shape>, ERROR_R3_stored_order_lists_each_dimension_once<Order, operand_t<Shape>>>;

// "d_k[64]": for messages.
template <class D>
std::string dimension_text(std::size_t extent) {
  std::string text;
  say_name(dimension_name<D>(), [&](char c) { text += c; });
  return text + "[" + std::to_string(extent) + "]";
}

// Adds an axis of the file to an arrangement; returns its extent.
template <class Axes>
struct arranger {
  const axis* axes;  // of the parameter: extents and strides
  arrangement* to;

  template <class D>
  [[nodiscard]] const axis& of() const {
    return axes[index_in<D, Axes>];
  }
  void say(const std::string& word) const {
    to->words += (to->words.empty() || to->words.back() == '(' ? "" : " ") + word;
  }
  template <class D>
  std::size_t split(bool pairs_in_file) const {
    const axis& a = of<D>();
    const auto stride = static_cast<std::size_t>(a.stride);
    to->even = to->even && a.extent % 2 == 0;
    const std::size_t half = a.extent / 2;
    if (pairs_in_file) {
      to->steps.push_back({half, stride});
      to->steps.push_back({2, stride * half});
    } else {
      to->steps.push_back({2, stride});
      to->steps.push_back({half, 2 * stride});
    }
    say(dimension_text<D>(a.extent) + (pairs_in_file ? " in pairs" : " in halves"));
    return a.extent;
  }

  template <class D>
  std::size_t add(std::type_identity<D>) const {
    const axis& a = of<D>();
    to->steps.push_back({a.extent, static_cast<std::size_t>(a.stride)});
    say(dimension_text<D>(a.extent));
    return a.extent;
  }
  template <class D>
  std::size_t add(std::type_identity<pairs_as_halves<D>>) const {
    return split<D>(true);
  }
  template <class D>
  std::size_t add(std::type_identity<halves_as_pairs<D>>) const {
    return split<D>(false);
  }
  template <std::size_t I, std::size_t Count>
  std::size_t add(std::type_identity<part<I, Count>>) const {
    static_assert(I < Count, "dimwise: part<I, Count> is one of Count, counted from 0");
    to->part_step = to->steps.size();
    to->steps.push_back({Count, 0});
    to->part = I;
    to->parts = Count;
    say("part " + std::to_string(I) + " of " + std::to_string(Count));
    return Count;
  }
  template <class... A>
  std::size_t add(std::type_identity<together<A...>>) const {
    constexpr bool several = sizeof...(A) > 1;
    if (several) { say("("); }
    std::size_t n = 1;
    ((n *= add(std::type_identity<A>{})), ...);
    if (several) { to->words += ")"; }
    return n;
  }
};

// How a file's array in this order is arranged in a parameter of these extents.
template <class Order>
struct arranged;
template <class... A>
struct arranged<stored<A...>> {
  template <class Shape, class Extents>
  static arrangement in(const Extents& extents) {
    using all = axes_for<Shape>;
    axis axes[all::size + 1];
    axis_extents<all>::write_contiguous(extents, axes, "a parameter in a file");
    arrangement to;
    [[maybe_unused]] const arranger<all> add{axes, &to};
    (to.extents.push_back(add.add(std::type_identity<A>{})), ...);
    return to;
  }
};

}  // namespace detail

/// The order in which the parameter's own type has its dimensions.
template <class Tensor>
struct own_order {
  template <class List>
  struct of;
  template <class... A>
  struct of<detail::list<A...>> {
    using type = stored<A...>;
  };
  using type = typename of<detail::axes_for<detail::shape_of<Tensor>>>::type;
};

}  // namespace dimwise::io
