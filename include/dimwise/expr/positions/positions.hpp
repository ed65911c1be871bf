// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/positions/positions.hpp -- what is computed from positions: sinusoids, ALiBi, relative biases, skew;
// rotary.hpp has rotary.
//
// Layer: expr. Origins come from the extents: `sinusoid<seq, d_model>(starting_at(seq{1}, 41))`.
// Tests: tests/expr/positions/positions.test.cpp, tests/compile_fail/positions/
#pragma once

#include <dimwise/expr/masks/mask.hpp>
#include <dimwise/expr/positions/rotary.hpp>
#include <dimwise/shape/rules/positions.hpp>
#include <dimwise/support/math.hpp>

#include <cstddef>
#include <limits>

namespace dimwise {

namespace op {
struct sinusoid;
}  // namespace op

namespace detail {

template <class P, class F>
struct sinusoids {
  static constexpr const char* name = "sinusoid";
  using over = list<P, F>;
  double base;
};
template <class Shape, class P, class F>
using sinusoid_node = node<sinusoids<P, F>, Shape, float>;

template <class P, class F>
inline constexpr bool sinusoidal = has_any(P::abilities, ability::ordered) && is_feature<F>;

namespace calls {
struct sinusoid {
  template <class Named, class P, class F>
    requires(begins<Named, list<P, F>> && sinusoidal<P, F> && !is_sharded<F>)
  static auto judge(Named, const P&, const F&, double = 0) -> accepted<shape<P, F>>;
  template <class P, class F>
    requires(sinusoidal<P, F> && !is_sharded<F>)
  static auto judge(list<P, F>, const P&) -> without_extent_t<op::sinusoid, F, accepted<shape<P, F>>>;
  // The frequency of a feature depends on its place among all features.
  template <class P, class F, class... Rest>
    requires(sinusoidal<P, F> && is_sharded<F>)
  static auto judge(list<P, F>, const Rest&...)
      -> ERROR_R24_operation_goes_over_a_shard<op::sinusoid, over<about_t<F>>>;
  template <class P, class F, class... Rest>
    requires(!sinusoidal<P, F>)
  static auto judge(list<P, F>, const Rest&...)
      -> ERROR_R13_sinusoid_takes_positions_and_features<over<about_t<P>, about_t<F>>>;
  template <class P, class F, number First, class... Rest>
    requires(sinusoidal<P, F> && !is_sharded<F>)
  static auto judge(list<P, F>, const First&, const Rest&...)
      -> ERROR_R15_run_time_extents_are_given_once<op::sinusoid, over<about_t<P>, about_t<F>>, over<First, Rest...>>;
  template <class Verdict, class Named, class P, class F = element_t<1, Named>>
  static auto make(Named, const P& positions, const F& features = {}, double base = 10000) {
    extents_for<shape<P, F>> e;
    e.set(positions);
    e.set(features);
    return sinusoid_node<shape<P, F>, P, F>({positive("sinusoid", "the base", base)}, e);
  }
};
}  // namespace calls

}  // namespace detail

namespace no_adl {

/// sin(p / base^(2i/|F|)) at feature 2i and cos of the same at 2i + 1, for the positions p of P (Vaswani et al. 2017,
/// section 3.5); an odd number of features ends with a sine. The base is 10000 if not said.
///
///   sinusoid<seq, d_model>(seq{n}), sinusoid<seq, d_model>(seq{n}, d_model{m}, base)  ->  [seq, d_model]
DIMWISE_DETAIL_OPERATION(sinusoid)

}  // namespace no_adl

template <class Q, class K, class H>
class alibi;
namespace detail {
// The slope of a head depends on its place among all heads.
template <class H>
inline constexpr bool has_slopes = is_heads<H> && !is_sharded<H>;
template <class Q, class K, class H>
using alibi_error = typename either_t<
    has_slopes<H>, std::type_identity<positions_error<op::biased, Q, K>>,
    either_t<is_heads<H>, std::type_identity<ERROR_R24_operation_goes_over_a_shard<op::biased, over<about_t<H>>>>,
             std::type_identity<ERROR_R7_alibi_has_a_slope_for_each_head<op::biased, over<about_t<H>>>>>>::type;
template <class Q, class K, class H>
inline constexpr bool is_refused<alibi<Q, K, H>> = !both_ordered<Q, K> || !has_slopes<H>;
}  // namespace detail

/// −slope(head) · |query position − key position| (Press, Smith and Lewis 2022), slopes 2^(−8h/|H|) for h = 1 … |H|,
/// and the paper's interpolation if |H| is not a power of two. H is of heads, or merged from such: with grouped heads,
/// `alibi<seq, key, merged<kv_heads, group>>` of scores whose heads are merged.
template <class Q, class K, class H>
class alibi : public detail::related_positions<Q, K> {
 public:
  template <class F>
  void each_child(const F&) const {}
  using bias_facts = detail::mask_facts<detail::list<Q, K, H>, detail::list<K>, false>;
  using heads = H;
  static constexpr const char* name = "alibi";

