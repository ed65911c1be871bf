// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/gradient.hpp -- the gradient of a loss: a model of the same type.
//
// Layer: grad. Reverse mode (Linnainmaa 1970): the loss is computed over tracked parameters, and what was stored is
// differentiated from the last value to the first.
// Tests: tests/grad/gradient.test.cpp, tests/compile_fail/grad/
//
//   auto [loss, gradient] = value_and_gradient(model, [&](const auto& m) { return mean<batch, seq>(m(x) …); });
#pragma once

#include <dimwise/grad/average.hpp>
#include <dimwise/grad/loss_verdict.hpp>
#include <dimwise/grad/operations/adjoint.hpp>
#include <dimwise/grad/parameters/passes.hpp>
#include <dimwise/grad/parameters/tracked_model.hpp>
#include <dimwise/grad/partial_gradient.hpp>

namespace dimwise {

/// The result of `value_and_gradient`: the loss, and its gradient by the model, which has the model's own type.
///
/// Of a loss that is a partial sum, this rank's terms: a tensor with the mark, or an `average` over the shard, and a
/// `partial_gradient`.
template <class Value, class Gradient>
struct value_with_gradient {
  Value value;
  Gradient gradient;
};

namespace detail {

// A number that is differentiated, and what it is multiplied by.
template <class X>
struct weighed_number {
  const X& number;
  double factor;
};
// A loss as one number: an average is its sum over its count.
template <class X>
auto loss_as_number(const X& x) {
  if constexpr (is_partial_average<X>) {
    return weighed_number<decltype(x.sum)>{x.sum, 1.0};
  } else if constexpr (is_average<X>) {
    return weighed_number<decltype(x.sum)>{x.sum, x.factor()};
  } else {
    return weighed_number<X>{x, 1.0};
  }
}

// Backpropagates a record whose last value has its gradient, and takes the gradients of the parameters.
struct send_and_take {
  void operator()(gradient_record& record, const parameter_list& to, const parameter_origins& origins) const {
    record.send_all();
    take_gradients(to, origins);
  }
};

template <class M, class Loss, class Part, class Send>
auto differentiated_in(gradient_record& record, const M& model, const Loss& loss, const Part& part, const Send& send) {
  using T = model_element<M>;
  parameter_origins origins;
  const auto parameters = tracked_model(model, record.number(), origins);
  T factor{};
  // The loss ends here: a parameter that only the model and the record hold is complete when the record has
  // sent all that read it.
  const auto value = [&] {
    const auto given = loss(parameters);
    const auto of = part(given);
    factor = static_cast<T>(of.factor);
    return tensor_of<tracked<T>, stored_t<shape_of<std::remove_cvref_t<decltype(of.number)>>>>(of.number);
  }();
  record.close();
  // Along the axes of a partial sum, gradients of what is whole are left as terms.
  const gradient_ranks::partial_loss left(axes_of_shape<shape_of<std::remove_cvref_t<decltype(value)>>>());
  if (value.has_origin(record.number())) { add_gradient(value, tensor<T>(factor)); }
  value_with_gradient<T, M> result{*value.value().data() * factor, model};
  send(record, parameter_list(result.gradient), origins);
  return result;
}

// The number that `part` makes of the loss, and its gradient.
template <class M, class Loss, class Part, class Send = send_and_take>
auto differentiated(const M& model, const Loss& loss, const Part& part, const Send& send = {}) {
  gradient_record record;
  try {
    return differentiated_in(record, model, loss, part, send);
  } catch (...) {
    gradient_ranks::abandon();
    throw;
  }
}

// This rank's term of a loss, as a tensor with the marks of `Shape`, or as an average over shards.
template <class T, class Shape, class Given>
struct term_of_loss {
  using type = tensor_of<T, Shape>;
  static type of(T value, const average<T>&) {
    type term;
    term.fill(value);
    return term;
  }
};
template <class T, class Shape, class U, class... D>
struct term_of_loss<T, Shape, average<U, D...>> {
  using type = average<T, D...>;
  static type of(T value, const average<T>& counted) {
    return {term_of_loss<T, Shape, void>::of(value, counted), counted.count, counted.lost};
  }
};

// The loss and its gradient, by the shape of the loss: complete, or this rank's terms of both.
template <class Shape, class Given, class M, class Loss>
auto gradient_of_loss(const M& model, const Loss& loss) {
  if constexpr (!is_placed<Shape>) {
    return differentiated(model, loss, [](const auto& l) { return loss_as_number(l); });
  } else {
    using T = model_element<M>;
    using term = term_of_loss<T, Shape, std::remove_cvref_t<Given>>;
    using gradient_type = gradient_along_t<M, partials_t<Shape>>;
    average<T> counted;
    auto one = differentiated(model, loss, [&](const auto& l) {
      if constexpr (is_partial_average<std::remove_cvref_t<decltype(l)>>) {
        counted.count = l.count;
        counted.lost = l.lost;
      }
      return loss_as_number(l);
    });
    return value_with_gradient<typename term::type, gradient_type>{
        term::of(one.value, counted),
        gradient_type{static_cast<M&&>(one.gradient), counted.count, is_partial_average<std::remove_cvref_t<Given>>}};
  }
}

}  // namespace detail

namespace no_adl {

// Declared first: clang shows the first one on the way to an error in the loss.
template <class M, class Loss,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<M>))::type,
          class Verdict = typename decltype(detail::judge_loss<M, Loss, detail::model_verdict<M>, Given>())::type>
  requires detail::refused_here<Verdict>
