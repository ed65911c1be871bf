// tests/ranks/training/two_axes.test.cpp -- steps of a small GPT on a mesh of two axes, over threads (std::thread):
// `tp` divides heads and hidden features, `dp` the batch.
//
// The bits are those of one rank that computes the parts, adds their terms in the order of the ranks, and accumulates
// the batches in their order. The formula that is not divided is near.
// SPDX-License-Identifier: BSL-1.0
#include "support/threads.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks.hpp>
#include <dimwise/ranks/training.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace dimwise;

struct dp : mesh_axis<2> {};
struct tp : mesh_axis<2> {};
using grid_type = ranks::mesh<dp, tp>;
struct examples : batch_dim<> {};
using examples_here = shard<examples, dp>;
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct letters : choice_dim<11> {};
struct d_model : feature_dim<8> {};
struct d_k : feature_dim<4> {};
struct heads : heads_dim<4> {};
struct hidden : feature_dim<12> {};
using seq_here = shard<seq, tp>;
using heads_here = shard<heads, tp>;
using hidden_here = shard<hidden, tp>;
struct half_of_heads : heads_dim<2> {};  // the same parts on one rank
struct half_of_hidden : feature_dim<6> {};

// What tp divides of a layer.
template <class Heads, class Hidden, class T = float>
struct part {
  using attention =
      nn::self_attention<seq, key, nn::multi_head_attention<d_model, Heads, d_k, d_k, nn::no_bias, nn::elements<T>>>;
  using feed_forward = nn::feed_forward<d_model, Hidden, nn::activation::gelu_tanh, nn::no_bias, T>;
  attention attend{};
  feed_forward feed{};
  using members = nn::member_list<&part::attend, &part::feed>;
};
// A layer with its parts: one on a rank of tp, and one of the whole layer; two on one rank that computes both.
template <class Heads, class Hidden, class T = float>
struct layer {
  using norm_type = nn::layer_norm<d_model, nn::elements<T>>;
  norm_type norm{};
  norm_type norm_again{};
  std::vector<part<Heads, Hidden, T>> parts{};
  using members = nn::member_list<&layer::norm, &layer::norm_again, &layer::parts>;
};
template <class Heads, class Hidden, class T = float>
struct gpt {
  using table = nn::embedding<letters, d_model, T>;
  using positions_table = nn::learned_positions<seq, d_model, T>;
  table words{};
  positions_table positions{};
  std::vector<layer<Heads, Hidden, T>> layers{};
  using members = nn::member_list<&gpt::words, &gpt::positions, &gpt::layers>;
};
using whole_gpt = gpt<heads, hidden>;
using here_gpt = gpt<heads_here, hidden_here>;
using halves_gpt = gpt<half_of_heads, half_of_hidden>;

constexpr std::size_t longest = 8;

// The parts of the whole: `Part` has those from `first` on.
template <class Heads, class Hidden>
part<Heads, Hidden> cut(const part<heads, hidden>& whole, std::size_t first) {
  part<Heads, Hidden> to;
  const auto heads_of = [&](auto& w, const auto& from) { w = slice<heads, Heads>(from, 2 * first); };
  heads_of(to.attend.query.weight, whole.attend.query.weight);
  heads_of(to.attend.key.weight, whole.attend.key.weight);
  heads_of(to.attend.value.weight, whole.attend.value.weight);
  heads_of(to.attend.output.weight, whole.attend.output.weight);
  to.feed.up.weight = slice<hidden, Hidden>(whole.feed.up.weight, 6 * first);
  to.feed.down.weight = slice<hidden, Hidden>(whole.feed.down.weight, 6 * first);
  return to;
}
// The same model with other parts: `parts_of(layer)` gives them.
template <class To, class From, class PartsOf>
To with_parts(const From& from, const PartsOf& parts_of) {
  To to;
  to.words = from.words;
  to.positions = from.positions;
  for (const auto& one : from.layers) {
    auto& made = to.layers.emplace_back();
    made.norm = one.norm;
    made.norm_again = one.norm_again;
    made.parts = parts_of(one);
  }
  return to;
}
halves_gpt halves_of(const whole_gpt& whole) {
  return with_parts<halves_gpt>(whole, [](const auto& one) {
    return std::vector{cut<half_of_heads, half_of_hidden>(one.parts[0], 0),
                       cut<half_of_heads, half_of_hidden>(one.parts[0], 1)};
  });
}
// The elements of one half, as this rank's.
here_gpt here_of(const halves_gpt& halves, std::size_t rank) {
  return with_parts<here_gpt>(halves, [&](const auto& one) {
    part<heads_here, hidden_here> to;
    const auto& from = one.parts[rank];
    const auto take = [](auto& w, const auto& half) { std::copy_n(half.data(), half.size(), w.overwrite()); };
    take(to.attend.query.weight, from.attend.query.weight);
    take(to.attend.key.weight, from.attend.key.weight);
    take(to.attend.value.weight, from.attend.value.weight);
    take(to.attend.output.weight, from.attend.output.weight);
    take(to.feed.up.weight, from.feed.up.weight);
    take(to.feed.down.weight, from.feed.down.weight);
    return std::vector{to};
  });
}