  alibi()
    requires(detail::comparable<Q, K> && detail::both_ordered<Q, K> && detail::has_slopes<H>)
  = default;
  template <class Error = detail::alibi_error<Q, K, H>>
    requires(!detail::comparable<Q, K> || !detail::both_ordered<Q, K> || !detail::has_slopes<H>)
  alibi(Error* = nullptr) DIMWISE_DETAIL_REFUSED(Error);
  /// The same with said origins.
  alibi(const Q& q, const K& k)
    requires(detail::both_ordered<Q, K> && detail::has_slopes<H>)
      : detail::related_positions<Q, K>(q, k) {}
};

/// key − query, clipped to what the table holds: its middle element is distance 0 (Shaw, Uszkoreit and Vaswani 2018).
struct clipped_distance {
  [[nodiscard]] std::size_t operator()(std::ptrdiff_t distance, std::size_t buckets) const {
    const auto reach = static_cast<std::ptrdiff_t>(buckets / 2);
    const std::ptrdiff_t d = distance < -reach ? -reach : (distance > reach ? reach : distance);
    const auto at = static_cast<std::size_t>(d + reach);
    return at < buckets ? at : buckets - 1;
  }
};

/// The buckets of T5: exact near 0, logarithmic up to `max_distance`; half of them for keys after the query where
/// `bidirectional` (Raffel et al. 2020, section 2.1).
struct t5_buckets {
  bool bidirectional = true;
  std::ptrdiff_t max_distance = 128;

  [[nodiscard]] std::size_t operator()(std::ptrdiff_t distance, std::size_t buckets) const {
    std::size_t first = 0;
    constexpr std::ptrdiff_t farthest = std::numeric_limits<std::ptrdiff_t>::max();
    std::ptrdiff_t n = distance < -farthest ? farthest : -distance;
    if (bidirectional) {
      buckets /= 2;
      if (n < 0) {
        first = buckets;
        n = -n;
      }
    } else if (n < 0) {
      n = 0;
    }
    if (buckets == 0) { return 0; }  // one bucket for both directions
    const auto exact = static_cast<std::ptrdiff_t>(buckets / 2);
    if (n < exact) { return first + static_cast<std::size_t>(n); }
    if (exact == 0 || max_distance <= exact) { return first + buckets - 1; }  // nothing between the near and the far
    const double far = detail::math::log(static_cast<double>(n) / static_cast<double>(exact)) /
                       detail::math::log(static_cast<double>(max_distance) / static_cast<double>(exact)) *
                       static_cast<double>(static_cast<std::ptrdiff_t>(buckets) - exact);
    const auto at = static_cast<std::size_t>(exact) + static_cast<std::size_t>(far);
    return first + (at < buckets ? at : buckets - 1);
  }
};

/// The result of `relative_bias`.
template <class Q, class K, class R, class Table, class Bucket>
class relative_bias_of : public detail::related_positions<Q, K> {
 public:
  using table_type = Table;
  using relative = R;
  using rest = detail::difference_t<detail::dims_t<detail::shape_of<Table>>, detail::list<R>>;
  using bias_facts = detail::mask_facts<detail::join_t<detail::list<Q, K>, rest>, detail::list<K>, false,
                                        detail::taken_t<detail::shape_of<Table>>>;
  static constexpr const char* name = "relative_bias";
  /// Of a table and the function that says which entry a distance has.
  relative_bias_of(const Table& table, const Bucket& bucket, const detail::related_positions<Q, K>& positions = {})
      : detail::related_positions<Q, K>(positions), table_(table), bucket_(bucket) {}
  template <class F>
  void each_child(const F& f) const {
    f(table_);
  }
  /// The table, and the function from distances to its entries.
  [[nodiscard]] const Table& table() const { return table_; }
  [[nodiscard]] const Bucket& bucket() const { return bucket_; }

