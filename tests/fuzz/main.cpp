// tests/fuzz/main.cpp -- random formulas against float64: fuzz --seed N --count M [--family NAME] [--seconds S]
// [--list] ...
//
// The seed of a case determines extents (around tile boundaries, 0 included), the memory of each operand (order, gaps,
// negative strides, stride 0, misaligned), parameters of masks, and values (uniform, normal, small, large, few
// distinct, sparse, with -0, powers of two, integers). In half of the cases hidden values are NaN or infinite, if the
// result must not depend on them. A failure is shrunk: the same formula with smaller extents. Its line begins with the
// command that repeats it:
//
//   FAILED value: fuzz --family mask.window --seed 12884901911 --count 1 --size 3 | evaluate differs from float64 ...
//
// --ratios prints the largest error of each family as a fraction of its bound: a bound far above the errors finds
// little. --self-test corrupts results, and fails unless each fault is found and shrunk.
//
// SPDX-License-Identifier: BSL-1.0
#include "dims.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace fuzz {
namespace {

struct options {
  std::uint64_t seed = 1;
  std::uint64_t count = 1000;
  double seconds = 0;
  std::string family;
  limits to;
  bool ratios = false;
};

// A name ending in '.' or a name's beginning before one stands for all families below it.
bool is_chosen(const family& f, const std::string& name) {
  const std::string_view own = f.name;
  return name.empty() || own == name ||
         (own.substr(0, name.size()) == name && (name.back() == '.' || own[name.size()] == '.'));
}

std::uint64_t mixed(std::uint64_t seed, const char* name) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char* c = name; *c != 0; ++c) { hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001B3U; }
  return source(seed ^ hash).bits();
}

attempt run(const family& f, std::uint64_t seed, const limits& to, bool telling, breakage broken) {
  attempt a(mixed(seed, f.name), to, telling, broken);
  try {
    f.run(a);
  } catch (const std::exception& e) { a.fail("thrown", std::string("not caught: ") + e.what()); }
  return a;
}

struct found {
  std::uint64_t seed;
  limits to;
  attempt how;
};

// The same kind of failure with the smallest extents that show it.
found shrunk(const family& f, std::uint64_t seed, const limits& to, const std::string& kind, breakage broken) {
  constexpr std::uint64_t draws = 60;
  for (const std::size_t size : {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 33, 64, 97}) {
    if (size >= to.size) { break; }
    const limits smaller{size, to.work};
    for (std::uint64_t i = 0; i < draws; ++i) {
      const std::uint64_t other = seed + i * 0x100000000U;
      if (run(f, other, smaller, false, broken).what().kind == kind) {
        return {other, smaller, run(f, other, smaller, true, broken)};
      }
    }
  }
  return {seed, to, run(f, seed, to, true, broken)};
}

std::string in_words(const family& f, const found& at) {
  const limits usual;
  std::string text = "FAILED " + at.how.what().kind + ": fuzz --family " + f.name + " --seed " +
                     std::to_string(at.seed) + " --count 1 --size " + std::to_string(at.to.size);
  if (at.to.work != usual.work) { text += " --work " + std::to_string(at.to.work); }
  return text + " | " + at.how.what().text + at.how.notes();
}

struct summary {
  std::uint64_t cases = 0;
  std::uint64_t failures = 0;
  counts all;
};

summary run_all(const std::vector<family>& families, const options& o, breakage broken,
                std::vector<std::string>* lines) {
  summary s;
  std::vector<counts> of(families.size());
  std::vector<std::size_t> failed(families.size());
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  for (std::uint64_t i = 0; o.seconds > 0 ? elapsed() < o.seconds : i < o.count; ++i) {
    const std::uint64_t seed = o.seed + i;
    const std::size_t which = static_cast<std::size_t>(seed % families.size());
    const family& f = families[which];
    const attempt a = run(f, seed, o.to, false, broken);
    ++s.cases;
    counts& c = of[which];
    c.formulas += a.counted.formulas;
    c.evaluations += a.counted.evaluations;
    c.refused += a.counted.refused;
    c.largest = std::max(c.largest, a.counted.largest);
    c.largest_plain = std::max(c.largest_plain, a.counted.largest_plain);
    if (!a.failed()) { continue; }
    ++s.failures;
    // One line says it: more failures of a family are counted only.
    if (++failed[which] <= 3) {
      const std::string line = in_words(f, shrunk(f, seed, o.to, a.what().kind, broken));
      if (lines != nullptr) {
        lines->push_back(line);
      } else {
        std::printf("%s\n", line.c_str());
        std::fflush(stdout);
      }
    }
  }
  for (std::size_t i = 0; i < families.size(); ++i) {
    s.all.formulas += of[i].formulas;
    s.all.evaluations += of[i].evaluations;
    s.all.refused += of[i].refused;
    if (o.ratios) {
      std::printf("%-40s %6zu formulas, largest error %.3f, of the scalar path %.3f of what is allowed, %zu failed\n",
                  families[i].name, of[i].formulas, of[i].largest, of[i].largest_plain, failed[i]);
    }
  }
  return s;
}

