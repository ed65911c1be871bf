// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/parameters/passes_definitions.hpp -- the loops over lists of parameters (support/library.hpp).
//
// Layer: grad.
#pragma once

#include <dimwise/grad/parameters/passes.hpp>

#include <cmath>
#include <limits>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY void clear_parameters(const parameter_list& all) {
  for (std::size_t i = 0; i < all.count(); ++i) { all.clear(i); }
}

DIMWISE_DETAIL_LIBRARY whole_passes prepared_step(const parameter_list& gradient,
                                                  std::initializer_list<const parameter_list*> written) {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < gradient.count(); ++i) {
    longest = gradient.size(i) > longest ? gradient.size(i) : longest;
    (void)gradient.data(i);
    for (const parameter_list* const to : written) { (void)to->overwrite(i); }
  }
  return whole_passes(longest);
}

DIMWISE_DETAIL_LIBRARY scaled_norm norm_of_parameters(const parameter_list& all) {
  double squares = 0;
  for (std::size_t i = 0; i < all.count(); ++i) {
    squares += all.type(i).passes->sum_of_squares(all.size(i), all.data(i));
  }
  // A term that underflows below is smaller than the rounding error of this sum.
  if (squares >= 1e-280 && squares <= std::numeric_limits<double>::max()) { return {std::sqrt(squares), 0}; }
  double largest = 0;
  for (std::size_t i = 0; i < all.count(); ++i) {
    largest = all.type(i).passes->largest(all.size(i), all.data(i), largest);
  }
  if (largest == 0 || largest - largest != 0) { return {largest, 0}; }
  scaled_norm norm;
  (void)std::frexp(largest, &norm.exponent);
  kernels::carried_sum<double> scaled;
  for (std::size_t i = 0; i < all.count(); ++i) {
    all.type(i).passes->add_scaled_squares(all.size(i), all.data(i), norm.exponent, scaled);
  }
  norm.rest = std::sqrt(scaled.value());
  return norm;
}

DIMWISE_DETAIL_LIBRARY void clip_parameters(const parameter_list& all, double limit) {
  clip_parameters(all, limit, norm_of_parameters(all));
}
DIMWISE_DETAIL_LIBRARY void clip_parameters(const parameter_list& all, double limit, const scaled_norm& norm) {
  const double factor = limit / (std::ldexp(norm.rest, norm.exponent) + 1e-6);
  if (!(factor < 1) || norm.rest == 0) { return; }  // a gradient of zeros has no direction: limit / norm is NaN
  for (std::size_t i = 0; i < all.count(); ++i) {
    all.type(i).passes->shorten(all.size(i), all.overwrite(i), factor, norm, limit);
  }
}

DIMWISE_DETAIL_LIBRARY void multiply_parameters(const parameter_list& all, double by) {
  for (std::size_t i = 0; i < all.count(); ++i) { all.type(i).passes->multiply(all.size(i), all.overwrite(i), by); }
}

DIMWISE_DETAIL_LIBRARY void add_parameters(whole_passes& passes, const parameter_list& to, const parameter_list& from) {
  for (std::size_t i = 0; i < to.count(); ++i) {
    to.type(i).passes->add(passes, to.size(i), to.overwrite(i), from.data(i));
  }
}

DIMWISE_DETAIL_LIBRARY void take_gradients(const parameter_list& to, const std::vector<origin_pointer>& origins) {
  for (std::size_t i = 0; i < to.count(); ++i) { to.take_gradient(i, *origins[i]); }
}

DIMWISE_DETAIL_LIBRARY std::size_t steps_made(const tensor<std::int64_t>& step) {
  const std::int64_t made = step;
  if (made < 0 || made >= std::int64_t{1} << 62) {
    raise<number_error>(error{} << "an optimiser's state: its step is " << static_cast<long long>(made)
                                << ", a number from 0 to 2^62 was expected");
  }
  return static_cast<std::size_t>(made);
}
DIMWISE_DETAIL_LIBRARY void count_step(tensor<std::int64_t>& step) {
  *step.overwrite() = static_cast<std::int64_t>(steps_made(step)) + 1;
}

// Settings of an optimiser are checked before anything moves, in the range of a float: parameters may be floats.
// `what` is a number from 0 to 1, where 1 is left out.
inline void check_share(const char* who, const char* what, double x) {
  if (!(x >= 0 && x < 1)) { throw_number(who, what, x, "number from 0 to less than 1"); }
}
inline void check_at_least_0(const char* who, const char* what, double x) {
  if (!(x >= 0 && x <= double{std::numeric_limits<float>::max()})) {
    throw_number(who, what, x, "finite float of 0 or more");
  }
}
// A divisor beside a root that may be 0: 0 / 0 is NaN where a parameter never had a gradient.
inline void check_more_than_0(const char* who, const char* what, double x) {
  if (!(x >= double{std::numeric_limits<float>::min()} && x <= double{std::numeric_limits<float>::max()})) {
    throw_number(who, what, x, "finite float of more than 0");
  }
}

