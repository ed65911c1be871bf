// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/operations/linear_attention.hpp -- linear attention over tracked operands: every position's update is
// recorded.
//
// Layer: grad. The sequence is cut into its positions once, and the results are put together once: each has an adjoint
// of its own, so that the backward pass reads and writes every position once, and keeps the state of each.
// Tests: tests/grad/operations/linear_attention.test.cpp
//
//   nn::linear_state<float, batch, heads, d_k, d_v> state(batch{2});
//   tensor y = nn::linear_attention<seq, d_k>(q, k, v, state, nn::gated_update{decay});      // q, k, v, decay tracked
#pragma once

#include <dimwise/eval/linear_attention.hpp>
#include <dimwise/grad/operations/send.hpp>
#include <dimwise/support/math.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace dimwise::detail {

// The elements of P, one after the other, of rows that are contiguous in the order of `Rest`.
template <class T, class P, class Rest>
using by_position_t = tensor_of<T, make_shape_t<join_t<list<P>, Rest>, list<>>>;
template <class To, class Extents, class RowAt>
To put_together(const Extents& e, std::size_t count, const RowAt& row_at) {
  auto all = To::for_overwriting(merge_extents<typename To::extents_type::atoms>("linear_attention", e));
  const std::size_t size = count == 0 ? 0 : all.size() / count;
  auto* const to = all.overwrite();
  for (std::size_t t = 0; t < count; ++t) { row_at(t, to + t * size, size); }
  return all;
}

// A value that is read position by position: the gradients of the positions make that of the whole.
template <class P, class Whole, class Row>
class recorded_cut final : public recorded {
 public:
  recorded_cut(std::uint64_t record, const Whole& whole, const std::vector<Row>& rows)
      : recorded(record), whole_(whole), rows_(rows) {}
  void send() override {
    bool any = false;
    for (const Row& row : rows_) { any = any || row.origin()->arrived(); }
    if (any) {
      using T = typename Row::plain_type::value_type;
      using all_type = by_position_t<T, P, dims_t<shape_of<Row>>>;
      send_gradient(whole_,
                    put_together<all_type>(whole_.extents(), rows_.size(), [&](std::size_t t, T* to, std::size_t size) {
        if (!rows_[t].origin()->arrived()) {
          fill_elements(to, size, T(0));
          return;
        }
        const auto g = gradient_at(rows_[t]);
        copy_elements(g.data(), size, to);
      }));
    }
    rows_.clear();
  }

 private:
  Whole whole_;
  std::vector<Row> rows_;
};

// `x` at each position; where it is tracked, each has an origin of its own.
template <class P, class X>
auto cut_along(const X& x) {
  const std::size_t count = x.extents().template extent<P>();
  if constexpr (!is_tracked<X>) {
    std::vector<decltype(tensor(at<P>(x, 0)))> rows;
    for (std::size_t t = 0; t < count; ++t) { rows.push_back(tensor(at<P>(x, t))); }
    return rows;
  } else {
    const tensor whole(x);
    using row_type = decltype(tensor(at<P>(whole, 0)));
    std::vector<row_type> rows;
    gradient_record* const record = gradient_record::current();
    const std::uint64_t number = record == nullptr ? 0 : record->number();
    const bool recorded = whole.has_origin(number);
    for (std::size_t t = 0; t < count; ++t) {
      const tensor value(at<P>(whole.value(), t));
      rows.push_back(recorded ? recorded_leaf(value, number) : row_type(value));
    }
    if (recorded) {
      record->add(new_recorded<recorded_cut<P, std::remove_cv_t<decltype(whole)>, row_type>>(number, whole, rows));
    }
    return rows;
  }
}

// What a tensor was concatenated from: values for each position.
template <class P, class Row>
struct kept_rows {
  std::vector<Row> rows;

  template <class Arrived>
  void send(Arrived& arrived) const {
    const auto g = arrived.taken();
    for (std::size_t t = 0; t < rows.size(); ++t) { send_gradient(rows[t], tensor(at<P>(g, t))); }
  }
};
template <class P, class Shape>
struct joined_along;
template <class P, class... DimsAndMarks>
struct joined_along<P, shape<DimsAndMarks...>> {
  template <class T, class Row, class Extents>
  static tensor<tracked<T>, DimsAndMarks...> of(const std::vector<Row>& rows, const Extents& e) {
    const auto copy_row = [&](std::size_t t, T* to, std::size_t size) {
      copy_elements(rows[t].value().data(), size, to);
    };
    const tensor<T, DimsAndMarks...> value(
        put_together<by_position_t<T, P, dims_t<shape_of<Row>>>>(e, rows.size(), copy_row));
    gradient_record* const record = gradient_record::current();
    const std::uint64_t number = record == nullptr ? 0 : record->number();
    bool any = false;
    for (const Row& row : rows) { any = row.has_origin(number) || any; }
    if (!any) { return value; }
    return recorded_by_own(value, *record, kept_rows<P, Row>{rows});
  }
};

}  // namespace dimwise::detail

namespace dimwise::nn {

/// The same over tracked operands. A state that is not tracked begins as a constant and ends as a value.
template <class P, class F, operand Q, operand K, operand V, class T, class... S, class Update = linear_update,
          class Verdict = detail::linear_verdict<P, F, detail::shape_of<Q>, detail::shape_of<K>, detail::shape_of<V>,
                                                 shape<S...>, Update>>
  requires(allowed<Verdict> && detail::is_trained_recurrence<T, Update, Q, K, V>())
[[nodiscard]] auto linear_attention(const Q& q, const K& k, const V& v, tensor<T, S...>& state,
                                    const Update& update = {}, std::optional<double> scale = {}) {
  using result_shape = typename Verdict::shape;
  using number = detail::untracked_t<T>;
  using rest = detail::difference_t<detail::dims_t<result_shape>, detail::list<P>>;
  using row_type = detail::tensor_of<tracked<number>, detail::make_shape_t<rest, detail::list<>>>;
  const auto e = detail::merge_extents<
      detail::union_t<typename Q::extents_type::atoms,
                      detail::union_t<typename K::extents_type::atoms, typename V::extents_type::atoms>>>(
      "linear_attention", q.extents(), k.extents(), v.extents(), state.extents());
  const double factor = scale ? *scale : 1 / detail::math::sqrt(static_cast<double>(e.template extent<F>()));
  const auto queries = detail::cut_along<P>(q);
  const auto keys = detail::cut_along<P>(k);
  const auto values = detail::cut_along<P>(v);
  const auto changes =
      detail::update_of(detail::stored_update(e, update), [](const auto& x) { return detail::cut_along<P>(x); });
  tensor<tracked<number>, S...> s = state;
  std::vector<row_type> rows;
  for (std::size_t t = 0; t < e.template extent<P>(); ++t) {
    s = detail::updated<F>(s, keys[t], values[t], detail::update_of(changes, [t](const auto& x) { return x[t]; }));
    rows.push_back(row_type(contract<F>(queries[t], s) * factor));
  }
  if constexpr (detail::is_tracked_type<T>) {
    state = s;
  } else {
    state = s.value();
  }
  return detail::joined_along<P, result_shape>::template of<number>(rows, e);
}

}  // namespace dimwise::nn
