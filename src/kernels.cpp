// SPDX-License-Identifier: BSL-1.0
// dimwise/src/kernels.cpp -- run-time dispatch to the best kernels that this machine supports.
//
// The compiler's CPU check, unlike that of xsimd, also checks whether the operating system saves the wide registers.
// The environment variable DIMWISE_ARCHITECTURE=sse2|sse4|avx2|avx512|avx512vnni|avx512bf16 selects an older
// architecture. DIMWISE_WITHOUT_SSE4, _AVX2 and _AVX512 leave out what was not compiled (src/CMakeLists.txt).
#include "architecture_tables.hpp"
#include <dimwise/kernels/dispatch/active_bfloat16.hpp>
#include <dimwise/kernels/dispatch/active_gradients.hpp>
#include <dimwise/kernels/dispatch/active_quantised.hpp>

#include <cstdlib>
#include <cstring>
#include <iterator>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace dimwise::kernels {

#if defined(__x86_64__)

extern const architecture_tables tables_avx512;
extern const architecture_tables tables_avx2;
extern const architecture_tables tables_sse4;
extern const architecture_tables tables_sse2;
extern const bfloat16_table bfloat16_table_avx512bf16;
extern const quantised_table quantised_table_avx512bf16;
extern const quantised_table quantised_table_avx512vnni;

namespace {

struct choice {
  const char* name;
  bool supported;
  const architecture_tables* tables;
  const quantised_table* quantised;
  const bfloat16_table* bfloat16 = nullptr;
};

// Clang 14 has no __builtin_cpu_supports("f16c").
[[maybe_unused]] bool converts_halves() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

choice choose() noexcept {
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                      __builtin_cpu_supports("fma") != 0;
  [[maybe_unused]] const bool vnni = avx512 && __builtin_cpu_supports("avx512vnni") != 0;
  const choice choices[] = {
#if !defined(DIMWISE_WITHOUT_AVX512)
      {"avx512bf16", vnni && __builtin_cpu_supports("avx512bf16") != 0, &tables_avx512, &quantised_table_avx512bf16,
       &bfloat16_table_avx512bf16},
      {"avx512vnni", vnni, &tables_avx512, &quantised_table_avx512vnni},
      {"avx512", avx512, &tables_avx512, &tables_avx512.quantised},
#endif
#if !defined(DIMWISE_WITHOUT_AVX2)
      {"avx2", __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 && converts_halves(),
       &tables_avx2, &tables_avx2.quantised},
#endif
#if !defined(DIMWISE_WITHOUT_SSE4)
      {"sse4", __builtin_cpu_supports("sse4.2") != 0, &tables_sse4, &tables_sse4.quantised},
#endif
      {"sse2", true, &tables_sse2, &tables_sse2.quantised},
  };
  const char* asked = std::getenv("DIMWISE_ARCHITECTURE");
  bool found = asked == nullptr;
  for (const choice& c : choices) {
    found = found || std::strcmp(asked, c.name) == 0;
    if (found && c.supported) { return c; }
  }
  return *std::rbegin(choices);
}

const choice& chosen() noexcept {
  static const choice once = choose();
  return once;
}

const architecture_tables& tables() noexcept { return *chosen().tables; }

}  // namespace

const quantised_table& active_quantised() noexcept { return *chosen().quantised; }
const bfloat16_table* active_bfloat16() noexcept { return chosen().bfloat16; }

#else

// A single architecture: the flags of its compiler determine the kernels.
extern const architecture_tables tables_native;
static const architecture_tables& tables() noexcept { return tables_native; }
const quantised_table& active_quantised() noexcept { return tables_native.quantised; }
const bfloat16_table* active_bfloat16() noexcept { return nullptr; }

#endif

const table& active() noexcept { return tables().kernels; }
const element_table<double>& active_doubles() noexcept { return tables().doubles; }
const gradient_table& active_gradients() noexcept { return tables().gradients; }
const element_gradient_table<double>& active_double_gradients() noexcept { return tables().double_gradients; }

}  // namespace dimwise::kernels
