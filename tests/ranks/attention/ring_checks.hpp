// tests/ranks/attention/ring_checks.hpp -- attention over ranks on any backend: bit for bit against one rank that
// merges the same parts in the same order, and against float64 attention over all keys.
//
// Every rank draws the whole operands and takes its parts, so each one computes what the others should have.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "ranks/checks.hpp"
#include "support/numbers.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks/kv_cache.hpp>
#include <dimwise/ranks/ring_attention.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

namespace ring_checks {

using namespace dimwise;
using dimwise_test::drawn;
using rank_checks::expect;

struct batch : batch_dim<2> {};
struct kv_heads : heads_dim<2> {};
struct group : heads_dim<3> {};
struct heads : heads_dim<2> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<8> {};
struct d_v : feature_dim<5> {};
struct buckets : position_dim<> {};
template <std::size_t N>  // static for stripes
struct sp : mesh_axis<N> {};
inline constexpr std::size_t any = at_run_time;

inline constexpr std::size_t length = 37;  // divided by none of the numbers of ranks

// The elements of D that a part has, of a whole tensor whose positions begin at 0.
template <class S, class T, class... D, std::size_t... At>
auto part_in(const tensor<T, D...>& whole, const S& part) {
  using W = typename S::shard_of;
  using shape_here = detail::make_shape_t<detail::replace_t<detail::list<D...>, W, detail::list<S>>, detail::list<>>;
  using here = detail::tensor_of<T, shape_here>;
  auto e = detail::merge_extents<detail::difference_t<typename here::extents_type::atoms, detail::list<S>>>(
      "part", whole.extents());
  auto to_extents = detail::merge_extents<typename here::extents_type::atoms>("part", e);
  to_extents.set(part);
  auto to = here::for_overwriting(to_extents);
  std::size_t inner = 1, outer = 1;
  bool after = false;
  ((std::is_same_v<D, W> ? (void)(after = true)
                         : (void)((after ? inner : outer) *= whole.extents().template extent<D>())),
   ...);
  const std::size_t n = whole.extents().template extent<W>(), own = part.extent();
  const auto first = static_cast<std::size_t>(part.origin());
  T* const elements = to.overwrite();
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < own; ++i) {
      const std::size_t at = first + i * static_cast<std::size_t>(detail::position_step<S>);
      for (std::size_t j = 0; j < inner; ++j) {
        elements[(o * own + i) * inner + j] = whole.values()[(o * n + at) * inner + j];
      }
    }
  }
  return to;
}

template <class X, class Y>
bool same_bits(const X& a, const Y& b) {
  return a.size() == b.size() && std::equal(a.values().begin(), a.values().end(), b.values().begin());
}
template <class T>
double largest_difference(const std::vector<double>& expected, const T& got) {
  double largest = expected.size() == got.size() ? 0 : 1e9;
  for (std::size_t i = 0; i < std::min(expected.size(), got.size()); ++i) {
    largest = std::max(largest, std::abs(expected[i] - static_cast<double>(got.values()[i])));
  }
  return largest;
}
template <class X>
std::vector<double> as_doubles(const X& x) {
  return std::vector<double>(x.values().begin(), x.values().end());
}

// One rank merges the blocks of all ranks in the order in which they arrive at `own`.
template <class Key, class Formula, class K, class V>
auto merged_by_one(const Formula& scores_of, const std::vector<K>& k, const std::vector<V>& v, std::size_t own) {
  const auto part = [&](std::size_t r) {
    using S = std::remove_cv_t<decltype(scores_of(k[r]))>;
    using result = typename rule::ring_attention<Key, detail::shape_of<S>, detail::shape_of<V>>::shape;
    return detail::part_of_block<Key, result>(scores_of(k[r]), v[r]);
  };
  auto all = part(own);
  for (std::size_t step = 1; step < k.size(); ++step) { all = merge(all, part((own + k.size() - step) % k.size())); }
  return all;
}

// The queries of a rank under a formula: `formula(q, k, id<Q>, id<K>)` gives the masked scores.
template <class M, class... Way>
struct parts {
  using q_here = shard<seq, M, Way...>;
  using k_here = shard<key, M, Way...>;
};
template <class Q, class K>
struct names {
  using query = Q;
  using keys = K;
};

