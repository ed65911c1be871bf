// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/mpi.hpp -- ranks as processes of MPI. The only file that includes mpi.h; only src/mpi.cpp includes it.
//
// Layer: ranks. Uses the C interface: messages of bytes between two ranks. Needs the target dimwise::mpi.
// Tests: tests/ranks/mpi/
#pragma once

#include <dimwise/ranks/run.hpp>

// The C++ interface, which MPI 3 removed, is another library.
#if !defined(OMPI_SKIP_MPICXX)
/// Open MPI's header leaves out the C++ interface.
#define OMPI_SKIP_MPICXX 1
#endif
#if !defined(MPICH_SKIP_MPICXX)
/// MPICH's header leaves it out.
#define MPICH_SKIP_MPICXX 1
#endif
#include <algorithm>
#include <list>
#include <memory>
#include <mpi.h>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks::detail {

inline void check_mpi(int code, const char* function) {
  if (code == MPI_SUCCESS) { return; }
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  (void)MPI_Error_string(code, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  throw rank_error(std::string(function) + ": " + text);
}

class mpi_group final : public group {
 public:
  // Owns `all`, and keeps the processes' own messages apart from those of other users of MPI.
  mpi_group(MPI_Comm all, std::size_t rank, std::size_t size) : group(rank, size), all_(all) {
    (void)MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN);
  }
  mpi_group(const mpi_group&) = delete;
  mpi_group& operator=(const mpi_group&) = delete;
  ~mpi_group() override {
    int is_finished = 0;
    (void)MPI_Finalized(&is_finished);
    if (is_finished == 0) { (void)MPI_Comm_free(&all_); }
  }

  // A receive starts when its message is there, see match().
  void start(transfer& one, std::uint32_t tag) override {
    one.tag = tag;
    MPI_Request handle = MPI_REQUEST_NULL;
    if (one.sends) {
      check_mpi(MPI_Isend(one.data, static_cast<int>(one.bytes), MPI_BYTE, static_cast<int>(one.peer),
                          static_cast<int>(tag), all_, &handle),
                "MPI_Isend");
    } else {
      waiting_.push_back(&one);
    }
    store(one, handle);
  }

  outcome progress(transfer& one) override {
    if (!one.sends && !match(one)) { return outcome::pending; }
    MPI_Request handle = stored(one);
    MPI_Status status{};
    int is_done = 0;
    const int code = MPI_Test(&handle, &is_done, &status);
    store(one, handle);
    check_mpi(code, "MPI_Test");
    if (is_done == 0) { return outcome::pending; }
    one.done = true;
    one.moved = one.sends ? one.bytes : bytes_of(status);
    return outcome::done;
  }

  // MPI waits without a limit, so this polls: without a pause at first, then giving the processor to other ranks, then
  // sleeping.
  bool pause(std::uint64_t, int pauses, clock::time_point end) override {
    constexpr int polls_without_pause = 1000;
    constexpr int polls_without_sleep = 100000;
    if (pauses < polls_without_pause) { return true; }
    if (pauses < polls_without_sleep) {
      std::this_thread::yield();
      if (pauses % 64 != 0) { return true; }
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return clock::now() < end;
  }

  void cancel(transfer& one, clock::time_point end) noexcept override {
    MPI_Request handle = stored(one);
    if (!one.sends) { std::erase(waiting_, &one); }
    if (handle == MPI_REQUEST_NULL) { return; }
    if (one.sends) {
      // MPI cannot take back a send, and copies from its memory when the receiver is ready: a crash if it is freed.
      if (!finish_send(handle, one.peer, end)) { (void)MPI_Request_free(&handle); }
    } else {
      (void)MPI_Cancel(&handle);
      (void)MPI_Wait(&handle, MPI_STATUS_IGNORE);
    }
    store(one, handle);
  }

  [[nodiscard]] bool reads_late() const noexcept override { return true; }

  // A message of its own tag to every other rank. A short one needs no receiver; its memory stays.
  void withdraw(const withdrawal& what) override {
    if (!what.has_failed) { agreed_ = what.count; }
    std::string text = what.why.substr(0, longest_why);
    const notice head{what.count, what.from, what.has_failed ? 1U : 0U, what.lacks_text ? 1U : 0U,
                      static_cast<std::uint32_t>(what.rank)};
    std::vector<char>& sent = notices.emplace_back(sizeof(notice) + text.size());
    std::memcpy(sent.data(), &head, sizeof(notice));
    std::memcpy(sent.data() + sizeof(notice), text.data(), text.size());
    for (std::size_t r = 0; r < size(); ++r) {
      if (r == rank()) { continue; }
      MPI_Request handle = MPI_REQUEST_NULL;
      check_mpi(MPI_Isend(sent.data(), static_cast<int>(sent.size()), MPI_BYTE, static_cast<int>(r), notice_tag, all_,
                          &handle),
                "MPI_Isend");
      (void)MPI_Request_free(&handle);
    }
  }
  withdrawal withdrawal_of(std::size_t rank, bool thoroughly) override {
    if (thoroughly || looks_++ % looks_without_probe == 0) { receive_notices(); }
    return rank < withdrawn_.size() ? withdrawn_[rank] : withdrawal{};
  }

  std::shared_ptr<group> split(std::size_t colour, std::size_t rank, const std::vector<std::size_t>& members,
                               std::uint32_t) override {
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(all_, static_cast<int>(colour), static_cast<int>(rank), &part), "MPI_Comm_split");
    return std::make_shared<mpi_group>(part, rank, members.size());
  }

 private:
  struct notice {
    std::uint32_t count;
    std::uint32_t from;
    std::uint32_t has_failed;
    std::uint32_t lacks_text;
    std::uint32_t rank;
  };
  static constexpr int notice_tag = static_cast<int>(tag_of_messages) + 1;
  static constexpr std::size_t longest_why = 2000;
  static constexpr std::size_t looks_without_probe = 256;  // a probe takes as long as a short message

  static std::size_t bytes_of(const MPI_Status& status) {
    int bytes = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    return static_cast<std::size_t>(bytes);
  }

  // Whether the message of a receive is there. Receives with the same tag get the messages of a rank in order. One that
  // is too long is received elsewhere: cut by MPI, a long one can crash both processes (Open MPI 4.1).
  bool match(transfer& one) {
    while (stored(one) == MPI_REQUEST_NULL) {
      const auto first = std::find_if(waiting_.begin(), waiting_.end(), [&](const transfer* other) {
        return other->peer == one.peer && other->tag == one.tag;
      });
      int is_there = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status{};
      check_mpi(MPI_Improbe(static_cast<int>(one.peer), static_cast<int>(one.tag), all_, &is_there, &message, &status),
                "MPI_Improbe");
      if (is_there == 0) { return false; }
      const std::size_t bytes = bytes_of(status);
      std::byte* to = bytes > (*first)->bytes ? longer_.emplace_back(bytes).data() : (*first)->data;
      MPI_Request handle = MPI_REQUEST_NULL;
      check_mpi(MPI_Imrecv(to, static_cast<int>(bytes), MPI_BYTE, &message, &handle), "MPI_Imrecv");
      store(**first, handle);
      waiting_.erase(first);
    }
    return true;
  }

  // Waits until the receiver has a message, but not for one that has withdrawn: it has cancelled its receives, or is
  // about to and waits for those that have begun.
  bool finish_send(MPI_Request& handle, std::size_t peer, clock::time_point end) noexcept {
    constexpr std::chrono::seconds unwinding{1};
    bool has_withdrawn = false;
    for (int pauses = 0;; ++pauses) {
      int is_done = 0;
      (void)MPI_Test(&handle, &is_done, MPI_STATUS_IGNORE);
      if (is_done != 0) { return true; }
      try {
        if (!has_withdrawn && withdrawal_of(peer, false).count > agreed_) {
          has_withdrawn = true;
          end = std::min(end, clock::now() + unwinding);
        }
      } catch (...) { return false; }
      if (clock::now() >= end) { return false; }
      if (!pause(0, pauses, end)) { return false; }
    }
  }
  void receive_notices() {
    for (;;) {
      MPI_Status status{};
      int is_there = 0;
      check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, notice_tag, all_, &is_there, &status), "MPI_Iprobe");
      if (is_there == 0) { return; }
      std::vector<char> all(sizeof(notice) + longest_why);
      check_mpi(
          MPI_Recv(all.data(), static_cast<int>(all.size()), MPI_BYTE, status.MPI_SOURCE, notice_tag, all_, &status),
          "MPI_Recv");
      notice head{};
      std::memcpy(&head, all.data(), sizeof(notice));
      withdrawn_.resize(size());
      withdrawn_[static_cast<std::size_t>(status.MPI_SOURCE)] = {
          head.count,
          head.from,
          head.has_failed != 0,
          head.lacks_text != 0,
          head.rank,
          std::string(all.data() + sizeof(notice), bytes_of(status) - sizeof(notice)),
          nullptr};
    }
  }

  // MPI's handle is an int or a pointer.
  static_assert(sizeof(MPI_Request) <= sizeof(void*));
  static void store(transfer& one, const MPI_Request& handle) {
    std::memcpy(&one.handle, &handle, sizeof(handle));  // NOLINT(bugprone-sizeof-expression): the handle itself
  }
  static MPI_Request stored(const transfer& one) {
    MPI_Request handle = MPI_REQUEST_NULL;
    std::memcpy(&handle, &one.handle, sizeof(handle));  // NOLINT(bugprone-sizeof-expression)
    return handle;
  }

  inline static std::list<std::vector<char>> notices{};  // under way, of all groups
  std::vector<transfer*> waiting_{};                     // receives without a message, in the order of their starts
  std::list<std::vector<std::byte>> longer_{};           // messages that are longer than their receives
  MPI_Comm all_;
  std::size_t looks_ = 0;
  std::vector<withdrawal> withdrawn_{};
  // The count of the last withdrawal after which this rank could go on: all ranks that then did have told it, too.
  std::uint32_t agreed_ = 0;
};

// Whether this library has initialised MPI, and not the program.
inline bool has_started_mpi = false;

inline std::shared_ptr<group> start_mpi() {
  int is_there = 0;
  check_mpi(MPI_Initialized(&is_there), "MPI_Initialized");
  if (is_there == 0) {
    int level = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
    has_started_mpi = true;
  }
  MPI_Comm all = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &all), "MPI_Comm_dup");
  int rank = 0;
  int size = 1;
  check_mpi(MPI_Comm_rank(all, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(all, &size), "MPI_Comm_size");
  return std::make_shared<mpi_group>(all, static_cast<std::size_t>(rank), static_cast<std::size_t>(size));
}
inline void abort_mpi() { (void)MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE); }
inline void finish_mpi() {
  if (has_started_mpi) { (void)MPI_Finalize(); }
}

inline const bool has_registered_mpi = [] {
  processes = {.start = start_mpi, .abort = abort_mpi, .finish = finish_mpi};
  return true;
}();

}  // namespace dimwise::ranks::detail
DIMWISE_DETAIL_TEXT_END;
