// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/communicator_definitions.hpp -- the collectives, as messages between two ranks.
//
// Layer: ranks. Every call has a number, which is the tag of its messages, so a message never meets another call. The
// receiver compares the length of each message with the length that it expects.
#pragma once

#include <dimwise/ranks/messages/communicator.hpp>
#include <dimwise/ranks/messages/group.hpp>
#include <dimwise/support/text_warning.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <numeric>
#include <utility>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks {
namespace detail {

// The call of a rank, for the checks and for messages.
struct call {
  const char* operation;
  elements named{};
  bool has_elements = false;
  std::string_view shape{};
  // The numbers of elements: one, or one for each rank. None if they differ between ranks.
  const std::size_t* counts = nullptr;
  std::size_t count_of_counts = 0;
};

// A call that sends elements.
inline call call_of(const char* operation, elements named, std::string_view shape, const std::size_t* counts = nullptr,
                    std::size_t count_of_counts = 0) {
  return {operation, named, true, shape, counts, count_of_counts};
}

inline std::string text_of(const call& what) {
  std::string text = what.operation;
  if (what.has_elements) {
    text += " of";
    for (std::size_t i = 0; i < what.count_of_counts; ++i) {
      text += i == 0 ? " " : " + ";
      text += std::to_string(what.counts[i]);
    }
    text += ' ';
    dimwise::detail::say_name(what.named.name, [&](char c) { text += c; });
  }
  if (!what.shape.empty()) {
    text += ": ";
    text += what.shape;
  }
  return text;
}

// The messages of one call. They are added first, and then started together.
class messages {
 public:
  explicit messages(std::shared_ptr<group> link) : link_(std::move(link)) {}
  messages(const messages&) = delete;
  messages& operator=(const messages&) = delete;
  ~messages() { clear(); }

  void receive(std::size_t from, void* data, std::size_t bytes) { add(from, data, bytes, false); }
  void send(std::size_t to, const void* data, std::size_t bytes) { add(to, const_cast<void*>(data), bytes, true); }
  // Objects, in groups that share memory; `to` and `given` live until the messages have started and finished.
  void receive(std::size_t from, shared_object& to) { add_object(from, to, false); }
  void send(std::size_t to, shared_object& given) { add_object(to, given, true); }
  // Receives first: a message that arrives early then has its place. `call` is the number of the call.
  void start(std::uint32_t call) { start(call, call % (group::last_tag + 1)); }
  // Messages between two ranks that are no collective; `call` is the number of the next one.
  void start_between_two(std::uint32_t call) {
    are_between_two_ = true;
    start(call, group::tag_of_messages);
  }
  void clear(clock::time_point end = {}) noexcept {
    for (transfer& one : all_) {
      if (one.started && !one.done) { link_->cancel(one, end); }
    }
    all_.clear();
  }
  [[nodiscard]] std::deque<transfer>& all() { return all_; }
  [[nodiscard]] std::uint32_t call() const { return call_; }
  [[nodiscard]] bool are_between_two() const { return are_between_two_; }
  [[nodiscard]] bool are_under_way() const {
    return std::any_of(all_.begin(), all_.end(), [](const transfer& one) { return one.started && !one.done; });
  }

 private:
  void start(std::uint32_t call, std::uint32_t tag) {
    call_ = call;
    for (const bool sends : {false, true}) {
      for (transfer& one : all_) {
        if (one.sends != sends) { continue; }
        link_->start(one, tag);
        one.started = true;
      }
    }
  }
  void add_object(std::size_t peer, shared_object& object, bool sends) {
    transfer& one = all_.emplace_back();
    one.peer = peer;
    one.sends = sends;
    one.object = &object;
  }
  void add(std::size_t peer, void* data, std::size_t bytes, bool sends) {
    auto* at = static_cast<std::byte*>(data);
    do {
      const std::size_t now = std::min(bytes, group::longest);
      transfer& one = all_.emplace_back();
      one.data = at;
      one.bytes = now;
      one.peer = peer;
      one.sends = sends;
      at = now == 0 ? at : at + now;
      bytes -= now;
    } while (bytes > 0);
  }