Verdict value_and_gradient(const M& model, const Loss& loss) DIMWISE_DETAIL_REFUSES_LAMBDAS;

/// The loss at `model`, and its gradient: a model of the same type whose tensors hold the derivatives. Parameters that
/// the loss does not depend on have the gradient 0.
///
///   value_and_gradient(model, [&](const auto& m) { return …; })
///
/// `model` is a module, a tensor, or a tuple of them; `loss` takes it with tracked elements and gives one number: an
/// expression or a stored tensor without dimensions, or an `average`, whose mean it is. Throws `gradient_error` where
/// tracked tensors of another call are used. Rejects a loss of several numbers, one that reads no tracked tensor, and a
/// model that is tracked already (R21).
///
/// A loss over a shard, with the mark `partial<M>` or an `average` over it, gives this rank's terms: the value in its
/// own type, and a `partial_gradient`, which `all_reduce<M>` completes (data parallelism).
template <class M, class Loss,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<M>))::type,
          class Verdict = typename decltype(detail::judge_loss<M, Loss, detail::model_verdict<M>, Given>())::type>
  requires allowed<Verdict>
[[nodiscard]] auto value_and_gradient(const M& model, const Loss& loss) {
  return detail::gradient_of_loss<typename Verdict::shape, Given>(model, loss);
}
template <class M, class Loss,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<M>))::type,
          class Verdict = typename decltype(detail::judge_loss<M, Loss, detail::model_verdict<M>, Given>())::type>
  requires detail::refused_before<Verdict>
value_with_gradient<detail::number_of_loss<M>, M> value_and_gradient(const M&, const Loss&) {
  detail::raise<gradient_error>(error() << "value_and_gradient: the loss cannot be called with the model (R21)");
}

// Declared first: clang shows the first one on the way to an error in the loss.
template <class M, class Loss,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<M>))::type,
          class Verdict = typename decltype(detail::judge_loss<M, Loss, detail::model_verdict<M>, Given>())::type>
  requires detail::refused_here<Verdict>
Verdict gradient(const M& model, const Loss& loss) DIMWISE_DETAIL_REFUSES_LAMBDAS;

/// The gradient alone.
template <class M, class Loss,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<M>))::type,
          class Verdict = typename decltype(detail::judge_loss<M, Loss, detail::model_verdict<M>, Given>())::type>
  requires allowed<Verdict>
[[nodiscard]] auto gradient(const M& model, const Loss& loss) {
  return value_and_gradient(model, loss).gradient;
}
template <class M, class Loss,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<M>))::type,
          class Verdict = typename decltype(detail::judge_loss<M, Loss, detail::model_verdict<M>, Given>())::type>
  requires detail::refused_before<Verdict>
M gradient(const M&, const Loss&) {
  detail::raise<gradient_error>(error() << "gradient: the loss cannot be called with the model (R21)");
}
}  // namespace no_adl

}  // namespace dimwise
