// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/extents.hpp -- the run-time extents and origins of a shape, and their checks across operands.
//
// Layer: tensor. A slot holds the extent and origin of a dimension if either is a run-time value. The documents of
// packed dimensions are stored separately. All other extents are in the type alone.
// Tests: tests/tensor/extents.test.cpp
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/dim/extent_math.hpp>
#include <dimwise/shape/shape.hpp>
#include <dimwise/support/library.hpp>

#include <cstddef>
#include <type_traits>

namespace dimwise::detail {

// The extent and origin of one dimension.
struct slot {
  extent_t extent;
  std::ptrdiff_t origin;
};

// Of two dimensions that must have one extent.
[[noreturn]] DIMWISE_DETAIL_LIBRARY void throw_unequal(const char* operation, name_of a, extent_t of_a, name_of b,
                                                       extent_t of_b, const char* rule);
[[noreturn]] DIMWISE_DETAIL_LIBRARY void throw_disputed_origin(const char* operation, name_of name);
[[noreturn]] DIMWISE_DETAIL_LIBRARY void throw_part_without_origin(const char* operation, name_of name);

// R15: compares two slots of one dimension. Different origins are an error only when a position is needed.
DIMWISE_DETAIL_LIBRARY void check_same(slot& here, const slot& there, const char* operation, name_of name);
DIMWISE_DETAIL_LIBRARY void check_same(segments& here, const segments& there, const char* operation, name_of name);

// Merges the slots of the operands: `places[j][i]` is the index of slot i in operand j, and `at[i]` its index in `to`;
// -1 if there is none.
DIMWISE_DETAIL_LIBRARY void merge_slots(slot* to, const short* at, std::size_t count, std::size_t operands,
                                        const short* const* places, const slot* const* from, const char* operation,
                                        const name_of* names);

// Whether a dimension has a run-time extent or origin.
template <class D>
inline constexpr bool has_slot =
    D::static_extent == at_run_time || has_any(D::abilities, ability::ordered | ability::packed);
template <class... D>
using with_slots = join_t<list<>, list_if<has_slot<D>, D>...>;
// Documents are reference counted and stored apart, so that extents without documents are trivially copied.
template <class D>
inline constexpr bool has_documents = has_any(D::abilities, ability::packed);
template <class... D>
using with_documents = join_t<list<>, list_if<has_documents<D>, D>...>;

template <class Atoms>
class extents_of;

// The extent of D from the slots of its atoms; `operation` is named in errors.
template <class D>
struct extent_from {
  template <class Extents>
  [[gnu::always_inline]] static constexpr extent_t get(const Extents& e, const char*) {
    if constexpr (D::static_extent != at_run_time) {
      return D::static_extent;
    } else {
      return e.template of_atom<D>().extent;
    }
  }
};
template <class... F>
struct extent_from<merged<F...>> {
  template <class Extents>
  static constexpr extent_t get(const Extents& e, const char* operation) {
    if constexpr (merged<F...>::static_extent != at_run_time) { return merged<F...>::static_extent; }
    return checked_product(operation, &dimension_name<merged<F...>>, {extent_from<F>::get(e, operation)...});
  }
};
template <class... P>
struct extent_from<summed<P...>> {
  template <class Extents>
  static constexpr extent_t get(const Extents& e, const char* operation) {
    if constexpr (summed<P...>::static_extent != at_run_time) { return summed<P...>::static_extent; }
    return checked_sum(operation, &dimension_name<summed<P...>>, {extent_from<P>::get(e, operation)...});
  }
};

template <class D>
inline constexpr bool is_divided = requires { typename D::divided_from; };

template <class T, std::size_t Count>
struct few {
  T at[Count];
  [[nodiscard, gnu::always_inline]] T* begin() { return at; }
  [[nodiscard, gnu::always_inline]] const T* begin() const { return at; }
};
template <class T>
struct few<T, 0> {
  [[nodiscard]] static T* begin() { return nullptr; }
};

// The value of a slot before it is set.
template <class D>
inline constexpr slot initial_slot = {D::static_extent == at_run_time ? 0 : D::static_extent, unknown_origin};
template <class Slotted>
inline constexpr few<slot, Slotted::size> initial_slots = {};
template <class First, class... More>
inline constexpr few<slot, 1 + sizeof...(More)> initial_slots<list<First, More...>> = {
    {initial_slot<First>, initial_slot<More>...}};

template <class... A>
class extents_of<list<A...>> {
 public:
  using atoms = list<A...>;
  using slotted = with_slots<A...>;
  using packed = with_documents<A...>;

  [[gnu::always_inline]] extents_of() : slots_(initial_slots<slotted>), documents_() {}