  std::shared_ptr<group> link_;
  std::deque<transfer> all_{};
  std::uint32_t call_ = 0;
  bool are_between_two_ = false;
};

// Whether the call `number` is `first` or a later one.
inline bool is_from(std::uint32_t number, std::uint32_t first) { return number - first < (1U << 31U); }

struct member {
  std::shared_ptr<group> link{};
  options how{};
  std::string name{};
  std::vector<std::size_t> world{};  // the ranks that the members have in the world
  std::uint32_t next = 0;            // the number of the next call
  bool has_failed = false;
  std::uint32_t withdrawals = 0;     // how often this rank has withdrawn
  bool has_withdrawn = false;        // the other ranks may not have
  std::uint32_t withdrawn_from = 0;  // the call
  // The first call of which messages were under way when an exception destroyed them; `next` if there is none.
  std::uint32_t cancelled = 0;
  bool has_cancelled = false;
  clock::time_point end_of_cancel{};     // of all these messages, so that an exception waits once
  bool has_messages = false;             // between two ranks: after an exception, the next ones could meet older ones
  std::vector<std::size_t> receiving{};  // the ranks of which a message between two is awaited
  std::vector<std::byte> scratch{};

  [[nodiscard]] std::string rank_text(std::size_t rank) const {
    return rank < world.size() ? "rank " + std::to_string(world[rank]) : "no rank";
  }
  [[nodiscard]] std::string call_text(const call& what) const {
    return text_of(what) + (name == "world" ? "" : " (" + name + ")");
  }
  [[nodiscard]] std::byte* scratch_of(std::size_t bytes) {
    if (scratch.size() < bytes) { scratch.resize(bytes); }
    return scratch.data();
  }

  // After this error the messages of the ranks no longer match, so later calls throw. It ends the waits for this rank.
  [[noreturn]] void fail(std::size_t peer, const std::string& text) { fail(peer, text, next - 1); }
  [[noreturn]] void fail(std::size_t peer, const std::string& text, std::uint32_t from) {
    fail(rank_error(text, peer < world.size() ? world[peer] : no_rank), from);
  }
  [[noreturn]] void fail(const rank_error& thrown, std::uint32_t from) {
    has_failed = true;
    tell({0, from, true, false, thrown.rank() == no_rank ? world[link->rank()] : thrown.rank(), thrown.what(),
          thrown.cause()});
    throw thrown;
  }
  // After an exception, before the memory of messages under way is freed; `withdraw` tells the text of the exception.
  // This rank withdraws from its other communicators only afterwards, and their ranks wait until then.
  void cancel(messages& all) noexcept {
    if (!all.are_under_way()) { return all.clear(); }
    if (!has_cancelled) { end_of_cancel = std::min(end_of_wait(), clock::now() + std::chrono::seconds(2)); }
    if (!has_cancelled || is_from(cancelled, all.call())) { cancelled = all.call(); }
    has_cancelled = true;
    if (link->reads_late() && !has_failed) { tell({0, cancelled, true, true, world[link->rank()]}); }
    all.clear(end_of_cancel);
  }
  void tell(withdrawal what) noexcept {
    what.count = ++withdrawals;
    try {
      link->withdraw(what);
    } catch (...) {  // the others then end by their limit
    }
  }

