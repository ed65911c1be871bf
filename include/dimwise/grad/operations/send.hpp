// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/operations/send.hpp -- what adjoints are made of: what arrives at a node is sent to its children.
//
// Layer: grad. `send_gradient` checks once that what arrives has the node's dimensions and no marks.
// Tests: tests/grad/
#pragma once

#include <dimwise/eval/kernels/backward.hpp>
#include <dimwise/grad/tracked.hpp>

namespace dimwise::detail {

// The adjoint of a node; an operation without one is refused by its name (R21).
template <class N>
struct adjoint_of {
  template <class G>
  static void send(const N&, const G&) {
    // An incomplete type: the compiler names it.
    [[maybe_unused]] const ERROR_R21_operation_has_no_gradient<operation_of<N>, operand_t<shape_of<N>>> error;
  }
};

template <class N, class G>
[[gnu::always_inline]] inline void send_gradient(const N& n, const G& g) {
  if constexpr (is_tracked<N>) {
    if constexpr (is_tensor<N>) {
      if (n.origin() != nullptr) { n.origin()->add(g); }
    } else {
      static_assert(same_set<dims_t<shape_of<N>>, dims_t<shape_of<G>>> && marks_t<shape_of<G>>::size == 0,
                    "dimwise: an adjoint gives a gradient of other dimensions than the node has");
      adjoint_of<N>::send(n, g);
    }
  }
}

// ---- what adjoints are made of --------------------------------------------------------------------------------------

// The value of a child without its marks.
template <class X>
[[gnu::always_inline]] inline auto plain_value(const X& x) {
  auto value = untracked_of(x);
  if constexpr (marks_t<shape_of<X>>::size == 0) {
    return value;
  } else {
    return make_with_marks<gradient_shape<X>>(value);
  }
}
// Something that is read more than once, in memory.
template <class X>
[[gnu::always_inline]] inline auto kept(const X& x) {
  if constexpr (is_leaf<X>) {
    return x;
  } else {
    return tensor(x);
  }
}

// The sum over dimensions that a child lacks.
template <class Over, class G>
[[gnu::always_inline]] inline auto summed_over(const G& g) {
  if constexpr (Over::size == 0) {
    return g;
  } else {
    using shape = make_shape_t<difference_t<dims_t<shape_of<G>>, Over>, list<>>;
    return make_total<shape, value_of<G>, totals::sum, Over>(g);
  }
}
// `g` for a child that may lack dimensions of the node: it was the same along them.
template <class X, class G>
[[gnu::always_inline]] inline auto reduced_to(const G& g) {
  return summed_over<difference_t<dims_t<shape_of<G>>, dims_t<shape_of<X>>>>(g);
}
// The tensor of which a formula reads the elements under other names and marks, axis by axis.
template <class X>
struct renamed_tensor {
  static constexpr bool known = is_tensor<X>;
  [[gnu::always_inline]] static const X& of(const X& x) { return x; }
};
template <class Shape, class E>
  requires(renamed_tensor<E>::known)
struct renamed_tensor<with_marks<Shape, E>> {
  static constexpr bool known = true;
  [[gnu::always_inline]] static const auto& of(const with_marks<Shape, E>& x) {
    return renamed_tensor<E>::of(x.template child<0>());
  }
};
template <class Shape, class From, class To, class E>
  requires(renamed_tensor<E>::known && axes_of<From>::type::size == 1 && axes_of<To>::type::size == 1)
struct renamed_tensor<restride<Shape, views::rename<From, To>, E>> {
  static constexpr bool known = true;
  [[gnu::always_inline]] static const auto& of(const restride<Shape, views::rename<From, To>, E>& x) {
    return renamed_tensor<E>::of(x.template child<0>());
  }
};

template <class X, class G>
[[gnu::always_inline]] inline void send_reduced(const X& x, const G& g) {
  if constexpr (is_tracked<X>) {
    using over = difference_t<dims_t<shape_of<G>>, dims_t<shape_of<X>>>;
    if constexpr (over::size > 0 && is_tensor<G> && renamed_tensor<X>::known &&
                  std::is_same_v<value_of<X>, tracked<value_of<G>>>) {
      const auto& leaf = renamed_tensor<X>::of(x);
      if (leaf.origin() == nullptr) { return; }
      using axes = axes_for<shape_of<G>>;
      using rest = axes_of_list_t<difference_t<dims_t<shape_of<G>>, over>>;
      evaluation_pass pass{current_context()};
      const auto& read_g = read<value_of<G>>(pass, g);
      leaf.origin()->add(&compute_sum_onto<value_of<G>>, &rows_form_over<rest, axes, axes_of_list_t<over>>,
                         places<rest, axes_for<shape_of<X>>>::at, leaf.extents(), read_g, read_g);
    } else {
      send_gradient(x, reduced_to<X>(g));
    }
  }
}

// `g` for every element along dimensions that it lacks: the shape of X.
template <class X, class G>
auto repeated_to(const X& x, const G& g) {
  using shape = gradient_shape<X>;
  return restride<shape, views::broadcast, G>({}, extents_from<shape>("gradient", x.extents()), g);
}

// f of gradients and values, element by element; the first operand says the dimensions.
template <class F, class First, class... X>
auto by_element(const F& f, const First& first, const X&... x) {
  using shape = gradient_shape<First>;
  return make_node<shape, value_of<First>>(apply<F>{f}, extents_from<shape>("gradient", first.extents()), first, x...);
}
template <class G>
auto negated(const G& g) {
  return by_element(fn::negate{}, g);
}

template <class... X>
inline constexpr std::size_t tracked_count = (std::size_t{0} + ... + std::size_t{is_tracked<X>});

// `g` once, where several children get it.
template <class... X, class G>
[[gnu::always_inline]] inline auto for_children(const G& g) {
  if constexpr (tracked_count<X...> > 1) {
    return kept(g);
  } else {
    return g;
  }
}

}  // namespace dimwise::detail
