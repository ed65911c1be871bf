// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/member_definitions.hpp -- the state of one rank in a group: its calls, checks, withdrawals.
//
// Layer: ranks. Every call has a number, which is the tag of its messages, so a message never meets another call. The
// receiver compares the length of each message with the length that it expects.
#pragma once

#include <dimwise/ranks/messages/call_definitions.hpp>
#include <dimwise/support/text_warning.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks::detail {

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

}  // namespace dimwise::ranks::detail
DIMWISE_DETAIL_TEXT_END;
