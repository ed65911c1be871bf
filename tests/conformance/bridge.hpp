// tests/conformance/bridge.hpp -- from arrays whose extents are known when the program runs to named tensors, and back.
//
// Included by case.hpp, whose templates it defines.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "case.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace conformance::bridge {

using dimwise::dimension_type;
using dimwise::merged;
using dimwise::summed;
using dimwise::tensor;
using extent = std::optional<std::size_t>;

// The extent of A among those given, or its static one.
template <class A, class... Known>
extent given(const Known&... known) {
  extent found;
  if constexpr (A::static_extent != dimwise::at_run_time) { found = A::static_extent; }
  (void)(... || [&] {
    if constexpr (std::is_same_v<A, Known>) { found = known.extent(); }
    return std::is_same_v<A, Known>;
  }());
  return found;
}

// What is known of D, and the extent of its part A where D has `stored` elements.
template <class D>
struct part_of {
  template <class... Known>
  static extent size(const Known&... known) {
    return given<D>(known...);
  }
  template <class A, class... Known>
  static extent find(std::size_t stored, const Known&...) {
    return std::is_same_v<A, D> ? extent(stored) : extent();
  }
};
template <class... F>
struct part_of<merged<F...>> {
  template <class... Known>
  static extent size(const Known&... known) {
    std::size_t all = 1;
    for (const extent& n : {part_of<F>::size(known...)...}) {
      if (!n) { return {}; }
      all *= *n;
    }
    return all;
  }
  template <class A, class... Known>
  static extent find(std::size_t stored, const Known&... known) {
    const std::array<extent, sizeof...(F)> sizes{part_of<F>::size(known...)...};
    std::size_t others = 1;
    for (const extent& n : sizes) { others *= n.value_or(1); }
    extent found;
    std::size_t i = 0;
    (void)(... ||
           (found = part_of<F>::template find<A>(sizes[i] ? *sizes[i] : (others == 0 ? 0 : stored / others), known...),
            ++i, found.has_value()));
    return found;
  }
};
template <class... P>
struct part_of<summed<P...>> {
  template <class... Known>
  static extent size(const Known&... known) {
    std::size_t all = 0;
    for (const extent& n : {part_of<P>::size(known...)...}) {
      if (!n) { return {}; }
      all += *n;
    }
    return all;
  }
  template <class A, class... Known>
  static extent find(std::size_t stored, const Known&... known) {
    const std::array<extent, sizeof...(P)> sizes{part_of<P>::size(known...)...};
    std::size_t others = 0;
    for (const extent& n : sizes) { others += n.value_or(0); }
    extent found;
    std::size_t i = 0;
    (void)(... || (found = part_of<P>::template find<A>(sizes[i] ? *sizes[i] : (others > stored ? 0 : stored - others),
                                                        known...),
                   ++i, found.has_value()));
    return found;
  }
};

// The object of atom A: as it was given, with its origin, or from the extents that are stored.
template <class A, class... D, class... Known>
A atom(const std::vector<std::size_t>& stored, const Known&... known) {
  A result{};
  bool found = false;
  [[maybe_unused]] const auto take = [&](const auto& k) {
    if constexpr (std::is_same_v<A, std::remove_cvref_t<decltype(k)>>) {
      result = k;
      found = true;
    }
  };
  (take(known), ...);
  std::size_t axis = 0;
  [[maybe_unused]] const auto look = [&]<class X>(std::type_identity<X>) {
    if constexpr (dimension_type<X>) {
      const extent n = part_of<X>::template find<A>(stored[axis++], known...);
      if (!found && n) {
        if constexpr (requires { A{std::ptrdiff_t()}; }) {
          result = A{static_cast<std::ptrdiff_t>(*n)};
        }  // packed ones are given
        found = true;
      }
    }
  };
  (look(std::type_identity<D>{}), ...);
  return result;
}

template <class... D>
std::string names() {
  std::string all;
  [[maybe_unused]] const auto add = [&]<class X>(std::type_identity<X>) {
    if constexpr (dimension_type<X>) {
      const auto name = dimwise::detail::dimension_name<X>();
      all += (all.empty() ? "" : " ") + std::string(name.begin, name.length);
    }
  };
  (add(std::type_identity<D>{}), ...);
  return all;
}

