// SPDX-License-Identifier: BSL-1.0
// dimwise/io/arrays/stored_order.hpp -- types that describe the axis order and conventions of a parameter in a file.
//
// Layer: io. Files contain extents only; their dimensions and conventions are known to the writer. As types, a square
// weight that is stored transposed differs from one that is not.
// Tests: tests/io/checkpoint.test.cpp, tests/compile_fail/io/
//
//   stored<vocab, d_model>                            two axes, in the file's order
//   stored<together<heads, d_k>, d_model>             heads and features merged into one axis of the file
//   stored<together<heads, pairs_as_halves<d_k>>, d_model>      rotary pairs in the file, halves in the model
//   stored<d_model, together<part<1, 3>, heads, d_k>>           the second of three parameters in one array
#pragma once

#include <dimwise/support/library.hpp>
#include <dimwise/tensor/tensor.hpp>

#include <string>
#include <vector>

namespace dimwise::io {

/// The axes of an array in a file, the slowest first: dimensions of the parameter, or `together` lists.
template <class... Axes>
struct stored {};
/// Dimensions that form one axis of the file, the slowest first.
template <class... Axes>
struct together;
/// The I-th of `Count` parameters that are concatenated along an axis of one array.
template <std::size_t I, std::size_t Count>
struct part;
/// Converts the feature order of rotary: the two features of a rotation are adjacent in the file and in different
/// halves in the model; and the reverse.
template <class D>
struct pairs_as_halves;
template <class D>
struct halves_as_pairs;

/// Conventions of rotary, as types: the two features of a rotation are `halves` (i and i + n/2, HuggingFace) or `pairs`
/// (2i and 2i + 1, the original LLaMA and GGUF).
struct halves {};
struct pairs {};
/// The array of a linear map: `[inputs, outputs]` (Conv1D of GPT-2) or `[outputs, inputs]` (PyTorch's Linear).
struct in_out {};
struct out_in {};
/// Linear maps in one array: the outputs of the first map, then those of the second, and so on, in equal numbers
/// (`equal_parts`: keys and values; gate and up of a feed-forward); three such maps, queries, keys and values
/// (`thirds`); or grouped by head. Maps with different numbers of outputs are stored in turn (`stacked`: all queries,
/// then fewer keys and values), or in turn for each index of their first output dimension (`by_groups`: the queries of
/// a key head, its key, its value).
struct equal_parts {};
struct thirds {};
struct by_heads {};
struct stacked {};
struct by_groups {};
/// The scale of a norm is stored as is, or minus one.
struct as_is {};
struct less_one {};

namespace detail {

using namespace dimwise::detail;

// A loop over a parameter: the count, the stride in the parameter's memory, and the stride in the file's array.
struct step {
  std::size_t count;
  std::size_t stride;
  std::size_t file_stride = 0;
};
// One division of a dimension among ranks.
struct shard_division {
  axis_key axis;
  bool striped;
};
// Identifies a dimension in bindings.
template <class D>
inline constexpr char dimension_key = 0;
// A step over this rank's part of a dimension.
struct sharded_step {
  std::size_t step;
  std::string words;                        // this part, as in `arrangement::words`
  dimwise::detail::text (*whole_name)();    // of the dimension that is divided
  const void* whole_key;                    // its `dimension_key`
  std::size_t whole_extent;                 // or at_run_time
  std::vector<shard_division> divisions{};  // that of the whole dimension first; empty if it has no place in a file
};
// Where a rank's part is in the whole dimension: at first, first + distance, …
struct shard_place {
  std::size_t whole;
  std::size_t first;
  std::size_t distance;
};
// A file's array as loops, the slowest first, over the part of it that is the parameter.
struct arrangement {
  std::vector<std::size_t> extents{};  // the extents of the file's axes
  std::string words{};                 // the dimensions of these axes
  std::vector<step> steps{};
  std::vector<std::size_t> axes{};  // the first step of each axis of the file
  std::size_t begin = 0;            // the index of the parameter's first element in the file's array
  std::size_t part = 0;             // the index among the `parts` parameters of the array
  std::size_t parts = 1;
  std::size_t part_step = 0;           // the index of the step over the parts
  bool even = true;                    // whether every dimension in pairs or halves has an even extent
  std::vector<sharded_step> shards{};  // the dimensions of which each rank has a part

