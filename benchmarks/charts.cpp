// charts.cpp -- the pictures of docs/reference/benchmark.md, drawn by dimwise/viz.hpp.
//
//   bench_charts FOLDER < lines       # compare.py writes the lines
//
// "times WORKLOAD LIBRARY MS" for times.svg, every workload with dimwise first; "growth LIBRARY N MS MB" for
// growth_time.svg and growth_memory.svg.
#include <dimwise/dimwise.hpp>
#include <dimwise/viz.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace dimwise;

curve& of(std::vector<curve>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const curve& one) { return one.name == name; });
  return found != all.end() ? *found : all.emplace_back(curve{name, {}, {}});
}

void draw_all(std::istream& in, const std::string& folder) {
  std::vector<std::string> workloads;
  std::vector<curve> times;
  std::vector<curve> growth;
  std::vector<curve> memory;
  double own = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string what;
    std::string name;
    words >> what;
    if (what == "times") {
      std::string library;
      double ms = 0;
      words >> name >> library >> ms;
      if (library == "dimwise") {
        workloads.push_back(name);
        own = ms;
      }
      std::vector<double>& ratios = of(times, library).values;
      ratios.resize(workloads.size(), std::nan(""));
      ratios.back() = ms / own;
    } else if (what == "growth") {
      double n = 0;
      double ms = 0;
      double mb = 0;
      words >> name;
      std::string mask;
      words >> mask >> n >> ms >> mb;
      name += ", " + mask;
      of(growth, name).values.push_back(ms);
      of(growth, name).x.push_back(n);
      of(memory, name).values.push_back(std::max(mb, 1.0));
      of(memory, name).x.push_back(n);
    }
    if (!words) { throw error(error{} << "bench_charts: not a line of figures: " << line.c_str()); }
  }
  if (!workloads.empty()) {
    for (curve& one : times) { one.values.resize(workloads.size(), std::nan("")); }
    draw_dots(
        workloads, times,
        {.title = "Time of each library, in times of dimwise", .x = "left of 1 is faster than dimwise", .log = true})
        .save(folder + "/times.svg");
  }
  if (!growth.empty()) {
    draw_curves(growth, {.title = "Time of one attention", .x = "tokens", .y = "ms", .log_x = true, .log_y = true})
        .save(folder + "/growth_time.svg");
    draw_curves(memory, {.title = "Peak memory of the process", .x = "tokens", .y = "MB", .log_x = true, .log_y = true})
        .save(folder + "/growth_memory.svg");
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) { throw error(error{} << "bench_charts: expected a folder, and figures on standard input"); }
    draw_all(std::cin, argv[1]);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