// The extents of a tensor's dimensions in memory order.
template <class T, class... D>
std::vector<std::size_t> shape_of(const tensor<T, D...>& x) {
  std::vector<std::size_t> shape;
  [[maybe_unused]] const auto add = [&]<class X>(std::type_identity<X>) {
    if constexpr (dimension_type<X>) { shape.push_back(x.extents().template extent<X>()); }
  };
  (add(std::type_identity<D>{}), ...);
  return shape;
}

template <class T, class... D, class... A, class... Known>
tensor<T, D...> zeros(const std::vector<std::size_t>& stored, dimwise::detail::list<A...>*, const Known&... known) {
  if constexpr (sizeof...(A) == 0) {
    return tensor<T, D...>();
  } else {
    return tensor<T, D...>(atom<A, D...>(stored, known...)...);
  }
}

// `where` over the dimensions of `like`, in their order.
template <class T, class... D, class W>
tensor<bool, D...> spread(const tensor<T, D...>& like, const W& where) {
  return dimwise::broadcast_like(where, like);
}

// Neighbours of one are a single extent of the other, again and again; 1s are left out.
bool same_grouping(std::vector<std::size_t> dims, std::vector<std::size_t> axes);
[[noreturn]] void refuse_rank(const array& from, std::size_t expected, const std::string& dims);
[[noreturn]] void refuse_shape(const array& from, const std::vector<std::size_t>& expected, const std::string& dims);
// The strides of the array's axes where its last axes are those of `shape` and extents of 1 are stretched.
std::vector<std::ptrdiff_t> stretch(const array& from, const std::vector<std::size_t>& shape);

template <class T>
inline constexpr bool is_id = false;
template <class D>
inline constexpr bool is_id<dimwise::id<D>> = true;

// The same for ids, which are stored as whole numbers.
template <class T>
void copy(const array& from, T* to) {
  if constexpr (is_id<T>) {
    std::vector<std::int64_t> numbers(from.size());
    copy_elements(from, numbers.data());
    std::transform(numbers.begin(), numbers.end(), to, [](std::int64_t n) { return T(static_cast<std::size_t>(n)); });
  } else {
    copy_elements(from, to);
  }
}

}  // namespace conformance::bridge

namespace conformance {

template <class T, class... D, class... Known>
dimwise::tensor<T, D...> run::get(const which& w, const Known&... known) const {
  const array& from = at(w);
  constexpr std::size_t rank = (static_cast<std::size_t>(dimwise::dimension_type<D>) + ... + std::size_t{0});
  if (from.shape.size() != rank) { bridge::refuse_rank(from, rank, bridge::names<D...>()); }
  using atoms = typename dimwise::tensor<T, D...>::extents_type::atoms;
  auto result = bridge::zeros<T, D...>(from.shape, static_cast<atoms*>(nullptr), known...);
  if (bridge::shape_of(result) != from.shape) {
    bridge::refuse_shape(from, bridge::shape_of(result), bridge::names<D...>());
  }
  bridge::copy(from, result.data());
  result.seal();
  return result;
}

template <class T, class... D>
dimwise::tensor<T, D...> run::stretched(const which& w, const D&... extents) const {
  const array& from = at(w);
  const auto strides = bridge::stretch(from, {extents.extent()...});
  struct elements : dimwise::choice_dim<> {};
  dimwise::tensor<T, elements> all(elements{static_cast<std::ptrdiff_t>(from.size())});
  copy_elements(from, all.data());
  dimwise::strides<sizeof...(D)> by{};
  std::copy(strides.begin(), strides.end(), by.at.begin());
  return dimwise::tensor<T, D...>(dimwise::tensor_view<const T, D...>(std::as_const(all).data(), by, extents...));
}

template <class T, class... D>
dimwise::tensor<T, D...> run::grouped(const which& w, const D&... extents) const {
  const array& from = at(w);
  if (!bridge::same_grouping({extents.extent()...}, from.shape)) {
    bridge::refuse_shape(from, {extents.extent()...}, bridge::names<D...>());
  }
  dimwise::tensor<T, D...> result(extents...);
  copy_elements(from, result.data());
  result.seal();
  return result;
}

template <dimwise::operand X>
void run::expect(const which& output, const X& value) {
  const dimwise::tensor computed(value);
  check(output, bridge::shape_of(computed), computed.data(), nullptr);
}

template <dimwise::operand X, dimwise::operand W>
void run::expect(const which& output, const X& value, const W& where) {
  const dimwise::tensor computed(dimwise::plain(value));
  const auto defined = bridge::spread(computed, where);
  check(output, bridge::shape_of(computed), computed.data(), defined.data());
}

}  // namespace conformance
