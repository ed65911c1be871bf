// tests/fuzz_files/libfuzzer.cpp -- a target of targets.hpp for libFuzzer: DIMWISE_FUZZ_TARGET names it
// (tests/fuzz_files/run.sh). A program has one target, because libFuzzer looks at every counter after each execution.
// SPDX-License-Identifier: BSL-1.0
#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  dimwise_fuzz::DIMWISE_FUZZ_TARGET(std::as_bytes(std::span(data, size)));
  return 0;
}
