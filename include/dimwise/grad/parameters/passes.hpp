// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/parameters/passes.hpp -- what optimisers, norms and gradients do with all parameters of a model.
//
// Layer: grad. Loops over lists of parameters, which depend on no type of a model.
// Tests: tests/grad/training/optimiser.test.cpp, tests/grad/training/kernels.test.cpp
#pragma once

#include <dimwise/grad/decay.hpp>
#include <dimwise/grad/parameters/list.hpp>
#include <dimwise/grad/schedule.hpp>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace dimwise::detail {

// Zeros in place of all parameters.
DIMWISE_DETAIL_LIBRARY void clear_parameters(const parameter_list& all);

// Takes all memory that a step needs, before it changes anything: elements of their own for the models that it writes,
// and those of the gradient. A step that has begun ends, so one that throws has changed nothing.
DIMWISE_DETAIL_LIBRARY whole_passes prepared_step(const parameter_list& gradient,
                                                  std::initializer_list<const parameter_list*> written);

// √(the sum of squares) of all parameters.
DIMWISE_DETAIL_LIBRARY scaled_norm norm_of_parameters(const parameter_list& all);
// The parameters times min(1, limit / (norm + 1e-6)).
DIMWISE_DETAIL_LIBRARY void clip_parameters(const parameter_list& all, double limit);
// The same by a norm of these parameters and of others.
DIMWISE_DETAIL_LIBRARY void clip_parameters(const parameter_list& all, double limit, const scaled_norm& norm);
DIMWISE_DETAIL_LIBRARY void multiply_parameters(const parameter_list& all, double by);
// to += from, in passes that `prepared_step` has made.
DIMWISE_DETAIL_LIBRARY void add_parameters(whole_passes& passes, const parameter_list& to, const parameter_list& from);
// The gradients that have arrived at the origins of the parameters, in the order of the list.
DIMWISE_DETAIL_LIBRARY void take_gradients(const parameter_list& to, const std::vector<origin_pointer>& origins);

// For every parameter, in order, whether it is decayed: by its name if a function says so, else by the kind of member.
DIMWISE_DETAIL_LIBRARY std::vector<bool> decayed_among(const parameter_list& all, const decay_choice& by_name);

// How many steps a state has made: a tensor, so that a file keeps it. Throws `number_error` below 0 and from 2^62 on.
DIMWISE_DETAIL_LIBRARY std::size_t steps_made(const tensor<std::int64_t>& step);

// The settings of a step of `sgd`.
struct sgd_choices {
  const learning_rate& rate;
  double momentum;
  double dampening;
  bool nesterov;
  double weight_decay;
  const decay_choice& decayed;
};
// The steps of optimisers, apart from the parameters: an optimiser of parts (ranks/training/optimiser.hpp) makes the
// same ones. They throw `number_error` for settings out of range.
DIMWISE_DETAIL_LIBRARY double checked_rate(const sgd_choices& by, std::size_t made);
DIMWISE_DETAIL_LIBRARY sgd_numbers numbers_of(const sgd_choices& by, double rate, std::size_t made, bool is_decayed);
// Adds one, when a step begins that cannot fail any more.
DIMWISE_DETAIL_LIBRARY void count_step(tensor<std::int64_t>& step);

DIMWISE_DETAIL_LIBRARY void step_sgd(const sgd_choices& by, const parameter_list& model, const parameter_list& gradient,
                                     const parameter_list& velocity, tensor<std::int64_t>& step);

// The settings of a step of `adam` and of `adamw`, whose weight decay is decoupled from the gradient.
struct adam_choices {
  const char* name;
  bool decoupled;
  const learning_rate& rate;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
  const decay_choice& decayed;
};
DIMWISE_DETAIL_LIBRARY double checked_rate(const adam_choices& by, std::size_t made);
DIMWISE_DETAIL_LIBRARY adam_numbers<double> numbers_of(const adam_choices& by, double rate, std::size_t made,
                                                       bool is_decayed);
DIMWISE_DETAIL_LIBRARY void step_adam_of(const adam_choices& by, const parameter_list& model,
                                         const parameter_list& gradient, const parameter_list& first,
                                         const parameter_list& second, tensor<std::int64_t>& step);

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/grad/parameters/passes_definitions.hpp>
#endif