  // The exception of this rank: the others need not wait for it.
  void withdraw(const std::exception_ptr& thrown, std::string_view operation) {
    if (link->size() == 1 || has_failed || (has_withdrawn && withdrawn_from == next && !has_cancelled)) { return; }
    withdrawal what{0,
                    has_cancelled && is_from(next, cancelled) ? cancelled : next,
                    has_cancelled || has_messages,
                    false,
                    world[link->rank()],
                    rank_text(link->rank()),
                    thrown};
    if (!operation.empty()) { what.why += " in " + std::string(operation); }
    what.why += ": " + text_of(thrown);
    try {
      std::rethrow_exception(thrown);
    } catch (const rank_error& known) {
      if (known.cause() != nullptr) {  // another rank is the cause
        what.rank = known.rank();
        what.cause = known.cause();
        what.why = known.what();
      }
    } catch (...) {  // this rank's own exception
    }
    has_failed = what.has_failed;
    has_withdrawn = !has_failed;
    withdrawn_from = next;
    tell(std::move(what));
  }
  // Before a call of a rank that has withdrawn: all others have, before the same call, or none of them goes on.
  void rejoin(const call& what) {
    const clock::time_point end = end_of_wait();
    for (int pauses = 0;; pauses = std::min(pauses + 1, 1 << 30)) {
      const std::uint64_t seen = link->events();
      bool all_have = true;
      for (std::size_t r = 0; r < link->size(); ++r) {
        if (r == link->rank()) { continue; }
        const withdrawal other = link->withdrawal_of(r);
        if (other.has_failed || (other.count == withdrawals && other.from != withdrawn_from)) {
          has_failed = true;
          check_earlier(what);
        }
        all_have = all_have && other.count >= withdrawals;
      }
      if (all_have) { break; }
      if (!link->pause(seen, pauses, end)) {
        has_failed = true;
        check_earlier(what);
      }
    }
    has_withdrawn = false;
  }
  // Throws if a message is missing because its rank has withdrawn from the call.
  void check_withdrawals(messages& all, const call& what) {
    for (const transfer& one : all.all()) {
      if (!one.done) { check_withdrawal(one.peer, all.call(), what, all.are_between_two()); }
    }
  }
  // Messages between two ranks have no number of their own: one that cannot go on sends none.
  void check_withdrawal(std::size_t peer, std::uint32_t number, const call& what, bool is_between_two = false,
                        bool thoroughly = false) {
    withdrawal other = link->withdrawal_of(peer, thoroughly);
    const bool is_missing = is_from(number, other.from) || (is_between_two && other.has_failed);
    if (other.count <= withdrawals || !is_missing) { return; }
    if (other.lacks_text) {  // it waits until its messages have been read, unless this rank withdraws as well
      tell({0, number, true, true, world[link->rank()]});
      const clock::time_point end = std::min(end_of_wait(), clock::now() + std::chrono::seconds(10));
      for (int pauses = 0; other.lacks_text && link->pause(link->events(), pauses, end); ++pauses) {
        other = link->withdrawal_of(peer, true);
      }
    }
    const std::string text = (other.lacks_text ? rank_text(peer) + " has thrown an exception" : other.why) + " (" +
                             rank_text(link->rank()) + " waits for " + rank_text(peer) + " in " + call_text(what) + ")";
    fail(rank_error(text, other.rank, other.cause), number);
  }
  // Throws if a rank has cancelled a message that has arrived: its memory may have changed before it was read. Short
  // messages are copied when they are sent.
  void check_cancelled(messages& all, const call& what) {
    constexpr std::size_t longest_copied = 2048;  // below the limits of MPI's ways to send
    for (const transfer& one : all.all()) {
      if (!one.sends && one.bytes > longest_copied) {
        check_withdrawal(one.peer, all.call(), what, all.are_between_two(), true);
      }
    }
  }
  [[nodiscard]] clock::time_point end_of_wait() const {
    return clock::now() + std::min<clock::duration>(how.limit, std::chrono::hours(24 * 365));
  }

  [[noreturn]] void reject(const transfer& one, outcome how_far, const call& called, std::uint32_t number) {
    const std::string what = call_text(called);
    if (how_far == outcome::peer_ended) {
      check_withdrawal(one.peer, number, called);
      fail(one.peer, rank_text(one.peer) + " has ended, and " + rank_text(link->rank()) + " waits for it in " + what,
           number);
    }
    if (one.moved == other_type) {
      fail(one.peer,
           "ranks disagree: " + rank_text(link->rank()) + " and " + rank_text(one.peer) +
               " call the same operation with other types in " + what,
           number);
    }
    const auto size = [](std::size_t bytes) {
      return bytes == no_rank ? std::string("a longer message") : std::to_string(bytes) + " bytes";
    };
    fail(one.peer,
         "ranks disagree: " + rank_text(link->rank()) + (one.sends ? " sends " : " expects ") + size(one.bytes) +
             " in " + what + ", and " + rank_text(one.peer) + (one.sends ? " expects " : " sends ") + size(one.moved),
         number);
  }

