// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/hana.hpp -- structs that Boost.Hana reflects are modules.
//
// Layer: nn. Third party: Boost.Hana. `dimwise/nn.hpp`, `dimwise/grad.hpp` and `dimwise/io.hpp` include this header.
// Tests: tests/nn/parameters.test.cpp
//
//   struct block {
//     BOOST_HANA_DEFINE_STRUCT(block, (nn::layer_norm<d_model>, norm), (tensor<float, d_model>, scale));
//   };
#pragma once

#include <dimwise/nn/members.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/unpack.hpp>

namespace dimwise::nn::detail {

// Hana's macros generate an accessor type with the member pointer as an argument.
template <class Accessor>
inline constexpr std::nullptr_t pointer_of_accessor = nullptr;
template <template <class T, T> class Accessor, class T, T Pointer>
inline constexpr T pointer_of_accessor<Accessor<T, Pointer>> = Pointer;

template <class M>
  requires(boost::hana::Struct<M>::value)
struct members_by_hana<M> {
  static constexpr auto list = [](auto... member) {
    return member_list<pointer_of_accessor<std::remove_cvref_t<decltype(boost::hana::second(member))>>...>();
  };
  using type = decltype(boost::hana::unpack(boost::hana::accessors<M>(), list));
};

}  // namespace dimwise::nn::detail
