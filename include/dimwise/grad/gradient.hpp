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
#include <dimwise/grad/operations/adjoint.hpp>
#include <dimwise/grad/parameters/passes.hpp>
#include <dimwise/grad/partial_gradient.hpp>
#include <dimwise/nn/model.hpp>

#include <string_view>
#include <vector>

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

// The real type of a model's parameters: the first one's.
template <class... T>
struct first_real {
  using type = void;
};
template <class T, class... More>
struct first_real<T, More...> : std::conditional_t<std::is_void_v<T>, first_real<More...>, std::type_identity<T>> {};
template <class M>
consteval auto element_type_of() {
  if constexpr (is_refused<M>) {
    return std::type_identity<void>{};
  } else if constexpr (is_parameter<M>) {
    return std::type_identity<value_of<M>>{};
  } else if constexpr (nn::detail::is_sequence<M>) {
    return element_type_of<typename M::value_type>();
  } else if constexpr (is_tuple<M>) {
    return []<class... X>(std::type_identity<std::tuple<X...>>) {
      return std::type_identity<typename first_real<typename decltype(element_type_of<X>())::type...>::type>{};
    }(std::type_identity<M>{});
  } else if constexpr (nn::module<M>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return std::type_identity<
          typename first_real<typename decltype(element_type_of<std::remove_cvref_t<decltype(nn::detail::part_at<I>(
                                                    std::declval<M&>()))>>())::type...>::type>{};
    }(std::make_index_sequence<nn::detail::part_count<M>()>{});
  } else {
    return std::type_identity<void>{};
  }
}
template <class M>
using model_element = typename decltype(element_type_of<M>())::type;

struct hidden;
struct a_member_missing_in_the_list_of_members;
// The first part of a model whose elements stay as they are where the model is tracked, after the module that it is a
// member of, and after `hidden` where no walk finds it. The list is empty where all parts are tracked.
inline consteval auto first_found() { return list<>{}; }
template <class First, class... More>
consteval auto first_found(First first, More... more) {
  if constexpr (First::size > 0) {
    return first;
  } else {
    return first_found(more...);
  }
}
template <class M, class R, class... Owner>
consteval auto part_without_elements();
template <class M, class R, class... Owner, std::size_t... I>
consteval auto first_part_without_elements(std::index_sequence<I...>) {
  using nn::detail::part_at;
  return first_found(
      part_without_elements<std::remove_cvref_t<decltype(part_at<I>(std::declval<M&>()))>,
                            std::remove_cvref_t<decltype(part_at<I>(std::declval<R&>()))>, Owner...>()...);
}
template <class M, class R, class... Owner>
consteval auto part_without_elements() {
  if constexpr (is_parameter<M>) {
    return std::conditional_t<is_tracked<R>, list<>, list<Owner..., M>>{};
  } else if constexpr (is_sequence<M>) {
    return part_without_elements<typename M::value_type, typename R::value_type, Owner...>();
  } else if constexpr (is_tuple<M>) {
    return first_part_without_elements<M, R, Owner...>(std::make_index_sequence<part_count<M>()>{});
  } else if constexpr (nn::module<M>) {
    if constexpr (nn::detail::has_unnamed_members<M>()) {
      return list<hidden, M, a_member_missing_in_the_list_of_members>{};
    } else if constexpr (std::is_same_v<M, R> && !std::is_void_v<model_element<M>>) {
      return list<Owner..., M>{};
    } else {
      return first_part_without_elements<M, R, M>(std::make_index_sequence<part_count<M>()>{});
    }
  } else if constexpr (nn::detail::hides_parameters<M>) {
    return list<hidden, Owner..., M>{};
  } else {
    return list<>{};
  }
}
template <class... X>
consteval auto part_error(list<X...>) {
  return answer<ERROR_R21_module_does_not_take_its_element_type<X...>>{};
}
template <class... X>
consteval auto part_error(list<hidden, X...>) {
  return answer<ERROR_R21_member_hides_its_parameters<X...>>{};
}

// The origins of the parameters of a model, in the order of a parameter_list.
using parameter_origins = std::vector<origin_pointer>;