  // The number of elements of the parameter.
  [[nodiscard]] std::size_t size() const {
    std::size_t n = 1;
    for (const step& s : steps) { n *= s.count; }
    return n;
  }
  // Sets the strides in the file from the counts of the steps, and selects the part.
  void place();
  // Makes the array that of the whole dimensions, without other parameters in it.
  void make_whole(const std::vector<shard_place>& places);
  // After `make_whole`: this rank has a part at each of these places, one for each of `shards`. `here` are its extents.
  void take_part(const std::vector<shard_place>& places, const std::vector<std::size_t>& here);
  // Makes the parameter one of `count` parameters along this axis of the file: `block` are the outermost loops of the
  // axis that the parameters share, `rows` how many elements of the axis each block of them all has, and `first` the
  // index of this parameter's first one in a block.
  void widen(std::size_t file_axis, bool in_blocks, std::size_t rows, std::size_t first, std::size_t index,
             std::size_t count);
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

// "d_k[64]", for messages.
template <class D>
std::string dimension_text(std::size_t extent) {
  std::string text;
  say_name(dimension_name<D>(), [&](char c) { text += c; });
  return text + "[" + std::to_string(extent) + "]";
}

// The divisions of a dimension, that of the whole one first.
template <class D>
void list_divisions(std::vector<shard_division>& to) {
  if constexpr (is_shard<D>) {
    using M = typename D::shard_along;
    list_divisions<typename D::shard_of>(to);
    to.push_back({&axis_id<M>, D::is_striped});
  }
}

// Adds an axis of the file to an arrangement; returns its extent.
template <class Axes>
struct arranger {
  const axis* axes;  // extents and strides of the parameter
  arrangement* to;

  template <class D>
  [[nodiscard]] const axis& of() const {
    return axes[index_in<D, Axes>];
  }
  void say(const std::string& word) const {
    to->words += (to->words.empty() || to->words.back() == '(' ? "" : " ") + word;
  }
  template <class D>
  void note_shard([[maybe_unused]] std::size_t extent, [[maybe_unused]] bool has_place) const {
    if constexpr (is_sharded<D>) {
      using whole = whole_t<D>;
      sharded_step& one =
          to->shards.emplace_back(sharded_step{to->steps.size(), dimension_text<D>(extent), &dimension_name<whole>,
                                               &dimension_key<whole>, whole::static_extent});
      if (has_place) { list_divisions<D>(one.divisions); }
    }
  }
  template <class D>
  std::size_t split(bool pairs_in_file) const {
    const axis& a = of<D>();
    note_shard<D>(a.extent, false);
    const auto stride = static_cast<std::size_t>(a.stride);
    to->even = to->even && a.extent % 2 == 0;
    const std::size_t half = a.extent / 2;
    if (pairs_in_file) {
      to->steps.push_back({half, stride, 0});
      to->steps.push_back({2, stride * half, 0});
    } else {
      to->steps.push_back({2, stride, 0});
      to->steps.push_back({half, 2 * stride, 0});
    }
    say(dimension_text<D>(a.extent) + (pairs_in_file ? " in pairs" : " in halves"));
    return a.extent;
  }

  template <class D>
  std::size_t add(std::type_identity<D>) const {
    const axis& a = of<D>();
    note_shard<D>(a.extent, true);
    to->steps.push_back({a.extent, static_cast<std::size_t>(a.stride), 0});
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
    to->steps.push_back({Count, 0, 0});
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

// The arrangement of a file's array in this order for a parameter with these extents.
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
    ((to.axes.push_back(to.steps.size()), to.extents.push_back(add.add(std::type_identity<A>{}))), ...);
    to.place();
    return to;
  }
};

}  // namespace detail

/// The order of the dimensions in the parameter's type.
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

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/io/arrays/stored_order_definitions.hpp>
#endif