  template <class D>
    requires(has_slot<D>)
  [[nodiscard, gnu::always_inline]] const slot& of_atom() const {
    static_assert(is_in<D, slotted>, "dimwise: a composite has no slot of its own");
    return slots()[index_in<D, slotted>];
  }
  template <class D>
    requires(has_slot<D>)
  [[nodiscard, gnu::always_inline]] slot& of_atom() {
    static_assert(is_in<D, slotted>, "dimwise: a composite has no slot of its own");
    return slots()[index_in<D, slotted>];
  }
  template <class D>
    requires(!has_slot<D>)
  [[nodiscard, gnu::always_inline]] slot of_atom() const {
    return {D::static_extent, unknown_origin};
  }
  /// The documents of a packed dimension.
  template <class D>
  [[nodiscard]] const segments& documents() const {
    return documents_.begin()[index_in<D, packed>];
  }
  template <class D>
  [[nodiscard]] segments& documents() {
    return documents_.begin()[index_in<D, packed>];
  }
  /// The extent of D; for a composite a checked sum or product (R15). `operation` is named if it overflows.
  template <class D>
  [[nodiscard, gnu::always_inline]] extent_t extent(const char* operation = nullptr) const {
    return extent_from<D>::get(*this, operation);
  }
  /// The position of D's first element: 0 without an explicit origin, and in a sum, whose elements count from its first
  /// part; throws if the operands had different origins, and for a part of positions that does not say where it begins.
  template <class D>
  [[nodiscard]] std::ptrdiff_t first_position(const char* operation) const {
    if constexpr (is_summed<D>) {
      return 0;
    } else {
      const std::ptrdiff_t said = of_atom<D>().origin;
      if (said == disputed_origin) { throw_disputed_origin(operation, &dimension_name<D>); }
      if constexpr (is_sharded<D>) {
        if (said == unknown_origin) { throw_part_without_origin(operation, &dimension_name<D>); }
      }
      return said == unknown_origin ? 0 : said;
    }
  }
  /// The same, of positions that are neighbours: stripes are `position_step` apart.
  template <class D>
  [[nodiscard]] std::ptrdiff_t origin(const char* operation) const {
    static_assert(position_step<D> == 1, "dimwise: this operation does not take striped positions (R24)");
    return first_position<D>(operation);
  }
  template <class D>
  [[nodiscard]] bool has_origin() const {
    if constexpr (is_summed<D>) {
      return false;
    } else {
      return of_atom<D>().origin != unknown_origin;
    }
  }
  [[nodiscard, gnu::always_inline]] slot* slots() { return slots_.begin(); }
  [[nodiscard, gnu::always_inline]] const slot* slots() const { return slots_.begin(); }
  /// False if the types determine everything: then there is nothing to compare or copy.
  [[nodiscard, gnu::always_inline]] bool says_anything() const {
    if constexpr (((A::static_extent == at_run_time) || ...)) { return true; }
    bool said = false;
    for (std::size_t i = 0; i < slotted::size; ++i) { said = said || slots()[i].origin != unknown_origin; }
    for (std::size_t i = 0; i < packed::size; ++i) { said = said || documents_.begin()[i].known(); }
    return said;
  }

  /// Copies the slots in order to the dimensions of other names.
  template <class Other>
  [[gnu::always_inline]] void take_in_order(const Other& other) {
    for (std::size_t i = 0; i < slotted::size; ++i) { slots()[i] = other.slots()[i]; }
    for (std::size_t i = 0; i < packed::size; ++i) { documents_.begin()[i] = other.documents_in_order()[i]; }
  }
  [[nodiscard]] const segments* documents_in_order() const { return documents_.begin(); }

  /// Sets the extent and origin of one dimension from its object.
  template <class D>
  void set(const D& given) {
    if constexpr (has_slot<D>) {
      slot& s = of_atom<D>();
      s.extent = given.extent();
      s.origin = given.given_origin();
    }
    if constexpr (has_documents<D> && requires { given.documents(); }) { documents<D>() = given.documents(); }
  }

  /// Checks run-time `divided` extents; the first tensor with all three dimensions calls it (R4).
  [[gnu::always_inline]] void check_divided() const {
    if constexpr ((is_divided<A> || ...)) { (check_one<A>(), ...); }
  }

 private:
  template <class D>
  void check_one() const {
    if constexpr (requires { typename D::divided_from; }) {
      using from = typename D::divided_from;
      using by = typename D::divided_by;
      if constexpr (is_any_of<from, A...> && is_any_of<by, A...> && (D::static_extent == at_run_time)) {
        extent_t product = 0;
        if (__builtin_mul_overflow(extent<D>(), extent<by>(), &product) || product != extent<from>()) {
          raise<extent_error>(error{} << "dimension " << dimension_name<D>() << " has extent " << extent<D>()
                                      << ", but " << dimension_name<from>() << " is " << extent<from>() << " and "
                                      << dimension_name<by>() << " is " << extent<by>() << " (R4)");
        }
      }
    }
  }

