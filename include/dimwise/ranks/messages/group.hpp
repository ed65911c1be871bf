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
#include <memory>
#include <vector>

namespace dimwise::ranks::detail {

using clock = std::chrono::steady_clock;

// One message that this rank sends or receives. Its address is stable from `start` until it has finished.
struct transfer {
// An object that ranks of one process give each other without a copy.
struct shared_object {
  std::shared_ptr<const void> it{};
  const void* type = nullptr;  // one address for each type
};
// What a message has moved if one end gives an object, and the other one expects another type or bytes.
inline constexpr std::size_t other_type = ~std::size_t{1};

  std::byte* data = nullptr;  // not written to by a send
  std::size_t bytes = 0;
  std::size_t peer = 0;  // in the group
  bool sends = false;

  bool started = false;
  // Instead of data, in groups that share memory: what a send gives, and where a receive puts it. Such a send is done
  // when it has started.
  shared_object* object = nullptr;
  // Set by `progress` with outcome::done.
  bool done = false;
  // The bytes that the peer sent or expected; ~0 if they were more than `bytes`, or `other_type`.
  std::size_t moved = 0;

  // The backend's own.
  std::uint32_t tag = 0;
  bool taken = false;
  void* handle = nullptr;
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

  // The largest tag.
  static constexpr std::uint32_t last_tag = 32767;  // what MPI guarantees
  // The longest message; collectives divide longer ones.
  static constexpr std::size_t longest = std::size_t{1} << 30U;

  virtual void start(transfer& one, std::uint32_t tag) = 0;
  // Advances the message; returns immediately. Throws if another rank is known to have failed.
  virtual outcome progress(transfer& one) = 0;
  // A number that changes when `progress` can do more.
  virtual std::uint64_t events() { return 0; }
  // Pauses while `events()` is `seen`, or for a short time; `pauses` have gone before since a message was advanced.
  // Returns false after `end`.
  virtual bool pause(std::uint64_t seen, int pauses, clock::time_point end) = 0;
  // Ends a started message that has not finished: afterwards nothing refers to its memory.
  virtual void cancel(transfer& one) noexcept = 0;
  // The group of the ranks `members` of this group, in this order, in which this rank is `rank`. All ranks of this
  // group call it at the same time; ranks with the same `colour` have the same members.
  virtual std::shared_ptr<group> split(std::size_t colour, std::size_t rank, const std::vector<std::size_t>& members,
  // Whether messages may have objects.
  [[nodiscard]] virtual bool shares_memory() const noexcept { return false; }
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
  void cancel(transfer&) noexcept override {}
  std::shared_ptr<group> split(std::size_t, std::size_t, const std::vector<std::size_t>&, std::uint32_t) override {
    return std::make_shared<single_group>();
  }
};

}  // namespace dimwise::ranks::detail
