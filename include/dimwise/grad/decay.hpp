// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/decay.hpp -- which parameters weight decay falls on: weights, and neither norms nor biases.
//
// Layer: grad. The kind of a module's member decides, and not its name.
// Tests: tests/grad/training/optimiser.test.cpp
#pragma once

#include <dimwise/nn/layers/linear.hpp>
#include <dimwise/nn/layers/norm.hpp>
#include <dimwise/nn/model.hpp>
#include <dimwise/tensor/memory/owner.hpp>

#include <string>

namespace dimwise {

namespace detail {

// A module of a user's own says it: `template <class Parameter> static constexpr bool decays = …;`.
template <class Module, class Parameter>
concept says_decay = requires { Module::template decays<Parameter>; };

}  // namespace detail

/// Whether weight decay falls on the parameters of type Parameter that the module Module holds: on weights of several
/// dimensions, unless the module says otherwise; what has one dimension shifts or scales.
template <class Module, class Parameter>
inline constexpr bool is_decayed = detail::dims_t<detail::shape_of<Parameter>>::size > 1;
template <class Module, class Parameter>
  requires detail::says_decay<Module, Parameter>
inline constexpr bool is_decayed<Module, Parameter> = Module::template decays<Parameter>;
template <class From, class To, class Bias, class T, class Parameter>
inline constexpr bool is_decayed<nn::linear<From, To, Bias, T>, Parameter> =
    std::is_same_v<Parameter, typename nn::linear<From, To, Bias, T>::weight_type>;
template <class... F, class Parameter>
inline constexpr bool is_decayed<nn::layer_norm<F...>, Parameter> = false;
template <class... F, class Parameter>
inline constexpr bool is_decayed<nn::rms_norm<F...>, Parameter> = false;

/// Which parameters weight decay falls on, by their names: in place of the kinds.
using decay_choice = detail::function_copy<bool(const std::string& name)>;

}  // namespace dimwise
