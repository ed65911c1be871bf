// SPDX-License-Identifier: BSL-1.0
// dimwise/models/common/find_architecture.hpp -- the architecture that the model_type of a config.json names.
//
// Layer: models.
// Tests: tests/models/decoders/decoder.test.cpp, tests/models/encoder_decoder.test.cpp
#pragma once

#include <dimwise/io/config.hpp>

#include <string>

namespace dimwise::models::detail {

// The architecture of these settings in `more` or, if it is not there, in `known`. Throws `file_error` for another
// model_type, with the list of all; `what` names them: "types".
template <class List>
[[nodiscard]] const typename List::value_type& find_architecture(const io::config_check& settings, const List& more,
                                                                 const List& known, const std::string& what) {
  io::config_check config = settings;
  const std::string kind = config.word("model_type");
  config.finish();
  std::string types;
  for (const List* list : {&more, &known}) {
    for (const auto& one : *list) {
      if (one.model_type == kind) { return one; }
      types += (types.empty() ? "" : ", ") + one.model_type;
    }
  }
  throw io::file_error(config.title() + ": model_type is " + io::detail::printable(kind) + "; the " + what +
                       " that are read are " + types);
}

}  // namespace dimwise::models::detail
