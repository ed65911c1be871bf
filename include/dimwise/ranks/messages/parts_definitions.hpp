// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/parts_definitions.hpp -- sums and gathers by parts, one for each rank, and requests that have
// not finished.
//
// Layer: ranks.
#pragma once

#include <dimwise/ranks/messages/member_definitions.hpp>
#include <dimwise/support/text_warning.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks::detail {

template <class T>
T larger(T a, T b) {
  return a < b || b != b ? b : a;
}

// Combines the elements of all ranks in the order of the ranks. `result` may be one of the operands.
template <class T>
void combine(const std::vector<const void*>& operands, T* result, std::size_t count, reduction how) {
  if (operands.size() == 2 && how == reduction::sum) {
    const T* a = static_cast<const T*>(operands[0]);
    const T* b = static_cast<const T*>(operands[1]);
    for (std::size_t i = 0; i < count; ++i) { result[i] = a[i] + b[i]; }
    return;
  }
  constexpr std::size_t tile = 1024;
  std::array<T, tile> sums;  // NOLINT(cppcoreguidelines-pro-type-member-init): the first operand overwrites it
  for (std::size_t first = 0; first < count; first += tile) {
    const std::size_t some = std::min(tile, count - first);
    std::copy_n(static_cast<const T*>(operands[0]) + first, some, sums.data());
    for (std::size_t r = 1; r < operands.size(); ++r) {
      const T* other = static_cast<const T*>(operands[r]) + first;
      switch (how) {
        case reduction::sum:
          for (std::size_t i = 0; i < some; ++i) { sums[i] += other[i]; }
          break;
        case reduction::max:
          for (std::size_t i = 0; i < some; ++i) { sums[i] = larger(sums[i], other[i]); }
          break;
      }
    }
    std::copy_n(sums.data(), some, result + first);
  }
}
inline void combine(element type, const std::vector<const void*>& operands, void* result, std::size_t count,
                    reduction how) {
  switch (type) {
    case element::float32:
      return combine(operands, static_cast<float*>(result), count, how);
    case element::float64:
      return combine(operands, static_cast<double*>(result), count, how);
    case element::int32:
      return combine(operands, static_cast<std::int32_t*>(result), count, how);
    case element::int64:
      return combine(operands, static_cast<std::int64_t*>(result), count, how);
  }
}

inline void copy_bytes(const void* from, void* to, std::size_t bytes) {
  if (bytes != 0 && from != to) { std::memmove(to, from, bytes); }
}

// Parts of memory, one for each rank: part r begins at byte begin(r).
class parts {
 public:
  parts(const std::size_t* counts, std::size_t ranks, std::size_t bytes_of_one) : begins_(ranks + 1, 0) {
    for (std::size_t r = 0; r < ranks; ++r) { begins_[r + 1] = begins_[r] + counts[r] * bytes_of_one; }
  }
  [[nodiscard]] std::size_t begin(std::size_t r) const { return begins_[r]; }
  [[nodiscard]] std::size_t bytes(std::size_t r) const { return begins_[r + 1] - begins_[r]; }
  [[nodiscard]] std::size_t total() const { return begins_.back(); }
  [[nodiscard]] std::byte* of(void* all, std::size_t r) const { return static_cast<std::byte*>(all) + begins_[r]; }
  [[nodiscard]] const std::byte* of(const void* all, std::size_t r) const {
    return static_cast<const std::byte*>(all) + begins_[r];
  }

 private:
  std::vector<std::size_t> begins_;
};

// The element counts of a sum that is computed in parts: whole cache lines, except for the last part.
inline std::vector<std::size_t> shares_of(std::size_t count, std::size_t ranks) {
  constexpr std::size_t line = 16;
  const std::size_t share = (count / ranks + line - 1) / line * line;
  std::vector<std::size_t> counts(ranks);
  std::size_t left = count;
  for (std::size_t& one : counts) {
    one = std::min(share, left);
    left -= one;
  }
  counts.back() += left;
  return counts;
}

// The messages of a sum in parts: this rank's part of all ranks, into `received`, and the others of this rank. The
// operands of this rank's part, in the order of the ranks.
inline std::vector<const void*> send_parts(messages& all, const group& link, const void* mine, const parts& each,
                                           std::byte* received) {
  const std::size_t own = link.rank();
  const std::size_t ranks = link.size();
  std::vector<const void*> operands(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r == own) {
      operands[r] = each.of(mine, own);
      continue;
    }
    all.receive(r, received, each.bytes(own));
    operands[r] = received;
    received += each.bytes(own);
  }
  for (std::size_t step = 1; step < ranks; ++step) {  // not all ranks send to rank 0 first
    const std::size_t r = (own + step) % ranks;
    all.send(r, each.of(mine, r), each.bytes(r));
  }
  return operands;
}
// The messages that give each rank the parts of the others.
inline void share_parts(messages& all, const group& link, void* whole, const parts& each) {
  const std::size_t own = link.rank();
  const std::size_t ranks = link.size();
  for (std::size_t step = 1; step < ranks; ++step) {
    const std::size_t from = (own + ranks - step) % ranks;
    all.receive(from, each.of(whole, from), each.bytes(from));
    all.send((own + step) % ranks, each.of(whole, own), each.bytes(own));
  }
}

