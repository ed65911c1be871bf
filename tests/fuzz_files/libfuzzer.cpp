// tests/fuzz_files/libfuzzer.cpp -- one target of targets.hpp for libFuzzer: -DTARGET=safetensors
// (tests/fuzz_files/run.sh).
// SPDX-License-Identifier: BSL-1.0
#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  dimwise_fuzz::TARGET(std::as_bytes(std::span(data, size)));
  return 0;
}
