// SPDX-License-Identifier: BSL-1.0
// dimwise/io/arrays/tensors.hpp -- conversions between a tensor and an array of a file.
//
// Layer: io. The dimensions are those of the requested type; run-time extents are the file's.
// Tests: tests/io/npy.test.cpp, tests/compile_fail/io/
//
//   auto x = read_tensor<tensor<float, batch, seq, d_model>>(file.at("x"));            // axes in the type's order
//   using order = stored<together<heads, d_k>, d_model>;
//   auto w = read_tensor<tensor<float, d_model, heads, d_k>, order>(file.at("w"), heads{8});
#pragma once

#include <dimwise/io/arrays/elements.hpp>
#include <dimwise/tensor/misused.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

namespace dimwise::op {
struct as_stored;
struct read_tensor;
}  // namespace dimwise::op

namespace dimwise::io {

namespace detail {

// Ids are stored as integers; the file does not name their dimension.
template <class Tensor>
struct numbers_of_ids {
  static constexpr bool any = false;
};
template <class D, class... DimsAndMarks>
struct numbers_of_ids<tensor<id<D>, DimsAndMarks...>> {
  static constexpr bool any = true;
  using dimension = D;
  using type = tensor<std::int64_t, DimsAndMarks...>;
};

// Extents that the file determines: an axis of a single dimension with a run-time extent.
template <class Extents>
struct extents_from_file {
  Extents& to;
  const std::vector<std::size_t>& from;
  std::size_t i = 0;

  template <class D>
  void set(std::type_identity<D>) {
    if constexpr (is_in<D, typename Extents::atoms> && D::static_extent == at_run_time) { to.set(D{from[i]}); }
    ++i;
  }
  template <class D>
  void set(std::type_identity<pairs_as_halves<D>>) {
    set(std::type_identity<D>{});
  }
  template <class D>
  void set(std::type_identity<halves_as_pairs<D>>) {
    set(std::type_identity<D>{});
  }
  template <class... A>
  void set(std::type_identity<together<A...>>) {
    ++i;
  }
};
template <class Extents, class... A>
void take_extents(Extents& to, const std::vector<std::size_t>& from, stored<A...>) {
  [[maybe_unused]] extents_from_file<Extents> all{to, from};
  (all.set(std::type_identity<A>{}), ...);
}
template <class... A>
constexpr std::size_t rank_of(stored<A...>) {
  return sizeof...(A);
}

}  // namespace detail

/// Reads the array as a tensor. Run-time extents come from the file; pass those of dimensions that share an axis.
/// Throws
/// `file_error` if the extents or elements do not match; rejects orders with other dimensions (R3).
template <class Tensor, class Order = typename own_order<Tensor>::type, class... Extents>
  requires(allowed<detail::order_verdict<Order, detail::shape_of<Tensor>>> && !detail::numbers_of_ids<Tensor>::any)
[[nodiscard]] Tensor read_tensor(const stored_array& from, rounding how, const Extents&... given) {
  typename Tensor::extents_type extents;
  const auto refuse = [&](const std::string& why) {
    throw file_error(detail::printable(from.name) + " (" + std::string(name_of(from.type)) + " " +
                     detail::listed(from.extents) + ") " + why);
  };
  if (from.extents.size() != detail::rank_of(Order{})) {
    refuse("has " + std::to_string(from.extents.size()) + " axes, " + std::to_string(detail::rank_of(Order{})) +
           " were expected");
  }
  detail::take_extents(extents, from.extents, Order{});
  (extents.set(given), ...);
  const detail::arrangement order = detail::arranged<Order>::template in<detail::shape_of<Tensor>>(extents);
  if (order.extents != from.extents || !order.even || order.parts > 1) { refuse("does not fit " + order.words); }
  if (const auto why = detail::unreadable<typename Tensor::value_type>(from, how); !why.empty()) { refuse(why); }
  Tensor to = Tensor::for_overwriting(extents);
  detail::read_elements(from, order, to.overwrite(), 0);
  return to;
}
/// Reads ids from integers. Throws `file_error` for a negative id, or one beyond a static extent.
template <class Tensor, class Order = typename own_order<Tensor>::type, class... Extents>
  requires(allowed<detail::order_verdict<Order, detail::shape_of<Tensor>>> && detail::numbers_of_ids<Tensor>::any)
[[nodiscard]] Tensor read_tensor(const stored_array& from, rounding how, const Extents&... given) {
  using ids = detail::numbers_of_ids<Tensor>;
  const auto numbers = read_tensor<typename ids::type, Order>(from, how, given...);
  Tensor to = Tensor::for_overwriting(numbers.extents());
  auto* out = to.overwrite();
  for (const std::int64_t number : numbers.values()) {
    constexpr auto most = ids::dimension::static_extent;
    if (number < 0 || (most != at_run_time && static_cast<std::uint64_t>(number) >= most)) {
      std::string dimension;
      dimwise::detail::say_name(dimwise::detail::dimension_name<typename ids::dimension>(),
                                [&](char c) { dimension += c; });
      throw file_error(detail::printable(from.name) + " has " + std::to_string(number) + ", which is not an id of " +
                       dimension + (most == at_run_time ? "" : " of extent " + std::to_string(most)));
    }
    *out++ = typename Tensor::value_type(static_cast<std::size_t>(number));
  }
  return to;
}
template <class Tensor, class Order = typename own_order<Tensor>::type, dimension_type... Extents>
  requires(allowed<detail::order_verdict<Order, detail::shape_of<Tensor>>>)
[[nodiscard]] Tensor read_tensor(const stored_array& from, const Extents&... given) {
  return read_tensor<Tensor, Order>(from, rounding::refused, given...);
}
template <class Tensor, class Order, class... Given,
          class Verdict = detail::order_verdict<Order, detail::shape_of<Tensor>>>
  requires refused<Verdict>
Verdict read_tensor(const stored_array& from, const Given&... given);
DIMWISE_DETAIL_MISUSED(read_tensor)

/// A tensor as an array of a file that borrows the elements, for `write_safetensors` and `write_npy`. Ids are written
/// as integers of 64 bits: the file does not name their dimension.
template <class T, class... D>
  requires(file_element<T> || dimwise::detail::is_id<T>)
[[nodiscard]] stored_array as_stored(const std::string& name, const tensor<T, D...>& x) {
  using axes = detail::axes_for<shape<D...>>;
  using number = std::conditional_t<file_element<T>, T, std::int64_t>;
  static_assert(sizeof(T) == sizeof(number), "an id has the bytes of an integer of 64 bits");
  detail::axis all[axes::size + 1];
  detail::axis_extents<axes>::write(x.extents(), all);
  stored_array a{name, element_type_of<number>, {}, std::as_bytes(x.values())};
  for (std::size_t i = 0; i < axes::size; ++i) { a.extents.push_back(all[i].extent); }
  return a;
}
DIMWISE_DETAIL_MISUSED(as_stored)

}  // namespace dimwise::io