whole_gpt fresh() {
  whole_gpt model;
  model.layers.resize(2);
  for (auto& one : model.layers) { one.parts.resize(1); }
  nn::normal how(1, 0.3);
  nn::initialise(model, how, seq{longest});
  return model;
}

// The formula of all of them: `sum_of(f, x)` adds f(part, x) of all parts.
template <class M, class Text, class SumOf>
auto logits_of(const M& m, const Text& text, const SumOf& sum_of) {
  auto x = tensor(m.positions(m.words(text)));
  for (const auto& one : m.layers) {
    const tensor normed = one.norm(x);
    const tensor mixed = x + sum_of(one.parts, normed, [](const auto& p, const auto& from) {
      return tensor(p.attend(from, causal<seq, key>{}));
    });
    const tensor normed_again = one.norm_again(mixed);
    x = mixed + sum_of(one.parts, normed_again, [](const auto& p, const auto& from) { return tensor(p.feed(from)); });
  }
  return m.words.logits(x);
}
constexpr auto of_one_part = [](const auto& parts, const auto& x, const auto& f) { return f(parts[0], x); };
// What a part sends to x is one term, as on a rank: the copies of x collect it. The last statement sends first, so the
// terms are added from the first part on.
constexpr auto of_two_parts = [](const auto& parts, const auto& x, const auto& f) {
  const tensor second = x * 1.0F;
  const tensor first = x * 1.0F;
  const tensor of_second = f(parts[1], second);
  const tensor of_first = f(parts[0], first);
  return tensor(of_first + of_second);
};
auto over_ranks(const grid_type& grid) {
  return [&grid](const auto& parts, const auto& x, const auto& f) { return all_reduce<tp>(f(parts[0], x), grid); };
}

// The batch of a rank along dp: other numbers of examples and of tokens.
template <class Batch>
tensor<id<letters>, Batch, seq> batch_of(std::size_t step, std::size_t rank) {
  tensor<id<letters>, Batch, seq> tokens(Batch{1 + rank}, seq{5 + 2 * rank});
  nn::random draw(1000 * step + rank);
  auto* const to = tokens.overwrite();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    to[i] = id<letters>(static_cast<std::size_t>(draw.uniform() * 11));
  }
  return tokens;
}
template <class Batch, class SumOf>
auto loss_of(std::size_t step, std::size_t rank, const SumOf& sum_of) {
  return [tokens = batch_of<Batch>(step, rank), sum_of](const auto& m) {
    return next_word_loss<seq>(logits_of(m, tokens, sum_of), tokens);
  };
}

template <class M>
bool same(const M& a, const M& b, std::string& where) {
  bool all = true;
  for_each_parameter_of([&](const std::string& name, const auto& p, const auto& q) {
    const bool one = p.size() == q.size() && std::memcmp(p.data(), q.data(), p.size() * sizeof(*p.data())) == 0;
    if (!one) { where += name + " "; }
    all = all && one;
  }, a, b);
  return all;
}
#define CHECK_SAME(a, b)                     \
  do {                                       \
    std::string where;                       \
    CHECK_MESSAGE(same(a, b, where), where); \
  } while (false)