template <class T, std::size_t N, class... Way, class Formula>
void check_formula(const ranks::communicator& world, const std::string& what, const Formula& formula, double tolerance,
                   bool is_empty_somewhere = false) {
  using M = sp<N>;
  using here = parts<M, Way...>;
  using Q = typename here::q_here;
  using K = typename here::k_here;
  const ranks::mesh<M> grid(world);
  const std::size_t n = is_empty_somewhere ? 3 : length;
  const auto q = drawn<tensor<T, batch, seq, kv_heads, group, d_k>>(1, seq{n});
  const auto k = drawn<tensor<T, batch, key, kv_heads, d_k>>(2, key{n});
  const auto v = drawn<tensor<T, batch, key, kv_heads, d_v>>(3, key{n});
  std::vector<decltype(part_in(k, K{}))> keys;
  std::vector<decltype(part_in(v, K{}))> values;
  for (std::size_t r = 0; r < world.size(); ++r) {
    keys.push_back(part_in(k, part_here<K>(key{n}, r, world.size())));
    values.push_back(part_in(v, part_here<K>(key{n}, r, world.size())));
  }
  const std::size_t own = world.rank();
  const auto my_q = part_in(q, part_here<Q>(seq{n}, own, world.size()));
  const auto scores_of = [&](const auto& some) { return formula(my_q, some, names<Q, K>{}); };
  const auto got = ring_attention<K>(scores_of(keys[own]), values[own], grid);
  const auto same = merged_by_one<K>(scores_of, keys, values, own);
  expect(same_bits(got, same.output), what + ": the bits of one rank");

  // In double, over all keys at once.
  const tensor<double, batch, seq, kv_heads, group, d_k> q2(q);
  const tensor<double, batch, key, kv_heads, d_k> k2(k);
  const tensor<double, batch, key, kv_heads, d_v> v2(v);
  using whole_type = tensor<double, batch, seq, kv_heads, group, d_v>;
  const whole_type whole = contract<key>(softmax<key>(formula(q2, k2, names<seq, key>{})), v2);
  using got_dims = tensor<T, batch, Q, kv_heads, group, d_v>;
  const got_dims in_order = got;
  const auto expected = part_in(whole, part_here<Q>(seq{n}, own, world.size()));
  const double error = largest_difference(as_doubles(expected), in_order);
  expect(error <= tolerance, what + ": " + std::to_string(error) + " from float64");
}

inline constexpr auto plain_formula = [](const auto& q, const auto& k, auto) { return scores<d_k>(q, k); };
inline constexpr auto causal_formula = []<class N>(const auto& q, const auto& k, N) {
  return masked(scores<d_k>(q, k), causal<typename N::query, typename N::keys>{});
};
inline constexpr auto window_formula = []<class N>(const auto& q, const auto& k, N) {
  return masked(scores<d_k>(q, k),
                causal<typename N::query, typename N::keys>{} & window<typename N::query, typename N::keys>{5, 0});
};
inline constexpr auto alibi_formula = []<class N>(const auto& q, const auto& k, N) {
  using Q = typename N::query;
  using K = typename N::keys;
  return masked(biased(scores<d_k>(q, k), alibi<Q, K, kv_heads>{}), causal<Q, K>{});
};
inline constexpr auto capped_formula = []<class N>(const auto& q, const auto& k, N) {
  return masked(tanh(scores<d_k>(q, k) * 0.5F) * 2.0F, causal<typename N::query, typename N::keys>{});
};
inline constexpr auto rotary_formula = []<class N>(const auto& q, const auto& k, N) {
  using Q = typename N::query;
  using K = typename N::keys;
  return masked(scores<d_k>(rotary<Q, d_k>(q), rotary<K, d_k>(k)), causal<Q, K>{});
};
struct relative_formula {
  template <class N, class A, class B>
  auto operator()(const A& q, const B& k, N) const {
    using T = typename A::value_type;
    const auto table = drawn<tensor<T, kv_heads, buckets>>(4, buckets{9});
    return masked(biased(scores<d_k>(q, k), relative_bias<typename N::query, typename N::keys, buckets>(table)),
                  causal<typename N::query, typename N::keys>{});
  }
};

