// SPDX-License-Identifier: BSL-1.0
// exercises/support/loading.hpp -- for exercises that load a model: arrays in memory, read as those of a file.
//
// Not precompiled: other exercises do not need it. It opens no file.
#pragma once

#include "exercise.hpp"
#include <dimwise/io/bindings.hpp>
#include <dimwise/io/checkpoint.hpp>

#include <string>

namespace course {

/// An array of a checkpoint.
struct stored {
  std::string name{};
  std::vector<std::size_t> extents{};
  std::vector<float> elements{};
};

/// The arrays of a checkpoint, with the title of the file that they stand for.
class arrays {
 public:
  arrays(const std::string& title, std::vector<stored> all) : all_(std::move(all)), archive_(title) {
    for (const stored& one : all_) {
      dimwise::io::stored_array made;
      made.name = one.name, made.extents = one.extents, made.bytes = std::as_bytes(std::span(one.elements));
      archive_.add(made);
    }
  }
  arrays(const arrays&) = delete;
  arrays& operator=(const arrays&) = delete;

  [[nodiscard]] const dimwise::io::archive& archive() const { return archive_; }

 private:
  std::vector<stored> all_;
  dimwise::io::archive archive_;
};

}  // namespace course
