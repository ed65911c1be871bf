// SPDX-License-Identifier: BSL-1.0
// dimwise/models/common/whole_number.hpp -- reads integer settings of config.json that may be 0, absent or null.
//
// Layer: models. `io::config_check::count` reads those from 1.
// Tests: tests/models/whole_number.test.cpp
//
//   whole_number(config, "pad_token_id", 0)
//   whole_number(config, "sliding_window", 4096, null_setting::is_zero)
#pragma once

#include <dimwise/io/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace dimwise::models {

/// The meaning of a setting that is null: the default of an absent one, or 0.
enum class null_setting { is_absent, is_zero };

/// An integer from 0 to 2^31 - 1; `otherwise` if it is absent. Records any other value as a mismatch.
[[nodiscard]] inline std::size_t whole_number(io::config_check& config, const std::string& key, std::size_t otherwise,
                                              null_setting null = null_setting::is_absent) {
  if (null == null_setting::is_zero && config.is_null(key)) { return 0; }
  const double n = config.number(key, static_cast<double>(otherwise), io::number_range::from_zero);
  if (n != std::floor(n) || n > std::numeric_limits<std::int32_t>::max()) {
    config.differs(key + " is not a whole number from 0 to 2^31 - 1");
    return otherwise;
  }
  return static_cast<std::size_t>(n);
}

}  // namespace dimwise::models
