// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/threads.hpp -- ranks as threads of one process: for tests, and for machines without MPI.
//
// Layer: ranks. The receiver of a message copies it from the sender's memory, or takes the object that the sender gives
// away. A rank that waits sleeps.
// Tests: tests/ranks/
//
//   ranks::run_threads(4, [](const ranks::communicator& world) { … });   // returns when all four have returned
#pragma once

#include <dimwise/ranks/messages/communicator.hpp>
#include <dimwise/ranks/messages/group.hpp>
#include <dimwise/support/messages/escaped.hpp>
#include <dimwise/support/text_warning.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

// Whether checks are on if a program does not say: in debug builds.
#if defined(NDEBUG)
#define DIMWISE_DETAIL_CHECKS_RANKS false
#else
#define DIMWISE_DETAIL_CHECKS_RANKS true
#endif

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks {
namespace detail {

// The exception of the rank that is the cause of a `rank_error`; another exception is its own cause.
inline std::exception_ptr cause_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const rank_error& known) { return known.cause() == nullptr ? thrown : known.cause(); } catch (...) {
    return thrown;
  }
}

// The state that the threads share.
class team {
 public:
  struct posted {
    std::uint64_t context;
    std::size_t from;
    std::uint32_t tag;
    transfer* message;  // null for an object: its send is done
    shared_object object{};
  };
  // The sends to one rank. Its mutex also guards `taken` and `moved` of the sends of this rank.
  struct cell {
    std::mutex guard{};
    std::condition_variable changed{};
    std::vector<posted> arrived{};
    std::uint64_t events = 0;
    std::atomic<bool> has_ended = false;
  };

  explicit team(std::size_t size) : cells_(size) {}
  [[nodiscard]] cell& of(std::size_t rank) { return cells_[rank]; }

  // Records the first exception of a rank, and ends the waiting of all others. An exception that another rank caused is
  // recorded as that of the other rank.
  void fail(std::size_t rank, std::exception_ptr thrown) {
    {
      const std::lock_guard lock(failure_guard_);
      if (failed_rank_ != no_rank) { return; }
      for (const withdrawn_rank& one : withdrawn_) {
        if (one.what.cause != nullptr && one.what.cause == cause_of(thrown)) {
          rank = one.what.rank;
          thrown = one.what.cause;
          break;
        }
      }
      failed_rank_ = rank;
      thrown_ = thrown;
      text_ = "rank " + std::to_string(rank) + " of " + std::to_string(cells_.size()) + ": " + text_of(thrown);
      has_failed_ = true;
    }
    wake_all();
  }
  void end(std::size_t rank) {
    cells_[rank].has_ended = true;
    wake_all();
  }
  void withdraw(std::uint64_t context, std::size_t rank, const withdrawal& what) {
    {
      const std::lock_guard lock(failure_guard_);
      const auto at = find_withdrawn(context, rank);
      if (at == withdrawn_.end()) {
        withdrawn_.push_back({context, rank, what});
      } else {
        at->what = what;
      }
      has_withdrawn_ = true;
    }
    wake_all();
  }
  withdrawal withdrawal_of(std::uint64_t context, std::size_t rank) {
    withdrawal found;
    if (!has_withdrawn_) { return found; }
    const bool has_ended = cells_[rank].has_ended;
    const std::lock_guard lock(failure_guard_);
    const auto at = find_withdrawn(context, rank);
    if (at != withdrawn_.end()) { found = at->what; }
    found.has_failed = found.has_failed || has_ended;
    return found;
  }
  void throw_if_failed() {
    if (!has_failed_) { return; }
    const std::lock_guard lock(failure_guard_);
    throw rank_error(text_, failed_rank_, thrown_);
  }

