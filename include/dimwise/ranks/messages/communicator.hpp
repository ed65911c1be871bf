// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/communicator.hpp -- a group of ranks, and the collectives that they call together, over plain
// memory.
//
// Layer: ranks. Knows no dimensions: pointers, counts and element types. Each collective is called by all ranks of the
// communicator, in the same order. A communicator is used by one thread at a time.
// Tests: tests/ranks/collectives.test.cpp, tests/ranks/failures.test.cpp, tests/ranks/mpi/
//
//   ranks::run([](const ranks::communicator& world) {
//     float x = …;
//     world.all_reduce(&x, 1, "loss []");   // the sum over all ranks, on every rank
//   });
#pragma once

#include <dimwise/ranks/error.hpp>
#include <dimwise/support/library.hpp>
#include <dimwise/support/name.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace dimwise::ranks {

/// How ranks check each other.
struct options {
  /// Before each collective, the ranks compare the operation, the element type and the shape, and throw `rank_error`
  /// with both texts if they differ. On by default in programs without NDEBUG. Equal on all ranks.
  bool checks = true;
  /// The longest time that a rank waits for another one inside a collective before it throws `rank_error`.
  std::chrono::milliseconds limit = std::chrono::minutes(10);
};

/// The element types of which collectives compute sums and maxima.
template <class T>
concept reducible =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

/// The element types that collectives send.
template <class T>
concept sendable = std::is_trivially_copyable_v<T>;

/// How a reduction combines the elements of the ranks, from rank 0 to the last one.
enum class reduction : unsigned char {
  sum,  ///< ((x0 + x1) + x2) + …: the same bits on every rank and in every run
  max,  ///< the maximum; NaN if an element is NaN
};

namespace detail {

struct member;  // the state of one rank in a communicator
struct pending;
class group;
struct shared_object;
struct shared_objects;
struct known_axes;

enum class element : unsigned char { float32, float64, int32, int64 };
template <reducible T>
inline constexpr element element_of = std::same_as<T, float>          ? element::float32
                                      : std::same_as<T, double>       ? element::float64
                                      : std::same_as<T, std::int32_t> ? element::int32
                                                                      : element::int64;

// The elements of a call, for messages and in bytes.
struct elements {
  dimwise::detail::text name;
  std::size_t bytes;
};
template <class T>
inline constexpr elements elements_of{dimwise::detail::raw_type_name<T>(), sizeof(T)};

}  // namespace detail

/// Messages on their way (`communicator::permute`, `communicator::start_all_reduce`): their memory must live, and must
/// not be changed, until `wait` returns.
class request {
 public:
  /// A request that has finished.
  DIMWISE_DETAIL_LIBRARY request() noexcept;
  DIMWISE_DETAIL_LIBRARY request(request&& from) noexcept;
  DIMWISE_DETAIL_LIBRARY request& operator=(request&& from) noexcept;
  /// Cancels what has not finished.
  DIMWISE_DETAIL_LIBRARY ~request();

  /// Waits until the received elements are there and those sent may be changed. Throws `rank_error` after the limit, or
  /// if the other rank sent another number of elements.
  DIMWISE_DETAIL_LIBRARY void wait();
  /// Whether `wait` would return immediately; advances the message. Throws as `wait` does, except for the limit.
  DIMWISE_DETAIL_LIBRARY bool done();

 private:
  friend class communicator;
  std::unique_ptr<detail::pending> pending_;
};

/// One rank's end of a group of ranks. Copies are handles of the same end.
///
/// `shape` describes the call in messages, and the checks compare it: all ranks of a call pass the same text, so for
/// parts of different lengths it describes the whole. Every collective throws `rank_error` if another rank failed,
/// ended, or did not call it within the limit, if ranks call different collectives, and if the ranks' counts do not
/// fit.
class communicator {
 public:
  /// The communicator of one rank.
  DIMWISE_DETAIL_LIBRARY communicator();
  communicator(const communicator&) = default;
  communicator& operator=(const communicator&) = default;
  /// A move copies: what was moved from, a mesh or a cache as well, is a handle of the same end too.
  // NOLINTNEXTLINE(performance-move-constructor-init)
  communicator(communicator&& other) noexcept : communicator(other) {}
  /// As the constructor.
  communicator& operator=(communicator&& other) noexcept { return *this = other; }
  ~communicator() = default;

