// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/tensor_collectives.hpp -- what collectives on tensors send, and the tensors that they give.
//
// Layer: ranks. ranks/collectives.hpp has the calls.
// Tests: tests/ranks/typed_collectives.test.cpp, tests/ranks/training/gradients.test.cpp
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/ranks/mesh.hpp>
#include <dimwise/ranks/messages/shared_rows.hpp>
#include <dimwise/ranks/training/collective_gradients.hpp>
#include <dimwise/shape/rules/collectives.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace dimwise::detail {

// The verdict on a collective, after that of its rule: the mesh has the axis, and the elements can be sent and added.
template <class Op, class M, class Verdict, class X, class Mesh, bool Adds>
consteval auto judge_sent() {
  if constexpr (refused<Verdict>) {
    return answer<Verdict>{};
  } else if constexpr (!Mesh::template has<M>) {
    return answer<ERROR_R25_mesh_has_no_such_axis<Op, over<M>, Mesh>>{};
  } else if constexpr (Adds && !ranks::reducible<untracked_t<value_of<X>>>) {
    return answer<ERROR_R13_needs_real_numbers<Op, operand_t<shape_of<X>>>>{};
  } else {
    return answer<Verdict>{};
  }
}
template <class Op, class M, class Verdict, class X, class Mesh, bool Adds = false>
using sent_verdict = typename decltype(judge_sent<Op, M, Verdict, X, Mesh, Adds>())::type;

// Calls f, in which the ranks along M take part.
template <class M, class Mesh, class F>
auto taking_part_along(const Mesh& mesh, const char* operation, const F& f) {
  return ranks::detail::taking_part(mesh.template along<M>(), operation, f);
}

template <class T, class Dims, class Shape>
using tensor_in_order = tensor_of<T, make_shape_t<Dims, marks_t<stored_t<Shape>>>>;
template <class D, class Shape>
using first_of_dims = join_t<list<D>, difference_t<dims_t<Shape>, list<D>>>;

// The facts that ranks compare before a call, and exceptions name: the operation and what is the same on all ranks.
template <class... D, class Extents>
std::string call_text(const char* operation, list<D...>, const Extents& e) {
  std::string all = operation;
  const char* between = " [";
  [[maybe_unused]] const auto add = [&](text name, extent_t extent, bool divided) {
    all += between;
    all.append(name.begin, name.length);
    if (!divided) { (all += ' ') += std::to_string(extent); }
    between = ", ";
  };
  (add(dimension_name<D>(), e.template extent<D>(), is_sharded<D>), ...);
  return all + (sizeof...(D) == 0 ? " []" : "]");
}

// The part of each rank along a mesh axis: extents and positions.
struct part_of_rank {
  std::uint64_t extent;
  std::int64_t origin;
};
template <class S, class Extents>
part_of_rank part_of_extents(const Extents& e) {
  if constexpr (has_any(S::abilities, ability::ordered)) {
    return {e.template extent<S>(), e.template of_atom<S>().origin};
  } else {
    return {e.template extent<S>(), unknown_origin};
  }
}
template <class S, class Extents>
std::vector<part_of_rank> parts_of_all(const Extents& e, const ranks::communicator& along, const char* operation) {
  const part_of_rank mine = part_of_extents<S>(e);
  std::vector<part_of_rank> all(along.size(), mine);
  if constexpr (S::static_extent == at_run_time || has_any(S::abilities, ability::ordered)) {
    const std::vector<std::size_t> one(along.size(), 1);
    along.all_gather(&mine, all.data(), one.data(), operation);
  }
  return all;
}

[[noreturn]] inline void throw_other_part(const char* operation, std::size_t rank, text dimension, const char* what,
                                          long long has, long long expected) {
  raise<extent_error>(error{} << operation << ": the part of rank " << rank << " of dimension " << dimension << " has "
                              << what << " " << has << ", and " << expected << " is expected (R24)");
}