  // Advances all messages; the first one that has not arrived or, if all have, the first one that was not taken.
  transfer* advance(messages& all, const call& what) {
    transfer* missing = nullptr;
    for (transfer& one : all.all()) {
      if (one.done) { continue; }
      const outcome how_far = link->progress(one);
      if (how_far != outcome::pending) {
        if (how_far == outcome::peer_ended || one.moved != one.bytes) { reject(one, how_far, what, all.call()); }
      } else if (missing == nullptr || (missing->sends && !one.sends)) {
        missing = &one;
      }
    }
    if (missing == nullptr && link->reads_late()) { check_cancelled(all, what); }
    return missing;
  }

  void wait(messages& all, const call& what) {
    const clock::time_point end = end_of_wait();
    for (int pauses = 0;; pauses = std::min(pauses + 1, 1 << 30)) {
      const std::uint64_t seen = link->events();
      const transfer* missing = advance(all, what);
      if (missing == nullptr) { return; }
      check_withdrawals(all, what);
      if (link->pause(seen, pauses, end)) { continue; }
      std::array<char, 32> seconds{};
      (void)std::snprintf(seconds.data(), seconds.size(), "%g s", static_cast<double>(how.limit.count()) / 1000);
      const std::size_t late = missing->peer;
      const std::string text = rank_text(link->rank()) + " has waited " + seconds.data() + " for " + rank_text(late) +
                               " in " + call_text(what) + ": that rank is late, has ended, or calls something else";
      const std::uint32_t number = all.call();
      all.clear();
      fail(late, text, number);
    }
  }

  // All messages of the call, started and waited for.
  void run(messages& all, std::uint32_t tag, const call& what) {
    try {
      all.start(tag);
      wait(all, what);
    } catch (...) {
      cancel(all);
      throw;
    }
    all.clear();
  }

  // One value of each rank, on every rank.
  template <class T>
  std::vector<T> values_of_all(const T& mine, std::uint32_t tag, const call& what) {
    std::vector<T> values(link->size(), mine);
    messages all(link);
    for (std::size_t r = 0; r < link->size(); ++r) {
      if (r == link->rank()) { continue; }
      all.receive(r, &values[r], sizeof(T));
      all.send(r, &mine, sizeof(T));
    }
    run(all, tag, what);
    return values;
  }

  // Throws after a failure: what was on its way may not have arrived.
  void check_earlier(const call& what) const {
    if (has_failed) {
      throw rank_error("an earlier call failed, so " + rank_text(link->rank()) + " cannot call " + call_text(what));
    }
  }

  // Before a message between two ranks: they alone cannot find out whether all have withdrawn, and a second receiver
  // could take the message of the first one.
  void check_message(const call& what, std::size_t peer, bool sends) const {
    check_earlier(what);
    if (has_withdrawn) {
      throw rank_error(rank_text(link->rank()) + " has thrown in an earlier call, so it calls a collective before " +
                       call_text(what));
    }
    if (!sends && std::find(receiving.begin(), receiving.end(), peer) != receiving.end()) {
      throw rank_error(rank_text(link->rank()) + " waits for an earlier message of " + rank_text(peer) +
                       ", so it cannot receive " + call_text(what) + ": call `wait` of that request first");
    }
  }

  // The number of a call. With checks, throws on all ranks if they call different collectives.
  std::uint32_t begin(const call& what) {
    check_earlier(what);
    if (has_withdrawn) { rejoin(what); }
    const std::uint32_t number = next++;
    if (how.checks && link->size() > 1) { agree(what, number); }
    return number;
  }