// √(Σ) of the squares of all parameters, with those of the two parts of one added first: what a norm over ranks adds.
double norm_of_halves(const halves_gpt& halves) {
  const here_gpt first = here_of(halves, 0), second = here_of(halves, 1);
  double all = 0;
  for_each_parameter_of([&](const std::string&, const auto& p, const auto& q) {
    const double one = detail::sum_of_squares(p.size(), p.data());
    all += (detail::axes_of_shape<detail::shape_of<std::remove_cvref_t<decltype(p)>>>() != nullptr)
               ? one + detail::sum_of_squares(q.size(), q.data())
               : one;
  }, first, second);
  return std::sqrt(all);
}

// Norms over this rank's positions (Korthikanti et al. 2022): gathered before a product, scattered after it. Positions
// are sinusoids, with the true position of each row.
template <class M, class Text>
auto logits_by_positions(const M& m, const Text& text, const grid_type& grid) {
  const auto here = part_of<seq_here>(text, grid);
  const seq_here rows = part_here<seq_here>(seq{extent_of<seq>(text)}, grid.coordinate<tp>(), 2);
  auto x = tensor(m.words(here) + sinusoid<seq_here, d_model>(rows));
  for (const auto& one : m.layers) {
    const tensor normed = all_gather<tp, seq>(one.norm(x), grid);
    const tensor mixed = x + reduce_scatter<tp, seq>(one.parts[0].attend(normed, causal<seq, key>{}), grid);
    const tensor normed_again = all_gather<tp, seq>(one.norm_again(mixed), grid);
    x = mixed + reduce_scatter<tp, seq>(one.parts[0].feed(normed_again), grid);
  }
  return m.words.logits(all_gather<tp, seq>(x, grid));
}
template <class M, class Text>
auto logits_by_sinusoids(const M& m, const Text& text) {
  auto x = tensor(m.words(text) + sinusoid<seq, d_model>(starting_at(seq{extent_of<seq>(text)}, 0)));
  for (const auto& one : m.layers) {
    const tensor mixed = x + one.parts[0].attend(one.norm(x), causal<seq, key>{});
    x = mixed + one.parts[0].feed(one.norm_again(mixed));
  }
  return m.words.logits(x);
}

// Sums of some hundred terms in another order: each addition rounds by 2^-24 of at most ten times the result.
constexpr double tolerance = 1e-5;
template <class M>
void check_near(const M& a, const M& b, double scale) {
  for_each_parameter_of([&](const std::string& name, const auto& p, const auto& q) {
    CAPTURE(name);
    double largest = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(p.data()[i] - q.data()[i])));
    }
    CHECK(largest <= tolerance * scale);
  }, a, b);
}

}  // namespace

TEST_CASE("a GPT on a mesh of 2 x 2 has the gradients, norms and steps of one rank, over threads" * support::threads) {
  const adamw_settings how{.rate = 0.02, .weight_decay = 0.1};
  ranks::run_threads(4, [&](const ranks::communicator& world) {
    const grid_type grid(world);
    const std::size_t d = grid.coordinate<dp>(), t = grid.coordinate<tp>();
    const whole_gpt whole = fresh();
    halves_gpt one = halves_of(whole);
    here_gpt mine = here_of(one, t), of_terms = mine, in_full = mine;
    halves_gpt one_of_terms = one;
    adamw step_one(one, how), step_one_of_terms(one_of_terms, how);
    adamw step_in_full(in_full, how);
    auto step_mine = sharded_adamw<dp>(mine, how, grid);
    auto step_of_terms = sharded_adamw<dp>(of_terms, how, grid);
    const auto sum_of = over_ranks(grid);
    const auto expected_of = [&](const halves_gpt& m, std::size_t step) {
      accumulated total(m);
      for (std::size_t r = 0; r < 2; ++r) { total.add(loss_of<examples>(step, r, of_two_parts)); }
      return total.mean();
    };
    for (std::size_t step = 0; step < 3; ++step) {
      CAPTURE(step);
      auto expected = expected_of(one, step);
      const auto loss = loss_of<examples_here>(step, d, sum_of);
      const auto terms = value_and_gradient(mine, loss);
      static_assert(std::is_same_v<decltype(terms.gradient), partial_gradient<here_gpt, dp>>);
      const auto [value, gradient] = all_reduce<dp>(terms, grid);
      CHECK(value == expected.value);
      CHECK_SAME(gradient, here_of(expected.gradient, t));
      const auto during = value_and_gradient(mine, loss, reduced<dp>(grid));
      CHECK(during.value == expected.value);
      CHECK_SAME(during.gradient, gradient);
      // The norm counts parts once, and whole parameters once.
      const double norm = norm_of_halves(expected.gradient);
      CHECK(norm > 0);
      CHECK(norm_of(gradient, grid) == norm);
      const auto clipped = clip_norm(gradient, norm / 2, grid);
      detail::clip_parameters(detail::parameter_list(expected.gradient), norm / 2, {norm, 0});
      CHECK_SAME(clipped, here_of(expected.gradient, t));
      step_one.step(one, expected.gradient);
      step_mine.step(mine, clipped);
      step_in_full.step(in_full, clipped);
      CHECK_SAME(mine, here_of(one, t));
      CHECK_SAME(in_full, mine);
      // ZeRO-1 from the terms of the ranks.
      step_one_of_terms.step(one_of_terms, expected_of(one_of_terms, step).gradient);
      step_of_terms.step(of_terms, value_and_gradient(of_terms, loss).gradient);
      CHECK_SAME(of_terms, here_of(one_of_terms, t));
    }
    CHECK(step_mine.state_bytes() < 2 * sizeof(float) * nn::parameter_count(mine) * 6 / 10);
  }, {.checks = true});
}