// Tracks the parameter `from` by a record.
template <class To, class From>
[[gnu::noinline]] void track_parameter(To& to, const From& from, std::uint64_t record, parameter_origins& origins) {
  to = recorded_leaf(from, record);
  origins.push_back(to.origin_owner());
}
template <class To, class From>
void track_parts(To& to, const From& from, std::uint64_t record, parameter_origins& origins);
template <class To, class From, std::size_t... I>
[[gnu::always_inline]] inline void track_each_part(To& to, const From& from, [[maybe_unused]] std::uint64_t record,
                                                   parameter_origins& origins, std::index_sequence<I...>) {
  (track_parts(part_at<I>(to), part_at<I>(from), record, origins), ...);
}
template <class To, class From>
void track_parts(To& to, const From& from, std::uint64_t record, parameter_origins& origins) {
  if constexpr (is_sequence<To>) {
    if constexpr (requires { to.resize(from.size()); }) { to.resize(from.size()); }
    for (std::size_t i = 0; i < from.size(); ++i) { track_parts(to[i], from[i], record, origins); }
  } else if constexpr (is_tuple<To> || nn::module<To>) {
    track_each_part(to, from, record, origins, std::make_index_sequence<part_count<To>()>());
  } else if constexpr (is_parameter<From>) {
    track_parameter(to, from, record, origins);
  } else {
    static_assert(nn::detail::is_any_parameter<From> || nn::detail::is_a_setting<From>::value);
    to = from;
  }
}
// The parameters of `m`, tracked by a record.
template <class M>
auto tracked_model(const M& m, std::uint64_t record, parameter_origins& origins) {
  static_assert(nn::detail::all_members_are_named<M>());
  rebind<tracked<model_element<M>>, M> to;
  track_parts(to, m, record, origins);
  return to;
}

// An average over shards: each rank has terms of its sum and of its count.
template <class X>
inline constexpr bool is_partial_average = false;
template <class T, class... D>
inline constexpr bool is_partial_average<average<T, D...>> = average<T, D...>::is_partial;

// A loss as one number: the mean of an average. Over shards it is the sum, as no rank knows the count.
template <class X>
decltype(auto) one_number(X&& x) {
  if constexpr (is_partial_average<std::remove_cvref_t<X>>) {
    return x.sum;
  } else if constexpr (is_average<std::remove_cvref_t<X>>) {
    return x.mean();
  } else {
    return static_cast<X&&>(x);
  }
}

// A loss that forgot its `return`.
struct loss_gives_no_value;

// A number, or one rank's term of it.
template <class Shape>
inline constexpr bool is_number_or_term = is_plain_number<Shape>;
template <class Shape>
  requires(dims_t<Shape>::size == 0 && is_placed<Shape>)
inline constexpr bool is_number_or_term<Shape> = without_partial<marks_t<stored_t<Shape>>>::type::size == 0;

// The model that a loss is given, or why there is none (R21).
template <class M>
consteval auto judge_model() {
  using T = model_element<M>;
  if constexpr (is_refused<M>) {
    return answer<already_refused>{};
  } else if constexpr (std::is_void_v<T>) {
    return answer<ERROR_R21_model_has_no_parameters<M>>{};
  } else if constexpr (is_tracked_type<T>) {
    return answer<ERROR_R21_gradients_of_gradients_are_not_recorded<M>>{};
  } else if constexpr (decltype(part_without_elements<M, rebind<tracked<T>, M>>())::size > 0) {
    return part_error(part_without_elements<M, rebind<tracked<T>, M>>());
  } else {
    return answer<accepted<rebind<tracked<T>, M>>>{};
  }
}
// The loss of a model that was rejected where its type was written has elements of no type.
template <class M>
using number_of_loss = std::conditional_t<is_refused<M>, already_refused, model_element<M>>;
template <class M>
using model_verdict = typename decltype(judge_model<M>())::type;

// Whether a loss takes the model: a call beside a function that takes everything is ambiguous then, and nothing looks
// into the body.
struct loss_is_not_called {};
struct takes_all {
  template <class X>
  loss_is_not_called operator()(const X&) const;
};
template <class Loss>
struct loss_or_all : Loss, takes_all {
  using Loss::operator();
  using takes_all::operator();
};
// Whether Loss is the type of a lambda, whose call is never deleted or private: where it is not called, its body does
// not compile, and compilers have said so.
template <class Loss>
consteval bool is_lambda() {
  const std::string_view name = __PRETTY_FUNCTION__;
  return name.find("<lambda") != std::string_view::npos || name.find("(lambda") != std::string_view::npos;
}
template <class Loss, class Model>
consteval bool takes_model() {
  if constexpr (!std::is_class_v<Loss> || std::is_final_v<Loss>) {
    return false;
  } else if constexpr (!is_lambda<Loss>()) {
    return true;  // as far as the call itself tells
  } else {
    return !requires(const loss_or_all<Loss>& loss, const Model& m) {
      { loss(m) } -> std::same_as<loss_is_not_called>;
    };
  }
}