// The extent and the origin of the dimension that these parts make up; throws if they leave a gap.
template <class S>
slot whole_of_parts(const std::vector<part_of_rank>& parts, const char* operation) {
  using D = typename S::shard_of;
  constexpr bool stripes = S::is_striped;
  std::size_t total = 0;
  for (const part_of_rank& part : parts) { total += static_cast<std::size_t>(part.extent); }
  std::size_t before = 0;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    const std::size_t extent = static_cast<std::size_t>(parts[r].extent);
    const std::size_t stripe = (total + parts.size() - 1 - r) / parts.size();
    if (stripes && extent != stripe) {
      throw_other_part(operation, r, dimension_name<S>(), "the extent", static_cast<long long>(extent),
                       static_cast<long long>(stripe));
    }
    const bool known = parts[0].origin != unknown_origin && parts[0].origin != disputed_origin;
    const std::int64_t expected =
        known ? parts[0].origin + static_cast<std::int64_t>(stripes ? r : before) * position_step<D> : parts[0].origin;
    if (extent > 0 && parts[r].origin != expected) {
      throw_other_part(operation, r, dimension_name<S>(), "the first position", parts[r].origin, expected);
    }
    before += extent;
  }
  if (D::static_extent != at_run_time && total != D::static_extent) {
    throw_other_part(operation, 0, dimension_name<S>(), "with the others the extent", static_cast<long long>(total),
                     static_cast<long long>(D::static_extent));
  }
  return {total, static_cast<std::ptrdiff_t>(parts[0].origin)};
}

// The part of `rank`, as an extent.
template <class S, class Extents>
S part_of_whole(const Extents& e, std::size_t rank, std::size_t count) {
  using D = typename S::shard_of;
  D whole = extent_or_static<D>(e.template extent<D>());
  if constexpr (has_any(D::abilities, ability::ordered)) {
    const std::ptrdiff_t origin = e.template of_atom<D>().origin;
    if (origin != unknown_origin && origin != disputed_origin) { whole.start_at(origin); }
  }
  return part_here<S>(whole, rank, count);
}

template <class S>
shared_rows rows_of_parts(const std::vector<part_of_rank>& parts) {
  shared_rows rows{{}, S::is_striped};
  for (const part_of_rank& part : parts) { rows.extents.push_back(static_cast<std::size_t>(part.extent)); }
  return rows;
}
template <class S, class Extents>
shared_rows rows_of_whole(const Extents& e, std::size_t count) {
  shared_rows rows{{}, S::is_striped};
  for (std::size_t r = 0; r < count; ++r) { rows.extents.push_back(part_of_whole<S>(e, r, count).extent()); }
  return rows;
}
inline std::size_t elements_of_a_row(std::size_t elements, std::size_t rows) { return rows == 0 ? 0 : elements / rows; }

// The extents of a result in which `made` has taken the place of the dimension `Gone`.
template <class Shape, class D, class From, class Gone, class Extents>
extents_for<Shape> extents_with(const Extents& e, const slot& made, const char* operation) {
  auto result = merge_extents<atoms_of_list_t<dims_t<Shape>>>(operation, extents_beside<From, Gone>(e));
  make_extent<Shape, D>(result, made, operation);
  return result;
}

template <class Result, class M, class X, class Mesh>
auto all_reduced(const X& x, const Mesh& mesh) {
  const ranks::communicator& along = mesh.template along<M>();
  const tensor stored(x);
  const auto& mine = untracked_of(stored);
  auto all = tensor_of<untracked_t<value_of<X>>, Result>::for_overwriting(mine.extents());
  along.all_reduce(mine.data(), all.overwrite(), mine.size(),
                   call_text("all_reduce", dims_t<Result>{}, mine.extents()));
  return recorded_after<M>(all, along, stored, [&](const auto& to) {
    return back_of_all_reduce<M, std::remove_cvref_t<decltype(to)>>{to, along};
  });
}

template <class Result, class M, class D, class S, class X, class Mesh>
auto reduced_to_part(const X& x, const Mesh& mesh) {
  using T = untracked_t<value_of<X>>;
  using given = shape_of<X>;
  const ranks::communicator& along = mesh.template along<M>();
  const tensor_in_order<value_of<X>, first_of_dims<D, given>, given> stored(x);
  const auto& mine = untracked_of(stored);
  const shared_rows rows = rows_of_whole<S>(mine.extents(), along.size());
  const std::size_t row = elements_of_a_row(mine.size(), rows.whole());
  using in_front = make_shape_t<first_of_dims<S, Result>, marks_t<stored_t<Result>>>;
  const S part = part_of_whole<S>(mine.extents(), along.rank(), along.size());
  auto here = tensor_of<T, in_front>::for_overwriting(
      extents_with<in_front, S, given, D>(mine.extents(), {part.extent(), part.given_origin()}, "reduce_scatter"));
  add_rows(rows, row, along, mine.data(), here.overwrite(), call_text("reduce_scatter", dims_t<given>{}, x.extents()));
  return recorded_after<M>(tensor_of<T, stored_t<Result>>(here), along, stored, [&](const auto& to) {
    return back_of_reduce_scatter<S, std::remove_cvref_t<decltype(to)>, std::remove_cvref_t<decltype(mine)>>{
        to, along, rows, row, mine.extents()};
  });
}

