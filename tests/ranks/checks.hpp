// tests/ranks/checks.hpp -- every collective against loops over the ranks' elements, bit for bit, on any backend.
//
// Each rank computes the elements of all ranks, so nothing here depends on messages but the calls under test.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/ranks/messages/communicator.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace rank_checks {

namespace ranks = dimwise::ranks;

inline void expect(bool is_right, const std::string& what) {
  if (!is_right) { throw std::runtime_error("wrong: " + what); }
}

// Element i of a rank: sums of these depend on the order in which they are added.
template <class T>
T value(std::size_t rank, std::size_t i) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>((rank + 1) * 1000 + i * 7);
  } else {
    constexpr T powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    return powers[(rank * 5 + i) % 7] / static_cast<T>(3 + i % 11) * ((rank + i) % 2 == 0 ? T(1) : T(-1));
  }
}
template <class T>
std::vector<T> values(std::size_t rank, std::size_t count, std::size_t from = 0) {
  std::vector<T> all(count);
  for (std::size_t i = 0; i < count; ++i) { all[i] = value<T>(rank, from + i); }
  return all;
}
template <class T>
T sum_of_all(std::size_t ranks, std::size_t i) {
  T sum = value<T>(0, i);
  for (std::size_t r = 1; r < ranks; ++r) { sum += value<T>(r, i); }
  return sum;
}

// Lengths of parts: uneven, and some of them empty.
inline std::vector<std::size_t> uneven(std::size_t ranks, std::size_t seed) {
  std::vector<std::size_t> counts(ranks);
  for (std::size_t r = 0; r < ranks; ++r) { counts[r] = (r * 5 + seed * 3) % 4 == 0 ? 0 : (r * 37 + seed * 101) % 700; }
  return counts;
}

template <class T>
void check_all_reduce(const ranks::communicator& world) {
  const std::size_t ranks = world.size();
  for (const std::size_t count : {0U, 1U, 3U, 16U, 17U, 100U, 1023U, 1024U, 1025U, 2049U, 20000U}) {
    const std::vector<T> mine = values<T>(world.rank(), count);
    std::vector<T> result(count, T(-1));
    world.all_reduce(mine.data(), result.data(), count, "values");
    std::vector<T> in_place = mine;
    world.all_reduce(in_place.data(), count, "values");
    std::vector<T> largest(count);
    world.all_reduce(mine.data(), largest.data(), count, "values", ranks::reduction::max);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string where = std::to_string(i) + " of " + std::to_string(count);
      expect(result[i] == sum_of_all<T>(ranks, i), "all_reduce, element " + where);
      expect(in_place[i] == result[i], "all_reduce in place, element " + where);
      T most = value<T>(0, i);
      for (std::size_t r = 1; r < ranks; ++r) { most = std::max(most, value<T>(r, i)); }
      expect(largest[i] == most, "all_reduce (max), element " + where);
    }
    expect(mine == values<T>(world.rank(), count), "all_reduce changed its operand");
  }
}

// Sums that go on while the rank does something else: another sum, and a collective.
template <class T>
void check_started_all_reduce(const ranks::communicator& world) {
  for (const std::size_t count : {0U, 1U, 17U, 1025U, 40000U}) {
    std::vector<T> first = values<T>(world.rank(), count);
    std::vector<T> second = values<T>(world.rank(), count, 3);
    ranks::request one = world.start_all_reduce(first.data(), count, "values");
    ranks::request two = world.start_all_reduce(second.data(), count, "values");
    double ranks_here = 1;
    world.all_reduce(&ranks_here, 1, "one");
    expect(ranks_here == static_cast<double>(world.size()), "all_reduce while sums are on their way");
    while (!two.done()) {}
    one.wait();
    for (std::size_t i = 0; i < count; ++i) {
      expect(first[i] == sum_of_all<T>(world.size(), i), "start_all_reduce");
      expect(second[i] == sum_of_all<T>(world.size(), i + 3), "start_all_reduce, the second sum");
    }
  }
}