// The result of a loss. Compilers print the path to an error in the loss's own lines: the call of the user and this
// declaration alone.
template <class Loss, class Model, bool Takes = takes_model<Loss, Model>()>
auto given_by(const Loss& loss, std::type_identity<accepted<Model>>)
    -> std::type_identity<decltype(loss(std::declval<const Model&>()))>;
template <class Loss>
auto given_by(const Loss& loss, ...) -> std::type_identity<loss_is_not_called>;
template <class M>
inline constexpr std::type_identity<model_verdict<M>> model_of_loss{};

// Whether a loss that gives `Given` has a gradient by a model (R21). The accepted shape has the marks of a loss that is
// a partial sum.
template <class M, class Loss, class Verdict, class Given>
consteval auto judge_loss() {
  if constexpr (refused<Verdict>) {
    return answer<Verdict>{};
  } else if constexpr (std::is_same_v<Given, loss_is_not_called>) {
    if constexpr (is_lambda<Loss>() && takes_model<Loss, typename Verdict::shape>()) {
      return answer<already_refused>{};  // its body does not compile, and compilers have said so
    } else {
      return answer<ERROR_R21_loss_takes_the_model_with_tracked_elements<over<typename Verdict::shape>>>{};
    }
  } else if constexpr (std::is_void_v<Given> && was_raised<refused_type, Loss>) {
    return answer<already_refused>{};  // clang 14 gives no value where the body has a variable of a rejected type
  } else if constexpr (std::is_void_v<Given>) {
    return answer<loss_gives_no_value>{};
  } else {
    using loss = std::remove_cvref_t<decltype(one_number(std::declval<Given>()))>;
    if constexpr (std::is_same_v<loss, already_refused>) {
      return answer<already_refused>{};
    } else if constexpr (!operand<loss>) {
      return answer<ERROR_R21_loss_has_no_tracked_operand<loss>>{};
    } else if constexpr (!is_tracked<loss>) {
      return answer<ERROR_R21_loss_has_no_tracked_operand<operand_t<shape_of<loss>>>>{};
    } else if constexpr (!is_number_or_term<shape_of<loss>>) {
      return answer<ERROR_R21_loss_is_one_number<operand_t<shape_of<loss>>>>{};
    } else if constexpr (!std::is_same_v<value_of<loss>, tracked<model_element<M>>>) {
      return answer<ERROR_R21_loss_has_other_elements_than_the_model<op::gradient, declared<model_element<M>>,
                                                                     computed<untracked_t<value_of<loss>>>>>{};
    } else {
      return answer<accepted<stored_t<shape_of<loss>>>>{};
    }
  }
}
// The same where a loss must not be a partial sum: its value or its gradient is used before a reduction (R23).
template <class Verdict>
struct of_whole_loss {
  using type = Verdict;
};
template <class Shape>
  requires(is_placed<Shape>)
struct of_whole_loss<accepted<Shape>> {
  using type =
      typename placed_error<ERROR_R23_partial_sum_is_reduced_first, op::gradient, list<>, list<operand_t<Shape>>>::type;
};
template <class Verdict>
using of_whole_loss_t = typename of_whole_loss<Verdict>::type;
template <class M, class Loss, class Given>
using whole_loss_verdict = of_whole_loss_t<typename decltype(judge_loss<M, Loss, model_verdict<M>, Given>())::type>;
template <class M, class Loss>
using loss_verdict = typename decltype(judge_loss<M, Loss, model_verdict<M>,
                                                  typename decltype(given_by(std::declval<const Loss&>(),
                                                                             model_of_loss<M>))::type>())::type;
// A loss that was refused in its own lines: nothing more is said, here or where its gradient is used.
template <class Verdict>
concept refused_before = std::is_same_v<Verdict, already_refused>;
template <class Verdict>
concept refused_here = refused<Verdict> && !refused_before<Verdict>;

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
/// tracked tensors of another call are used. Refuses a loss of several numbers, one that reads no tracked tensor, and a
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
