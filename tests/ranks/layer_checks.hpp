// tests/ranks/layer_checks.hpp -- layers that ranks divide, forward and backward, on the ranks of any backend.
//
// P ranks have the bits of one rank that computes the P parts and adds them in order, and are close to the formula that
// is not divided.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "support/numbers.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace layer_checks {

using namespace dimwise;
using dimwise_test::drawn;

inline void expect(bool holds, const char* what) {
  if (!holds) { throw std::runtime_error(std::string(what) + " differs from that of one rank"); }
}

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_model : feature_dim<24> {};
struct d_head : feature_dim<8> {};
struct heads : heads_dim<> {};
struct hidden : feature_dim<> {};
struct tp : mesh_axis<> {};

using heads_here = shard<heads, tp>;
using hidden_here = shard<hidden, tp>;
using seq_here = shard<seq, tp>;

// Rows `first` to `first + n` of a tensor whose first dimension has them, as a tensor of another type.
template <class Part, class Whole, class... Extents>
Part rows_of(const Whole& whole, std::size_t rows, std::size_t first, std::size_t n, const Extents&... extents) {
  Part x(extents...);
  const std::size_t row = whole.size() / rows;
  expect(x.size() == n * row, "the elements of a part");
  std::copy_n(whole.values().begin() + static_cast<std::ptrdiff_t>(first * row), n * row, x.data());
  x.seal();
  return x;
}
template <class A, class B>
bool is_same(const A& a, const B& b) {
  return a.size() == b.size() && std::equal(a.values().begin(), a.values().end(), b.values().begin());
}
// The largest difference from elements in double, as a multiple of the largest of those.
template <class A, class B>
double distance(const A& a, const B* expected) {
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(a.values()[i]) - static_cast<double>(expected[i])));
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  return difference / largest;
}
// Sums of at most some hundred terms in float: each addition rounds by 2^-24 of at most the sum of the magnitudes,
// which is some ten times the result here.
constexpr double tolerance = 1e-5;

struct span_here {
  std::size_t first;
  std::size_t extent;
};
inline span_here part(std::size_t n, std::size_t rank, std::size_t count) {
  return {rank * (n / count) + std::min(rank, n % count), n / count + (rank < n % count ? 1 : 0)};
}

// A layer with the dimension that ranks divide in its name: hidden, or this rank's part of it.
template <class H>
struct feed_forward {
  template <class X, class Up, class Down>
  static auto term(const X& x, const Up& up, const Down& down) {
    const tensor h = gelu(contract<d_model>(x, up));
    return tensor(contract<H>(h, down));
  }
};
template <class H>
struct attention {
  template <class X, class Q, class K, class V, class Out>
  static auto term(const X& x, const Q& w_q, const K& w_k, const V& w_v, const Out& w_out) {
    const tensor q = contract<d_model>(x, w_q);
    const tensor k = rename<seq, key>(contract<d_model>(x, w_k));
    const tensor v = rename<seq, key>(contract<d_model>(x, w_v));
    const tensor mixed = contract<key>(softmax<key>(masked(scores<d_head>(q, k), causal<seq, key>{})), v);
    return tensor(contract<H, d_head>(mixed, w_out));
  }
};

