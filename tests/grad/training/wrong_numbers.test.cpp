// tests/grad/training/wrong_numbers.test.cpp -- each function that takes a number says which wrong one it was given.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/nn/paged_cache.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace dimwise;
using dims::d_k;
using dims::seq;
using dimwise_test::thrown;
struct key : prime<seq> {};
struct vocab : choice_dim<3> {};
struct some : feature_dim<> {};
struct distance : choice_dim<> {};

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double endless = std::numeric_limits<double>::infinity();

struct wrong_call {
  std::function<void()> call;
  const char* says;
};
template <class Error>
void check_all(const std::vector<wrong_call>& calls) {
  for (const wrong_call& one : calls) { CHECK(thrown<Error>(one.call) == one.says); }
}

template <class Kind>
using cache_of = nn::kv_cache<key, Kind, nn::keys<float, key, d_k>, nn::values<float, key, d_k>>;

}  // namespace

TEST_CASE("wrong numbers: the element that an operation is given") {
  tensor<float, seq, d_k> x(seq{5});
  const tensor<float, d_k> one;
  const tensor_view<float, seq, d_k> view(x.data(), seq{5});
  check_all<index_error>({
      {[&] { (void)at<seq>(x, -1); }, "at: -1 is outside dimension seq of extent 5 (R18)"},
      {[&] { (void)slice<seq>(x, -1); }, "slice: -1 is outside dimension seq of extent 5 (R18)"},
      {[&] { (void)slice<seq>(x, std::int8_t{-1}, 2); }, "slice: -1 is outside dimension seq of extent 5 (R18)"},
      {[&] { (void)slice<seq>(x, 4, 2); }, "slice: elements 4 to 6 are outside dimension seq of extent 5 (R18)"},
      {[&] { (void)replace_at<seq>(x, -2, one); }, "replace_at: -2 is outside dimension seq of extent 5 (R18)"},
      {[&] { assign_at<seq>(x, -2, one); }, "assign_at: -2 is outside dimension seq of extent 5 (R18)"},
      {[&] { (void)evaluate(gather<vocab>(tensor<float, vocab>(), tensor<id<vocab>, seq>{id<vocab>(-1)})); },
       "gather: id -1 is outside dimension vocab of extent 3 (R18)"},
      {[&] { (void)tensor<float, vocab>()(id<vocab>(-1)); }, "id -1 is outside dimension vocab of extent 3 (R18)"},
  });
  check_all<extent_error>({
      {[&] { (void)slice<seq>(x, 1, -2); }, "slice: the count is -2, a number of 0 or more is expected (R15)"},
      {[&] { (void)view.within(-3, seq{2}); }, "within: the count is -3, a number of 0 or more is expected (R15)"},
      {[] { (void)prefix<seq, key>(-3); }, "prefix: the count is -3, a number of 0 or more is expected (R15)"},
      {[] { (void)nn::stack<nn::layer_norm<d_k>>::of(-1); },
       "stack: the count is -1, a number of 0 or more is expected (R15)"},
      {[] { (void)relative_ids<seq, key, distance>(seq{3}, key{3}, distance{0}); },
       "relative_ids: dimension distance of distances has extent 0, an extent of 1 or more is expected (R18)"},
  });
}

TEST_CASE("wrong numbers: the positions that a cache forgets, adopts or keeps") {
  cache_of<nn::capacity<4>> buffer;
  cache_of<nn::paged<2>> pages;
  cache_of<nn::windowed> window(key{4});
  check_all<extent_error>({
      {[&] { buffer.forget(-1); }, "forget: the count is -1, a number of 0 or more is expected (R15)"},
      {[&] { buffer.adopt(-2); }, "adopt: the count is -2, a number of 0 or more is expected (R15)"},
      {[&] { pages.forget(-1); }, "forget: the count is -1, a number of 0 or more is expected (R15)"},
      {[&] { window.keep_window(-1); }, "keep_window: the count is -1, a number of 0 or more is expected (R15)"},
  });
}

