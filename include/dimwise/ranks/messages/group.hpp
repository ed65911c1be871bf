// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/group.hpp -- what a backend provides: messages between two ranks, and groups of some of the
// ranks.
//
// Layer: ranks. Collectives are written once, on top of messages (ranks/messages/communicator_definitions.hpp), so
// every backend adds in the same order, has the same limit on waiting, and gives the same messages.
// Backends: ranks/threads.hpp, ranks/mpi.hpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace dimwise::ranks::detail {

using clock = std::chrono::steady_clock;

// An object that ranks of one process give each other without a copy.
struct shared_object {
  std::shared_ptr<const void> it{};
  const void* type = nullptr;  // one address for each type
};
// Signals that one end of a message gives an object, and the other one expects another type or bytes.
inline constexpr std::size_t other_type = ~std::size_t{1};

// One message that this rank sends or receives. Its address is stable from `start` until it has finished.
struct transfer {
  std::byte* data = nullptr;  // not written to by a send
  std::size_t bytes = 0;
  std::size_t peer = 0;  // in the group
  bool sends = false;
  // Instead of data, in groups that share memory: what a send gives, and where a receive puts it. Such a send is done
  // when it has started.
  shared_object* object = nullptr;

  bool started = false;
  // Set by `progress` with outcome::done.
  bool done = false;
  // The bytes that the peer sent or expected; ~0 if they were more than `bytes`, or `other_type`.
  std::size_t moved = 0;

  // The backend's own.
  std::uint32_t tag = 0;
  bool taken = false;
  void* handle = nullptr;
};

// The notice of a rank to its group after an exception: it takes no part in the call `from` and those after it.
// Ranks that have all withdrawn from the same call, one as often as the other, agree and may go on with it.
struct withdrawal {
  std::uint32_t count = 0;             // how often this rank has withdrawn
  std::uint32_t from = 0;              // the number of a call
  bool has_failed = false;             // it cannot go on
  bool lacks_text = false;             // the exception is on its way to where it is caught: another withdrawal follows
  std::size_t rank = ~std::size_t{0};  // of the world: where the first exception was thrown
  std::string why{};
  std::exception_ptr cause{};  // in the same process
};

enum class outcome : unsigned char { pending, done, peer_ended };

// One rank's end of a group of ranks. Messages between two ranks with the same tag arrive in the order of their sends.
class group {
 public:
  group(std::size_t rank, std::size_t size) : rank_(rank), size_(size) {}
  group(const group&) = delete;
  group& operator=(const group&) = delete;
  virtual ~group() = default;

  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // The largest tag of a collective. MPI guarantees two more, which other messages and withdrawals have.
  static constexpr std::uint32_t last_tag = 32765;
  static constexpr std::uint32_t tag_of_messages = last_tag + 1;
  // The longest message; collectives divide longer ones.
  static constexpr std::size_t longest = std::size_t{1} << 30U;

  // Whether messages may have objects.
  [[nodiscard]] virtual bool shares_memory() const noexcept { return false; }
  virtual void start(transfer& one, std::uint32_t tag) = 0;
  // Advances the message; returns immediately. Throws if another rank is known to have failed.
  virtual outcome progress(transfer& one) = 0;
  // A number that changes when `progress` can do more.
  virtual std::uint64_t events() { return 0; }
  // Pauses while `events()` is `seen`, or for a short time; `pauses` have gone before since a message was advanced.
  // Returns false after `end`.
  virtual bool pause(std::uint64_t seen, int pauses, clock::time_point end) = 0;
  // Ends a started message that has not finished: afterwards nothing refers to its memory. A group that `reads_late()`
  // waits until `end` for the receiver of a long message; one that comes later still reads the memory.
  virtual void cancel(transfer& one, clock::time_point end) noexcept = 0;
  // Whether a long message that its sender cancels is still read by the receiver. Then the sender withdraws first, and
  // the receiver looks for that before it believes the message.
  [[nodiscard]] virtual bool reads_late() const noexcept { return false; }
  // Tells all others that this rank withdraws; what it has told before is replaced.
  virtual void withdraw(const withdrawal&) {}
  // The last notice of a rank; `count` is 0 if it never withdrew. A look that is not thorough may miss what has just
  // come.
  virtual withdrawal withdrawal_of(std::size_t, bool /*thoroughly*/ = false) { return {}; }
  // The group of the ranks `members` of this group, in this order, in which this rank is `rank`. All ranks of this
  // group call it at the same time; ranks with the same `colour` have the same members.
  virtual std::shared_ptr<group> split(std::size_t colour, std::size_t rank, const std::vector<std::size_t>& members,
                                       std::uint32_t tag) = 0;

 private:
  std::size_t rank_;
  std::size_t size_;
};

// The group of one rank. Collectives send no message to their own rank.
class single_group final : public group {
 public:
  single_group() : group(0, 1) {}
  void start(transfer& one, std::uint32_t) override { one.done = true; }
  outcome progress(transfer&) override { return outcome::done; }
  bool pause(std::uint64_t, int, clock::time_point) override { return true; }
  void cancel(transfer&, clock::time_point) noexcept override {}
  std::shared_ptr<group> split(std::size_t, std::size_t, const std::vector<std::size_t>&, std::uint32_t) override {
    return std::make_shared<single_group>();
  }
};

}  // namespace dimwise::ranks::detail
