// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/parameters/list_definitions.hpp -- the members of a list of parameters (support/library.hpp).
//
// Layer: grad.
#pragma once

#include <dimwise/grad/parameters/list.hpp>

#include <string>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY std::size_t parameter_list::size(std::size_t i) const {
  axis axes[max_rank];
  write_extents(i, axes);
  std::size_t size = 1;
  for (std::size_t k = 0; k < type(i).shape->axes.size; ++k) { size *= axes[k].extent; }
  return size;
}

DIMWISE_DETAIL_LIBRARY bool parameter_list::is_tied(std::size_t i) const {
  return is_among_tied(stages_.tied, member(i));
}

DIMWISE_DETAIL_LIBRARY void parameter_list::check_same_extents(const char* what, const parameter_list& other,
                                                               const char* whose) const {
  if (count() != other.count()) {
    raise<extent_error>(error{} << what << ": the model has " << count() << " parameters and the " << whose << " has "
                                << other.count() << " (R15)");
  }
  check_same_lengths(other);
  for (std::size_t i = 0; i < count(); ++i) {
    axis extents[2][max_rank];
    write_extents(i, extents[0]);
    other.write_extents(i, extents[1]);
    for (std::size_t k = 0; k < type(i).shape->axes.size; ++k) {
      if (extents[0][k].extent == extents[1][k].extent) { continue; }
      const std::string of = name(i);
      raise<extent_error>(error{} << what << ": the parameter " << of.c_str() << (of.empty() ? "" : " ")
                                  << "has extent " << extents[0][k].extent << " of " << type(i).shape->axes.at[k]()
                                  << ", the " << whose << " has " << extents[1][k].extent << " (R15)");
    }
  }
}

}  // namespace dimwise::detail
