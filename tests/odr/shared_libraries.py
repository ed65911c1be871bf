#!/usr/bin/env python3
"""Tensors pass between two shared libraries that hide their symbols, and so have a pool of memory each: what one makes, the other
reads, copies, writes and drops.

    shared_libraries.py <folder to build in> <compiler> [<library of compiled kernels>]
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

LIBRARY = r"""
#include <dimwise/dimwise.hpp>
using namespace dimwise;
struct d : feature_dim<> {};
struct e : feature_dim<> {};
using matrix = tensor<float, d, e>;
#define API extern "C" __attribute__((visibility("default")))
API void* NAME(make)(std::size_t n, int together) {
  const detail::weights_together w(together ? detail::weights_together::block::fresh : detail::weights_together::block::as_before);
  auto* t = new matrix(d{n}, e{n});
  t->fill(1);
  return t;
}
API void NAME(drop)(void* t) { delete static_cast<matrix*>(t); }
API double NAME(use)(void* t) {
  matrix& x = *static_cast<matrix*>(t);
  const tensor<float, e> s = sum<d>(x * 2.0F);
  const matrix shared = x;  // and the first write copies
  x.fill(1);
  double all = 0;
  for (const float v : s.values()) { all += v; }
  return all;
}
API std::size_t NAME(kept)() { return kept_memory(); }
API void NAME(trim)() { trim_memory(); }
"""

PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <thread>
namespace {
struct library {
  explicit library(const char* path, const char* prefix) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)), prefix(prefix) {
    if (handle == nullptr) { std::puts(dlerror()); std::exit(2); }
  }
  template <class F> F* find(const char* name) const {
    char whole[32];
    std::snprintf(whole, sizeof whole, "%s_%s", prefix, name);
    return reinterpret_cast<F*>(dlsym(handle, whole));
  }
  void* make(std::size_t n, int together) const { return find<void*(std::size_t, int)>("make")(n, together); }
  void drop(void* t) const { find<void(void*)>("drop")(t); }
  double use(void* t) const { return find<double(void*)>("use")(t); }
  std::size_t kept() const { return find<std::size_t()>("kept")(); }
  void trim() const { find<void()>("trim")(); }
  void* handle;
  const char* prefix;
};
int failed = 0;
void check(bool holds, const char* what, std::size_t n) {
  if (!holds) { ++failed; std::printf("FAILED %s, %zu\n", what, n); }
}
}  // namespace
int main(int, char** argv) {
  const library a(argv[1], "a");
  const library b(argv[2], "b");
  for (const int together : {0, 1}) {
    for (const std::size_t n : {4, 60, 100, 150, 300, 1000}) {
      const double expected = 2.0 * static_cast<double>(n * n);
      for (int i = 0; i < 20; ++i) {
        void* t = a.make(n, together);
        check(b.use(t) == expected && a.use(t) == expected, "values", n);
        b.drop(t);
        void* back = b.make(n, together);
        std::thread([&] { check(a.use(back) == expected, "values in a thread", n); a.drop(back); }).join();
      }
      // What b drops goes back to a: neither grows.
      check(a.kept() < 60'000'000 && b.kept() < 60'000'000, "memory that is kept", n);
      a.trim();
      b.trim();
    }
  }
  void* small = a.make(3, 0);
  void* large = a.make(300, 0);
  dlclose(a.handle);
  check(b.use(small) == 18 && b.use(large) == 180'000, "values of a library that was closed", 0);
  b.drop(small);
  b.drop(large);
  std::puts(failed == 0 ? "passed" : "failed");
  return failed == 0 ? 0 : 1;
}
"""


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    place, compiler, kernels = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    place.mkdir(parents=True, exist_ok=True)
    (place / "library.cpp").write_text(LIBRARY)
    (place / "program.cpp").write_text(PROGRAM)
    definition = "-DDIMWISE_COMPILED_KERNELS" if kernels else "-DDIMWISE_PLAIN_ONLY"
    libraries = [place / f"lib{name}.so" for name in "ab"]
    made = [run(compiler, "-std=c++20", "-O0", "-fPIC", "-shared", "-fvisibility=hidden", definition, f"-DNAME(x)={name}_##x",
                f"-I{ROOT / 'include'}", place / "library.cpp", *kernels, "-Wl,--exclude-libs,ALL", "-pthread", "-o", library)
            for name, library in zip("ab", libraries)]
    made.append(run(compiler, "-std=c++20", place / "program.cpp", "-ldl", "-pthread", "-o", place / "program"))
    for one in made:
        if one.returncode:
            sys.exit(one.stderr)
    result = run(place / "program", *libraries)
    print(result.stdout, result.stderr, sep="")
    sys.exit(0 if result.returncode == 0 else f"the program ended with {result.returncode}")


if __name__ == "__main__":
    main()