  void agree(const call& what, std::uint32_t tag) {
    const std::string mine = text_of(what);
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    for (const char c : mine) { hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL; }
    const std::vector<std::uint64_t> hashes = values_of_all(hash, tag, what);
    if (std::all_of(hashes.begin(), hashes.end(), [&](std::uint64_t other) { return other == hashes.front(); })) {
      return;
    }
    // Every rank has the same hashes, so all of them come here.
    const std::vector<std::size_t> lengths = values_of_all(mine.size(), tag, what);
    std::vector<std::string> texts(lengths.size(), mine);
    messages all(link);
    for (std::size_t r = 0; r < lengths.size(); ++r) {
      if (r == link->rank()) { continue; }
      texts[r].resize(lengths[r]);
      all.receive(r, texts[r].data(), lengths[r]);
      all.send(r, mine.data(), mine.size());
    }
    run(all, tag, what);
    std::string text = "ranks call different collectives" + (name == "world" ? "" : " (" + name + ")");
    std::vector<bool> is_said(texts.size(), false);
    for (std::size_t r = 0; r < texts.size(); ++r) {
      if (is_said[r]) { continue; }
      std::string numbers;
      std::size_t like = 0;
      for (std::size_t other = r; other < texts.size(); ++other) {
        if (texts[other] != texts[r]) { continue; }
        is_said[other] = true;
        if (like++ < 8) { numbers += (like == 1 ? "" : ", ") + std::to_string(world[other]); }
      }
      text += r == 0 ? ": " : "; ";
      text += (like == 1 ? "rank " : "ranks ") + numbers;
      text += (like > 8 ? " and " + std::to_string(like - 8) + " more" : "") + (like == 1 ? " calls " : " call ");
      text += texts[r];
    }
    throw rank_error(text);
  }
};

// A request that has not finished.
struct pending {
  pending(const std::shared_ptr<member>& of, std::string_view text) : state(of), all(of->link), shape(text) {}
  pending(const pending&) = delete;
  pending& operator=(const pending&) = delete;
  virtual ~pending() { cancel(); }
  // Ends the messages. A class that owns their memory calls it in its destructor, before the memory is freed.
  void cancel() noexcept { std::uncaught_exceptions() != 0 || state->has_failed ? state->cancel(all) : all.clear(); }
  // After all messages: starts those that follow; false if there is none.
  virtual bool next() { return false; }

  std::shared_ptr<member> state;
  messages all;
  std::string shape;
  call what{.operation = "permute"};
};

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

}  // namespace detail

// --- communicator --------------------------------------------------------------------------------------------------

DIMWISE_DETAIL_LIBRARY communicator::communicator()
    : communicator(std::make_shared<detail::single_group>(), options{}) {}
DIMWISE_DETAIL_LIBRARY communicator::communicator(std::shared_ptr<detail::group> world, options how)
    : state_(std::make_shared<detail::member>()), rank_(world->rank()), size_(world->size()) {
  state_->world.resize(size_);
  std::iota(state_->world.begin(), state_->world.end(), std::size_t{0});
  state_->link = std::move(world);
  state_->how = how;
  state_->name = "world";
}
inline communicator::communicator(std::shared_ptr<detail::member> state)
    : state_(std::move(state)), rank_(state_->link->rank()), size_(state_->link->size()) {}

DIMWISE_DETAIL_LIBRARY const std::string& communicator::name() const noexcept { return state_->name; }
DIMWISE_DETAIL_LIBRARY std::size_t communicator::rank_in_world(std::size_t rank) const {
  if (rank >= size_) {
    dimwise::detail::raise<index_error>(error{} << "rank_in_world: " << state_->name.c_str() << " has " << size_
                                                << " ranks and no rank " << rank);
  }
  return state_->world[rank];
}
DIMWISE_DETAIL_LIBRARY bool communicator::is_checked() const noexcept { return state_->how.checks; }
DIMWISE_DETAIL_LIBRARY void communicator::set_limit(std::chrono::milliseconds limit) const {
  state_->how.limit = limit;
}

DIMWISE_DETAIL_LIBRARY void communicator::barrier(std::string_view shape) const {
  const detail::call what{.operation = "barrier", .shape = shape};
  const std::uint32_t tag = state_->begin(what);
  for (std::size_t step = 1; step < size_; step *= 2) {  // after it, 2 * step ranks are known to have come
    detail::messages all(state_->link);
    all.receive((rank_ + size_ - step) % size_, nullptr, 0);
    all.send((rank_ + step) % size_, nullptr, 0);
    state_->run(all, tag, what);
  }
}