  /// This rank, from 0.
  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  /// The number of ranks.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The name in messages: "world", or what `split` was given.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY const std::string& name() const noexcept;
  /// The number that a rank of this communicator has in the world.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY std::size_t rank_in_world(std::size_t rank) const;
  /// Whether calls are compared between ranks: then `shape` is read, otherwise only for the text of an exception.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY bool is_checked() const noexcept;
  /// Changes the limit on waiting for this communicator, its copies and what is split from it later.
  DIMWISE_DETAIL_LIBRARY void set_limit(std::chrono::milliseconds limit) const;

  /// Returns when all ranks have called it.
  DIMWISE_DETAIL_LIBRARY void barrier(std::string_view shape = {}) const;

  /// The sum (or maximum) of the elements of all ranks, in the order of the ranks. `mine` and `result` may be equal.
  template <reducible T>
  void all_reduce(const T* mine, T* result, std::size_t count, std::string_view shape = {},
                  reduction how = reduction::sum) const {
    reduce_all(detail::element_of<T>, detail::elements_of<T>, mine, result, count, shape, how);
  }
  /// The same in place.
  template <reducible T>
  void all_reduce(T* values, std::size_t count, std::string_view shape = {}, reduction how = reduction::sum) const {
    all_reduce(values, values, count, shape, how);
  }

  /// Starts the sum in place, in the order of the ranks. Every rank calls it, and computes until it calls `wait` of the
  /// result; `done` advances the messages.
  template <reducible T>
  [[nodiscard]] request start_all_reduce(T* values, std::size_t count, std::string_view shape = {}) const {
    return start_reduce(detail::element_of<T>, detail::elements_of<T>, values, count, shape);
  }

  /// The sum (or maximum) of part r on rank r: `mine` has one part after another, `counts[r]` elements in part r on
  /// every rank. `result` may be this rank's part of `mine`.
  template <reducible T>
  void reduce_scatter(const T* mine, T* result, const std::size_t* counts, std::string_view shape = {},
                      reduction how = reduction::sum) const {
    scatter_reduced(detail::element_of<T>, detail::elements_of<T>, mine, result, counts, shape, how);
  }

  /// The parts of all ranks, one after another, on every rank: `counts[r]` elements of rank r. `mine` may be this
  /// rank's part of `all`.
  template <sendable T>
  void all_gather(const T* mine, T* all, const std::size_t* counts, std::string_view shape = {}) const {
    gather_all(detail::elements_of<T>, mine, all, counts, shape);
  }

  /// Sends `sent_counts[r]` elements to rank r and receives `received_counts[r]` from it; the parts are one after
  /// another in memory. The memory does not overlap.
  template <sendable T>
  void all_to_all(const T* sent, const std::size_t* sent_counts, T* received, const std::size_t* received_counts,
                  std::string_view shape = {}) const {
    exchange_all(detail::elements_of<T>, sent, sent_counts, received, received_counts, shape);
  }

  /// The elements of the rank `from` on every rank.
  template <sendable T>
  void broadcast(T* values, std::size_t count, std::size_t from, std::string_view shape = {}) const {
    send_to_all(detail::elements_of<T>, values, count, from, shape);
  }

  /// Starts to send to the rank `to` and to receive from the rank `from`, each of which may be `no_rank`. Every rank
  /// calls it, and computes until it calls `wait` of the result. The memory does not overlap.
  template <sendable T>
  [[nodiscard]] request permute(const T* sent, std::size_t sent_count, std::size_t to, T* received,
                                std::size_t received_count, std::size_t from, std::string_view shape = {}) const {
    return start_permute(detail::elements_of<T>, sent, sent_count, to, received, received_count, from, shape);
  }

