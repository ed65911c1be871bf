// SPDX-License-Identifier: BSL-1.0
// playground/runtime.cpp -- linked with each program: functions that WASI lacks, and the name and message of an
// exception that `main` does not catch.
//
// WebAssembly would pass such an exception to JavaScript as a value without text.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <sys/stat.h>
#include <typeinfo>

// There is one process of one thread, which alone uses its files. They have no permissions.
extern "C" int getpid() { return 1; }
extern "C" int flock(int, int) { return 0; }
extern "C" int __wrap_chmod(const char*, mode_t) { return 0; }
extern "C" int __cxa_atexit(void (*)(void*), void*, void*);
extern "C" int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* library) {
  return __cxa_atexit(destroy, object, library);
}

namespace {

/// "N7dimwise12extent_errorE" -> "dimwise::extent_error". Exceptions are plain classes; the demangler of libc++abi
/// would add 430 kB to each program.
std::string readable(const char* mangled) {
  const char* at = mangled;
  std::string name;
  if (*at == 'N') { ++at; }
  if (at[0] == 'S' && at[1] == 't') {
    name = "std";
    at += 2;
  }
  while (*at >= '0' && *at <= '9') {
    char* end = nullptr;
    const unsigned long size = std::strtoul(at, &end, 10);
    name += (name.empty() ? "" : "::") + std::string(end, size);
    at = end + size;
  }
  return *at == '\0' || (*at == 'E' && at[1] == '\0') ? name : mangled;
}

}  // namespace

extern "C" int __real___main_void();
extern "C" int __wrap___main_void() {
  try {
    return __real___main_void();
  } catch (const std::exception& e) {
    std::fflush(stdout);
    std::fprintf(stderr, "not caught: %s: %s\n", readable(typeid(e).name()).c_str(), e.what());
  } catch (...) {
    std::fflush(stdout);
    std::fprintf(stderr, "not caught: an exception that is not a std::exception\n");
  }
  return 1;
}