// Each rank computes the parts of all ranks, each with a loss that is its term, and adds them in order.
inline void check_feed_forward(const ranks::communicator& world) {
  const std::size_t count = world.size();
  for (const std::size_t width : {40U, 33U}) {
    const auto x = drawn<tensor<float, batch, seq, d_model>>(1, batch{2}, seq{5});
    const auto weight = drawn<tensor<float, batch, seq, d_model>>(2, batch{2}, seq{5});
    const auto up = drawn<tensor<float, hidden, d_model>>(3, hidden{width});
    const auto down = drawn<tensor<float, hidden, d_model>>(4, hidden{width});
    // In double, not divided.
    using doubles = tensor<double, batch, seq, d_model>;
    using weights = tensor<double, hidden, d_model>;
    const auto whole = value_and_gradient(std::tuple(doubles(x), weights(up), weights(down)), [&](const auto& m) {
      const auto& [in, w1, w2] = m;
      return sum<batch, seq, d_model>(feed_forward<hidden>::term(in, w1, w2) * doubles(weight));
    });
    // One rank: the parts, each with a loss that is its term, added in order.
    std::vector<tensor<float, batch, seq, d_model>> terms, input_gradients;
    std::vector<tensor<float, hidden, d_model>> up_gradients, down_gradients;
    for (std::size_t r = 0; r < count; ++r) {
      const auto [first, n] = part(width, r, count);
      using part_type = tensor<float, hidden, d_model>;
      const auto model = std::tuple(x, rows_of<part_type>(up, width, first, n, hidden{n}),
                                    rows_of<part_type>(down, width, first, n, hidden{n}));
      terms.push_back(feed_forward<hidden>::term(x, std::get<1>(model), std::get<2>(model)));
      const auto g = gradient(model, [&](const auto& m) {
        const auto& [in, w1, w2] = m;
        return sum<batch, seq, d_model>(feed_forward<hidden>::term(in, w1, w2) * weight);
      });
      input_gradients.push_back(std::get<0>(g));
      up_gradients.push_back(std::get<1>(g));
      down_gradients.push_back(std::get<2>(g));
    }
    for (std::size_t r = 1; r < count; ++r) {
      terms[0] = terms[0] + terms[r];
      input_gradients[0] = input_gradients[0] + input_gradients[r];
    }
    const ranks::mesh grid(world, tp{count});
    const auto [first, n] = part(width, world.rank(), count);
    using part_type = tensor<float, hidden_here, d_model>;
    const auto model = std::tuple(x, rows_of<part_type>(up, width, first, n, hidden_here{n}),
                                  rows_of<part_type>(down, width, first, n, hidden_here{n}));
    tensor<float, batch, seq, d_model> y;
    const auto g = gradient(model, [&](const auto& m) {
      const auto& [in, w1, w2] = m;
      const tensor out = all_reduce<tp>(feed_forward<hidden_here>::term(in, w1, w2), grid);
      y = detached(out);
      return sum<batch, seq, d_model>(out * weight);
    });
    expect(is_same(y, terms[0]), "the feed-forward layer");
    expect(is_same(std::get<0>(g), input_gradients[0]), "the feed-forward layer");
    expect(is_same(std::get<1>(g), up_gradients[world.rank()]), "the feed-forward layer");
    expect(is_same(std::get<2>(g), down_gradients[world.rank()]), "the feed-forward layer");
    expect(distance(std::get<0>(g), std::get<0>(whole.gradient).data()) < tolerance, "the feed-forward layer");
    expect(distance(std::get<1>(g), std::get<1>(whole.gradient).data() + first * 24) < tolerance,
           "the feed-forward layer");
    expect(distance(std::get<2>(g), std::get<2>(whole.gradient).data() + first * 24) < tolerance,
           "the feed-forward layer");
  }
}

inline void check_attention(const ranks::communicator& world) {
  const std::size_t count = world.size();
  for (const std::size_t all_heads : {4U, 5U}) {
    const auto x = drawn<tensor<float, batch, seq, d_model>>(1, batch{2}, seq{6});
    const auto weight = drawn<tensor<float, batch, seq, d_model>>(2, batch{2}, seq{6});
    using whole_type = tensor<float, heads, d_head, d_model>;
    std::vector<whole_type> weights;
    for (unsigned i = 0; i < 4; ++i) { weights.push_back(drawn<whole_type>(3 + i, heads{all_heads})); }
    using double_type = tensor<double, heads, d_head, d_model>;
    using doubles = tensor<double, batch, seq, d_model>;
    const auto whole = gradient(std::tuple(doubles(x), double_type(weights[0]), double_type(weights[1]),
                                           double_type(weights[2]), double_type(weights[3])),
                                [&](const auto& m) {
      const auto& [in, q, k, v, out] = m;
      return sum<batch, seq, d_model>(attention<heads>::term(in, q, k, v, out) * doubles(weight));
    });
    const auto model_of = [&]<class Part>(std::type_identity<Part>, std::size_t first, std::size_t n, auto here) {
      const auto rows = [&](const whole_type& w) { return rows_of<Part>(w, all_heads, first, n, here); };
      return std::tuple(x, rows(weights[0]), rows(weights[1]), rows(weights[2]), rows(weights[3]));
    };
    using model_type = decltype(model_of(std::type_identity<whole_type>{}, 0, 0, heads{0}));
    std::vector<model_type> gradients;
    std::vector<tensor<float, batch, seq, d_model>> terms;
    for (std::size_t r = 0; r < count; ++r) {
      const auto [first, n] = part(all_heads, r, count);
      const auto model = model_of(std::type_identity<whole_type>{}, first, n, heads{n});
      // The value of tracked operands: its kernel keeps what the backward pass needs.
      tensor<float, batch, seq, d_model> term;
      gradients.push_back(gradient(model, [&](const auto& m) {
        const auto& [in, q, k, v, out] = m;
        const tensor y = attention<heads>::term(in, q, k, v, out);
        term = detached(y);
        return sum<batch, seq, d_model>(y * weight);
      }));
      terms.push_back(term);
    }
    tensor<float, batch, seq, d_model> input_gradient = std::get<0>(gradients[0]);
    for (std::size_t r = 1; r < count; ++r) {
      terms[0] = terms[0] + terms[r];
      input_gradient = input_gradient + std::get<0>(gradients[r]);
    }
    const ranks::mesh grid(world, tp{count});
    const auto [first, n] = part(all_heads, world.rank(), count);
    const auto model =
        model_of(std::type_identity<tensor<float, heads_here, d_head, d_model>>{}, first, n, heads_here{n});
    tensor<float, batch, seq, d_model> y;
    const auto g = gradient(model, [&](const auto& m) {
      const auto& [in, q, k, v, out] = m;
      const tensor mixed = all_reduce<tp>(attention<heads_here>::term(in, q, k, v, out), grid);
      y = detached(mixed);
      return sum<batch, seq, d_model>(mixed * weight);
    });
    const model_type& own = gradients[world.rank()];
    expect(is_same(y, terms[0]), "attention");
    expect(is_same(std::get<0>(g), input_gradient), "attention");
    expect(is_same(std::get<1>(g), std::get<1>(own)), "attention");
    expect(is_same(std::get<2>(g), std::get<2>(own)), "attention");
    expect(is_same(std::get<3>(g), std::get<3>(own)), "attention");
    expect(is_same(std::get<4>(g), std::get<4>(own)), "attention");
    const std::size_t at = first * 8 * 24;
    expect(distance(std::get<0>(g), std::get<0>(whole).data()) < tolerance, "attention");
    expect(distance(std::get<1>(g), std::get<1>(whole).data() + at) < tolerance, "attention");
    expect(distance(std::get<2>(g), std::get<2>(whole).data() + at) < tolerance, "attention");
    expect(distance(std::get<3>(g), std::get<3>(whole).data() + at) < tolerance, "attention");
    expect(distance(std::get<4>(g), std::get<4>(whole).data() + at) < tolerance, "attention");
  }
}

