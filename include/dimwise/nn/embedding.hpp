// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/embedding.hpp -- words to features and back, and positions that are learned.
//
// Layer: nn.
// Tests: tests/nn/linear.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/expr/join.hpp>
#include <dimwise/expr/restride.hpp>
#include <dimwise/nn/border.hpp>
#include <dimwise/nn/parameters.hpp>

#include <algorithm>

namespace dimwise::nn {

/// A vector of features for each alternative of Choice: words in, and by the same table words out (Press and Wolf 2017).
///
///   (ids):      id<Choice> over [rest]   ->  [rest, Model]         the rows of the ids
///   (one_hot):  [rest, Choice]           ->  [rest, Model]         their mixture
///   logits(x):  [rest, Model]            ->  [rest, Choice]        tied output
///
/// Throws `index_error` for an id outside Choice (R18).
template <class Choice, class Model, class T = float>
struct embedding {
  using table_type = tensor<T, Choice, Model>;
  template <class X>
  struct looked_up {
    using type = decltype(gather<Choice>(detail::some<table_type>(), detail::some<X>()));
  };
  template <class X>
    requires std::is_floating_point_v<detail::value_of<X>>
  struct looked_up<X> {
    using type = decltype(contract<Choice>(detail::some<X>(), detail::some<table_type>()));
  };
  template <class X>
  using outcome = typename looked_up<X>::type;
  template <class X>
  using logits_outcome = decltype(contract<Model>(detail::some<X>(), detail::some<table_type>()));

  BOOST_HANA_DEFINE_STRUCT(embedding, (table_type, table));

  template <operand X>
  [[nodiscard]] auto formula(const X& words) const {
    if constexpr (std::is_floating_point_v<detail::value_of<X>>) {
      return contract<Choice>(words, table);
    } else {
      return gather<Choice>(table, words);
    }
  }
  template <operand X, class Verdict = typename detail::verdict_of<outcome<X>>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const X& words) const {
    return tensor(formula(words));
  }
  template <operand X, class Verdict = typename detail::verdict_of<outcome<X>>::type>
    requires refused<Verdict>
  Verdict operator()(const X& words) const;

  template <operand X, class Verdict = typename detail::verdict_of<logits_outcome<X>>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto logits(const X& x) const {
    return tensor(contract<Model>(x, table));
  }
  template <operand X, class Verdict = typename detail::verdict_of<logits_outcome<X>>::type>
    requires refused<Verdict>
  Verdict logits(const X& x) const;

  template <class How, class... Extents>
  void initialise_parameters(How& how, const Extents&... extents) {
    table = detail::zeros<table_type>(extents...);
    detail::draw(table, how, extent_of<Choice>(table), extent_of<Model>(table));
  }
};

/// x plus a learned vector for each position (Gehring et al. 2017): [P, Model, rest] -> the same.
///
/// The table has a row for every position that may occur. Positions count from the origin of x, in packed dimensions from
/// each document's beginning. Throws `index_error` for positions beyond the table.
template <class P, class Model, class T = float>
struct learned_positions {
  using table_type = tensor<T, P, Model>;
  template <class X>
  using outcome = decltype(detail::some<X>() + detail::some<table_type>());

  BOOST_HANA_DEFINE_STRUCT(learned_positions, (table_type, table));

  template <operand X>
  [[nodiscard]] auto formula(const X& x) const {
    if constexpr (!detail::is_in<P, typename X::extents_type::atoms>) {
      return x + table;  // a composite has no origin of its own
    } else if constexpr (detail::has_documents<P>) {
      const auto positions = detail::positions_of<P>(x.extents(), "learned_positions");
      const auto [least, most] = std::minmax_element(positions.begin(), positions.end());
      if (!positions.empty()) { check(*least, static_cast<std::size_t>(*most - *least) + 1); }
      using row = prime<P>;  // of the table: another dimension than the positions that take it
      auto rows = tensor<id<row>, P>::for_overwriting(detail::carry<detail::list<P>>("learned_positions", x.extents()));
      std::transform(positions.begin(), positions.end(), rows.overwrite(),
                     [](std::ptrdiff_t i) { return id<row>(static_cast<std::size_t>(i)); });
      return x + gather<row>(rename<P, row>(table), rows);
    } else {
      const std::ptrdiff_t first = x.extents().template origin<P>("learned_positions");
      const std::size_t count = extent_of<P>(x);
      check(first, count);
      if constexpr (P::static_extent == at_run_time) {
        return x + slice<P>(table, static_cast<std::size_t>(first), count);
      } else {
        return x + table;
      }
    }
  }
  template <operand X, class Verdict = typename detail::verdict_of<outcome<X>>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const X& x) const {
    return tensor(formula(x));
  }
  template <operand X, class Verdict = typename detail::verdict_of<outcome<X>>::type>
    requires refused<Verdict>
  Verdict operator()(const X& x) const;

  template <class How, class... Extents>
  void initialise_parameters(How& how, const Extents&... extents) {
    table = detail::zeros<table_type>(extents...);
    detail::draw(table, how, extent_of<P>(table), extent_of<Model>(table));
  }

 private:
  void check(std::ptrdiff_t first, std::size_t count) const {
    const std::size_t rows = extent_of<P>(table);
    if (first < 0 || count > rows || static_cast<std::size_t>(first) > rows - count) {
      const auto last = static_cast<long long>(static_cast<std::size_t>(first) + count - 1);
      detail::raise<index_error>(error{} << "learned_positions: positions " << static_cast<long long>(first) << " … "
                                         << last << " of dimension " << detail::dimension_name<P>()
                                         << " are asked of a table of " << rows);
    }
  }
};

}  // namespace dimwise::nn
