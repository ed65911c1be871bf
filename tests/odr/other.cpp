// SPDX-License-Identifier: BSL-1.0
#include "attention.hpp"

double odr::attention_of_the_other_file() { return odr::attention(); }