TEST_CASE("wrong numbers: settings of operations and losses") {
  const tensor<float, seq, d_k> x(seq{2});
  const tensor<float, seq, vocab> logits(seq{2});
  const tensor<id<vocab>, seq> target(seq{2});
  check_all<number_error>({
      {[&] { (void)layer_norm<d_k>(x, -1.0); }, "layer_norm: epsilon is -1, a number of 0 or more is expected"},
      {[&] { (void)rms_norm<d_k>(x, no_number); }, "rms_norm: epsilon is nan, a number of 0 or more is expected"},
      {[] { (void)sinusoid<seq, some>(seq{2}, some{4}, 0.0); },
       "sinusoid: the base is 0, a finite number of more than 0 is expected"},
      {[&] { (void)evaluate(rotary<seq, d_k>(x, {.base = -2})); },
       "rotary: the base is -2 and the scaled angle of pair 0 is 1, finite numbers of more than 0 are expected (R9)"},
      {[&] { (void)evaluate(rotary<seq, d_k>(x, {.scaling = llama3_scaling{.factor = 8, .trained = 0}})); },
       "rotary: the base is 10000 and the scaled angle of pair 0 is nan, finite numbers of more than 0 are expected "
       "(R9)"},
      {[&] { (void)nn::soft_cap{0}(unscaled(contract<d_k>(x, rename<seq, key>(x)))); },
       "soft_cap: the cap is 0, a finite number of more than 0 is expected"},
      {[&] { (void)cross_entropy<vocab>(logits, target, label_smoothing{1.5}); },
       "label_smoothing: the amount is 1.5, a number from 0 to 1 is expected (R22)"},
      {[&] { (void)cross_entropy<vocab>(logits, target, class_weights(tensor<float, vocab>{1, -2, 1})); },
       "class_weights: a weight is -2, a finite number of 0 or more is expected (R22)"},
      {[&] { (void)kl_divergence<vocab>(logits, logits, temperature{-1}); },
       "kl_divergence: the temperature is -1, a number of more than 0 whose square and its inverse are finite is "
       "expected (R22)"},
  });
}

TEST_CASE("wrong numbers: settings of a training") {
  const tensor<float, d_k> p{1, 2, 3, 4};
  const auto loss = [](const auto& m) { return sum<d_k>(square(m)); };
  const tensor g = gradient(p, loss);
  const auto step = [&](auto optimiser) {
    auto moved = p;
    optimiser.step(moved, g);
  };
  const auto dropped = [](const auto& m) { return sum<d_k>(nn::dropout{1.0}(m)); };
  const nn::dropout_seed seed(1);
  check_all<number_error>({
      {[&] { step(sgd(p, {.rate = -1})); }, "sgd: the rate is -1, a finite float of 0 or more is expected"},
      {[&] { step(sgd(p, {.momentum = 1})); }, "sgd: the momentum is 1, a number from 0 to less than 1 is expected"},
      {[&] { step(sgd(p, {.dampening = -1})); }, "sgd: the dampening is -1, a number from 0 to 1 is expected"},
      {[&] { step(adam(p, {.beta2 = no_number})); }, "adam: beta2 is nan, a number from 0 to less than 1 is expected"},
      {[&] { step(adam(p, {.epsilon = 0})); }, "adam: epsilon is 0, a finite float of more than 0 is expected"},
      {[&] { step(adamw(p, {.rate = endless})); }, "adamw: the rate is inf, a finite float of 0 or more is expected"},
      {[&] { step(adamw(p, {.rate = warm_up_cosine{.peak = 1}})); },
       "warm_up_cosine: the number of steps is 0, set `.steps`"},
      {[&] { (void)clip_norm(g, -1); }, "clip_norm: the limit is -1, a number of 0 or more is expected"},
      {[&] { (void)gradient(p, dropped); },
       "dropout: the probability is 1, a number from 0 to less than 1 is expected"},
      {[&] { (void)check_gradient(p, loss, {.step = 0}); },
       "check_gradient: the step is 0, a finite number of more than 0 is expected"},
  });
}