TEST_CASE("a GPT on a mesh of 2 x 2 is near the formula that is not divided, over threads" * support::threads) {
  const whole_gpt whole = fresh();
  accumulated total(whole);
  for (std::size_t r = 0; r < 2; ++r) { total.add(loss_of<examples>(0, r, of_one_part)); }
  const auto expected = total.mean();
  const halves_gpt gradient_of_halves = halves_of(expected.gradient);
  ranks::run_threads(4, [&](const ranks::communicator& world) {
    const grid_type grid(world);
    const here_gpt mine = here_of(halves_of(whole), grid.coordinate<tp>());
    const auto loss = loss_of<examples_here>(0, grid.coordinate<dp>(), over_ranks(grid));
    const auto [value, gradient] = all_reduce<dp>(value_and_gradient(mine, loss), grid);
    CHECK(value == doctest::Approx(expected.value).epsilon(tolerance));
    check_near(gradient, here_of(gradient_of_halves, grid.coordinate<tp>()), norm_of(expected.gradient));
  });
}

TEST_CASE("norms over parts of the positions have the gradients of the formula that is not divided, over threads" *
          support::threads) {
  const whole_gpt whole = fresh();
  accumulated total(whole);
  for (std::size_t r = 0; r < 2; ++r) {
    total.add([&](const auto& m) {
      const auto tokens = batch_of<examples>(0, r);
      return next_word_loss<seq>(logits_by_sinusoids(m, tokens), tokens);
    });
  }
  const auto expected = total.mean();
  const halves_gpt gradient_of_halves = halves_of(expected.gradient);
  ranks::run_threads(4, [&](const ranks::communicator& world) {
    const grid_type grid(world);
    here_gpt mine = here_of(halves_of(whole), grid.coordinate<tp>());
    const auto tokens = batch_of<examples_here>(0, grid.coordinate<dp>());
    const auto loss = [&](const auto& m) { return next_word_loss<seq>(logits_by_positions(m, tokens, grid), tokens); };
    const auto [value, gradient] = all_reduce<dp>(value_and_gradient(mine, loss), grid);
    CHECK(value == doctest::Approx(expected.value).epsilon(tolerance));
    check_near(gradient, here_of(gradient_of_halves, grid.coordinate<tp>()), norm_of(expected.gradient));
    // What is whole has the same bits on all ranks, during the backward pass as after it.
    const auto during = value_and_gradient(mine, loss, reduced<dp>(grid));
    CHECK(during.value == value);
    CHECK_SAME(during.gradient, gradient);
    const auto check_of_first = [&](const auto& p) {
      std::vector<float> first(p.values().begin(), p.values().end());
      world.broadcast(first.data(), first.size(), 0, "a gradient of rank 0");
      CHECK(std::ranges::equal(first, p.values()));
    };
    check_of_first(gradient.words.table);
    check_of_first(gradient.layers[1].norm.gamma);
    auto optimiser = sharded_adamw<dp>(mine, {.rate = 0.01}, grid);
    optimiser.step(mine, clip_norm(gradient, 1.0, grid));
  }, {.checks = true});
}
