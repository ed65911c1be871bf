// SPDX-License-Identifier: BSL-1.0
// dimwise/dim/dimension.hpp -- dimensions: types with a kind and a static or run-time extent.
//
// Layer: dim. Includes: dim, and small standard headers.
// Tests: tests/shape/dim.test.cpp, tests/compile_fail/dim/
//
//   struct seq     : dimwise::position_dim<> {};       // run-time extent: seq{n}
//   struct d_model : dimwise::feature_dim<512> {};     // static extent
#pragma once

#include <dimwise/dim/ability.hpp>
#include <dimwise/dim/error.hpp>
#include <dimwise/dim/segments.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <limits>

namespace dimwise {

/// The number of elements along a dimension.
using extent_t = std::size_t;

/// The static extent of a dimension with a run-time extent.
inline constexpr extent_t at_run_time = static_cast<extent_t>(-1);

namespace detail {

// The origin of a dimension without an explicit origin, and of operands with different origins.
inline constexpr std::ptrdiff_t unknown_origin =
    static_cast<std::ptrdiff_t>(static_cast<std::size_t>(1) << (8 * sizeof(std::size_t) - 1));
inline constexpr std::ptrdiff_t disputed_origin = unknown_origin + 1;

// The largest origin; positions counted from a larger one could overflow.
inline constexpr std::ptrdiff_t farthest_origin = std::numeric_limits<std::ptrdiff_t>::max() / 8;

[[noreturn]] inline void throw_far_origin(std::ptrdiff_t origin, text (*name)()) {
  error e;
  e << (name == nullptr ? "start_at" : "starting_at") << ": position " << static_cast<long long>(origin);
  if (name != nullptr) { e << " of dimension " << name(); }
  raise<origin_error>(e << " is beyond 2^60 (R7)");
}
// The number of an element, or of elements, that a call is given, of any type of integers.
class given_count {
 public:
  template <std::integral Number>
  constexpr given_count(Number n) : count_(static_cast<extent_t>(n)) {  // implicit: `cache.forget(2)`
    if constexpr (std::signed_integral<Number>) { is_negative_ = n < 0; }
  }
  [[nodiscard]] constexpr bool is_negative() const { return is_negative_; }
  [[nodiscard]] constexpr extent_t count() const { return count_; }
  // Throws if it is negative.
  [[nodiscard]] constexpr extent_t checked(const char* operation) const {
    if (is_negative_) {
      raise<extent_error>(error{} << operation << ": the count is " << static_cast<long long>(count_)
                                  << ", a number of 0 or more is expected (R15)");
    }
    return count_;
  }

 private:
  extent_t count_;
  bool is_negative_ = false;
};

[[noreturn]] inline void throw_negative_extent(long long given) {
  raise<extent_error>(error{} << "an extent is negative: " << given << " (R15)");
}
[[noreturn]] inline void throw_other_extent(long long given, std::size_t expected) {
  raise<extent_error>(error{} << "extent " << given << " was given for a dimension of extent " << expected << " (R15)");
}

}  // namespace detail

/// The base of every dimension: its abilities, and its static extent if it has one.
///
/// An object of a dimension is an extent: pass `seq{n}` once at run time. A negative extent, or one that differs from a
/// static extent, throws `extent_error` (R15).
template <ability Abilities, extent_t Extent = at_run_time>
struct dimension {
  static constexpr ability abilities = Abilities;
  static constexpr extent_t static_extent = Extent;

  constexpr dimension() = default;
  /// Constructs an extent; throws `extent_error` if it is negative or differs from the static extent.
  template <std::integral Number>
  constexpr dimension(Number n) : extent_(static_cast<extent_t>(n)) {  // implicit: `seq{n}` initialises a base from n
    if constexpr (std::signed_integral<Number>) {
      if (n < 0) { detail::throw_negative_extent(static_cast<long long>(n)); }
    }
    if constexpr (Extent != at_run_time) {
      if (extent_ != Extent) { detail::throw_other_extent(static_cast<long long>(n), Extent); }
    }
  }

