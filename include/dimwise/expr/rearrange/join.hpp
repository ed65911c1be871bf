// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/rearrange/join.hpp -- concat, stack, gather: elements of several operands in one.
//
// Layer: expr.
// Tests: tests/expr/rearrange/join.test.cpp, tests/compile_fail/index/
#pragma once

#include <dimwise/expr/node.hpp>
#include <dimwise/expr/operation.hpp>
#include <dimwise/expr/parts.hpp>
#include <dimwise/shape/rules/index.hpp>
#include <dimwise/support/library.hpp>

#include <limits>
#include <vector>

namespace dimwise {

namespace detail {

// A vector of a rejected type is reported as that type.
template <class X>
inline constexpr bool is_refused<std::vector<X>> = is_refused<X>;

// The operands one after the other along `Whole`, each along its own dimension in `Parts`; the operands in a vector all
// along the first of them.
template <class Whole, class Parts>
struct join_along {
  static constexpr const char* name = "concat";
  using over = list<Whole>;
};
template <class Shape, class Whole, class Parts, class... X>
using joined = node<join_along<Whole, Parts>, Shape, std::common_type_t<value_of<X>...>, X...>;

// The operands side by side along a new dimension.
DIMWISE_DETAIL_ALONG(stack_along, "stack")
template <class Shape, class D, class... X>
using stacked = node<stack_along<D>, Shape, std::common_type_t<value_of<X>...>, X...>;

// f(operand, std::type_identity<P>) for each operand of a node, in order, with its dimension in a list; the operands in
// a vector have one dimension.
template <class P, class Op, class Shape, class T, class X, class F>
void each_operand(list<P>, const node<Op, Shape, T, parts<X>>& n, const F& f) {
  n.template child<0>().each_child([&](const X& x) { f(x, std::type_identity<P>{}); });
}
template <class... P, class Op, class Shape, class T, class... X, class F>
void each_operand(list<P...>, const node<Op, Shape, T, X...>& n, const F& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f(n.template child<I>(), std::type_identity<P>{}), ...);
  }(std::index_sequence_for<X...>{});
}

// Elements of a table at the ids.
DIMWISE_DETAIL_ALONG(gather_along, "gather")
template <class Shape, class D, class Table, class Ids>
using gathered = node<gather_along<D>, Shape, value_of<Table>, Table, Ids>;

// A copy of extents without the dimension that grows, so that only the others are compared.
template <class Without, class Extents>
auto other_extents(const Extents& e) {
  return merge_extents<difference_t<typename Extents::atoms, Without>>("concat", e);
}

// The documents of the first part, then those of the next; none where those of a part are not known.
DIMWISE_DETAIL_LIBRARY segments joined_documents(const segments* const* parts, std::size_t count);

// The dimension along which parts are put one after the other: its extent, origin and documents.
template <class D>
class growing {
 public:
  explicit growing(const slot& first)
      : whole_(first),
        next_(behind(first.origin == unknown_origin || first.origin == disputed_origin ? 0 : first.origin,
                     first.extent)) {}
  // A gap between the parts is allowed here; an operation that needs the positions afterwards reports it.
  void add(const slot& part) {
    whole_.extent = checked_sum("concat", &dimension_name<D>, {whole_.extent, part.extent});
    if (part.origin != unknown_origin && part.origin != next_) { whole_.origin = disputed_origin; }
    next_ = behind(next_, part.extent);
  }
  [[nodiscard]] const slot& whole() const { return whole_; }

 private:
  static std::ptrdiff_t behind(std::ptrdiff_t from, std::size_t by) {
    constexpr auto farthest = std::numeric_limits<std::ptrdiff_t>::max();  // no origin is there
    return by > static_cast<std::size_t>(farthest) - static_cast<std::size_t>(from)
               ? farthest
               : static_cast<std::ptrdiff_t>(static_cast<std::size_t>(from) + by);
  }

  slot whole_;
  std::ptrdiff_t next_;
};