  [[no_unique_address]] few<slot, slotted::size> slots_;
  [[no_unique_address]] few<segments, packed::size> documents_;
};

template <class Shape>
using extents_for = extents_of<atoms_of_list_t<dims_t<Shape>>>;

// The index of A in the list, or -1.
template <class From, class A>
inline constexpr short place_in = -1;
template <class... D, class A>
inline constexpr short place_in<list<D...>, A> = (search{} | ... | __is_same(A, D)).place();

template <class Slotted>
struct slot_merger;
template <class... A>
struct slot_merger<list<A...>> {
  // `To` is the list of the slots at `to`.
  template <class To, class... From>
  [[gnu::always_inline]] static void into(slot* to, const char* operation, const From&... from) {
    static constexpr name_of names[] = {&dimension_name<A>...};
    const slot* bases[] = {from.slots()...};
    const short* places[] = {places_in<typename From::slotted>...};
    merge_slots(to, places_in<To>, sizeof...(A), sizeof...(From), places, bases, operation, names);
  }

 private:
  template <class Slots>
  static constexpr short places_in[] = {place_in<Slots, A>...};
};

template <class D, class To, class From>
void merge_documents(To& to, const From& from, const char* operation) {
  if constexpr (is_in<D, typename From::packed>) {
    check_same(to.template documents<D>(), from.template documents<D>(), operation, &dimension_name<D>);
  }
}
template <class... D, class To, class... From>
void merge_all_documents(list<D...>, To& to, const char* operation, const From&... from) {
  const auto one = [&]<class X>(std::type_identity<X>) { (merge_documents<X>(to, from, operation), ...); };
  (one(std::type_identity<D>{}), ...);
}

/// The extents of these atoms from the operands that have them; operands that share an atom must agree (R15).
template <class Atoms, class... From>
[[nodiscard, gnu::always_inline]] inline extents_of<Atoms> merge_extents([[maybe_unused]] const char* operation,
                                                                         const From&... from) {
  if constexpr (std::is_same_v<list<From...>, list<extents_of<Atoms>>>) {
    return (from, ...);  // the only one
  } else {
    extents_of<Atoms> to;
    if constexpr (extents_of<Atoms>::slotted::size > 0) {
      if ((from.says_anything() || ...)) {
        using slotted = typename extents_of<Atoms>::slotted;
        slot_merger<slotted>::template into<slotted>(to.slots(), operation, from...);
        if constexpr (extents_of<Atoms>::packed::size > 0) {
          merge_all_documents(typename extents_of<Atoms>::packed{}, to, operation, from...);
        }
      }
    }
    return to;
  }
}

/// The extents of the other dimensions of a shape: dimensions that an operation removes or replaces are not compared.
template <class Shape, class D, class Extents>
[[nodiscard]] auto extents_beside(const Extents& e) {
  return merge_extents<atoms_of_list_t<difference_t<dims_t<Shape>, list<D>>>>("", e);
}

template <class D>
inline constexpr bool is_run_time_composite = is_composite<D> && D::static_extent == at_run_time;
template <class D, class Extents>
void check_composite([[maybe_unused]] const Extents& e, [[maybe_unused]] const char* operation) {
  if constexpr (is_run_time_composite<D>) { (void)e.template extent<D>(operation); }
}
/// Reads the extents of a shape's composites, so that the operation that forms a composite reports its overflow (R15).
template <class... D, class Extents>
void check_composites(list<D...>, [[maybe_unused]] const Extents& e, [[maybe_unused]] const char* operation) {
  if constexpr ((is_run_time_composite<D> || ...)) { (check_composite<D>(e, operation), ...); }
}

/// The position `by` elements after `origin`, or after 0 if the origin is unknown (`unknown_origin`). Throws
/// `origin_error` beyond 2^60, since later positions could overflow.
DIMWISE_DETAIL_LIBRARY std::ptrdiff_t position_after(std::ptrdiff_t origin, std::size_t by, const char* operation,
                                                     name_of name);

/// The position of element `by` of D, whose first element is at `origin`. Of a part of positions that does not say
/// where it begins, no element says it.
template <class D>
std::ptrdiff_t first_after(std::ptrdiff_t origin, std::size_t by, const char* operation) {
  if constexpr (is_sharded<D>) {
    if (origin == unknown_origin) { return origin; }
    const auto step = static_cast<std::size_t>(position_step<D>);
    if (by > static_cast<std::size_t>(farthest_origin) / step) { by = static_cast<std::size_t>(-1) / step; }
    return position_after(origin, by * step, operation, &dimension_name<D>);
  } else {
    return position_after(origin, by, operation, &dimension_name<D>);
  }
}

/// Sets the slot of D, which the operation creates. If another dimension of the shape is a sum with D as a part, D
/// already has an extent, and both must agree (R15).
template <class Shape, class D>
void make_extent(extents_for<Shape>& e, const slot& made, const char* operation) {
  if constexpr (has_slot<D>) {
    slot& to = e.template of_atom<D>();
    if constexpr (is_in<D, atoms_of_list_t<difference_t<dims_t<Shape>, list<D>>>>) {
      check_same(to, made, operation, &dimension_name<D>);
    } else {
      to = made;
    }
  }
}

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/tensor/extents_definitions.hpp>
#endif
