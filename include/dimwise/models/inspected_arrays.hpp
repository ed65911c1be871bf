// SPDX-License-Identifier: BSL-1.0
// dimwise/models/inspected_arrays.hpp -- the arrays of a file, in groups of names that differ in numbers alone.
//
// Layer: models.
// Tests: tests/models/inspect.test.cpp
#pragma once

#include <dimwise/io/archive.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dimwise::models {

/// An array of a file: its dimensions by name if a model says them, otherwise its extents.
struct inspected_array {
  std::string name{};
  std::string dimensions{};
  io::element_type type = io::element_type::f32;
  std::size_t elements = 0;
  bool is_parameter = false;  ///< a parameter of the model is read from it
};

/// Arrays whose names differ only in numbers, such as those of the layers of a model.
struct array_group {
  std::string name{};  ///< with {0…5} for numbers that follow each other, {0, 2} for others
  inspected_array first{};
  std::size_t count = 1;
};

namespace detail {

// The name with its numbers between dots as "*", and these numbers.
struct numbered_name {
  std::string pattern{};
  std::vector<std::size_t> numbers{};
};
inline numbered_name numbers_in(const std::string& name) {
  numbered_name split;
  std::size_t at = 0;
  while (at <= name.size()) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    const std::string part = name.substr(at, end - at);
    const bool is_number =
        !part.empty() && part.size() < 10 && part.find_first_not_of("0123456789") == std::string::npos;
    if (is_number) { split.numbers.push_back(std::stoul(part)); }
    split.pattern += (at > 0 ? "." : "") + (is_number ? std::string("*") : part);
    at = end + 1;
  }
  return split;
}
inline std::string range_of(std::vector<std::size_t> all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() == 1) { return std::to_string(all.front()); }
  const bool follow = all.back() - all.front() + 1 == all.size();
  if (follow) { return "{" + std::to_string(all.front()) + "…" + std::to_string(all.back()) + "}"; }
  std::string text;
  constexpr std::size_t most = 6;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i) { text += (i > 0 ? ", " : "") + std::to_string(all[i]); }
  return "{" + text + (all.size() > most ? ", …" : "") + "}";
}

}  // namespace detail

/// The arrays in groups of names that differ in numbers alone, in file order. Arrays of a group have the same
/// dimensions and type.
[[nodiscard]] inline std::vector<array_group> grouped(const std::vector<inspected_array>& arrays) {
  std::vector<array_group> all;
  std::vector<std::vector<std::vector<std::size_t>>> numbers;  // for each group and each number in its name
  std::map<std::string, std::size_t> places;
  for (const inspected_array& a : arrays) {
    const detail::numbered_name name = detail::numbers_in(a.name);
    const std::string key = name.pattern + '\n' + a.dimensions + '\n' + std::string(io::name_of(a.type));
    const auto [place, is_new] = places.emplace(key, all.size());
    if (is_new) {
      all.push_back({name.pattern, a, 0});
      numbers.emplace_back(name.numbers.size());
    }
    ++all[place->second].count;
    for (std::size_t i = 0; i < name.numbers.size(); ++i) { numbers[place->second][i].push_back(name.numbers[i]); }
  }
  for (std::size_t g = 0; g < all.size(); ++g) {
    std::string name;
    std::size_t next = 0;
    for (const char c : all[g].name) {
      name += c == '*' && next < numbers[g].size() ? detail::range_of(numbers[g][next++]) : std::string(1, c);
    }
    all[g].name = std::move(name);
  }
  return all;
}

}  // namespace dimwise::models