// Korthikanti et al. 2022: between the layers each rank has its part of the positions.
inline void check_norms(const ranks::communicator& world) {
  const std::size_t count = world.size();
  const std::size_t positions = 7, width = 20;
  const auto x = drawn<tensor<float, seq, d_model>>(1, seq{positions});
  const auto weight = drawn<tensor<float, seq, d_model>>(2, seq{positions});
  const auto gain = drawn<tensor<float, d_model>>(3);
  const auto up = drawn<tensor<float, hidden, d_model>>(4, hidden{width});
  const auto down = drawn<tensor<float, hidden, d_model>>(5, hidden{width});
  using rows = tensor<double, seq, d_model>;
  using weights = tensor<double, hidden, d_model>;
  const auto whole = value_and_gradient(std::tuple(rows(x), tensor<double, d_model>(gain), weights(up), weights(down)),
                                        [&](const auto& m) {
    const auto& [in, gamma, w1, w2] = m;
    const tensor normed = rms_norm<d_model>(in, gamma, 1e-5);
    const tensor y = in + feed_forward<hidden>::term(normed, w1, w2);
    return sum<seq, d_model>(rms_norm<d_model>(y, gamma, 1e-5) * rows(weight));
  });
  const ranks::mesh grid(world, tp{count});
  const seq_here here = part_here<seq_here>(seq{positions}, world.rank(), count);
  const auto [first, n] = part(positions, world.rank(), count);
  const auto [first_hidden, hiddens] = part(width, world.rank(), count);
  using part_type = tensor<float, hidden_here, d_model>;
  const auto weight_here = rows_of<tensor<float, seq_here, d_model>>(weight, positions, first, n, here);
  const auto model = std::tuple(rows_of<tensor<float, seq_here, d_model>>(x, positions, first, n, here), gain,
                                rows_of<part_type>(up, width, first_hidden, hiddens, hidden_here{hiddens}),
                                rows_of<part_type>(down, width, first_hidden, hiddens, hidden_here{hiddens}));
  const auto [value, g] = value_and_gradient(model, [&](const auto& m) {
    const auto& [in, gamma, w1, w2] = m;
    const tensor normed = rms_norm<d_model>(in, gamma, 1e-5);  // seq_here d_model
    const tensor all = all_gather<tp, seq>(normed, grid);
    const tensor y = in + reduce_scatter<tp, seq>(feed_forward<hidden_here>::term(all, w1, w2), grid);
    return all_reduce<tp>(sum<seq_here, d_model>(rms_norm<d_model>(y, gamma, 1e-5) * weight_here), grid);
  });
  expect(std::abs(value - whole.value) < tolerance * (1 + std::abs(whole.value)), "norms over positions");
  expect(distance(std::get<0>(g), std::get<0>(whole.gradient).data() + first * 24) < tolerance, "norms over positions");
  expect(distance(std::get<1>(g), std::get<1>(whole.gradient).data()) < tolerance, "norms over positions");
  expect(distance(std::get<2>(g), std::get<2>(whole.gradient).data() + first_hidden * 24) < tolerance,
         "norms over positions");
  expect(distance(std::get<3>(g), std::get<3>(whole.gradient).data() + first_hidden * 24) < tolerance,
         "norms over positions");
}

/// All of the above.
inline void check_layers(const ranks::communicator& world) {
  check_feed_forward(world);
  check_attention(world);
  check_norms(world);
}

}  // namespace layer_checks
