// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/operations/attention.hpp -- stored attention: its log-sum-exp is kept, and one kernel gives all its
// gradients.
//
// Layer: grad. A statement that is attention as a whole, `tensor z = contract<key>(softmax<key>(…), v);`, as modules
// store it. Attention within a larger formula goes the general way.
// Tests: tests/grad/operations/attention.test.cpp
#pragma once

#include <dimwise/eval/attention/gradient.hpp>
#include <dimwise/expr/untracked.hpp>

namespace dimwise::detail {

template <class N>
struct adjoint_of;

// The numbers that are saved for backward besides the expression: those of attention only.
template <class E>
struct kept_beside {
  static constexpr bool any = false;
};

#if !defined(DIMWISE_PLAIN_ONLY)

// From attention down to the product of queries and keys: the child that leads there.
template <class X>
consteval bool leads_to_scores() {
  if constexpr (operand<X>) {
    return weights_chain<X>::matches || score_chain<X>::matches || capped_scores<X>::matches;
  } else {
    return false;
  }
}
template <class... X>
consteval std::size_t first_that_leads(list<X...>) {
  std::size_t i = 0;
  (void)((leads_to_scores<X>() || (++i, false)) || ...);
  return i;
}
template <class N>
inline constexpr std::size_t way_to_scores = first_that_leads(children_t<N>{});

template <class N>
const auto& scores_below(const N& n) {
  if constexpr (is_product<N>) {
    return n;
  } else {
    return scores_below(n.template child<way_to_scores<N>>());
  }
}
// A step of the scores that adds a bias, by its type: whether the bias is tracked, and a tensor of its dimensions.
template <class N>
struct bias_step {
  static constexpr bool is_learned = false;
  using gradient_type = nothing;
};
template <class Shape, class T, class E, class B>
struct bias_step<node<add_bias, Shape, T, E, B>> {
  static constexpr bool is_learned = is_tracked<B>;
  using gradient_type = float_tensor_t<dims_t<shape_of<B>>>;
};
template <class Shape, class T, class E, class B>
struct bias_step<node<add_position_bias, Shape, T, E, B>> {
  static constexpr bool is_learned = is_tracked<B>;
  using gradient_type = float_tensor_t<typename B::bias_facts::dims>;
};
// The step that adds the learned bias; where there is none, the product.
template <class N>
const auto& biased_below(const N& n) {
  if constexpr (is_product<N> || bias_step<N>::is_learned) {
    return n;
  } else {
    return biased_below(n.template child<way_to_scores<N>>());
  }
}
// Whether only queries, keys, values and a bias are tracked.
template <class N>
consteval bool tracks_roles_alone() {
  if constexpr (is_product<N>) {
    return true;
  } else {
    using next = element_t<way_to_scores<N>, children_t<N>>;
    const bool here = []<class... X>(list<X...>) {
      return (std::size_t{is_tracked<X>} + ... + 0) <=
             std::size_t{is_tracked<next>} + std::size_t{bias_step<N>::is_learned};
    }(children_t<N>{});
    return here && tracks_roles_alone<next>();
  }
}

template <class Shape, class T, class Over, class A, class B>
  requires(attention_gradient_of<node<product_over<Over>, Shape, T, A, B>>::matches &&
           tracks_roles_alone<element_t<way_to_scores<node<product_over<Over>, Shape, T, A, B>>, list<A, B>>>())
struct kept_beside<node<product_over<Over>, Shape, T, A, B>> {
  static constexpr bool any = true;
  using N = node<product_over<Over>, Shape, T, A, B>;
  using kernel = attention_gradient_of<N>;
  using roles = typename kernel::roles;
  using sums_type = typename kernel::sums_type;
  template <class X>
  using gradient_type = float_tensor_t<dims_t<shape_of<X>>>;

  // Fills `out`, and `sums` with what the backward pass needs; false where no kernel takes it.
  template <class Out>
  static bool store(const N& n, Out& out, sums_type& sums) {
    sums =
        sums_type::for_overwriting(extents_from<shape_of<sums_type>>("gradient", kernel::match::weights(n).extents()));
    return kernel::forth(n, out, sums);
  }

  // Sends the gradients of queries, keys and values; false where no kernel takes it.
  template <class Out, class G>
  static bool send(const N& n, const Out& out, const sums_type& sums, const G& g) {
    constexpr std::size_t at = way_to_scores<N>;
    const auto& product = scores_below(n.template child<at>());
    constexpr bool keys_on_right = roles::keys_on_right;
    const auto& q = product.template child<keys_on_right ? 0 : 1>();
    const auto& k = product.template child<keys_on_right ? 1 : 0>();
    const auto& v = n.template child<1 - at>();
    auto d_q = wanted<typename kernel::query_gradient>(q, n.template child<at>().extents());
    auto d_k = wanted<gradient_type<std::remove_cvref_t<decltype(k)>>>(k);
    auto d_v = wanted<gradient_type<std::remove_cvref_t<decltype(v)>>>(v);
    const auto& biased = biased_below(n.template child<at>());
    using bias_type = bias_step<std::remove_cvref_t<decltype(biased)>>;
    auto d_bias = wanted_bias<typename bias_type::gradient_type>(biased);
    const auto pointer = [](auto& x, bool is_wanted) { return is_wanted ? &x : nullptr; };
    if (!kernel::back(n, out, sums, g, pointer(d_q, is_tracked<std::remove_cvref_t<decltype(q)>>),
                      pointer(d_k, is_tracked<std::remove_cvref_t<decltype(k)>>),
                      pointer(d_v, is_tracked<std::remove_cvref_t<decltype(v)>>),
                      pointer(d_bias, bias_type::is_learned))) {
      return false;
    }
    send_reduced(q, d_q);
    send_gradient(k, d_k);
    send_gradient(v, d_v);
    if constexpr (bias_type::is_learned) {
      if constexpr (position_bias<element_t<1, children_t<std::remove_cvref_t<decltype(biased)>>>>) {
        adjoint_of<std::remove_cvref_t<decltype(biased)>>::send_to_bias(biased.extents(), biased.template child<1>(),
                                                                        d_bias);
      } else {
        send_reduced(biased.template child<1>(), d_bias);
      }
    }
    return true;
  }

 private:
  template <class To, class N>
  static auto wanted_bias(const N& biased) {
    if constexpr (std::is_same_v<To, nothing>) {
      return nothing{};
    } else {
      return To::for_overwriting(extents_from<shape_of<To>>("gradient", biased.extents()));
    }
  }
  template <class To, class X, class... Extents>
  static To wanted(const X& x, const Extents&... more) {
    if constexpr (is_tracked<X>) {
      return To::for_overwriting(extents_from<shape_of<To>>("gradient", x.extents(), more...));
    } else {
      return To();
    }
  }
};

#endif

}  // namespace dimwise::detail
