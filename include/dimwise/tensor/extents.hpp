// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/extents.hpp -- the extents of a shape when the program runs, checked where two tensors meet.
//
// Layer: tensor. One slot per dimension that composites are made of; static extents stand in their slots from the start.
// Tests: tests/tensor/extents.test.cpp
#pragma once

#include <cstddef>

#include <dimwise/dim/error.hpp>
#include <dimwise/shape/shape.hpp>

namespace dimwise {

namespace detail {

// One dimension's extent, the position of its first element, and its documents where it is packed.
struct slot {
  extent_t extent = 0;
  std::ptrdiff_t origin = unsaid_origin;
  segments documents;
};

using name_of = text (*)();

// R15: two slots of one dimension meet. Origins that contradict each other are no mistake until a position is needed.
inline void meet(slot& here, const slot& there, const char* operation, name_of name) {
  if (here.extent != there.extent) {
    raise<extent_error>(error{} << operation << ": dimension " << name() << " has extent " << here.extent << " in one operand and "
                                << there.extent << " in another (R15)");
  }
  if (here.origin == unsaid_origin) {
    here.origin = there.origin;
  } else if (there.origin != unsaid_origin && there.origin != here.origin) {
    here.origin = disputed_origin;
  }
  if (!here.documents.known()) {
    here.documents = there.documents;
  } else if (there.documents.known() && !(here.documents == there.documents)) {
    raise<extent_error>(error{} << operation << ": dimension " << name() << " holds other documents in one operand than in another (R15, R19)");
  }
}

// Every slot of `to` from the operands that have it; `places[i * operands + j]` is where operand j has it, or -1.
inline void carry_slots(slot* to, std::size_t count, std::size_t operands, const short* places, const slot* const* from, const char* operation,
                        const name_of* names) {
  for (std::size_t i = 0; i < count; ++i) {
    bool found = false;
    for (std::size_t j = 0; j < operands; ++j) {
      const short place = places[i * operands + j];
      if (place < 0) { continue; }
      if (found) {
        meet(to[i], from[j][place], operation, names[i]);
      } else {
        to[i] = from[j][place];
        found = true;
      }
    }
  }
}

template <class Atoms>
class extents_of;

// The extent of D from the slots of its atoms.
template <class D>
struct extent_from {
  template <class Extents>
  static constexpr extent_t get(const Extents& e) {
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
  static constexpr extent_t get(const Extents& e) {
    return (extent_from<F>::get(e) * ... * extent_t{1});
  }
};
template <class... P>
struct extent_from<summed<P...>> {
  template <class Extents>
  static constexpr extent_t get(const Extents& e) {
    return (extent_from<P>::get(e) + ... + extent_t{0});
  }
};

template <class... A>
class extents_of<list<A...>> {
 public:
  using atoms = list<A...>;
  static constexpr std::size_t count = sizeof...(A);

  extents_of() {
    if constexpr (count > 0) {
      constexpr extent_t known[] = {A::static_extent...};
      for (std::size_t i = 0; i < count; ++i) { slots_[i].extent = known[i] == at_run_time ? 0 : known[i]; }
    }
  }

  template <class D>
  [[nodiscard]] const slot& of_atom() const {
    return slots_[index_in<D, atoms>];
  }
  template <class D>
  [[nodiscard]] slot& of_atom() {
    return slots_[index_in<D, atoms>];
  }
  template <class D>
  [[nodiscard]] extent_t extent() const {
    return extent_from<D>::get(*this);
  }
  /// The position of D's first element: 0 where nobody said; throws where operands said different ones.
  template <class D>
  [[nodiscard]] std::ptrdiff_t origin(const char* operation) const {
    const std::ptrdiff_t said = of_atom<D>().origin;
    if (said == disputed_origin) {
      raise<origin_error>(error{} << operation << ": operands disagree about the position of the first element of " << dimension_name<D>());
    }
    return said == unsaid_origin ? 0 : said;
  }
  template <class D>
  [[nodiscard]] bool has_origin() const {
    return of_atom<D>().origin != unsaid_origin;
  }
  [[nodiscard]] slot* slots() { return slots_; }
  [[nodiscard]] const slot* slots() const { return slots_; }

  /// Sets one dimension from its object.
  template <class D>
  void set(const D& given) {
    slot& s = of_atom<D>();
    s.extent = given.extent();
    s.origin = given.said_origin();
    if constexpr (requires { given.documents(); }) { s.documents = given.documents(); }
  }

  /// Dynamic `divided` extents, checked by the first tensor that holds all three (R4).
  void check_divided() const { (check_one<A>(), ...); }

 private:
  template <class D>
  void check_one() const {
    if constexpr (requires { typename D::divided_from; }) {
      using from = typename D::divided_from;
      using by = typename D::divided_by;
      if constexpr (is_any_of<from, A...> && is_any_of<by, A...> && (D::static_extent == at_run_time)) {
        if (extent<D>() * extent<by>() != extent<from>()) {
          raise<extent_error>(error{} << "dimension " << dimension_name<D>() << " has extent " << extent<D>() << ", but " << dimension_name<from>()
                                      << " is " << extent<from>() << " and " << dimension_name<by>() << " is " << extent<by>() << " (R4)");
        }
      }
    }
  }

  slot slots_[count == 0 ? 1 : count];
};

template <class Shape>
using extents_for = extents_of<atoms_of_list_t<dims_t<Shape>>>;

template <class From, class A>
inline constexpr short place_in = is_in<A, From> ? static_cast<short>(index_in<A, From>) : short{-1};

template <class To>
struct carrier;
template <class... A>
struct carrier<list<A...>> {
  template <class... From>
  static extents_of<list<A...>> from(const char* operation, const From&... from) {
    extents_of<list<A...>> to;
    if constexpr (sizeof...(A) > 0) {
      constexpr name_of names[] = {&dimension_name<A>...};
      const slot* bases[] = {from.slots()...};
      if constexpr (sizeof...(From) == 1) {
        constexpr short places[] = {place_in<typename From::atoms..., A>...};
        carry_slots(to.slots(), sizeof...(A), 1, places, bases, operation, names);
      } else {
        static constexpr auto places = plan<typename From::atoms...>();
        carry_slots(to.slots(), sizeof...(A), sizeof...(From), places.at, bases, operation, names);
      }
    }
    return to;
  }

 private:
  template <std::size_t N>
  struct table {
    short at[N];
  };
  template <class Atoms>
  struct row {
    static constexpr short at[] = {place_in<Atoms, A>...};
  };
  template <class... Atoms>
  static constexpr auto plan() {
    table<sizeof...(A) * sizeof...(Atoms)> t{};
    const short* rows[] = {row<Atoms>::at...};
    for (std::size_t i = 0; i < sizeof...(A); ++i) {
      for (std::size_t j = 0; j < sizeof...(Atoms); ++j) { t.at[i * sizeof...(Atoms) + j] = rows[j][i]; }
    }
    return t;
  }
};

/// The extents of these atoms, from the operands that have them; what several have is checked (R15).
template <class Atoms, class... From>
[[nodiscard]] extents_of<Atoms> carry(const char* operation, const From&... from) {
  return carrier<Atoms>::from(operation, from...);
}

}  // namespace detail
}  // namespace dimwise