DIMWISE_DETAIL_LIBRARY void communicator::reduce_all(detail::element type, detail::elements named, const void* mine,
                                                     void* result, std::size_t count, std::string_view shape,
                                                     reduction how) const {
  const detail::call what =
      detail::call_of(how == reduction::sum ? "all_reduce" : "all_reduce (max)", named, shape, &count, 1);
  const std::uint32_t tag = state_->begin(what);
  const std::size_t bytes = count * named.bytes;
  if (size_ == 1) { return detail::copy_bytes(mine, result, bytes); }
  // Short sums are computed by every rank, which waits for one message of each rank instead of two.
  constexpr std::size_t short_bytes = 4096;
  if (bytes <= short_bytes) {
    std::byte* received = state_->scratch_of(bytes * (size_ - 1));
    std::vector<const void*> operands(size_, mine);
    detail::messages all(state_->link);
    for (std::size_t step = 1; step < size_; ++step) {
      const std::size_t from = (rank_ + size_ - step) % size_;
      all.receive(from, received, bytes);
      operands[from] = received;
      received += bytes;
      all.send((rank_ + step) % size_, mine, bytes);
    }
    state_->run(all, tag, what);
    return detail::combine(type, operands, result, count, how);
  }
  const std::vector<std::size_t> shares = detail::shares_of(count, size_);
  const detail::parts each(shares.data(), size_, named.bytes);
  std::byte* own = each.of(result, rank_);
  detail::reduce_parts(*state_, tag, what, type, mine, own, each, named.bytes, how);
  detail::gather_parts(*state_, tag, what, own, result, each);
}

DIMWISE_DETAIL_LIBRARY request communicator::start_reduce(detail::element type, detail::elements named, void* values,
                                                          std::size_t count, std::string_view shape) const {
  auto one = std::make_unique<detail::pending_sum>(state_, shape, type, named, values, count);
  const std::uint32_t tag = state_->begin(one->what);
  request result;
  if (size_ > 1) {
    one->start(tag);
    result.pending_ = std::move(one);
  }
  return result;
}

DIMWISE_DETAIL_LIBRARY void communicator::scatter_reduced(detail::element type, detail::elements named,
                                                          const void* mine, void* result, const std::size_t* counts,
                                                          std::string_view shape, reduction how) const {
  const detail::call what =
      detail::call_of(how == reduction::sum ? "reduce_scatter" : "reduce_scatter (max)", named, shape, counts, size_);
  const std::uint32_t tag = state_->begin(what);
  const detail::parts each(counts, size_, named.bytes);
  if (size_ == 1) { return detail::copy_bytes(mine, result, each.total()); }
  detail::reduce_parts(*state_, tag, what, type, mine, result, each, named.bytes, how);
}

DIMWISE_DETAIL_LIBRARY void communicator::gather_all(detail::elements named, const void* mine, void* all,
                                                     const std::size_t* counts, std::string_view shape) const {
  const detail::call what = detail::call_of("all_gather", named, shape, counts, size_);
  const std::uint32_t tag = state_->begin(what);
  detail::gather_parts(*state_, tag, what, mine, all, detail::parts(counts, size_, named.bytes));
}

DIMWISE_DETAIL_LIBRARY void communicator::exchange_all(detail::elements named, const void* sent,
                                                       const std::size_t* sent_counts, void* received,
                                                       const std::size_t* received_counts,
                                                       std::string_view shape) const {
  const detail::call what = detail::call_of("all_to_all", named, shape);
  const std::uint32_t tag = state_->begin(what);
  const detail::parts outgoing(sent_counts, size_, named.bytes);
  const detail::parts incoming(received_counts, size_, named.bytes);
  if (outgoing.bytes(rank_) != incoming.bytes(rank_)) {
    state_->fail(rank_, "all_to_all: " + state_->rank_text(rank_) + " sends " + std::to_string(sent_counts[rank_]) +
                            " elements to itself and expects " + std::to_string(received_counts[rank_]));
  }
  detail::copy_bytes(outgoing.of(sent, rank_), incoming.of(received, rank_), outgoing.bytes(rank_));
  detail::messages all(state_->link);
  for (std::size_t step = 1; step < size_; ++step) {
    const std::size_t from = (rank_ + size_ - step) % size_;
    const std::size_t to = (rank_ + step) % size_;
    all.receive(from, incoming.of(received, from), incoming.bytes(from));
    all.send(to, outgoing.of(sent, to), outgoing.bytes(to));
  }
  state_->run(all, tag, what);
}

