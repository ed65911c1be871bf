// SPDX-License-Identifier: BSL-1.0
// playground/prelude.hpp -- the headers that the playground precompiles: every program there begins with them.
#pragma once

#include "exercise.hpp"
#include <dimwise/viz.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <fstream>
#include <iostream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
