// tests/fuzz_files/libfuzzer.cpp -- the targets of targets.hpp for libFuzzer: DIMWISE_FUZZ names one
// (tests/fuzz_files/run.sh).
// SPDX-License-Identifier: BSL-1.0
#include "targets.hpp"

#include <cstdio>
#include <utility>

namespace {

bool (*target)(dimwise_fuzz::input) = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  using namespace dimwise_fuzz;
  const std::pair<std::string_view, bool (*)(input)> all[] = {{"safetensors", safetensors},
                                                              {"gguf", gguf},
                                                              {"npy", npy},
                                                              {"npz", npz},
                                                              {"settings", settings},
                                                              {"arrays", arrays},
                                                              {"generation", generation},
                                                              {"sentences", sentences},
                                                              {"static_embedding", static_embedding},
                                                              {"tokenizer", tokenizer},
                                                              {"merges", merges},
                                                              {"vocabulary", vocabulary},
                                                              {"marian", marian},
                                                              {"sentencepiece", sentencepiece}};
  const char* const name = std::getenv("DIMWISE_FUZZ");
  for (const auto& [one, run] : all) {
    if (name != nullptr && one == name) { target = run; }
  }
  if (target == nullptr) {
    std::fputs("DIMWISE_FUZZ names a target of targets.hpp\n", stderr);
    std::exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  target(std::as_bytes(std::span(data, size)));
  return 0;
}