// Roundings of sums of 37 terms of order 1, and of up to four merged parts.
template <class = void>
void check_forward(const ranks::communicator& world) {
  constexpr double near_float = 4e-6, near_double = 1e-13;
  check_formula<float, any>(world, "no mask", plain_formula, near_float);
  check_formula<float, any>(world, "no key on some ranks", plain_formula, near_float, true);
  check_formula<float, any>(world, "causal", causal_formula, near_float);
  check_formula<float, any>(world, "window", window_formula, near_float);
  check_formula<float, any>(world, "alibi", alibi_formula, near_float);
  check_formula<float, any>(world, "soft cap", capped_formula, near_float);
  check_formula<float, any>(world, "rotary", rotary_formula, near_float);
  check_formula<float, any>(world, "relative bias", relative_formula{}, near_float);
  check_formula<double, any>(world, "causal in double", causal_formula, near_double);
  if (world.size() == 2) {
    check_formula<float, 2, striped>(world, "stripes, no mask", plain_formula, near_float);
    check_formula<float, 2, striped>(world, "stripes, causal", causal_formula, near_float);
    check_formula<float, 2, striped>(world, "stripes, window", window_formula, near_float);
    check_formula<float, 2, striped>(world, "stripes, alibi", alibi_formula, near_float);
  } else if (world.size() == 4) {
    check_formula<float, 4, striped>(world, "stripes, causal", causal_formula, near_float);
    check_formula<float, 4, striped>(world, "stripes, rotary", rotary_formula, near_float);
  }
}

// A weight for each element of the output, by its position in the whole.
template <class T>
auto output_weights(std::size_t n) {
  return drawn<tensor<T, batch, seq, kv_heads, group, d_v>>(7, seq{n});
}
// Σ y · w over this rank's part, without the mark that a sum over a shard has: the loss of all ranks is the sum.
template <class Y, class W>
auto own_term(const Y& y, const W& w) {
  const tensor stored = y;
  const auto product = detail::by_element(fn::multiply{}, stored, w);
  return detail::make_total<shape<>, detail::value_of<decltype(product)>, detail::totals::sum,
                            detail::dims_t<detail::shape_of<Y>>>(product);
}