 private:
  Table table_;
  Bucket bucket_;
};

namespace detail {

// Whether a table makes a relative bias, and why not.
template <class Q, class K, class R, class Table>
inline constexpr bool is_table =
    comparable<Q, K> && both_ordered<Q, K> && is_in<R, dims_t<Table>> && !any_masked<Table>;
template <class Q, class K, class R, class Table>
using table_error =
    either_t<!is_in<R, dims_t<Table>>,
             ERROR_R1_dimension_is_not_in_the_operand<op::biased, over<about_t<R>>, operand_t<Table>>,
             either_t<any_masked<Table>, ERROR_R7_bias_is_masked_instead_of_the_scores<op::biased, operand_t<Table>>,
                      positions_error<op::biased, Q, K>>>;

}  // namespace detail

namespace no_adl {

/// A learned bias for the distance of a key from a query: `table` has the dimension R of distances (or buckets of them)
/// and parallel dimensions, such as heads.
///
///   biased(s, relative_bias<seq, key, buckets>(table, t5_buckets{}))
///
/// Q and K are related (R7); `bucket(distance, |R|)` says which element of R a distance takes.
template <class Q, class K, class R, operand Table, class Bucket = clipped_distance>
  requires(detail::is_table<Q, K, R, detail::shape_of<Table>>)
[[nodiscard]] auto relative_bias(const Table& table, const Bucket& bucket = {}) {
  return relative_bias_of<Q, K, R, Table, Bucket>(table, bucket);
}
template <class Q, class K, class R, operand Table, class Bucket = clipped_distance,
          class Error = detail::table_error<Q, K, R, detail::shape_of<Table>>>
  requires(!detail::is_table<Q, K, R, detail::shape_of<Table>>)
Error relative_bias(const Table& table, const Bucket& bucket = {});
DIMWISE_DETAIL_MISUSED(relative_bias)

}  // namespace no_adl

namespace detail {

// Q·R -> Q·K by distance.
template <class Q, class R, class K>
struct skewed {
  static constexpr const char* name = "skew";
  using over = list<Q, R, K>;
};
template <class Shape, class Q, class R, class K, class E>
using skew_node = node<skewed<Q, R, K>, Shape, value_of<E>, E>;

namespace calls {
struct skew {
  template <class Q, class R, class... N, operand X, class K>
    requires begins<list<N...>, list<K>>
  static auto judge(list<Q, R, N...>, const X&, const K&) -> rule::skew<Q, R, K, shape_of<X>>;
  template <class Q, class R, class K, operand X>
  static auto judge(list<Q, R, K>, const X&) -> without_extent_t<op::skew, K, rule::skew<Q, R, K, shape_of<X>>>;
  template <class Verdict, class Q, class R, class... N, operand X, class K = first_t<list<N...>>>
  static auto make(list<Q, R, N...>, const X& x, const K& keys = {}) {
    using shape = typename Verdict::shape;
    auto e = extents_from<shape>("skew", one_extent(keys), extents_beside<shape_of<X>, R>(x.extents()));
    return skew_node<shape, Q, R, K, X>({}, e, x);
  }
};
}  // namespace calls

}  // namespace detail

namespace no_adl {

/// Relative to absolute positions: element (q, k) is element (q, r) of `x` whose R has the position k − q (Dai et al.
/// 2019, appendix B); 0 where R has no such position.
///
///   skew<seq, distance, key>(x, key{n}):  [Q, R, rest]  ->  [Q, K, rest]
DIMWISE_DETAIL_OPERATION(skew)

}  // namespace no_adl

}  // namespace dimwise