 private:
  struct withdrawn_rank {
    std::uint64_t context;
    std::size_t rank;
    withdrawal what;
  };
  std::vector<withdrawn_rank>::iterator find_withdrawn(std::uint64_t context, std::size_t rank) {
    return std::find_if(withdrawn_.begin(), withdrawn_.end(),
                        [&](const withdrawn_rank& one) { return one.context == context && one.rank == rank; });
  }
  void wake_all() {
    for (cell& one : cells_) {
      const std::lock_guard lock(one.guard);
      ++one.events;
      one.changed.notify_all();
    }
  }

  std::vector<cell> cells_;
  std::mutex failure_guard_{};
  std::atomic<bool> has_withdrawn_ = false;
  std::vector<withdrawn_rank> withdrawn_{};
  std::atomic<bool> has_failed_ = false;
  std::size_t failed_rank_ = no_rank;
  std::exception_ptr thrown_{};
  std::string text_{};
};

class thread_group final : public group {
 public:
  thread_group(std::shared_ptr<team> shared, std::uint64_t context, std::size_t rank, std::vector<std::size_t> members)
      : group(rank, members.size()), shared_(std::move(shared)), context_(context), members_(std::move(members)) {}

  [[nodiscard]] bool shares_memory() const noexcept override { return true; }

  void start(transfer& one, std::uint32_t tag) override {
    one.tag = tag;
    if (!one.sends) { return; }
    team::cell& there = shared_->of(members_[one.peer]);
    const bool gives = one.object != nullptr;
    const std::lock_guard lock(there.guard);
    there.arrived.push_back({context_, own(), tag, gives ? nullptr : &one, gives ? *one.object : shared_object{}});
    if (gives) {
      one.done = true;
      one.moved = one.bytes;
    }
    ++there.events;
    there.changed.notify_all();
  }

  outcome progress(transfer& one) override {
    // Before the messages are looked at: a rank that has ended sends and takes nothing afterwards.
    const bool peer_has_ended = shared_->of(members_[one.peer]).has_ended;
    if (one.sends ? is_taken(one) : take(one)) {
      one.done = true;
      return outcome::done;
    }
    shared_->throw_if_failed();
    return peer_has_ended ? outcome::peer_ended : outcome::pending;
  }

  std::uint64_t events() override {
    team::cell& here = shared_->of(own());
    const std::lock_guard lock(here.guard);
    return here.events;
  }

  bool pause(std::uint64_t seen, int, clock::time_point end) override {
    team::cell& here = shared_->of(own());
    std::unique_lock lock(here.guard);
    return here.changed.wait_until(lock, end, [&] { return here.events != seen; });
  }

  void cancel(transfer& one, clock::time_point) noexcept override {
    if (!one.sends) { return; }  // only this rank copies into its memory
    team::cell& there = shared_->of(members_[one.peer]);
    {
      const std::lock_guard lock(there.guard);
      const auto at = std::find_if(there.arrived.begin(), there.arrived.end(),
                                   [&](const team::posted& other) { return other.message == &one; });
      if (at != there.arrived.end()) {
        there.arrived.erase(at);
        return;
      }
    }
    // The receiver is copying it.
    team::cell& here = shared_->of(own());
    std::unique_lock lock(here.guard);
    here.changed.wait(lock, [&] { return one.taken; });
  }

  void withdraw(const withdrawal& what) override { shared_->withdraw(context_, own(), what); }
  withdrawal withdrawal_of(std::size_t rank, bool) override { return shared_->withdrawal_of(context_, members_[rank]); }

  std::shared_ptr<group> split(std::size_t colour, std::size_t rank, const std::vector<std::size_t>& members,
                               std::uint32_t tag) override {
    std::vector<std::size_t> of_team;
    for (const std::size_t r : members) { of_team.push_back(members_[r]); }
    // A number that all members compute alike, and no other group of this rank has: calls of a group have other tags
    // for 2^15 calls, and a group has fewer splits.
    std::uint64_t context = context_;
    for (const std::uint64_t part : {std::uint64_t{tag} + 1, std::uint64_t{colour} + 1}) {
      context = (context ^ part) * 0x9e3779b97f4a7c15ULL;
      context ^= context >> 29U;
    }
    return std::make_shared<thread_group>(shared_, context, rank, std::move(of_team));
  }