// The gradients of queries, keys and values that ranks divide, against those of one rank that adds the terms of the
// blocks in the same order, and against float64.
template <class T, std::size_t N, class... Way, class Formula>
void check_gradient_of(const ranks::communicator& world, const std::string& what, const Formula& formula,
                       double tolerance, bool operands_alone = true) {
  using M = sp<N>;
  using Q = shard<seq, M, Way...>;
  using K = shard<key, M, Way...>;
  const ranks::mesh<M> grid(world);
  const std::size_t n = length, own = world.rank();
  const auto q = drawn<tensor<T, batch, seq, kv_heads, group, d_k>>(1, seq{n});
  const auto k = drawn<tensor<T, batch, key, kv_heads, d_k>>(2, key{n});
  const auto v = drawn<tensor<T, batch, key, kv_heads, d_v>>(3, key{n});
  const auto w = output_weights<T>(n);
  const auto q_of = [&](std::size_t r) { return part_in(q, part_here<Q>(seq{n}, r, world.size())); };
  const auto k_of = [&](std::size_t r) { return part_in(k, part_here<K>(key{n}, r, world.size())); };
  const auto v_of = [&](std::size_t r) { return part_in(v, part_here<K>(key{n}, r, world.size())); };
  const auto w_of = [&](std::size_t r) { return part_in(w, part_here<Q>(seq{n}, r, world.size())); };
  const auto loss_on = [&](const auto& mesh, std::size_t r) {
    return [&, r](const auto& m) {
      const auto& [mq, mk, mv] = m;
      const tensor y = ring_attention<K>(formula(mq, mk, names<Q, K>{}), mv, mesh);
      return own_term(y, w_of(r));
    };
  };
  const auto got = value_and_gradient(std::tuple(q_of(own), k_of(own), v_of(own)), loss_on(grid, own));

  // One rank that has all keys, in float64.
  const auto whole = value_and_gradient(
      std::tuple(tensor<double, batch, seq, kv_heads, group, d_k>(q), tensor<double, batch, key, kv_heads, d_k>(k),
                 tensor<double, batch, key, kv_heads, d_v>(v)),
      [&](const auto& m) {
    const auto& [mq, mk, mv] = m;
    const tensor y = contract<key>(softmax<key>(formula(mq, mk, names<seq, key>{})), mv);
    return own_term(y, tensor<double, batch, seq, kv_heads, group, d_v>(w));
  });
  const auto check = [&](const char* name, const auto& part, const auto& expected) {
    const double error = largest_difference(as_doubles(expected), part);
    expect(error <= tolerance, what + ", " + name + ": " + std::to_string(error) + " from float64");
  };
  check("d_q", std::get<0>(got.gradient),
        part_in(std::get<0>(whole.gradient), part_here<Q>(seq{n}, own, world.size())));
  check("d_k", std::get<1>(got.gradient),
        part_in(std::get<1>(whole.gradient), part_here<K>(key{n}, own, world.size())));
  check("d_v", std::get<2>(got.gradient),
        part_in(std::get<2>(whole.gradient), part_here<K>(key{n}, own, world.size())));

  // Of a formula that turns its operands first, the float64 values above alone.
  if (!operands_alone) { return; }

  // One rank that computes the blocks of all ranks, each rank's in the order of its ring.
  using plain_scores = std::remove_cv_t<decltype(formula(q_of(0), k_of(0), names<Q, K>{}))>;
  using result =
      typename rule::ring_attention<K, detail::shape_of<plain_scores>, detail::shape_of<decltype(v_of(0))>>::shape;
  using tracked_q = detail::tracked_leaf_t<decltype(q_of(0))>;
  using tracked_k = detail::tracked_leaf_t<decltype(k_of(0))>;
  using tracked_v = detail::tracked_leaf_t<decltype(v_of(0))>;
  using tracked_scores =
      std::remove_cv_t<decltype(formula(std::declval<tracked_q>(), std::declval<tracked_k>(), names<Q, K>{}))>;
  std::vector<decltype(k_of(0))> keys;
  std::vector<decltype(v_of(0))> values;
  for (std::size_t r = 0; r < world.size(); ++r) {
    keys.push_back(k_of(r));
    values.push_back(v_of(r));
  }
  std::vector<decltype(detail::zero_gradient(keys[0]))> d_keys;
  std::vector<decltype(detail::zero_gradient(values[0]))> d_values;
  for (std::size_t r = 0; r < world.size(); ++r) {
    d_keys.push_back(detail::zero_gradient(keys[r]));
    d_values.push_back(detail::zero_gradient(values[r]));
  }
  auto d_q = detail::zero_gradient(q_of(own));
  // A block's terms are added by its owner first, then by the ranks after it.
  for (std::size_t step = 0; step < world.size(); ++step) {
    for (std::size_t r = 0; r < world.size(); ++r) {
      const std::size_t owner = (r + world.size() - step) % world.size();
      const auto my_q = q_of(r);
      const auto scores_of = [&](const auto& some) { return formula(my_q, some, names<Q, K>{}); };
      const auto part = merged_by_one<K>(scores_of, keys, values, r);
      using part_type = std::remove_cv_t<decltype(part)>;
      const detail::kept_ring<K, result, true, tracked_scores, tracked_v, decltype(q_of(0)), decltype(k_of(0)),
                              decltype(v_of(0)), part_type>
          kept{formula(tracked_q(my_q), tracked_k(keys[r]), names<Q, K>{}),
               tracked_v(values[r]),
               my_q,
               keys[r],
               values[r],
               part,
               ranks::communicator()};
      if (step > 0 && !detail::may_show_any<K>(scores_of(keys[owner]))) { continue; }
      using arrives = detail::tensor_of<
          T, detail::make_shape_t<detail::dims_t<detail::shape_of<decltype(part.output)>>, detail::list<>>>;
      const arrives g = w_of(r);
      const auto block = detail::block_back(kept, keys[owner], values[owner], g);
      if (step == 0) {
        d_keys[owner] = block.k;
        d_values[owner] = block.v;
      } else {
        detail::add_elements(d_keys[owner], block.k);
        detail::add_elements(d_values[owner], block.v);
      }
      if (r == own) {
        if (step == 0) {
          d_q = block.q;
        } else {
          detail::add_elements(d_q, block.q);
        }
      }
    }
  }
  expect(same_bits(std::get<0>(got.gradient), d_q), what + ": the bits of d_q");
  expect(same_bits(std::get<1>(got.gradient), d_keys[own]), what + ": the bits of d_k");
  expect(same_bits(std::get<2>(got.gradient), d_values[own]), what + ": the bits of d_v");
}