DIMWISE_DETAIL_LIBRARY void communicator::send_to_all(detail::elements named, void* values, std::size_t count,
                                                      std::size_t from, std::string_view shape) const {
  if (from >= size_) {
    dimwise::detail::raise<index_error>(error{} << "broadcast: " << state_->name.c_str() << " has " << size_
                                                << " ranks and no rank " << from);
  }
  const std::string operation = "broadcast from " + std::to_string(from);
  const detail::call what = detail::call_of(operation.c_str(), named, shape, &count, 1);
  const std::uint32_t tag = state_->begin(what);
  const std::size_t bytes = count * named.bytes;
  // A binomial tree: with ranks counted from the sender, rank r receives from r without its lowest bit.
  const std::size_t own = (rank_ + size_ - from) % size_;
  std::size_t bit = 1;
  while (bit < size_ && (own & bit) == 0) { bit *= 2; }
  if (own != 0) {
    detail::messages all(state_->link);
    all.receive((own - bit + from) % size_, values, bytes);
    state_->run(all, tag, what);
  }
  detail::messages all(state_->link);
  for (bit /= 2; bit > 0; bit /= 2) {
    if (own + bit < size_) { all.send((own + bit + from) % size_, values, bytes); }
  }
  state_->run(all, tag, what);
}

DIMWISE_DETAIL_LIBRARY request communicator::start_permute(detail::elements named, const void* sent,
                                                           std::size_t sent_count, std::size_t to, void* received,
                                                           std::size_t received_count, std::size_t from,
                                                           std::string_view shape) const {
  for (const std::size_t partner : {to, from}) {
    if (partner != no_rank && partner >= size_) {
      dimwise::detail::raise<index_error>(error{} << "permute: " << state_->name.c_str() << " has " << size_
                                                  << " ranks and no rank " << partner);
    }
  }
  auto one = std::make_unique<detail::pending>(state_, shape);
  one->what = detail::call_of("permute", named, one->shape);
  const std::uint32_t tag = state_->begin(one->what);
  const std::size_t outgoing = sent_count * named.bytes;
  const std::size_t incoming = received_count * named.bytes;
  if ((to == rank_ || from == rank_) && (to != from || outgoing != incoming)) {
    state_->fail(rank_, "permute: " + state_->rank_text(rank_) + " sends " + std::to_string(sent_count) +
                            " elements to itself and expects " + std::to_string(received_count) +
                            ", or only does one of the two");
  }
  if (to == rank_) {
    detail::copy_bytes(sent, received, outgoing);
  } else {
    if (from != no_rank) { one->all.receive(from, received, incoming); }
    if (to != no_rank) { one->all.send(to, sent, outgoing); }
    one->all.start(tag);
  }
  request result;
  result.pending_ = std::move(one);
  return result;
}

DIMWISE_DETAIL_LIBRARY request communicator::start_message(detail::elements named, void* data, std::size_t count,
                                                           std::size_t peer, bool sends, std::string_view shape) const {
  if (peer >= size_ || peer == rank_) {
    dimwise::detail::raise<index_error>(error{} << (sends ? "start_send: " : "start_receive: ") << state_->name.c_str()
                                                << " has " << size_ << " ranks, and rank " << rank_
                                                << " has no other rank " << peer);
  }
  auto one = std::make_unique<detail::pending_message>(state_, shape, named, data, count, peer, sends);
  state_->check_message(one->what, peer, sends);
  state_->has_messages = true;
  one->start();
  request result;
  result.pending_ = std::move(one);
  return result;
}