template <class Result, class M, class D, class S, class X, class Mesh>
auto gathered_parts(const X& x, const Mesh& mesh) {
  using T = untracked_t<value_of<X>>;
  using given = shape_of<X>;
  const ranks::communicator& along = mesh.template along<M>();
  const tensor_in_order<value_of<X>, first_of_dims<S, given>, given> stored(x);
  const auto& mine = untracked_of(stored);
  const auto parts = parts_of_all<S>(mine.extents(), along, "all_gather");
  const slot whole = whole_of_parts<S>(parts, "all_gather");
  const shared_rows rows = rows_of_parts<S>(parts);
  using in_front = make_shape_t<first_of_dims<D, Result>, marks_t<stored_t<Result>>>;
  auto all =
      tensor_of<T, in_front>::for_overwriting(extents_with<in_front, D, given, S>(mine.extents(), whole, "all_gather"));
  const std::size_t row = elements_of_a_row(all.size(), whole.extent);
  gather_rows(rows, row, along, mine.data(), all.overwrite(), call_text("all_gather", dims_t<Result>{}, all.extents()));
  return recorded_after<M>(tensor_of<T, stored_t<Result>>(all), along, stored, [&](const auto& to) {
    return back_of_all_gather<M, D, std::remove_cvref_t<decltype(to)>, std::remove_cvref_t<decltype(mine)>>{
        to, along, rows, row, mine.extents()};
  });
}

// [To, S, rest] on every rank, S a part of From  ->  [P, From, rest], P a part of To.
template <class Result, class M, class From, class To, class S, class P, class X, class Mesh>
auto exchanged_parts(const X& x, const Mesh& mesh) {
  using T = untracked_t<value_of<X>>;
  using given = shape_of<X>;
  using rest = difference_t<dims_t<given>, list<S, To>>;
  const ranks::communicator& along = mesh.template along<M>();
  const tensor_in_order<value_of<X>, join_t<list<To, S>, rest>, given> stored(x);
  const auto& mine = untracked_of(stored);
  const auto parts = parts_of_all<S>(mine.extents(), along, "all_to_all");
  const slot whole = whole_of_parts<S>(parts, "all_to_all");
  const shared_rows from = rows_of_parts<S>(parts), to = rows_of_whole<P>(mine.extents(), along.size());
  const P part = part_of_whole<P>(mine.extents(), along.rank(), along.size());
  using result_in_order = make_shape_t<join_t<list<P, From>, rest>, marks_t<stored_t<Result>>>;
  using between = make_shape_t<join_t<list<P, S>, rest>, list<>>;
  const auto with_part =
      extents_with<between, P, given, To>(mine.extents(), {part.extent(), part.given_origin()}, "all_to_all");
  auto all = tensor_of<T, result_in_order>::for_overwriting(
      extents_with<result_in_order, From, between, S>(with_part, whole, "all_to_all"));
  // A rank may have no rows of one of them: then a row of the other side says how many elements there are.
  const std::size_t row = std::max(elements_of_a_row(all.size(), part.extent() * whole.extent),
                                   elements_of_a_row(mine.size(), to.whole() * from.extents[along.rank()]));
  exchange_rows(to, from, row, along, mine.data(), all.overwrite(),
                call_text("all_to_all", list<From, To>{},
                          merge_extents<list<From, To>>("all_to_all", all.extents(), mine.extents())));
  return recorded_after<M>(tensor_of<T, stored_t<Result>>(all), along, stored, [&](const auto& target) {
    return back_of_all_to_all<join_t<list<From, P>, rest>, join_t<list<S, To>, rest>,
                              std::remove_cvref_t<decltype(target)>, std::remove_cvref_t<decltype(mine)>>{
        target, along, to, from, row, mine.extents()};
  });
}

}  // namespace dimwise::detail