// The gradients of what is neither queries, keys nor values: those of the formula that is not divided. A table by
// distances and a factor for each head, which are whole, and a factor for each of this rank's queries.
template <class T, std::size_t N, class... Way>
void check_biases(const ranks::communicator& world, double tolerance) {
  using M = sp<N>;
  using Q = shard<seq, M, Way...>;
  using K = shard<key, M, Way...>;
  const ranks::mesh<M> grid(world);
  const std::size_t n = length, own = world.rank();
  const auto q = drawn<tensor<T, batch, seq, kv_heads, group, d_k>>(1, seq{n});
  const auto k = drawn<tensor<T, batch, key, kv_heads, d_k>>(2, key{n});
  const auto v = drawn<tensor<T, batch, key, kv_heads, d_v>>(3, key{n});
  const auto table = drawn<tensor<T, kv_heads, buckets>>(4, buckets{9});
  const auto gain = drawn<tensor<T, kv_heads>>(5);
  const auto rows = drawn<tensor<T, seq, kv_heads>>(6, seq{n});
  const auto w = output_weights<T>(n);
  const Q queries = part_here<Q>(seq{n}, own, world.size());
  const K keys = part_here<K>(key{n}, own, world.size());
  const auto formula = []<class Names>(const auto& mq, const auto& mk, const auto& mt, const auto& mg, const auto& mr,
                                       Names) {
    using A = typename Names::query;
    using B = typename Names::keys;
    return masked(biased(scores<d_k>(mq, mk) * mg * mr, relative_bias<A, B, buckets>(mt)), causal<A, B>{});
  };
  const auto my_k = part_in(k, keys);
  const auto got =
      value_and_gradient(std::tuple(part_in(q, queries), table, gain, part_in(rows, queries)), [&](const auto& m) {
    const auto& [mq, mt, mg, mr] = m;
    const tensor y = ring_attention<K>(formula(mq, my_k, mt, mg, mr, names<Q, K>{}), part_in(v, keys), grid);
    return own_term(y, part_in(w, queries));
  });
  const auto whole = value_and_gradient(
      std::tuple(tensor<double, batch, seq, kv_heads, group, d_k>(q), tensor<double, kv_heads, buckets>(table),
                 tensor<double, kv_heads>(gain), tensor<double, seq, kv_heads>(rows)),
      [&](const auto& m) {
    const auto& [mq, mt, mg, mr] = m;
    const tensor y = contract<key>(
        softmax<key>(formula(mq, tensor<double, batch, key, kv_heads, d_k>(k), mt, mg, mr, names<seq, key>{})),
        tensor<double, batch, key, kv_heads, d_v>(v));
    return own_term(y, tensor<double, batch, seq, kv_heads, group, d_v>(w));
  });
  const auto check = [&](const char* name, const auto& part, const auto& expected) {
    const double error = largest_difference(as_doubles(expected), part);
    expect(error <= tolerance, std::string("biases, ") + name + ": " + std::to_string(error) + " from float64");
  };
  check("d_q", std::get<0>(got.gradient), part_in(std::get<0>(whole.gradient), queries));
  check("d_table", std::get<1>(got.gradient), std::get<1>(whole.gradient));
  check("d_gain", std::get<2>(got.gradient), std::get<2>(whole.gradient));
  check("d_rows", std::get<3>(got.gradient), part_in(std::get<3>(whole.gradient), queries));
  // The same bits on every rank.
  const auto& d_table = std::get<1>(got.gradient);
  std::vector<T> of_first(d_table.values().begin(), d_table.values().end());
  world.broadcast(of_first.data(), of_first.size(), 0);
  expect(std::equal(of_first.begin(), of_first.end(), d_table.values().begin()), "biases: the bits of rank 0");
}