inline void check_special_values(const ranks::communicator& world) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float none = std::numeric_limits<float>::quiet_NaN();
  const bool is_last = world.rank() + 1 == world.size();
  // NaN on the first rank, on the last rank, and a sum of −0.
  const std::vector<float> mine{world.rank() == 0 ? none : 1, is_last ? none : 2, -infinity, -0.0F};
  std::vector<float> largest(4);
  world.all_reduce(mine.data(), largest.data(), 4, "special values", ranks::reduction::max);
  expect(std::isnan(largest[0]) && std::isnan(largest[1]) && largest[2] == -infinity, "max of NaN and infinities");
  std::vector<float> sums(4);
  world.all_reduce(mine.data(), sums.data(), 4, "special values");
  expect(std::isnan(sums[0]) && std::isnan(sums[1]) && sums[2] == -infinity, "sum of NaN and infinities");
  expect(sums[3] == 0 && std::signbit(sums[3]), "the sum of negative zeros");
}

inline void check_reduce_scatter(const ranks::communicator& world) {
  for (std::size_t seed = 0; seed < 4; ++seed) {
    const std::vector<std::size_t> counts = uneven(world.size(), seed);
    std::size_t total = 0;
    std::size_t first = 0;
    for (std::size_t r = 0; r < world.size(); ++r) {
      first += r < world.rank() ? counts[r] : 0;
      total += counts[r];
    }
    std::vector<double> mine = values<double>(world.rank(), total);
    std::vector<double> part(counts[world.rank()]);
    world.reduce_scatter(mine.data(), part.data(), counts.data(), "values");
    for (std::size_t i = 0; i < part.size(); ++i) {
      expect(part[i] == sum_of_all<double>(world.size(), first + i), "reduce_scatter, element " + std::to_string(i));
    }
    world.reduce_scatter(mine.data(), mine.data() + first, counts.data(), "values");
    expect(std::equal(part.begin(), part.end(), mine.data() + first), "reduce_scatter in place");
  }
}

inline void check_all_gather(const ranks::communicator& world) {
  for (std::size_t seed = 0; seed < 4; ++seed) {
    const std::vector<std::size_t> counts = uneven(world.size(), seed);
    std::vector<std::uint16_t> wanted;
    std::size_t first = 0;
    for (std::size_t r = 0; r < world.size(); ++r) {
      const std::vector<std::uint16_t> part = values<std::uint16_t>(r, counts[r]);
      first += r < world.rank() ? counts[r] : 0;
      wanted.insert(wanted.end(), part.begin(), part.end());
    }
    const std::vector<std::uint16_t> mine = values<std::uint16_t>(world.rank(), counts[world.rank()]);
    std::vector<std::uint16_t> all(wanted.size());
    world.all_gather(mine.data(), all.data(), counts.data(), "values");
    expect(all == wanted, "all_gather");
    std::vector<std::uint16_t> in_place(wanted.size());
    std::copy(mine.begin(), mine.end(), in_place.begin() + static_cast<std::ptrdiff_t>(first));
    world.all_gather(in_place.data() + first, in_place.data(), counts.data(), "values");
    expect(in_place == wanted, "all_gather in place");
  }
}

inline void check_all_to_all(const ranks::communicator& world) {
  const auto count = [](std::size_t from, std::size_t to) { return (from * 3 + to * 5) % 7 * 40; };
  std::vector<std::size_t> sent_counts;
  std::vector<std::size_t> received_counts;
  std::vector<float> sent;
  std::vector<float> wanted;
  for (std::size_t r = 0; r < world.size(); ++r) {
    sent_counts.push_back(count(world.rank(), r));
    received_counts.push_back(count(r, world.rank()));
    const std::vector<float> to = values<float>(world.rank(), sent_counts.back(), r * 10000);
    const std::vector<float> from = values<float>(r, received_counts.back(), world.rank() * 10000);
    sent.insert(sent.end(), to.begin(), to.end());
    wanted.insert(wanted.end(), from.begin(), from.end());
  }
  std::vector<float> received(wanted.size());
  world.all_to_all(sent.data(), sent_counts.data(), received.data(), received_counts.data(), "values");
  expect(received == wanted, "all_to_all");
}

inline void check_broadcast(const ranks::communicator& world) {
  for (std::size_t from = 0; from < world.size(); ++from) {
    for (const std::size_t count : {0U, 1U, 5U, 40000U}) {
      std::vector<double> all = values<double>(world.rank(), count);
      world.broadcast(all.data(), count, from, "values");
      expect(all == values<double>(from, count), "broadcast from " + std::to_string(from));
    }
  }
}

