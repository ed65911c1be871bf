// SPDX-License-Identifier: BSL-1.0
// dimwise/viz.hpp -- pictures, beside dimwise/dimwise.hpp, which prints.
#pragma once

// clang-format off: errors are declared first, which keeps the include lines of an error few
#include <dimwise/support/errors.hpp>
// clang-format on

#include <dimwise/viz/pictures/curve.hpp>
#include <dimwise/viz/pictures/derivation.hpp>
#include <dimwise/viz/pictures/derivation_graph.hpp>
#include <dimwise/viz/pictures/dots.hpp>
#include <dimwise/viz/pictures/network.hpp>
#include <dimwise/viz/pictures/weights.hpp>
#include <dimwise/viz/report.hpp>
#include <dimwise/viz/training_report.hpp>