template <class = void>
void check_backward(const ranks::communicator& world) {
  constexpr double near_float = 1e-4, near_double = 1e-12;  // sums of 37 x 6 terms of order 1
  check_gradient_of<float, any>(world, "no mask", plain_formula, near_float);
  check_gradient_of<float, any>(world, "causal", causal_formula, near_float);
  check_gradient_of<float, any>(world, "alibi", alibi_formula, near_float);
  check_gradient_of<float, any>(world, "rotary", rotary_formula, near_float, false);
  check_gradient_of<double, any>(world, "causal in double", causal_formula, near_double);
  check_biases<float, any>(world, near_float);
  check_biases<double, any>(world, near_double);
  if (world.size() == 2) {
    check_gradient_of<float, 2, striped>(world, "stripes, causal", causal_formula, near_float);
  } else if (world.size() == 4) {
    check_gradient_of<float, 4, striped>(world, "stripes, window", window_formula, near_float);
  }
}

// Whole queries over keys that the ranks divide: the parts of the output are merged in the order of the ranks.
template <class T, std::size_t N, class... Way>
void check_whole(const ranks::communicator& world, double tolerance) {
  using M = sp<N>;
  using K = shard<key, M, Way...>;
  const ranks::mesh<M> grid(world);
  const auto q = drawn<tensor<T, batch, seq, kv_heads, group, d_k>>(
      1, starting_at(seq{3}, static_cast<std::ptrdiff_t>(length) - 3));
  const auto k = drawn<tensor<T, batch, key, kv_heads, d_k>>(2, key{length});
  const auto v = drawn<tensor<T, batch, key, kv_heads, d_v>>(3, key{length});
  const auto k_of = [&](std::size_t r) { return part_in(k, part_here<K>(key{length}, r, world.size())); };
  const auto v_of = [&](std::size_t r) { return part_in(v, part_here<K>(key{length}, r, world.size())); };
  const auto formula = [](const auto& a, const auto& b) { return masked(scores<d_k>(a, b), causal<seq, K>{}); };
  const std::size_t own = world.rank();
  const auto got = ring_attention<K>(formula(q, k_of(own)), v_of(own), grid);

  using plain_scores = std::remove_cv_t<decltype(formula(q, k_of(0)))>;
  using result =
      typename rule::ring_attention<K, detail::shape_of<plain_scores>, detail::shape_of<decltype(v_of(0))>>::shape;
  auto same = detail::part_of_block<K, result>(formula(q, k_of(0)), v_of(0));
  for (std::size_t r = 1; r < world.size(); ++r) {
    same = merge(same, detail::part_of_block<K, result>(formula(q, k_of(r)), v_of(r)));
  }
  expect(same_bits(got, same.output), "whole queries: the bits of one rank");

  const auto whole_of = [&](const auto& mq, const auto& mk, const auto& mv) {
    return contract<key>(softmax<key>(masked(scores<d_k>(mq, mk), causal<seq, key>{})), mv);
  };
  const tensor<double, batch, seq, kv_heads, group, d_k> q2(q);
  const tensor<double, batch, key, kv_heads, d_k> k2(k);
  const tensor<double, batch, key, kv_heads, d_v> v2(v);
  const tensor<double, batch, seq, kv_heads, group, d_v> expected = whole_of(q2, k2, v2);
  const tensor<T, batch, seq, kv_heads, group, d_v> in_order = got;
  expect(largest_difference(as_doubles(expected), in_order) <= tolerance, "whole queries: float64");

  // Gradients: the queries' is the same on all ranks, the others are those of this rank's keys.
  const auto w = drawn<tensor<double, batch, seq, kv_heads, group, d_v>>(
      7, starting_at(seq{3}, static_cast<std::ptrdiff_t>(length) - 3));
  const auto here = value_and_gradient(std::tuple(q, k_of(own), v_of(own)), [&](const auto& m) {
    const auto& [mq, mk, mv] = m;
    const tensor y = ring_attention<K>(formula(mq, mk), mv, grid);
    return own_term(y, w);
  });
  const auto whole = value_and_gradient(std::tuple(q2, k2, v2), [&](const auto& m) {
    const auto& [mq, mk, mv] = m;
    const tensor y = whole_of(mq, mk, mv);
    return own_term(y, tensor<double, batch, seq, kv_heads, group, d_v>(w));
  });
  expect(largest_difference(as_doubles(std::get<0>(whole.gradient)), std::get<0>(here.gradient)) <= 50 * tolerance,
         "whole queries: d_q");
  const K part = part_here<K>(key{length}, own, world.size());
  expect(largest_difference(as_doubles(part_in(std::get<1>(whole.gradient), part)), std::get<1>(here.gradient)) <=
             50 * tolerance,
         "whole queries: d_k");
  expect(largest_difference(as_doubles(part_in(std::get<2>(whole.gradient), part)), std::get<2>(here.gradient)) <=
             50 * tolerance,
         "whole queries: d_v");
}
template <class = void>
void check_whole_queries(const ranks::communicator& world) {
  check_whole<float, any>(world, 4e-6);
  check_whole<double, any>(world, 1e-13);
  if (world.size() == 2) { check_whole<float, 2, striped>(world, 4e-6); }
}

