// SPDX-License-Identifier: BSL-1.0
// dimwise/src/architecture_tables.hpp -- the tables of kernels of one architecture: kernels_<architecture>.cpp defines
// them, kernels.cpp chooses among them.
#pragma once

#include <dimwise/kernels/dispatch/gradient_table.hpp>
#include <dimwise/kernels/dispatch/quantised_table.hpp>
#include <dimwise/kernels/dispatch/table.hpp>

namespace dimwise::kernels {

struct architecture_tables {
  table kernels;
  element_table<double> doubles;
  gradient_table gradients;
  element_gradient_table<double> double_gradients;
  quantised_table quantised;
};

}  // namespace dimwise::kernels

// Defines the tables of a file that includes the implementations.
#define DIMWISE_ARCHITECTURE_TABLES(name, Arch)                                                                 \
  extern const architecture_tables name;                                                                        \
  const architecture_tables name = {table_of<Arch>, element_table_of<in_double<Arch>>, gradient_table_of<Arch>, \
                                    gradient_table_of<in_double<Arch>>, quantised_table_of<Arch>};
