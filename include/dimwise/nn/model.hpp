// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/model.hpp -- walks over several models at once, and a model converted to another element type.
//
// Layer: nn. A model is a module, a tensor, or a tuple of models. Its parameters are its tensors of real numbers;
// all else is copied.
// Tests: tests/nn/model.test.cpp
//
//   auto precise = converted<double>(model);
//   for_each_parameter_of([](const std::string& name, auto& to, const auto& from) { … }, model, gradient);
#pragma once

#include <dimwise/nn/parameters.hpp>
#include <dimwise/nn/rebind.hpp>

#include <boost/hana/at.hpp>
#include <boost/hana/length.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace dimwise {

namespace detail {

// What is walked.
template <class M>
inline constexpr bool is_parameter = false;
template <class T, class... D>
inline constexpr bool is_parameter<tensor<T, D...>> = real_element<T>;
template <class M>
inline constexpr bool is_tuple = false;
template <class... M>
inline constexpr bool is_tuple<std::tuple<M...>> = true;

template <class F, class First, class... More>
void walk_together(const std::string& name, const F& f, First& first, More&... more);

template <class F, class First, class... More, std::size_t... I>
void walk_tuples(const std::string& name, const F& f, std::index_sequence<I...>, First& first, More&... more) {
  [[maybe_unused]] const auto one = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
    walk_together(name + (name.empty() ? "" : ".") + std::to_string(J), f, std::get<J>(first), std::get<J>(more)...);
  };
  (one(std::integral_constant<std::size_t, I>{}), ...);
}
template <class F, class First, class... More>
void walk_members(const std::string& name, const F& f, First& first, More&... more) {
  constexpr auto count = decltype(boost::hana::length(boost::hana::accessors<std::remove_const_t<First>>()))::value;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto one = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
      constexpr auto at = [](auto& m) -> auto& {
        return boost::hana::second(boost::hana::at_c<J>(boost::hana::accessors<std::remove_cvref_t<decltype(m)>>()))(m);
      };
      const char* member = boost::hana::to<const char*>(
          boost::hana::first(boost::hana::at_c<J>(boost::hana::accessors<std::remove_const_t<First>>())));
      walk_together(name.empty() ? member : name + "." + member, f, at(first), at(more)...);
    };
    (one(std::integral_constant<std::size_t, I>{}), ...);
  }(std::make_index_sequence<count>{});
}

// f(name, part…) for every tensor and every setting of models of one structure.
template <class F, class First, class... More>
void walk_together(const std::string& name, const F& f, First& first, More&... more) {
  using M = std::remove_const_t<First>;
  if constexpr (nn::detail::is_sequence<M>) {
    for (std::size_t i = 0; i < first.size(); ++i) {
      walk_together(name + "." + std::to_string(i), f, first[i], more[i]...);
    }
  } else if constexpr (is_tuple<M>) {
    walk_tuples(name, f, std::make_index_sequence<std::tuple_size_v<M>>{}, first, more...);
  } else if constexpr (nn::module<M>) {
    walk_members(name, f, first, more...);
  } else {
    f(name, first, more...);
  }
}

// Sequences of `to` as long as those of `from`.
template <class To, class From>
void match_lengths(To& to, const From& from) {
  if constexpr (nn::detail::is_sequence<To>) {
    to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) { match_lengths(to[i], from[i]); }
  } else if constexpr (is_tuple<To>) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (match_lengths(std::get<I>(to), std::get<I>(from)), ...);
    }(std::make_index_sequence<std::tuple_size_v<To>>{});
  } else if constexpr (nn::module<To>) {
    constexpr auto count = decltype(boost::hana::length(boost::hana::accessors<To>()))::value;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (match_lengths(boost::hana::second(boost::hana::at_c<I>(boost::hana::accessors<To>()))(to),
                     boost::hana::second(boost::hana::at_c<I>(boost::hana::accessors<From>()))(from)),
       ...);
    }(std::make_index_sequence<count>{});
  }
}

}  // namespace detail

/// Calls `f(name, parameter…)` for every parameter of models of one structure, side by side.
template <class F, class First, class... More>
void for_each_parameter_of(const F& f, First& first, More&... more) {
  detail::walk_together("", [&](const std::string& name, auto& part, auto&... parts) {
    if constexpr (detail::is_parameter<std::remove_cvref_t<decltype(part)>>) { f(name, part, parts...); }
  }, first, more...);
}

/// The model with elements of type T: parameters are converted, all else is copied.
template <class T, class M>
[[nodiscard]] rebind<T, M> converted(const M& m) {
  rebind<T, M> to;
  detail::match_lengths(to, m);
  detail::walk_together("", [](const std::string&, auto& part, const auto& from) {
    if constexpr (detail::is_parameter<std::remove_cvref_t<decltype(from)>>) {
      using To = std::remove_cvref_t<decltype(part)>;
      auto fresh = To::for_overwriting(from.extents());
      std::transform(from.data(), from.data() + from.size(), fresh.overwrite(),
                     [](auto x) { return static_cast<typename To::value_type>(x); });
      part = fresh;
    } else {
      part = from;
    }
  }, to, m);
  return to;
}

}  // namespace dimwise