template <class D>
struct concat_how {
  template <class Verdict, class First, class... Rest>
  static auto make(const First& first, const Rest&... rest) {
    using shape = typename Verdict::shape;
    using kept = difference_t<typename extents_for<shape>::atoms, list<D>>;
    (void)merge_extents<kept>("concat", other_extents<list<D>>(first.extents()),
                              other_extents<list<D>>(rest.extents())...);
    auto e = merge_extents<typename extents_for<shape>::atoms>("concat",
                                                               extents_beside<shape_of<First>, D>(first.extents()));
    (void)checked_sum("concat", &dimension_name<D>,
                      {first.extents().template extent<D>(), rest.extents().template extent<D>()...});  // names all
    growing<D> along(first.extents().template of_atom<D>());
    (along.add(rest.extents().template of_atom<D>()), ...);
    if constexpr (has_documents<D>) {
      const segments* const documents[] = {&first.extents().template documents<D>(),
                                           &rest.extents().template documents<D>()...};
      e.template documents<D>() = joined_documents(documents, 1 + sizeof...(Rest));
    }
    make_extent<shape, D>(e, along.whole(), "concat");
    return joined<shape, D, list<either_t<true, D, First>, either_t<true, D, Rest>...>, First, Rest...>({}, e, first,
                                                                                                        rest...);
  }
  template <class Verdict, class X>
  static auto make_of(const std::vector<X>& all) {
    using shape = typename Verdict::shape;
    using kept = difference_t<typename extents_for<shape>::atoms, list<D>>;
    (void)common_extents<kept>("concat", all, [](const X& x) { return other_extents<list<D>>(x.extents()); });
    auto e =
        merge_extents<typename extents_for<shape>::atoms>("concat", extents_beside<shape_of<X>, D>(all[0].extents()));
    growing<D> along(all[0].extents().template of_atom<D>());
    for (std::size_t i = 1; i < all.size(); ++i) { along.add(all[i].extents().template of_atom<D>()); }
    if constexpr (has_documents<D>) {
      std::vector<const segments*> documents;
      for (const X& x : all) { documents.push_back(&x.extents().template documents<D>()); }
      e.template documents<D>() = joined_documents(documents.data(), documents.size());
    }
    make_extent<shape, D>(e, along.whole(), "concat");
    return make_node<shape, value_of<X>>(join_along<D, list<D>>{}, e, parts<X>(all));
  }
};
template <class... P>
struct concat_how<summed<P...>> {
  template <class Verdict, class... X>
  static auto make(const X&... x) {
    using shape = typename Verdict::shape;
    auto e = merge_extents<typename extents_for<shape>::atoms>("concat", x.extents()...);
    check_composites(dims_t<shape>{}, e, "concat");
    return joined<shape, summed<P...>, list<P...>, X...>({}, e, x...);
  }
};

// The dimension whose ids a tensor holds.
template <class T>
struct indexed_by {
  using type = void;
};
template <class D>
struct indexed_by<id<D>> {
  using type = D;
};
template <class Ids>
using indexed_by_t = typename indexed_by<value_of<Ids>>::type;

// An alias: what has no shape or no elements is no argument of `gather`, and no error here.
template <class D, class Table, class Ids>
using gather_verdict = rule::gather<D, indexed_by_t<Ids>, shape_of<Table>, shape_of<Ids>>;

// ---- the calls ------------------------------------------------------------------------------------------------------

