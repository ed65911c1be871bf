// SPDX-License-Identifier: BSL-1.0
// tests/dispatch/headers.cpp -- every header that has kernels, for the processor of the flags.
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

int main() {}
