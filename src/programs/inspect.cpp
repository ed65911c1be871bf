// src/programs/inspect.cpp -- dimwise-inspect: the architecture, the arrays with their dimensions, and the settings of
// a folder or a file, and what would be rejected.
//
//   dimwise-inspect folder              of HuggingFace
//   dimwise-inspect model.gguf          or a file of safetensors
// SPDX-License-Identifier: BSL-1.0
#include "common.hpp"
#include <dimwise/models/inspect.hpp>
#include <dimwise/support/messages/escaped.hpp>
#include <dimwise/text/folder.hpp>

#include <algorithm>

namespace {

using namespace programs;

struct inspect_options {
  std::string path;
  bool all = false;
};
struct vocab : dimwise::choice_dim<> {};

// The columns of a text, if every character has one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}
std::string shown(const std::string& text, std::size_t most) {
  std::string safe;
  dimwise::detail::say_escaped(text.data(), text.size(), [&](char c) { safe += c; });
  if (width_of(safe) <= most) { return safe; }
  std::size_t end = 0;
  for (std::size_t columns = 0; end < safe.size() && columns < most - 1; ++end) {
    columns += end + 1 < safe.size() && (safe[end + 1] & 0xC0) != 0x80 ? 1 : 0;
  }
  return safe.substr(0, end) + "…";
}
void print_padded(const std::string& text, std::size_t width) {
  std::printf("%s%s", text.c_str(), std::string(width - std::min(width, width_of(text)), ' ').c_str());
}

// The element types, the most frequent first.
std::string types_of(const std::vector<dimwise::models::inspected_array>& arrays) {
  std::map<std::string, std::size_t> counts;
  for (const auto& a : arrays) { ++counts[std::string(dimwise::io::name_of(a.type))]; }
  std::vector<std::pair<std::size_t, std::string>> order;
  for (const auto& [name, count] : counts) { order.emplace_back(count, name); }
  std::sort(order.rbegin(), order.rend());
  std::string text;
  for (const auto& [count, name] : order) { text += (text.empty() ? "" : ", ") + name; }
  return text;
}

void print_arrays(const dimwise::models::inspection& found, bool all) {
  std::vector<dimwise::models::array_group> groups = grouped(found.arrays);
  if (all) {
    groups.clear();
    for (const auto& a : found.arrays) { groups.push_back({a.name, a, 1}); }
  }
  std::size_t names = 0;
  std::size_t dimensions = 0;
  for (const auto& g : groups) {
    names = std::max(names, width_of(shown(g.name, 72)));
    dimensions = std::max(dimensions, width_of(shown(g.first.dimensions, 100)));
  }
  for (const auto& g : groups) {
    print_padded(shown(g.name, 72), names + 2);
    print_padded(shown(g.first.dimensions, 100), dimensions + 2);
    std::printf("%s\n", std::string(dimwise::io::name_of(g.first.type)).c_str());
  }
}

void print_settings(const dimwise::models::inspection& found) {
  constexpr std::size_t columns = 120;
  std::size_t used = 0;
  for (const auto& [key, value] : found.settings) {
    const std::string text = shown(key, 60) + " " + shown(value, 50);
    if (used > 0 && used + 2 + width_of(text) > columns) {
      std::printf("\n");
      used = 0;
    }
    std::printf("%s%s", used > 0 ? "; " : "", text.c_str());
    used += width_of(text) + 2;
  }
  if (used > 0) { std::printf("\n"); }
}

int inspect(const inspect_options& o) {
  const std::filesystem::path path(o.path);
  if (!std::filesystem::exists(path)) { refuse(o.path + ": there is no such folder or file"); }
  const bool is_folder = std::filesystem::is_directory(path);
  auto found = dimwise::models::inspect(path);
  if (const auto words = found.vocabulary(); is_folder && words) {
    dimwise::models::detail::look_or_reject(
        found, [&] { (void)dimwise::text::read_tokenizer(found.text_folder, vocab{*words}, found.metadata); });
  }
  std::printf("%s\n", found.architecture.empty() ? "no known architecture" : shown(found.architecture, 100).c_str());
  std::printf("%.1f million parameters, %.1f MB in %zu arrays: %s\n\n", static_cast<double>(found.parameters()) / 1e6,
              static_cast<double>(found.bytes()) / 1e6, found.arrays.size(), types_of(found.arrays).c_str());
  print_arrays(found, o.all);
  if (!found.settings.empty()) {
    std::printf("\n");
    print_settings(found);
  }
  if (!is_folder) { return 0; }
  std::printf("\n");
  if (found.rejected.empty()) {
    std::printf("read: yes\n");
    return 0;
  }
  constexpr std::size_t most = 20;
  std::printf("read: no\n");
  for (std::size_t i = 0; i < found.rejected.size() && (o.all || i < most); ++i) {
    std::printf("  %s\n", shown(found.rejected[i], 400).c_str());
  }
  if (!o.all && found.rejected.size() > most) {
    std::printf("  and %zu more; --all shows them\n", found.rejected.size() - most);
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What a folder or a file of a model holds, and whether it is read.", "dimwise-inspect");
  inspect_options o;
  app.add_option("path", o.path, "a HuggingFace folder, or a file of safetensors or GGUF")->required();
  app.add_flag("-a,--all", o.all, "every array, and every reason");
  return guarded(app, argc, argv, [&] { return inspect(o); });
}
