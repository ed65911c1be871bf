// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/shared_objects.hpp -- objects that ranks of one process give each other without a copy.
//
// Layer: ranks. Threads read each other's memory, so a block of keys that goes around a ring need not be copied. The
// receiver keeps an object alive. A tensor that another rank still reads is copied when its owner writes to it.
// Tests: tests/ranks/collectives.test.cpp
#pragma once

#include <dimwise/ranks/messages/communicator.hpp>
#include <dimwise/ranks/messages/group.hpp>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::ranks::detail {

template <class T>
inline constexpr char type_of_object = 0;

// All ranks call these functions together, as they do collectives, and only if they share memory.
struct shared_objects {
  [[nodiscard]] static bool has(const communicator& along) noexcept { return along.shares_memory(); }

  // The object of each rank.
  template <class T>
  [[nodiscard]] static std::vector<std::shared_ptr<const T>> of_all(const communicator& along,
                                                                    std::shared_ptr<const T> mine,
                                                                    std::string_view shape) {
    std::vector<shared_object> all(along.size());
    along.share_objects({std::move(mine), &type_of_object<T>}, all.data(), shape);
    std::vector<std::shared_ptr<const T>> result;
    for (shared_object& one : all) { result.push_back(std::static_pointer_cast<const T>(std::move(one.it))); }
    return result;
  }

  // Gives an object to the rank `to`, and receives one from the rank `from` into `received`, which the request fills.
  // The receiver alone has it, and may change it.
  template <class T>
  [[nodiscard]] static request hand_on(const communicator& along, std::shared_ptr<T> sent, std::size_t to,
                                       shared_object& received, std::size_t from, std::string_view shape) {
    return along.start_handing({std::move(sent), &type_of_object<T>}, to, received, from, shape);
  }
  template <class T>
  [[nodiscard]] static std::shared_ptr<T> taken(shared_object& received) {
    return std::static_pointer_cast<T>(std::const_pointer_cast<void>(std::move(received.it)));
  }
};

}  // namespace dimwise::ranks::detail