  /// The number of elements.
  [[nodiscard]] constexpr extent_t extent() const { return extent_; }
  /// The position of the first element: that of `starting_at`, or 0.
  [[nodiscard]] constexpr std::ptrdiff_t origin() const { return origin_ == detail::unknown_origin ? 0 : origin_; }
  /// The position of the first element, or a sentinel if none was given.
  [[nodiscard]] constexpr std::ptrdiff_t given_origin() const { return origin_; }
  /// The former name of `given_origin`.
  [[deprecated("use given_origin()")]] [[nodiscard]] constexpr std::ptrdiff_t said_origin() const { return origin_; }
  /// Sets the position of the first element; throws `origin_error` beyond ±2^60, since later positions could overflow.
  constexpr void start_at(std::ptrdiff_t origin) {
    if (origin < -detail::farthest_origin || origin > detail::farthest_origin) {
      detail::throw_far_origin(origin, nullptr);
    }
    origin_ = origin;
  }

 private:
  extent_t extent_ = Extent == at_run_time ? 0 : Extent;
  std::ptrdiff_t origin_ = detail::unknown_origin;
};

namespace detail {

// An extent of D: `n` if it is known at run time, otherwise the static extent.
template <class D>
constexpr D extent_or_static(std::size_t n) {
  if constexpr (D::static_extent == at_run_time) {
    return D{n};
  } else {
    return D{};
  }
}

}  // namespace detail

/// The same extent with `origin` as the position of its first element: `starting_at(seq{1}, 41)` is the 42nd token.
///
/// Throws `origin_error` for positions beyond ±2^60, since later positions could overflow.
template <class D>
  requires requires(D d, std::ptrdiff_t o) { d.start_at(o); }
[[nodiscard]] constexpr D starting_at(D extent, std::ptrdiff_t origin) {
  if (origin < -detail::farthest_origin || origin > detail::farthest_origin) {
    detail::throw_far_origin(origin, &detail::dimension_name<D>);
  }
  extent.start_at(origin);
  return extent;
}

/// Independent examples.
template <extent_t Extent = at_run_time>
struct batch_dim : dimension<ability::parallel, Extent> {
  using dimension<ability::parallel, Extent>::dimension;
};
/// The heads of attention.
template <extent_t Extent = at_run_time>
struct heads_dim : dimension<ability::parallel | ability::heads, Extent> {
  using dimension<ability::parallel | ability::heads, Extent>::dimension;
};
/// Positions of a sequence, which are ordered and can be attended to.
template <extent_t Extent = at_run_time>
struct position_dim : dimension<ability::ordered | ability::attendable, Extent> {
  using dimension<ability::ordered | ability::attendable, Extent>::dimension;
};
/// Features of a model.
template <extent_t Extent = at_run_time>
struct feature_dim : dimension<ability::feature, Extent> {
  using dimension<ability::feature, Extent>::dimension;
};
/// Alternatives such as a vocabulary, classes or candidates.
template <extent_t Extent = at_run_time>
struct choice_dim : dimension<ability::choice, Extent> {
  using dimension<ability::choice, Extent>::dimension;
};

/// The positions of several documents in one dimension. Its extent is given by the document lengths:
/// `packed_seq{{3, 4, 2}}`.
///
/// A negative length, or a sum of 2^63 or more, throws `extent_error` (R15, R19).
template <extent_t Extent = at_run_time>
struct packed_dim : dimension<ability::ordered | ability::attendable | ability::packed, Extent> {
  using base = dimension<ability::ordered | ability::attendable | ability::packed, Extent>;
  packed_dim() = default;
  /// The document lengths in order; the extent is their sum.
  packed_dim(std::initializer_list<extent_t> lengths) : packed_dim(dimwise::segments(lengths)) {}
  template <std::integral Number>
  packed_dim(std::initializer_list<Number> lengths) : packed_dim(dimwise::segments(lengths)) {}
  template <detail::lengths_of_documents Lengths>
    requires(!std::same_as<Lengths, dimwise::segments>)
  packed_dim(const Lengths& lengths) : packed_dim(dimwise::segments(lengths)) {}  // implicit: `packed_seq{lengths}`
  packed_dim(dimwise::segments documents)
      : base(documents.total()), documents_(static_cast<dimwise::segments&&>(documents)) {}

  /// The lengths of the documents.
  [[nodiscard]] const dimwise::segments& documents() const& { return documents_; }
  [[nodiscard]] dimwise::segments documents() const&& { return documents_; }

 private:
  dimwise::segments documents_;
};

/// A dimension of the library or of the user, or a composite of dimensions.
template <class D>
concept dimension_type = requires {
  { D::abilities } -> std::convertible_to<ability>;
  { D::static_extent } -> std::convertible_to<extent_t>;
};

}  // namespace dimwise
