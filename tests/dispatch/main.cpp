// SPDX-License-Identifier: BSL-1.0
// tests/dispatch/main.cpp -- the checks with the kernels that this program was built with.
//
//   dispatch [architecture]      fails where other kernels than those run
#include "checks.hpp"

int main(int count, char** arguments) { return dispatch::run(count > 1 ? arguments[1] : nullptr); }