namespace calls {

struct concat {
  template <class D, operand First, operand... Rest>
    requires(sizeof...(Rest) > 0)
  static auto judge(list<D>, const First&, const Rest&...) -> rule::concat<D, shape_of<First>, shape_of<Rest>...>;
  template <class Verdict, class D, operand... X>
  static auto make(list<D>, const X&... x) {
    return concat_how<D>::template make<Verdict>(x...);
  }
  template <class D, operand X>
  static auto judge(list<D>, const std::vector<X>&) -> rule::concat<D, shape_of<X>, shape_of<X>>;
  template <class Verdict, class D, operand X>
  static auto make(list<D>, const std::vector<X>& all) {
    return concat_how<D>::template make_of<Verdict>(all);
  }
};
struct stack {
  template <class D, operand First, operand... Rest>
  static auto judge(list<D>, const First&, const Rest&...) -> rule::stack<D, shape_of<First>, shape_of<Rest>...>;
  template <class Verdict, class D, operand... X>
  static auto make(list<D>, const X&... x) {
    using shape = typename Verdict::shape;
    auto e = extents_from<shape>("stack", x.extents()...);
    make_extent<shape, D>(e, {sizeof...(X), unknown_origin}, "stack");
    return stacked<shape, D, X...>({}, e, x...);
  }
  template <class D, operand X>
  static auto judge(list<D>, const std::vector<X>&) -> rule::stack_of_vector<D, shape_of<X>>;
  template <class Verdict, class D, operand X>
  static auto make(list<D>, const std::vector<X>& all) {
    using shape = typename Verdict::shape;
    using atoms = typename extents_for<shape>::atoms;
    auto e = common_extents<atoms>("stack", all, [](const X& x) { return merge_extents<atoms>("stack", x.extents()); });
    if (D::static_extent != at_run_time && D::static_extent != all.size()) {
      raise<extent_error>(error{} << "stack: the vector has " << all.size() << " operands, dimension "
                                  << dimension_name<D>() << " has extent " << D::static_extent << " (R10)");
    }
    make_extent<shape, D>(e, {all.size(), unknown_origin}, "stack");
    return make_node<shape, value_of<X>>(stack_along<D>{}, e, parts<X>(all));
  }
};
struct gather {
  template <class... D, operand X>
  static auto judge(list<D...>, const X&) -> argument_missing<op::gather, list<D...>, X, argument::ids>;
  template <class D, operand Table, operand Ids>
  static auto judge(list<D>, const Table&, const Ids&) -> gather_verdict<D, Table, Ids>;
  template <class Verdict, class D, operand Table, operand Ids>
  static auto make(list<D>, const Table& table, const Ids& ids) {
    using shape = typename Verdict::shape;
    const auto rest = extents_beside<shape_of<Table>, D>(table.extents());
    return gathered<shape, D, Table, Ids>({}, extents_from<shape>("gather", ids.extents(), rest), table, ids);
  }
};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// The operands one after the other along D; all else is identical by type (R10).
///
///   concat<seq>(a, b, …):  [seq, rest] x [seq, rest]  ->  [seq, rest]        of a run-time extent
///   concat<summed<cls, patches>>(a, b):  [cls, rest] x [patches, rest]  ->  [summed<cls, patches>, rest]
///   concat<seq>(std::vector{a, b, …})                                        of a run-time number of operands
///
/// Throws `extent_error` where the vector is empty, or an operand differs in another extent.
DIMWISE_DETAIL_OPERATION(concat)

/// The operands side by side along a new dimension D, which comes first.
///
///   stack<D>(a, b, …):  [rest] x [rest]  ->  [D, rest]
///   stack<D>(std::vector{a, b, …})                             of a run-time number of operands
///
/// Throws `extent_error` where the vector is empty, an operand differs in an extent, or a static D has another one.
DIMWISE_DETAIL_OPERATION(stack)

/// The elements of `table` along D at the ids: an embedding, or one element for each position.
///
///   gather<D>(table, ids):  [D, rest] x ids [i]  ->  [i, rest without i]
///
/// Dimensions that table and ids share are parallel, except D: ids that have D reorder the table, any number of
/// them. Only ids of D index D, and those of a product are split first unless they reorder it (R18); an id outside
/// throws `index_error` when evaluated, and nothing is written.
DIMWISE_DETAIL_OPERATION(gather)

}  // namespace no_adl

}  // namespace dimwise

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/expr/rearrange/join_definitions.hpp>
#endif