DIMWISE_DETAIL_LIBRARY std::vector<bool> decayed_among(const parameter_list& all, const decay_choice& by_name) {
  std::vector<bool> decayed(all.count());
  for (std::size_t i = 0; i < all.count(); ++i) { decayed[i] = by_name ? by_name(all.name(i)) : all.is_decayed(i); }
  return decayed;
}

DIMWISE_DETAIL_LIBRARY double checked_rate(const sgd_choices& by, std::size_t made) {
  const double rate = by.rate(made);
  check_at_least_0("sgd", "the rate", rate);
  check_share("sgd", "the momentum", by.momentum);
  if (!(by.dampening >= 0 && by.dampening <= 1)) {
    throw_number("sgd", "the dampening", by.dampening, "number from 0 to 1");
  }
  check_at_least_0("sgd", "the weight decay", by.weight_decay);
  return rate;
}
DIMWISE_DETAIL_LIBRARY sgd_numbers numbers_of(const sgd_choices& by, double rate, std::size_t made, bool is_decayed) {
  return {rate, is_decayed ? by.weight_decay : 0.0, by.momentum, made == 0 ? 1.0 : 1.0 - by.dampening, by.nesterov};
}

DIMWISE_DETAIL_LIBRARY void step_sgd(const sgd_choices& by, const parameter_list& model, const parameter_list& gradient,
                                     const parameter_list& velocity, tensor<std::int64_t>& step) {
  model.check_same_extents("sgd", gradient, "gradient");
  model.check_same_extents("sgd", velocity, "velocity");
  const std::vector<bool> decayed = decayed_among(model, by.decayed);
  const std::size_t made = steps_made(step);
  const double rate = checked_rate(by, made);
  (void)prepared_step(gradient, {&model, &velocity});
  for (std::size_t i = 0; i < model.count(); ++i) {
    model.type(i).passes->sgd(numbers_of(by, rate, made, decayed[i]), model.size(i), gradient.data(i),
                              model.overwrite(i), velocity.overwrite(i));
  }
  count_step(step);
}

DIMWISE_DETAIL_LIBRARY double checked_rate(const adam_choices& by, std::size_t made) {
  const double rate = by.rate(made);
  check_at_least_0(by.name, "the rate", rate);
  check_share(by.name, "beta1", by.beta1);
  check_share(by.name, "beta2", by.beta2);
  check_more_than_0(by.name, "epsilon", by.epsilon);
  check_at_least_0(by.name, "the weight decay", by.weight_decay);
  return rate;
}
DIMWISE_DETAIL_LIBRARY adam_numbers<double> numbers_of(const adam_choices& by, double rate, std::size_t made,
                                                       bool is_decayed) {
  const auto steps = static_cast<double>(made + 1);
  const double decay = is_decayed ? by.weight_decay : 0.0;
  return {
      .decay = by.decoupled ? 0.0 : decay,
      .first_kept = by.beta1,
      .first_added = 1 - by.beta1,
      .second_kept = by.beta2,
      .second_added = 1 - by.beta2,
      .kept = by.decoupled ? 1 - rate * decay : 1.0,
      .size = rate / (1 - std::pow(by.beta1, steps)),
      .root = 1 / std::sqrt(1 - std::pow(by.beta2, steps)),
      .epsilon = by.epsilon,
  };
}

DIMWISE_DETAIL_LIBRARY void step_adam_of(const adam_choices& by, const parameter_list& model,
                                         const parameter_list& gradient, const parameter_list& first,
                                         const parameter_list& second, tensor<std::int64_t>& step) {
  model.check_same_extents(by.name, gradient, "gradient");
  model.check_same_extents(by.name, first, "first moment");
  model.check_same_extents(by.name, second, "second moment");
  const std::vector<bool> decayed = decayed_among(model, by.decayed);
  const std::size_t made = steps_made(step);
  const double rate = checked_rate(by, made);
  whole_passes passes = prepared_step(gradient, {&model, &first, &second});
  count_step(step);
  for (std::size_t i = 0; i < model.count(); ++i) {
    const adam_numbers<double> numbers = numbers_of(by, rate, made, decayed[i]);
    model.type(i).passes->adam(passes, numbers, model.size(i), gradient.data(i), model.overwrite(i), first.overwrite(i),
                               second.overwrite(i));
  }
  passes.finish();
}

}  // namespace dimwise::detail
