// SPDX-License-Identifier: BSL-1.0
// dimwise/viz.hpp -- pictures, beside dimwise/dimwise.hpp, which prints.
#pragma once

#include <dimwise/viz/curve_picture.hpp>
#include <dimwise/viz/derivation_graph.hpp>
#include <dimwise/viz/derivation_picture.hpp>
#include <dimwise/viz/dot_picture.hpp>
#include <dimwise/viz/network_picture.hpp>
#include <dimwise/viz/report.hpp>
#include <dimwise/viz/weights_picture.hpp>
