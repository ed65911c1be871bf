// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/layers/embedding.hpp -- token embeddings, tied output logits, and learned position embeddings.
//
// Layer: nn.
// Tests: tests/nn/linear.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/eval/lowering/relative_ids.hpp>
#include <dimwise/nn/formula.hpp>
#include <dimwise/nn/layers/kinds.hpp>
#include <dimwise/nn/weight.hpp>

namespace dimwise::nn {

namespace detail {

template <class X>
concept real_numbers = operand<X> && real_element<value_of<X>>;

template <class X>
concept whole_numbers = operand<X> && whole_element<value_of<X>>;
template <class D, class X>
concept has_dimension = operand<X> && is_in<D, dims_t<shape_of<X>>>;

// x, which has the dimension P that its elements are positions of (R1).
template <class P, class X>
decltype(auto) along(const X& x) {
  if constexpr (is_refusal<X> || has_dimension<P, X>) {
    return (x);
  } else {
    return refusal<missing_t<op::gather, list<P>, shape_of<X>>>();
  }
}

// Whether X has the positions P and P has an origin; composite dimensions have none.
template <class P, class X>
concept has_positions = operand<X> && is_in<P, dims_t<shape_of<X>>> && is_in<P, typename extents_type_of<X>::atoms>;

}  // namespace detail

/// A feature vector for each alternative of Choice; the same table gives tied output logits (Press and Wolf 2017).
///
///   (ids):      id<Choice> over [rest]   ->  [rest, Model]         the rows of the ids
///   (one_hot):  [rest, Choice]           ->  [rest, Model]         their mixture
///   logits(x):  [rest, Model]            ->  [rest, Choice]        tied output
///
/// Throws `index_error` for an id outside Choice (R18). T may be a low-precision format of the table (weight.hpp).
template <class Choice = argument::nothing, class Model = argument::nothing, class T = float>
struct embedding {
  using table_type = detail::table_of<T, Choice, Model>;
  table_type table{};
  using members = member_list<&embedding::table>;

  template <detail::input X>
  [[nodiscard]] auto formula(const X& words) const {
    using namespace detail::functions;
    if constexpr (detail::real_numbers<X>) {
      return contract<Choice>(words, as_floats(table));
    } else {
      return looked_up<Choice>(table, words);
    }
  }
  DIMWISE_DETAIL_CALL(embedding, operator(), formula);

  template <detail::input X>
  [[nodiscard]] auto logits_formula(const X& x) const {
    return detail::functions::times_weight<Model>(x, table);
  }
  /// The logits of tied embeddings: features contracted with the table.
  DIMWISE_DETAIL_CALL(embedding, logits, logits_formula);

  static constexpr bool passes_on = true;
  template <class How, class... Extents>
  void initialise_parameters(How& how, const Extents&... extents) {
    detail::draw_weight<detail::list<Choice>, detail::list<Model>>(table, how, extents...);
  }
};

template <class Choice, class Model, class T>
DIMWISE_DETAIL_TAKES(embedding, (Choice, Model, T), detail::dimensions<Choice>, detail::features<Model>,
                     detail::weight_element<T>) {
  using embedding::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename embedding::error>) > 0);
};

/// x plus a learned vector for each position (Gehring et al. 2017).
///
///   (x):             [P, Model, rest]                        ->  [P, Model, rest]   positions of x
///   (x, positions):  [P, Model, rest] x [P, subset of rest]  ->  [P, Model, rest]   given positions
///
/// The table has one row per possible position. Positions count from the origin of x, or from the start of a document
/// in packed dimensions. Given positions are integers or ids of P, for example one set per sequence if sequences are
/// padded on the left. Rejects positions without P (R1) and ids of another dimension (R18). Throws `index_error` for
/// positions beyond the table.
template <class P = argument::nothing, class Model = argument::nothing, class T = float>
struct learned_positions {
  using table_type = tensor<T, P, Model>;
  table_type table{};
  using members = member_list<&learned_positions::table>;

  template <detail::input X>
  [[nodiscard]] auto formula(const X& x) const {
    using namespace detail::functions;
    if constexpr (!detail::has_positions<P, X>) {
      return plus(x, table);
    } else if constexpr (detail::has_documents<P>) {
      using row = prime<P>;  // the table's dimension, distinct from the positions
      const auto rows = detail::position_ids<row, P>("learned_positions", x.extents(), extent_of<P>(table));
      return plus(x, gather<row>(rename<P, row>(table), rows));
    } else {
      const std::ptrdiff_t first = x.extents().template origin<P>("learned_positions");
      const std::size_t count = extent_of<P>(x);
      detail::check_rows<P>("learned_positions", first, count, extent_of<P>(table));
      if constexpr (P::static_extent == at_run_time) {
        return plus(x, slice<P>(table, static_cast<std::size_t>(first), count));
      } else {
        return plus(x, table);
      }
    }
  }
  template <detail::input X, detail::input Positions>
  [[nodiscard]] auto formula(const X& x, const Positions& positions) const {
    using namespace detail::functions;
    if constexpr (detail::whole_numbers<Positions> && detail::has_dimension<P, Positions>) {
      const auto rows = detail::given_position_ids<P>("learned_positions", positions, extent_of<P>(table));
      return plus(x, gather<P>(table, rows));
    } else {
      return plus(x, gather<P>(table, detail::along<P>(positions)));
    }
  }
  DIMWISE_DETAIL_CALL(learned_positions, operator(), formula);

  static constexpr bool passes_on = true;
  template <class How, class... Extents>
  void initialise_parameters(How& how, const Extents&... extents) {
    table = detail::zeros<table_type>(extents...);
    detail::draw<detail::list<P>, detail::list<Model>>(table, how, extents...);
  }
};

template <class P, class Model, class T>
DIMWISE_DETAIL_TAKES(learned_positions, (P, Model, T), detail::positions<P>, detail::features<Model>,
                     detail::element<T>) {
  using learned_positions::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename learned_positions::error>) > 0);
};

}  // namespace dimwise::nn