// Part r of the sum on rank r.
inline void reduce_parts(member& state, std::uint32_t tag, const call& what, element type, const void* mine,
                         void* result, const parts& each, std::size_t bytes_of_one, reduction how) {
  const std::size_t bytes = each.bytes(state.link->rank());
  std::byte* const received = state.scratch_of(bytes * (state.link->size() - 1));
  messages all(state.link);
  const std::vector<const void*> operands = send_parts(all, *state.link, mine, each, received);
  state.run(all, tag, what);
  combine(type, operands, result, bytes / bytes_of_one, how);
}

inline void gather_parts(member& state, std::uint32_t tag, const call& what, const void* mine, void* whole,
                         const parts& each) {
  const std::size_t own = state.link->rank();
  copy_bytes(mine, each.of(whole, own), each.bytes(own));
  messages all(state.link);
  share_parts(all, *state.link, whole, each);
  state.run(all, tag, what);
}

// A sum that has not finished: first the parts of the sum, then the parts of all ranks.
struct pending_sum final : pending {
  pending_sum(const std::shared_ptr<member>& of, std::string_view text, element of_type, const elements& named,
              void* both, std::size_t elements_of_all)
      : pending(of, text),
        type(of_type),
        bytes_of_one(named.bytes),
        values(both),
        count(elements_of_all),
        each(shares_of(elements_of_all, of->link->size()).data(), of->link->size(), named.bytes),
        received(each.bytes(of->link->rank()) * (of->link->size() - 1)) {
    what = call_of("start_all_reduce", named, shape, &count, 1);
  }
  pending_sum(const pending_sum&) = delete;
  pending_sum& operator=(const pending_sum&) = delete;
  ~pending_sum() override { cancel(); }
  void start(std::uint32_t number) {
    tag = number;
    operands = send_parts(all, *state->link, values, each, received.data());
    all.start(tag);
  }
  bool next() override {
    if (operands.empty()) { return false; }
    const std::size_t own = state->link->rank();
    combine(type, operands, each.of(values, own), each.bytes(own) / bytes_of_one, reduction::sum);
    operands.clear();
    share_parts(all, *state->link, values, each);
    all.start(tag);
    return true;
  }

  element type;
  std::size_t bytes_of_one;
  void* values;
  std::size_t count;
  parts each;
  std::vector<std::byte> received;
  std::vector<const void*> operands{};
  std::uint32_t tag = 0;
};

// A message between two ranks that has not finished. With checks the sender's text goes before the elements, and the
// receiver compares it with its own.
struct pending_message final : pending {
  pending_message(const std::shared_ptr<member>& of, std::string_view text, const elements& named, void* at,
                  std::size_t number, std::size_t other, bool sent)
      : pending(of, text), data(at), bytes(number * named.bytes), count(number), peer(other), sends(sent) {
    what = call_of("a message", named, shape, &count, 1);
    if (of->how.checks) { own_text = text_of(what); }
  }
  pending_message(const pending_message&) = delete;
  pending_message& operator=(const pending_message&) = delete;
  ~pending_message() override {
    cancel();
    const auto at = std::find(state->receiving.begin(), state->receiving.end(), peer);
    if (is_receiving && at != state->receiving.end()) { state->receiving.erase(at); }
  }
  void start() {
    const bool checks = state->how.checks;
    if (!sends) {
      state->receiving.push_back(peer);
      is_receiving = true;
    }
    if (sends && checks) {
      length = own_text.size();
      all.send(peer, &length, sizeof(length));
      all.send(peer, own_text.data(), own_text.size());
    }
    if (sends) {
      all.send(peer, data, bytes);
    } else if (checks) {
      all.receive(peer, &length, sizeof(length));
      left = step::text;
    } else {
      all.receive(peer, data, bytes);
    }
    all.start_between_two(state->next);
  }
  bool next() override {
    switch (left) {
      case step::text:
        other_text.resize(length);
        all.receive(peer, other_text.data(), length);
        left = step::elements;
        break;
      case step::elements:
        if (other_text != own_text) {
          state->fail(peer, "ranks disagree about a message: " + state->rank_text(peer) + " sends " + other_text +
                                ", and " + state->rank_text(state->link->rank()) + " expects " + own_text);
        }
        all.receive(peer, data, bytes);
        left = step::none;
        break;
      case step::none:
        return false;
    }
    all.start_between_two(state->next);
    return true;
  }

  enum class step : unsigned char { text, elements, none };
  void* data;
  std::size_t bytes;
  std::size_t count;
  std::size_t peer;
  bool sends;
  bool is_receiving = false;
  step left = step::none;
  std::size_t length = 0;
  std::string own_text{};
  std::string other_text{};
};

}  // namespace dimwise::ranks::detail
DIMWISE_DETAIL_TEXT_END;