inline void check_permute(const ranks::communicator& world) {
  const std::size_t ranks = world.size();
  const std::size_t next = (world.rank() + 1) % ranks;
  const std::size_t previous = (world.rank() + ranks - 1) % ranks;
  // A ring, with another length for each rank; two messages at a time, and another collective before they are there.
  for (const std::size_t base : {0U, 7U, 30000U}) {
    const std::vector<float> sent = values<float>(world.rank(), base + world.rank());
    const std::vector<float> again = values<float>(world.rank(), base + 1, 500);
    std::vector<float> received(base + previous);
    std::vector<float> received_again(base + 1);
    ranks::request first =
        world.permute(sent.data(), sent.size(), next, received.data(), received.size(), previous, "ring");
    ranks::request second =
        world.permute(again.data(), again.size(), next, received_again.data(), received_again.size(), previous, "ring");
    double one = 1;
    world.all_reduce(&one, 1, "one");
    expect(one == static_cast<double>(ranks), "all_reduce while messages are on their way");
    second.wait();
    while (!first.done()) {}
    first.wait();  // a second time: nothing to do
    expect(received == values<float>(previous, base + previous), "permute");
    expect(received_again == values<float>(previous, base + 1, 500), "permute, the second message");
  }
  // The stages of a pipeline: the first one receives nothing, the last one sends nothing.
  const bool is_first = world.rank() == 0;
  const bool is_last = world.rank() + 1 == ranks;
  const auto mine = static_cast<std::int64_t>(world.rank());
  std::int64_t before = -1;
  world.permute(&mine, 1, is_last ? ranks::no_rank : next, &before, 1, is_first ? ranks::no_rank : previous, "stage")
      .wait();
  expect(before == mine - 1, "permute along a pipeline");
}

inline void check_split(const ranks::communicator& world) {
  // Colours are any numbers.
  const ranks::communicator same = world.split(1000000007 * (world.rank() % 2), "even and odd");
  expect(same.size() == (world.size() + (world.rank() % 2 == 0 ? 1 : 0)) / 2, "the size of a part");
  expect(same.rank() == world.rank() / 2, "the rank in a part");
  expect(same.rank_in_world(same.rank()) == world.rank_in_world(world.rank()), "the rank in the world");
  double sum = static_cast<double>(world.rank());
  same.all_reduce(&sum, 1, "rank");
  double wanted = 0;
  for (std::size_t r = world.rank() % 2; r < world.size(); r += 2) { wanted += static_cast<double>(r); }
  expect(sum == wanted, "the sum in a part");
  const ranks::communicator alone = same.split(same.rank(), "alone");
  expect(alone.size() == 1, "a part of one rank");
  alone.barrier();
  // One more group of the same ranks: messages of the two do not mix.
  const ranks::communicator again = world.split(world.rank() % 2, "even and odd again");
  const std::size_t next = (same.rank() + 1) % same.size();
  const std::size_t previous = (same.rank() + same.size() - 1) % same.size();
  const std::int32_t one = 1;
  const std::int32_t two = 2;
  std::int32_t got_one = 0;
  std::int32_t got_two = 0;
  ranks::request first = same.permute(&one, 1, next, &got_one, 1, previous);
  ranks::request second = again.permute(&two, 1, next, &got_two, 1, previous);
  second.wait();
  first.wait();
  expect(got_one == 1 && got_two == 2, "messages of two groups of the same ranks");
}

/// All of the above.
inline void check_collectives(const ranks::communicator& world) {
  world.barrier("the beginning");
  check_all_reduce<float>(world);
  check_all_reduce<double>(world);
  check_all_reduce<std::int32_t>(world);
  check_all_reduce<std::int64_t>(world);
  check_started_all_reduce<float>(world);
  check_started_all_reduce<std::int64_t>(world);
  check_special_values(world);
  check_reduce_scatter(world);
  check_all_gather(world);
  check_all_to_all(world);
  check_broadcast(world);
  check_permute(world);
  check_split(world);
  world.barrier();
}

}  // namespace rank_checks
