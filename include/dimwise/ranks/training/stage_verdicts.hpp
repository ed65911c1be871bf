// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training/stage_verdicts.hpp -- the micro-batches of a pipeline, and whether a stage can run them.
//
// Layer: ranks.
// Tests: tests/compile_fail/stages/
#pragma once

#include <dimwise/grad/accumulate.hpp>
#include <dimwise/nn/parameters/stage.hpp>
#include <dimwise/ranks/mesh.hpp>
#include <dimwise/ranks/training/overlapped_gradients.hpp>

#include <cstddef>
#include <type_traits>

namespace dimwise {

namespace op {
struct micro_batches;
}  // namespace op

/// The micro-batches of a step of a pipeline: how many, and what is computed of each. `micro_batches<Passed>(count,
/// first, layers, loss)` makes one.
template <class Passed, class First, class Layers, class Loss>
struct pipelined_batches {
  std::size_t count;
  First first;
  Layers layers;
  Loss loss;
};

namespace detail {

// The stored values of a stage: what is passed, with tracked elements.
template <class M, class Passed>
using tracked_passed = tensor_of<tracked<model_element<M>>, shape_of<Passed>>;

template <class F, class... Given>
struct given_by_stage {
  using type = is_not_called;
};
template <class F, class... Given>
  requires std::is_invocable_v<const F&, const Given&...>
struct given_by_stage<F, Given...> : std::invoke_result<const F&, const Given&...> {};
// The results of the functions of a step.
template <class M, class Passed, class First>
using first_given = typename given_by_stage<First, rebind<tracked<model_element<M>>, M>, std::size_t>::type;
template <class M, class Passed, class F>
using later_given =
    typename given_by_stage<F, rebind<tracked<model_element<M>>, M>, tracked_passed<M, Passed>, std::size_t>::type;

// Whether a tensor of this type can be passed along M: each stage has the whole of it.
template <class M, class Passed>
consteval auto judge_passed_type() {
  using Shape = shape_of<Passed>;
  if constexpr (is_partial_along<M, Shape>) {
    return answer<ERROR_R23_partial_sum_is_reduced_first<op::micro_batches, over<M>, operand_t<Shape>>>{};
  } else if constexpr (is_divided_along<M, Shape>) {
    return answer<ERROR_R24_operation_goes_over_a_shard<op::micro_batches, over<M>, operand_t<Shape>>>{};
  } else if constexpr (extents_for<Shape>::packed::size > 0) {
    return answer<ERROR_R19_packed_positions_need_their_documents<
        op::micro_batches, over_t<typename extents_for<Shape>::packed>, operand_t<Shape>>>{};
  } else {
    return answer<accepted<Shape>>{};
  }
}
// Whether what a function gives is passed as a Passed.
template <class Model, class Passed, class Given, class... Taken>
consteval auto judge_passed() {
  using given = std::remove_cvref_t<Given>;
  if constexpr (std::is_same_v<given, is_not_called>) {
    return answer<ERROR_R21_loss_takes_the_model_with_tracked_elements<over<Taken...>>>{};
  } else if constexpr (std::is_void_v<given>) {
    return answer<loss_gives_no_value>{};
  } else if constexpr (!operand<given>) {
    return answer<ERROR_R21_loss_has_no_tracked_operand<given>>{};
  } else {
    using assigned = rule::assign<shape_of<Passed>, shape_of<given>>;
    if constexpr (refused<assigned>) {
      return answer<assigned>{};
    } else if constexpr (!fits<tracked<model_element<Model>>, value_of<given>>) {
      return answer<operand_elements_error<tracked<model_element<Model>>, given>>{};
    } else {
      return answer<accepted<shape_of<Passed>>>{};
    }
  }
}
// The loss of a micro-batch: an average (R22), of which no other stage has a part.
template <class M, class Model, class Loss, class Given>
consteval auto judge_stage_loss() {
  using given = std::remove_cvref_t<Given>;
  if constexpr (operand<given> || std::is_arithmetic_v<given>) {
    return answer<ERROR_R22_batches_are_added_as_averages<over<given>>>{};
  } else {
    using verdict = typename decltype(judge_loss<Model, Loss, model_verdict<Model>, Given>())::type;
    if constexpr (refused<verdict>) {
      return answer<verdict>{};
    } else if constexpr (is_partial_along<M, typename verdict::shape>) {
      return answer<ERROR_R24_operation_goes_over_a_shard<op::micro_batches, over<M>>>{};
    } else {
      return answer<verdict>{};
    }
  }
}

// The accepted shape is that of the loss, with its marks.
template <class Model, class Passed, class First, class Layers, class Loss, class Mesh>
consteval auto judge_stages() {
  if constexpr (refused<model_verdict<Model>>) {
    return answer<model_verdict<Model>>{};
  } else if constexpr (stage_axis_t<Model>::size == 0 || !names_its_stages<Model>) {
    return answer<ERROR_R25_model_names_no_axis_of_stages<op::micro_batches, over<Model>>>{};
  } else {
    using M = first_t<stage_axis_t<Model>>;
    using T = model_element<Model>;
    using passed_type = typename decltype(judge_passed_type<M, Passed>())::type;
    if constexpr (!Mesh::template has<M>) {
      return answer<ERROR_R25_mesh_has_no_such_axis<op::micro_batches, over<M>, Mesh>>{};
    } else if constexpr (refused<passed_type>) {
      return answer<passed_type>{};
    } else if constexpr (!std::is_same_v<value_of<Passed>, T>) {
      return answer<ERROR_R21_loss_has_other_elements_than_the_model<op::micro_batches, declared<T>,
                                                                     computed<value_of<Passed>>>>{};
    } else {
      using model = rebind<tracked<T>, Model>;
      using begun = decltype(judge_passed<Model, Passed, first_given<Model, Passed, First>, model>());
      if constexpr (refused<typename begun::type>) {
        return begun{};
      } else {
        using passed = decltype(judge_passed<Model, Passed, later_given<Model, Passed, Layers>, model>());
        if constexpr (refused<typename passed::type>) {
          return passed{};
        } else {
          return judge_stage_loss<M, Model, Loss, later_given<Model, Passed, Loss>>();
        }
      }
    }
  }
}
template <class Model, class Batches, class Mesh>
struct judged_stages;
template <class Model, class Passed, class First, class Layers, class Loss, class Mesh>
struct judged_stages<Model, pipelined_batches<Passed, First, Layers, Loss>, Mesh> {
  using type = typename decltype(judge_stages<Model, Passed, First, Layers, Loss, Mesh>())::type;
};
template <class Model, class Batches, class Mesh>
using stages_verdict = typename judged_stages<Model, Batches, Mesh>::type;
template <class Model, class Batches, class Mesh, class Along>
using reduced_stages_verdict = of_reduced_loss_t<stages_verdict<Model, Batches, Mesh>, Along>;

}  // namespace detail

}  // namespace dimwise