// ---- KV caches ------------------------------------------------------------------------------------------------------

// A moved-from cache takes no positions until it is assigned; positions and counts that are none change nothing.
template <class Cache, class K, class V>
void check_moves_of(Cache& cache, const K& k, const V& v) {
  const std::size_t n = cache.length();
  const auto message_of = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const dimwise::error& e) { return e.what(); }
    return {};
  };
  Cache taken(std::move(cache));
  expect(taken.length() == n && cache.length() == 0 && cache.limit() == 0, "the lengths after a move");
  expect(message_of([&] { cache.append(k, v); }) ==
             "append: 1 positions of key do not fit, the cache holds 0 and takes 0 (R10)",
         "append to a moved-from cache");
  cache = std::move(taken);
  expect(message_of([&] { cache.forget(-1); }) == "forget: the count is -1, a number of 0 or more is expected (R15)",
         "a negative count");
  expect(message_of([&] { cache.restart(std::ptrdiff_t{1} << 61); }).find("is beyond 2^60 (R7)") != std::string::npos,
         "a position beyond 2^60");
  expect(cache.length() == n, "the length after exceptions");
}
// A prompt and single tokens over a cache that the ranks divide, against a cache of one rank, and against one rank that
// merges the parts of all of them.
template <std::size_t N, class Element>
void check_cache_of(const ranks::communicator& world, double tolerance, bool bits) {
  using M = sp<N>;
  using K = shard<key, M, striped>;
  const ranks::mesh<M> grid(world);
  ranks::kv_cache<K, nn::capacity<length>, nn::keys<Element, batch, kv_heads, K, d_k>,
                  nn::values<Element, kv_heads, batch, K, d_v>>
      cache(grid);
  nn::kv_cache<key, nn::capacity<length>, nn::keys<Element, batch, kv_heads, key, d_k>,
               nn::values<Element, kv_heads, batch, key, d_v>>
      whole;
  const auto k = drawn<tensor<float, batch, key, kv_heads, d_k>>(2, key{length});
  const auto v = drawn<tensor<float, batch, key, kv_heads, d_v>>(3, key{length});
  const auto first_of = [](const auto& x, std::size_t first, std::size_t n) { return tensor(slice<key>(x, first, n)); };
  std::size_t end = 0;
  for (const std::size_t n :
       {std::size_t{11}, std::size_t{1}, std::size_t{1}, std::size_t{2}, std::size_t{1}, std::size_t{21}}) {
    const auto q =
        drawn<tensor<float, batch, seq, kv_heads, group, d_k>>(static_cast<unsigned>(20 + end), cache.next(seq{n}));
    cache.append(first_of(k, end, n), first_of(v, end, n));
    whole.append(first_of(k, end, n), first_of(v, end, n));
    end += n;
    expect(cache.length() == end && cache.end() == static_cast<std::ptrdiff_t>(end), "the length of the cache");
    const tensor got =
        ring_attention<K>(masked(scores<d_k>(q, cache.keys()), cache.template mask<seq>()), cache.values(), grid);
    const tensor<float, batch, seq, kv_heads, group, d_v> in_order = got;
    const tensor<float, batch, seq, kv_heads, group, d_v> expected =
        contract<key>(softmax<key>(masked(scores<d_k>(q, whole.keys()), whole.template mask<seq>())), whole.values());
    expect(largest_difference(as_doubles(expected), in_order) <= tolerance, "attention over the cache of all ranks");
    if (!bits) { continue; }
    const auto k_of = [&](std::size_t r) {
      return part_in(tensor<float, batch, kv_heads, key, d_k>(first_of(k, 0, end)),
                     part_here<K>(key{end}, r, world.size()));
    };
    const auto v_of = [&](std::size_t r) {
      return part_in(tensor<float, kv_heads, batch, key, d_v>(first_of(v, 0, end)),
                     part_here<K>(key{end}, r, world.size()));
    };
    const auto part = [&](std::size_t r) {
      const auto s = masked(scores<d_k>(q, k_of(r)), causal<seq, K>{});
      using result = typename rule::ring_attention<K, detail::shape_of<std::remove_cv_t<decltype(s)>>,
                                                   detail::shape_of<decltype(v_of(r))>>::shape;
      return detail::part_of_block<K, result>(s, v_of(r));
    };
    auto same = part(0);
    for (std::size_t r = 1; r < world.size(); ++r) { same = merge(same, part(r)); }
    expect(same_bits(got, same.output), "attention over the cache: the bits of one rank");
  }
  bool thrown = false;
  try {
    cache.append(drawn<tensor<float, batch, key, kv_heads, d_k>>(2, key{1}),
                 drawn<tensor<float, batch, key, kv_heads, d_v>>(3, key{1}));
  } catch (const extent_error& e) { thrown = std::string(e.what()).find("1 positions of") != std::string::npos; }
  expect(thrown && cache.length() == length, "a cache that is full");
  cache.forget(3);
  expect(cache.length() == length - 3, "positions that are forgotten");
  cache.append(first_of(k, length - 3, 3), first_of(v, length - 3, 3));

  // A prompt that the ranks divide: the same elements.
  const K part = part_here<K>(key{length}, world.rank(), world.size());
  ranks::kv_cache<K, nn::capacity<>, nn::keys<Element, batch, kv_heads, K, d_k>,
                  nn::values<Element, kv_heads, batch, K, d_v>>
      by_parts(grid, key{length});
  by_parts.append_part(part_in(k, part), part_in(v, part));
  expect(by_parts.length() == length, "the length of a prompt in parts");
  const tensor a(cache.keys());
  const tensor b(by_parts.keys());
  const tensor c(cache.values());
  const tensor d(by_parts.values());
  expect(same_bits(a, b) && same_bits(c, d), "a prompt in parts has the elements of the whole one");
  expect(b.extents().template first_position<K>("test") == part.origin() || part.extent() == 0, "its positions");
  check_moves_of(cache, first_of(k, 0, 1), first_of(v, 0, 1));
}
template <class = void>
void check_cache(const ranks::communicator& world) {
  if (world.size() == 1) {
    check_cache_of<1, float>(world, 4e-6, true);
  } else if (world.size() == 2) {
    check_cache_of<2, float>(world, 4e-6, true);
    check_cache_of<2, bfloat16>(world, 4e-6, false);
  } else if (world.size() == 4) {
    check_cache_of<4, float>(world, 4e-6, true);
  }
}

}  // namespace ring_checks
