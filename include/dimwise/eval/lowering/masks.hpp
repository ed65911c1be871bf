// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/lowering/masks.hpp -- the elements of masks, over their own dimensions.
//
// Layer: eval.
// Tests: tests/expr/masks/mask.test.cpp, tests/eval/attention/whole_rows.test.cpp
#pragma once

#include <dimwise/eval/pass.hpp>
#include <dimwise/expr/masks/causal_parts.hpp>
#include <dimwise/expr/masks/mask.hpp>

namespace dimwise::detail {

template <class Pass, class M, class Extents>
lowered<bool> mask_buffer(const Extents& e) {
  lowered<bool> result;
  axis_extents<mask_axes<M>>::write_contiguous(e, result.axes);
  allocate<Pass, bool, mask_axes<M>>(result, "masked");
  return result;
}

// Masks that compare a query's position with a key's.
template <class M, class Extents>
void fill_mask(const M& m, const Extents& e, lowered<bool>& to) {
  const std::ptrdiff_t q0 = m.query_origin(e, M::name);
  const std::ptrdiff_t k0 = m.key_origin(e, M::name);
  std::ptrdiff_t in_front = 0;  // keys without positions, which every query sees
  if constexpr (requires { m.in_front(e); }) { in_front = m.in_front(e); }
  const auto queries = static_cast<std::ptrdiff_t>(to.axes[0].extent);
  const auto keys = static_cast<std::ptrdiff_t>(to.axes[1].extent);
  bool* out = to.buffer.data();
  for (std::ptrdiff_t q = 0; q < queries; ++q) {
    for (std::ptrdiff_t k = 0; k < keys; ++k) {
      *out++ = k < in_front || m.visible(q0 + q * position_step<typename M::query>,
                                         k0 + (k - in_front) * position_step<typename M::key>);
    }
  }
}

// The document that each packed position belongs to.
inline aligned_vector<std::size_t> documents_of(const segments& documents, std::size_t n) {
  aligned_vector<std::size_t> of(n);
  std::size_t at = 0;
  std::size_t number = 0;
  for (const std::size_t length : documents) {
    for (std::size_t i = 0; i < length && at < n; ++i) { of[at++] = number; }
    ++number;
  }
  return of;
}
template <class Q, class K, class Extents>
void fill_mask(const document<Q, K>&, const Extents& e, lowered<bool>& to) {
  const auto of_query = documents_of(e.template documents<Q>(), to.axes[0].extent);
  const auto of_key = documents_of(e.template documents<K>(), to.axes[1].extent);
  bool* out = to.buffer.data();
  for (std::size_t q = 0; q < to.axes[0].extent; ++q) {
    for (std::size_t k = 0; k < to.axes[1].extent; ++k) { *out++ = of_query[q] == of_key[k]; }
  }
}

// The lengths of sequences as row-major numbers, none of which is beyond the keys.
template <class K, class L, class Lowered>
aligned_vector<std::ptrdiff_t> checked_lengths(const Lowered& lengths, extent_t keys) {
  using axes = axes_for<shape_of<L>>;
  axis dense[max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) { dense[i] = lengths.axes[i]; }
  aligned_vector<std::ptrdiff_t> all(checked_contiguous<axes>(dense, sizeof(std::ptrdiff_t), "padding"));
  copy_axes<std::ptrdiff_t>(axes::size, dense, dense, lengths.axes, all.data(), lengths.data);
  for (const std::ptrdiff_t n : all) {
    if (n < 0 || static_cast<std::size_t>(n) > keys) {
      raise<extent_error>(error{} << "padding: length " << static_cast<long long>(n) << " is outside dimension "
                                  << dimension_name<K>() << " of extent " << keys << " (R7)");
    }
  }
  return all;
}

// `join` writes its first argument, which holds no bool before the first mask was written.
template <class Whole, class Axes>
void join_masks(lowered<bool>& to, const lowered<bool>& x, void (*join)(bool&, bool)) {
  bool* const out = to.buffer.data();
  kernels::for_each_element(nest_of<Whole, Axes>(to.axes, x),
                            [&](std::ptrdiff_t t, std::ptrdiff_t f) { join(out[t], x.data[f]); });
}

template <class M>
inline constexpr bool is_pair = false;
template <class How, class A, class B>
inline constexpr bool is_pair<mask_pair<How, A, B>> = true;
template <class M>
inline constexpr bool is_padding = false;
template <class K, class L>
inline constexpr bool is_padding<padding_mask<K, L>> = true;

template <class K, class L, class Pass, class Extents>
lowered<bool> read_padding(Pass& pass, const padding_mask<K, L>& m, const Extents& e) {
  auto result = mask_buffer<Pass, padding_mask<K, L>>(e);
  const auto lengths = read<working_t<L>>(pass, m.lengths());
  if constexpr (Pass::computes) {
    const auto keys = static_cast<std::ptrdiff_t>(e.template extent<K>());
    bool* out = result.buffer.data();
    for (const std::ptrdiff_t n : checked_lengths<K, L>(lengths, e.template extent<K>())) {
      for (std::ptrdiff_t k = 0; k < keys; ++k) { *out++ = k < n; }
    }
  }
  return result;
}

template <class Pass, class M, class Extents>
lowered<bool> read_mask(Pass& pass, const M& m, const Extents& e);

// A mask of one part of a sum among the sum's elements, of which all others are visible.
template <class D, class Sum, class M, class Pass, class Extents>
lowered<bool> read_mask_in_sum(Pass& pass, const mask_in_sum<D, Sum, M>& m, const Extents& e) {
  using axes = mask_axes<mask_in_sum<D, Sum, M>>;
  using part_axes = mask_axes<M>;
  static_assert(axes::size == part_axes::size, "dimwise: the part of a sum takes the place of the sum");
  auto result = mask_buffer<Pass, mask_in_sum<D, Sum, M>>(e);
  const auto part = read_mask(pass, m.inner(), e);
  if constexpr (Pass::computes) {
    for (auto&& visible : result.buffer) { visible = true; }
    axis extents[max_rank];
    axis_extents<part_axes>::write(e, extents);
    kernels::loop_nest<2> nest;
    for (std::size_t i = 0; i < axes::size; ++i) {
      nest.add(extents[i].extent, {result.axes[i].stride, part.axes[i].stride});
    }
    bool* const out = result.buffer.data() + times(result.axes[index_in<Sum, axes>].stride, m.before(e));
    kernels::for_each_element(nest, [&](std::ptrdiff_t t, std::ptrdiff_t f) { out[t] = part.data[f]; });
  }
  return result;
}

template <class Pass, class M, class Extents>
lowered<bool> read_mask(Pass& pass, const M& m, const Extents& e) {
  if constexpr (is_pair<M>) {
    auto result = mask_buffer<Pass, M>(e);
    const auto left = read_mask(pass, m.left(), e);
    const auto right = read_mask(pass, m.right(), e);
    if constexpr (Pass::computes) {
      using A = std::remove_cvref_t<decltype(m.left())>;
      using B = std::remove_cvref_t<decltype(m.right())>;
      join_masks<mask_axes<M>, mask_axes<A>>(result, left, [](bool& to, bool x) { to = x; });
      join_masks<mask_axes<M>, mask_axes<B>>(result, right, [](bool& to, bool x) { to = M::how::join(to, x); });
    }
    return result;
  } else if constexpr (is_padding<M>) {
    return read_padding(pass, m, e);
  } else if constexpr (is_whole_rows<M>) {
    return read_mask(pass, m.inner(), e);
  } else if constexpr (is_mask_in_sum<M>) {
    return read_mask_in_sum(pass, m, e);
  } else if constexpr (requires { m.elements(); }) {
    return read<working_t<std::remove_cvref_t<decltype(m.elements())>>>(pass, m.elements());
  } else if constexpr (requires { m.inner(); }) {
    auto result = mask_buffer<Pass, M>(e);
    const auto hidden = read_mask(pass, m.inner(), e);
    if constexpr (Pass::computes) {
      join_masks<mask_axes<M>, mask_axes<M>>(result, hidden, [](bool& to, bool x) { to = !x; });
    }
    return result;
  } else {
    auto result = mask_buffer<Pass, M>(e);
    if constexpr (Pass::computes) { fill_mask(m, e, result); }
    return result;
  }
}

}  // namespace dimwise::detail
