// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/operations/send.hpp -- what adjoints are made of: what arrives at a node is sent to its children.
//
// Layer: grad. `send_gradient` checks once that what arrives has the node's dimensions and no marks.
// Tests: tests/grad/
#pragma once

#include <dimwise/eval/kernels/backward.hpp>
#include <dimwise/eval/records/form.hpp>
#include <dimwise/expr/backward.hpp>
#include <dimwise/grad/record/adjoints.hpp>
#include <dimwise/grad/tracked.hpp>

namespace dimwise::detail {

// Whether a tracked tensor below the node is part of this record; throws where one is part of another.
template <class X>
bool has_origin(const X& x, std::uint64_t record) {
  if constexpr (!is_tracked<X>) {
    return false;
  } else if constexpr (is_erased<X>) {
    return x.formula().has_origin(record);
  } else if constexpr (is_tensor<X>) {
    return x.has_origin(record);
  } else {
    bool any = false;  // every child is looked at
    x.each_child([&](const auto& child) __attribute__((always_inline)) { any = has_origin(child, record) || any; });
    return any;
  }
}
template <class N>
struct origins_below {
  static bool any(const void* node, std::uint64_t record) { return has_origin(*static_cast<const N*>(node), record); }
};

// The adjoint of a node: `of_records<C>`, a function of the library, or `send(n, g)`, which is written with nodes.
template <class N>
struct adjoint_of {
  static constexpr bool is_missing = true;
};
template <class N>
concept has_adjoint = !requires { adjoint_of<N>::is_missing; };

// Rejects an operation without an adjoint by its name (R21).
template <class N>
struct adjoints_below;
template <class X>
void ask_for_adjoints() {
  if constexpr (is_tracked<X> && operand<X> && !is_tensor<X>) {
    if constexpr (has_adjoint<X>) {
      adjoints_below<children_t<X>>::ask();
    } else {
      // An incomplete type: the compiler names it.
      [[maybe_unused]] const ERROR_R21_operation_has_no_gradient<operation_of<X>, operand_t<shape_of<X>>> error;
    }
  }
}
template <class... X>
struct adjoints_below<list<X...>> {
  [[gnu::always_inline]] static void ask() { (ask_for_adjoints<X>(), ...); }
};

// A gradient in a record as a tensor.
template <class C, class Dims, class Extents>
auto gradient_in_memory(walk& w, const Extents& e, const record<C>& g) {
  using shape = make_shape_t<Dims, list<>>;
  using to_type = tensor_of<C, shape>;
  const auto own_extents = extents_from<shape>("gradient", e);
  if constexpr (in_shared_storage<to_type>) {
    if (const auto* const all = shared_elements(g, name_list_of<typename to_type::axes>)) {
      return to_type::sharing(own_extents, *all);
    }
  }
  auto to = to_type::for_overwriting(own_extents);
  axis own[max_rank];
  axis axes[max_rank] = {};
  axis_extents<typename to_type::axes>::write_contiguous(to.extents(), own);
  for (std::size_t i = 0; i < g.rank(); ++i) {
    axes[i] = own[name_list_of<typename to_type::axes>.place_of(g.shape->axes.at[i])];
  }
  write_record(w, g, {to.fresh_elements(), axes});
  return to;
}
// The adjoint of a node that computes itself, and of a bias from positions that it adds.
template <class C, class N>
void send_foreign(walk& w, const record<C>& r, const record<C>& g) {
  const N& n = *static_cast<const N*>(r.node);
  adjoint_of<N>::send(n, gradient_in_memory<C, dims_t<shape_of<N>>>(w, n.extents(), g));
}
template <class C, class N>
void send_to_foreign_bias(walk& w, const record<C>& r, const record<C>& g) {
  using B = element_t<1, children_t<N>>;
  const auto& e = *static_cast<const extents_type_of<N>*>(r.node_extents);
  adjoint_of<N>::send_to_bias(e, *static_cast<const B*>(r.node),
                              gradient_in_memory<C, typename B::bias_facts::dims>(w, e, g));
}
// Nothing asks for the gradient of an operation without one: `ask_for_adjoints`.
template <class C, class N>
struct sender_of {
  static constexpr adjoint_function<C>* function() {
    if constexpr (is_tensor<N>) {
      return &send_leaf<C>;
    } else if constexpr (is_recorded<N> && requires { adjoint_of<N>::template of_records<C>; }) {
      return adjoint_of<N>::template of_records<C>;
    } else if constexpr (has_adjoint<N>) {
      return &send_foreign<C, N>;
    } else {
      return nullptr;
    }
  }
  static constexpr adjoint_function<C>* value = function();
};
template <class C, class N>
struct sender_of<C, bias_of<N>> {
  static constexpr adjoint_function<C>* value = &send_to_foreign_bias<C, N>;
};

// Sends by records.
template <class N, class G>
void send_in_records(const N& n, const G& g) {
  using C = value_of<G>;
  record<C> all[records_in<N> + records_in<G>]{};  // adjoints copy some of them
  record_stack<C> stack{&all[0]};
  walk w{current_context(), nullptr};
  const record<C>* const to = form_child<evaluation_pass>(stack, n);
  send_to(w, *to, *form_child<evaluation_pass>(stack, g));
}
template <class N, class G>
[[gnu::always_inline]] inline void send_gradient(const N& n, const G& g) {
  if constexpr (is_tracked<N>) {
    static_assert(same_set<dims_t<shape_of<N>>, dims_t<shape_of<G>>> && marks_t<shape_of<G>>::size == 0,
                  "dimwise: an adjoint gives a gradient of other dimensions than the node has");
    if constexpr (is_tensor<N>) {
      add_gradient(n, g);
    } else {
      ask_for_adjoints<N>();
      if constexpr (is_recorded<N> && requires { adjoint_of<N>::template of_records<value_of<G>>; }) {
        send_in_records(n, g);
      } else if constexpr (has_adjoint<N>) {
        adjoint_of<N>::send(n, g);
      }
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
[[gnu::always_inline]] inline void send_reduced(const X& x, const G& g) {
  if constexpr (is_tracked<X>) {
    send_gradient(x, summed_over<difference_t<dims_t<shape_of<G>>, dims_t<shape_of<X>>>>(g));
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
template <class... X>
inline constexpr std::size_t tracked_count = (std::size_t{0} + ... + (is_tracked<X> ? is_parts<X> ? 2 : 1 : 0));

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