// Breaks one thing at a time on purpose: each is found, shrunk to small extents, and found again by the line that is
// printed.
int self_test(const std::vector<family>& families) {
  struct expected {
    breakage how;
    const char* kind;
  };
  constexpr expected all[] = {{breakage::value, "value"}, {breakage::plain, "value"}, {breakage::bits, "bits"},
                              {breakage::plan, "plan"},   {breakage::error, "error"}, {breakage::destination, "bits"},
                              {breakage::guard, "guard"}};
  options o;
  o.count = families.size();
  o.to.work = 20000;
  int wrong = 0;
  const auto check = [&](bool holds, const char* what, const std::string& line) {
    if (holds) { return; }
    ++wrong;
    std::printf("self-test: %s: %s\n", what, line.c_str());
  };
  for (const auto& [how, kind] : all) {
    if (how == breakage::plan && !dimwise::kernels::available) { continue; }
    std::vector<std::string> lines;
    const summary s = run_all(families, o, how, &lines);
    check(s.failures > families.size() / 2, "a breakage was not found", kind);
    std::size_t small = 0;
    for (const std::string& line : lines) {
      check(line.find(std::string("FAILED ") + kind + ':') == 0, "another kind of failure was found", line);
      const std::size_t at = line.find("--size ");
      if (at != std::string::npos && std::strtoull(line.c_str() + at + 7, nullptr, 10) <= 8) { ++small; }
    }
    check(small >= lines.size() * 9 / 10, "failures were not shrunk", lines.empty() ? "" : lines.front());
    // The line says how to see it again.
    if (!lines.empty()) {
      const std::string& line = lines.front();
      const auto number = [&](const char* flag) {
        return std::strtoull(line.c_str() + line.find(flag) + std::strlen(flag), nullptr, 10);
      };
      const std::size_t name = line.find("--family ") + 9;
      const std::string called = line.substr(name, line.find(' ', name) - name);
      for (const family& f : families) {
        if (called == f.name) {
          check(run(f, number("--seed "), {number("--size "), number("--work ")}, false, how).failed(),
                "the printed line does not fail again", line);
        }
      }
    }
  }
  std::printf("self-test: %zu breakages of %zu families, %d of them not seen as expected\n", std::size(all),
              families.size(), wrong);
  return wrong == 0 ? 0 : 1;
}

const char* kernels_that_ran() {
  if constexpr (dimwise::kernels::available) {
    return dimwise::kernels::active().architecture;
  } else {
    return "none";
  }
}

int usage() {
  std::fputs(
      "fuzz [--seed N] [--count M] [--seconds S] [--family NAME] [--size LARGEST_EXTENT] [--work PRODUCT] [--list] "
      "[--ratios] [--self-test]\n",
      stderr);
  return 2;
}

int main_of(int argc, char** argv) {
  options o;
  std::vector<family> families = every_family();
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--list") {
      for (const family& f : families) { std::puts(f.name); }
      return 0;
    }
    if (flag == "--self-test") { return self_test(families); }
    if (flag == "--ratios") {
      o.ratios = true;
      continue;
    }
    if (i + 1 == argc) { return usage(); }
    const char* const value = argv[++i];
    if (flag == "--seed") {
      o.seed = std::strtoull(value, nullptr, 10);
    } else if (flag == "--count") {
      o.count = std::strtoull(value, nullptr, 10);
    } else if (flag == "--seconds") {
      o.seconds = std::strtod(value, nullptr);
    } else if (flag == "--family") {
      o.family = value;
    } else if (flag == "--size") {
      o.to.size = std::strtoull(value, nullptr, 10);
    } else if (flag == "--work") {
      o.to.work = std::strtoull(value, nullptr, 10);
    } else {
      return usage();
    }
  }
  std::erase_if(families, [&](const family& f) { return !is_chosen(f, o.family); });
  if (families.empty()) {
    std::fprintf(stderr, "fuzz: no family is called %s; --list says which there are\n", o.family.c_str());
    return 2;
  }
  const summary s = run_all(families, o, breakage::nothing, nullptr);
  // The kernels that ran, not those that were asked for: what a machine lacks falls back.
  std::printf(
      "kernels %s: %llu cases of %zu families: %zu formulas compared, %zu evaluations, %zu refused, %llu failed\n",
      kernels_that_ran(), static_cast<unsigned long long>(s.cases), families.size(), s.all.formulas, s.all.evaluations,
      s.all.refused, static_cast<unsigned long long>(s.failures));
  return s.failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace fuzz

int main(int argc, char** argv) { return fuzz::main_of(argc, argv); }
