// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/gathered_parts.hpp -- what the layers of a model that ranks divide use to make parts whole.
//
// Layer: ranks. As `all_gather`, of parts whose extents follow from the whole: one message, and no gradient.
// Tests: tests/ranks/decoders/tensor_parallel.test.cpp, tests/compile_fail/ranks/
//
//   const ranks::gathered_parts<tp> gather(grid.along<tp>());
//   tensor<float, seq, heads, d_k> all = gather.whole<heads>(mine);     // of [seq, shard<heads, tp>, d_k]
#pragma once

#include <dimwise/dim/shard.hpp>
#include <dimwise/ranks/messages/communicator.hpp>
#include <dimwise/shape/rules/collectives.hpp>
#include <dimwise/tensor/operand.hpp>
#include <dimwise/tensor/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace dimwise::ranks {

namespace detail {

// The result of `whole`: X is an untracked tensor that has the shard of D, in blocks.
template <class M, class D, class X>
consteval auto judge_whole() {
  using namespace dimwise::detail;
  if constexpr (!operand<X>) {
    return answer<ERROR_R1_operation_takes_other_arguments<op::whole, over<D>, X>>{};
  } else if constexpr (!is_in<shard<D, M>, dims_t<shape_of<X>>>) {
    return answer<nothing_to_gather<op::whole, list<M, D>, shape_of<X>>>{};
  } else if constexpr (!is_tensor<X>) {
    return answer<ERROR_R1_operation_takes_other_arguments<op::whole, over<D>, X>>{};
  } else if constexpr (is_tracked<X>) {
    return answer<ERROR_R21_operation_has_no_gradient<op::whole, over<D>, operand_t<shape_of<X>>>>{};
  } else {
    return judge_exchanged<op::whole, M, exchanged_t<shard<D, M>, D, shape_of<X>>, shape_of<X>>();
  }
}
template <class M, class D, class X>
using whole_verdict = typename decltype(judge_whole<M, D, X>())::type;

// The counts of elements before and after S in a tensor.
template <class S, class... D, class Extents>
std::pair<std::size_t, std::size_t> counts_beside(dimwise::detail::list<D...>, const Extents& e) {
  std::size_t before = 1;
  std::size_t after = 1;
  bool is_after = false;
  const auto count = [&](bool is_it, std::size_t extent) {
    if (is_it) {
      is_after = true;
    } else {
      (is_after ? after : before) *= extent;
    }
  };
  (count(std::is_same_v<D, S>, e.template extent<D>()), ...);
  return {before, after};
}

}  // namespace detail

/// Makes parts along a mesh axis whole. Copies are handles of the same ranks.
template <class M>
class gathered_parts {
 public:
  /// One rank, whose parts are whole.
  gathered_parts() = default;
  /// The ranks along M.
  explicit gathered_parts(communicator along) : along_(std::move(along)) {}

  /// The rank along the axis.
  [[nodiscard]] std::size_t rank() const { return along_.rank(); }
  /// The number of ranks along the axis.
  [[nodiscard]] std::size_t size() const { return along_.size(); }
  /// The ranks along the axis.
  [[nodiscard]] const communicator& along() const { return along_; }
  /// This rank's part of a dimension with this extent.
  template <class D>
  [[nodiscard]] shard<D, M> part(std::size_t extent) const {
    return part_here<shard<D, M>>(dimwise::detail::extent_or_static<D>(extent), rank(), size());
  }

  /// [rest, shard<D, M>, rest]  ->  [rest, D, rest], which has this extent of D. Throws `extent_error` if this rank's
  /// part has another extent than `part` gives. Rejects what is not a tensor (R1), tracked elements (R21), and a tensor
  /// without the part (R24).
  template <class D, class X, class Verdict = detail::whole_verdict<M, D, X>>
    requires allowed<Verdict>
  [[nodiscard]] auto whole(const X& x, std::size_t extent) const {
    using S = shard<D, M>;
    using T = dimwise::detail::value_of<X>;
    using dims = dimwise::detail::dims_t<dimwise::detail::shape_of<X>>;
    using result = dimwise::detail::tensor_of<T, typename Verdict::shape>;
    const D complete = dimwise::detail::extent_or_static<D>(extent);
    if (const std::size_t expected = part<D>(extent).extent(); extent_of<S>(x) != expected) {
      dimwise::detail::raise<extent_error>(error{} << "whole: this rank's part of " << complete.extent()
                                                   << " elements has the extent " << extent_of<S>(x) << ", expected "
                                                   << expected);
    }
    auto all = result::for_overwriting(dimwise::detail::merge_extents<typename result::extents_type::atoms>(
        "whole", x.extents(), extents_of_one<D>(extent)));
    const auto [before, after] = detail::counts_beside<S>(dims{}, x.extents());
    std::vector<std::size_t> parts(size());
    std::vector<std::size_t> counts(size());
    for (std::size_t r = 0; r < size(); ++r) {
      parts[r] = part_here<S>(complete, r, size()).extent() * after;
      counts[r] = parts[r] * before;
    }
    T* const to = all.overwrite();
    if (before == 1) {
      along_.all_gather(x.data(), to, counts.data(), "a part of a layer");
      return all;
    }
    std::vector<T> blocks(all.size());
    along_.all_gather(x.data(), blocks.data(), counts.data(), "a part of a layer");
    const T* from = blocks.data();
    std::size_t begin = 0;
    for (std::size_t r = 0; r < size(); ++r) {
      for (std::size_t row = 0; row < before; ++row) {
        std::copy_n(from, parts[r], to + row * complete.extent() * after + begin);
        from += parts[r];
      }
      begin += parts[r];
    }
    return all;
  }
  /// The same of equal parts.
  template <class D, class X, class Verdict = detail::whole_verdict<M, D, X>>
    requires allowed<Verdict>
  [[nodiscard]] auto whole(const X& x) const {
    return whole<D>(x, extent_of<shard<D, M>>(x) * size());
  }
  template <class D, class X, class... Extent, class Error = detail::whole_verdict<M, D, X>>
    requires refused<Error>
  Error whole(const X& x, Extent... extent) const;

 private:
  template <class D>
  static auto extents_of_one(std::size_t extent) {
    typename tensor<float, D>::extents_type e;
    e.set(dimwise::detail::extent_or_static<D>(extent));
    return e;
  }

  communicator along_{};
};

}  // namespace dimwise::ranks