  /// Starts to send elements to the rank `to`, which calls `start_receive`. Only these two ranks take part, and
  /// messages from one rank to another arrive in the order of the calls. The elements stay as they are until `wait` of
  /// the result.
  template <sendable T>
  [[nodiscard]] request start_send(const T* sent, std::size_t count, std::size_t to,
                                   std::string_view shape = {}) const {
    return start_message(detail::elements_of<T>, const_cast<T*>(sent), count, to, true, shape);
  }
  /// Starts to receive elements that the rank `from` sends by `start_send`; call it after `wait` of the message before.
  /// Throws `rank_error` with both texts if the ranks pass different counts, element types or shapes, if calls are
  /// checked.
  template <sendable T>
  [[nodiscard]] request start_receive(T* received, std::size_t count, std::size_t from,
                                      std::string_view shape = {}) const {
    return start_message(detail::elements_of<T>, received, count, from, false, shape);
  }
  /// Tells the other ranks that this one has thrown `why` and takes no part in the next calls: a rank that waits for it
  /// throws `rank_error` with this rank and the text. Operations of dimwise call it when they throw; call it where you
  /// catch an exception that the other ranks do not have. If all ranks withdraw before the same call, they may make
  /// it; otherwise later calls throw.
  DIMWISE_DETAIL_LIBRARY void withdraw(const std::exception_ptr& why, std::string_view operation = {}) const;

  /// The communicator of the ranks that pass the same colour, in the order of their ranks here. Every rank calls it,
  /// with the same name.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY communicator split(std::size_t colour, std::string_view name) const;

  /// For backends: the communicator of a backend's group of all ranks.
  DIMWISE_DETAIL_LIBRARY communicator(std::shared_ptr<detail::group> world, options how);

 private:
  friend struct detail::shared_objects;
  friend struct detail::known_axes;
  explicit communicator(std::shared_ptr<detail::member> state);

  DIMWISE_DETAIL_LIBRARY void reduce_all(detail::element type, detail::elements named, const void* mine, void* result,
                                         std::size_t count, std::string_view shape, reduction how) const;
  DIMWISE_DETAIL_LIBRARY request start_reduce(detail::element type, detail::elements named, void* values,
                                              std::size_t count, std::string_view shape) const;
  DIMWISE_DETAIL_LIBRARY void scatter_reduced(detail::element type, detail::elements named, const void* mine,
                                              void* result, const std::size_t* counts, std::string_view shape,
                                              reduction how) const;
  DIMWISE_DETAIL_LIBRARY void gather_all(detail::elements named, const void* mine, void* all, const std::size_t* counts,
                                         std::string_view shape) const;
  DIMWISE_DETAIL_LIBRARY void exchange_all(detail::elements named, const void* sent, const std::size_t* sent_counts,
                                           void* received, const std::size_t* received_counts,
                                           std::string_view shape) const;
  DIMWISE_DETAIL_LIBRARY void send_to_all(detail::elements named, void* values, std::size_t count, std::size_t from,
                                          std::string_view shape) const;
  DIMWISE_DETAIL_LIBRARY request start_permute(detail::elements named, const void* sent, std::size_t sent_count,
                                               std::size_t to, void* received, std::size_t received_count,
                                               std::size_t from, std::string_view shape) const;
  DIMWISE_DETAIL_LIBRARY request start_message(detail::elements named, void* data, std::size_t count, std::size_t peer,
                                               bool sends, std::string_view shape) const;
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY bool shares_memory() const noexcept;
  DIMWISE_DETAIL_LIBRARY void share_objects(const detail::shared_object& mine, detail::shared_object* all,
                                            std::string_view shape) const;
  DIMWISE_DETAIL_LIBRARY request start_handing(const detail::shared_object& sent, std::size_t to,
                                               detail::shared_object& received, std::size_t from,
                                               std::string_view shape) const;

  std::shared_ptr<detail::member> state_;
  std::size_t rank_ = 0;
  std::size_t size_ = 1;
};

namespace detail {

// The ranks along the mesh axes of this thread.
struct known_axes {
  // Notes the ranks along an axis for as long as a handle of the communicator lives. What is wrong, if those of another
  // one are others.
  DIMWISE_DETAIL_LIBRARY static std::string note(const void* axis, const communicator& along, const std::string& name);
};

// Calls `f`, in which the ranks of a communicator take part. If it throws on this rank, none of the others waits for
// it.
template <class F>
auto taking_part(const communicator& along, const char* operation, const F& f) {
  try {
    return f();
  } catch (...) {
    along.withdraw(std::current_exception(), operation);
    throw;
  }
}

}  // namespace detail

}  // namespace dimwise::ranks

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/ranks/messages/communicator_definitions.hpp>
#endif
