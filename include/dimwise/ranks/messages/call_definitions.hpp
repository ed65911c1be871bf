// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/call_definitions.hpp -- a call of a rank, and the messages of the call.
//
// Layer: ranks.
#pragma once

#include <dimwise/ranks/messages/communicator.hpp>
#include <dimwise/ranks/messages/group.hpp>
#include <dimwise/support/text_warning.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks::detail {

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

}  // namespace dimwise::ranks::detail
DIMWISE_DETAIL_TEXT_END;
