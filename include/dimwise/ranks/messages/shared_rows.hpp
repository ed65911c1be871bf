// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/shared_rows.hpp -- collectives over rows that ranks share, side by side or as stripes.
//
// Layer: ranks. Knows no dimensions. A collective and its vector-Jacobian product are two of these functions.
// Tests: tests/ranks/typed_collectives.test.cpp, tests/ranks/training/gradients.test.cpp
#pragma once

#include <dimwise/ranks/messages/communicator.hpp>
#include <dimwise/tensor/memory/storage.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace dimwise::detail {

// How many rows each rank has of the whole. Row i of rank r is row `place(r, i, before)` of the whole, where `before`
// is how many rows the ranks before it have.
struct shared_rows {
  std::vector<std::size_t> extents{};
  bool striped = false;

  [[nodiscard]] std::size_t place(std::size_t rank, std::size_t i, std::size_t before) const {
    return striped ? rank + i * extents.size() : before + i;
  }
  [[nodiscard]] std::vector<std::size_t> counts(std::size_t row) const {
    std::vector<std::size_t> all;
    for (const std::size_t extent : extents) { all.push_back(extent * row); }
    return all;
  }
  [[nodiscard]] std::size_t whole() const {
    std::size_t all = 0;
    for (const std::size_t extent : extents) { all += extent; }
    return all;
  }
};

// f(row of the whole, row in the order of the ranks) for all rows.
template <class F>
void each_shared_row(const shared_rows& rows, const F& f) {
  std::size_t next = 0;
  for (std::size_t r = 0; r < rows.extents.size(); ++r) {
    const std::size_t before = next;
    for (std::size_t i = 0; i < rows.extents[r]; ++i, ++next) { f(rows.place(r, i, before), next); }
  }
}

// The whole from the parts of all ranks; a row has `row` elements.
template <class T>
void gather_rows(const shared_rows& rows, std::size_t row, const ranks::communicator& along, const T* mine, T* whole,
                 std::string_view text) {
  const std::vector<std::size_t> counts = rows.counts(row);
  if (!rows.striped) { return along.all_gather(mine, whole, counts.data(), text); }
  aligned_vector<T> in_parts(rows.whole() * row);
  along.all_gather(mine, in_parts.data(), counts.data(), text);
  each_shared_row(rows, [&](std::size_t place, std::size_t next) {
    copy_elements(in_parts.data() + next * row, row, whole + place * row);
  });
}
// This rank's part of the sum of all ranks' wholes.
template <class T>
void add_rows(const shared_rows& rows, std::size_t row, const ranks::communicator& along, const T* whole, T* mine,
              std::string_view text) {
  const std::vector<std::size_t> counts = rows.counts(row);
  if (!rows.striped) { return along.reduce_scatter(whole, mine, counts.data(), text); }
  aligned_vector<T> in_parts(rows.whole() * row);
  each_shared_row(rows, [&](std::size_t place, std::size_t next) {
    copy_elements(whole + place * row, row, in_parts.data() + next * row);
  });
  along.reduce_scatter(in_parts.data(), mine, counts.data(), text);
}
// The part of a rank.
template <class T>
void take_rows(const shared_rows& rows, std::size_t row, std::size_t rank, const T* whole, T* mine) {
  std::size_t before = 0;
  for (std::size_t r = 0; r < rank; ++r) { before += rows.extents[r]; }
  for (std::size_t i = 0; i < rows.extents[rank]; ++i) {
    copy_elements(whole + rows.place(rank, i, before) * row, row, mine + i * row);
  }
}
// [to, this rank's part of from, row]  ->  [this rank's part of to, from, row]
template <class T>
void exchange_rows(const shared_rows& to, const shared_rows& from, std::size_t row, const ranks::communicator& along,
                   const T* mine, T* result, std::string_view text) {
  const std::size_t count = along.size();
  const std::size_t part = to.extents[along.rank()], here = from.extents[along.rank()], whole = from.whole();
  aligned_vector<T> sent(to.whole() * here * row);
  each_shared_row(to, [&](std::size_t place, std::size_t next) {
    copy_elements(mine + place * here * row, here * row, sent.data() + next * here * row);
  });
  std::vector<std::size_t> sent_counts, received_counts;
  for (std::size_t r = 0; r < count; ++r) {
    sent_counts.push_back(to.extents[r] * here * row);
    received_counts.push_back(part * from.extents[r] * row);
  }
  aligned_vector<T> received(part * whole * row);
  along.all_to_all(sent.data(), sent_counts.data(), received.data(), received_counts.data(), text);
  const T* next = received.data();
  std::size_t before = 0;
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t p = 0; p < part; ++p) {
      for (std::size_t i = 0; i < from.extents[r]; ++i, next += row) {
        copy_elements(next, row, result + (p * whole + from.place(r, i, before)) * row);
      }
    }
    before += from.extents[r];
  }
}

}  // namespace dimwise::detail