 private:
  [[nodiscard]] std::size_t own() const { return members_[rank()]; }

  bool is_taken(const transfer& one) {
    const std::lock_guard lock(shared_->of(own()).guard);
    return one.taken;
  }

  // Copies the message or takes its object, if it has arrived.
  bool take(transfer& one) {
    const std::size_t from = members_[one.peer];
    team::posted arrived{};
    {
      team::cell& here = shared_->of(own());
      const std::lock_guard lock(here.guard);
      const auto at = std::find_if(here.arrived.begin(), here.arrived.end(), [&](const team::posted& other) {
        return other.context == context_ && other.from == from && other.tag == one.tag;
      });
      if (at == here.arrived.end()) { return false; }
      arrived = std::move(*at);
      here.arrived.erase(at);
    }
    transfer* const sent = arrived.message;
    if (sent == nullptr) {
      const bool fits = one.object != nullptr && one.object->type == arrived.object.type;
      one.moved = fits ? one.bytes : other_type;
      if (fits) { *one.object = std::move(arrived.object); }
      return true;
    }
    const bool takes_bytes = one.object == nullptr;
    one.moved = takes_bytes ? sent->bytes : other_type;
    if (takes_bytes && sent->bytes == one.bytes && one.bytes != 0) { std::memcpy(one.data, sent->data, one.bytes); }
    team::cell& there = shared_->of(from);
    const std::lock_guard lock(there.guard);
    sent->moved = takes_bytes ? one.bytes : other_type;
    sent->taken = true;  // the last use of `sent`
    ++there.events;
    there.changed.notify_all();
    return true;
  }

  std::shared_ptr<team> shared_;
  std::uint64_t context_;
  std::vector<std::size_t> members_;
};

inline void run_threads(std::size_t count, const std::function<void(const communicator&)>& f, options how) {
  if (count == 0) { dimwise::detail::raise<number_error>(error{} << "run_threads: 0 ranks, at least 1 was expected"); }
#if defined(__wasi__) && !defined(_REENTRANT)  // there std::thread ends the program, without an exception
  if (count > 1) {
    throw rank_error("run_threads: " + std::to_string(count) + " ranks, 1 was expected: this program has no threads");
  }
#endif
  const auto shared = std::make_shared<team>(count);
  std::vector<std::size_t> members(count);
  std::iota(members.begin(), members.end(), std::size_t{0});
  const auto run_one = [&](std::size_t rank) {
    try {
      f(communicator(std::make_shared<thread_group>(shared, 0, rank, members), how));
    } catch (...) { shared->fail(rank, std::current_exception()); }
    shared->end(rank);
  };
  std::vector<std::thread> threads;
  try {
    threads.reserve(count);
    for (std::size_t rank = 1; rank < count; ++rank) { threads.emplace_back(run_one, rank); }
  } catch (...) {  // no thread: those that wait for it end
    shared->fail(threads.size() + 1, std::current_exception());
  }
  run_one(0);
  for (std::thread& one : threads) { one.join(); }
  shared->throw_if_failed();
}

}  // namespace detail

/// Calls `f(world)` on `count` threads, one rank each, and returns when all have returned; rank 0 is the calling
/// thread.
///
/// If a rank throws, the others end in the next collective in which they wait, and this throws `rank_error` with the
/// rank that threw first, its text, and its exception (`cause()`). A rank that computes is not interrupted.
/// In WebAssembly without threads, more than one rank throws `rank_error`.
template <class F>
void run_threads(std::size_t count, F&& f, options how = {.checks = DIMWISE_DETAIL_CHECKS_RANKS}) {
  detail::run_threads(count, [&](const communicator& world) { (void)f(world); }, how);
}

}  // namespace dimwise::ranks
DIMWISE_DETAIL_TEXT_END;