DIMWISE_DETAIL_LIBRARY bool communicator::shares_memory() const noexcept {
  return size_ > 1 && state_->link->shares_memory();
}
DIMWISE_DETAIL_LIBRARY void communicator::share_objects(const detail::shared_object& mine, detail::shared_object* all,
                                                        std::string_view shape) const {
  const detail::call what{.operation = "share", .shape = shape};
  const std::uint32_t tag = state_->begin(what);
  detail::messages messages(state_->link);
  for (std::size_t r = 0; r < size_; ++r) { all[r] = {r == rank_ ? mine.it : nullptr, mine.type}; }
  for (std::size_t step = 1; step < size_; ++step) {
    const std::size_t from = (rank_ + size_ - step) % size_;
    messages.receive(from, all[from]);
    messages.send((rank_ + step) % size_, all[rank_]);
  }
  state_->run(messages, tag, what);
}
DIMWISE_DETAIL_LIBRARY request communicator::start_handing(const detail::shared_object& sent, std::size_t to,
                                                           detail::shared_object& received, std::size_t from,
                                                           std::string_view shape) const {
  auto one = std::make_unique<detail::pending>(state_, shape);
  one->what = detail::call{.operation = "hand on", .shape = one->shape};
  const std::uint32_t tag = state_->begin(one->what);
  received = {nullptr, sent.type};
  detail::shared_object given = sent;
  one->all.receive(from, received);
  one->all.send(to, given);
  one->all.start(tag);
  request result;
  result.pending_ = std::move(one);
  return result;
}

DIMWISE_DETAIL_LIBRARY void communicator::withdraw(const std::exception_ptr& why, std::string_view operation) const {
  state_->withdraw(why, operation);
}

DIMWISE_DETAIL_LIBRARY communicator communicator::split(std::size_t colour, std::string_view name) const {
  const std::string shape(name);
  const detail::call what{.operation = "split", .shape = shape};
  const std::uint32_t tag = state_->begin(what);
  const std::vector<std::size_t> colours = state_->values_of_all(colour, tag, what);
  std::vector<std::size_t> members;
  std::size_t own = 0;
  for (std::size_t r = 0; r < size_; ++r) {
    if (colours[r] != colour) { continue; }
    if (r == rank_) { own = members.size(); }
    members.push_back(r);
  }
  // Colours may be any numbers: those of MPI are small.
  const std::size_t first = members.front();
  auto state = std::make_shared<detail::member>();
  state->link = state_->link->split(first, own, members, tag % (detail::group::last_tag + 1));
  state->how = state_->how;
  state->name = shape;
  for (const std::size_t r : members) { state->world.push_back(state_->world[r]); }
  return communicator(std::move(state));
}

namespace detail {

DIMWISE_DETAIL_LIBRARY std::string known_axes::note(const void* axis, const communicator& along,
                                                    const std::string& name) {
  struct known {
    const void* axis;
    std::weak_ptr<member> along;
  };
  static thread_local std::vector<known> all;
  std::erase_if(all, [](const known& one) { return one.along.expired(); });
  const auto text = [](const std::vector<std::size_t>& ranks) {
    std::string numbers = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < ranks.size(); ++i) { numbers += (i == 0 ? "" : ", ") + std::to_string(ranks[i]); }
    return numbers;
  };
  for (const known& one : all) {
    const std::shared_ptr<member> other = one.along.lock();
    if (one.axis != axis || other == nullptr || other->world == along.state_->world) { continue; }
    return "the axis " + name + " goes along " + text(along.state_->world) + ", and in another mesh along " +
           text(other->world);
  }
  all.push_back({axis, along.state_});
  return {};
}

}  // namespace detail

// --- request -------------------------------------------------------------------------------------------------------

DIMWISE_DETAIL_LIBRARY request::request() noexcept : pending_(nullptr) {}
DIMWISE_DETAIL_LIBRARY request::request(request&& from) noexcept = default;
DIMWISE_DETAIL_LIBRARY request& request::operator=(request&& from) noexcept = default;
DIMWISE_DETAIL_LIBRARY request::~request() = default;

DIMWISE_DETAIL_LIBRARY void request::wait() {
  if (pending_ == nullptr) { return; }
  pending_->state->check_earlier(pending_->what);
  do {
    pending_->state->wait(pending_->all, pending_->what);
    pending_->all.clear();
  } while (pending_->next());
  pending_ = nullptr;
}
DIMWISE_DETAIL_LIBRARY bool request::done() {
  if (pending_ == nullptr) { return true; }
  pending_->state->check_earlier(pending_->what);
  do {
    if (pending_->state->advance(pending_->all, pending_->what) != nullptr) {
      pending_->state->check_withdrawals(pending_->all, pending_->what);
      return false;
    }
    pending_->all.clear();
  } while (pending_->next());
  pending_ = nullptr;
  return true;
}

}  // namespace dimwise::ranks
DIMWISE_DETAIL_TEXT_END;
