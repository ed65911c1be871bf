// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder/adapters.hpp -- adds the adapter of a task to the weights of a file: W + scale · B · A, with
// matrices of low rank for each task (LoRA, Hu et al. 2022).
//
// Layer: models. An encoder reads the sum, so texts cost what they cost without adapters.
// Tests: tests/models/encoders/jina.test.cpp
#pragma once

#include <dimwise/io/archive.hpp>
#include <dimwise/io/arrays/elements.hpp>
#include <dimwise/models/encoder/names.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dimwise::models::detail {

// One of `parts` equal parts of an array's numbers; throws `file_error` if the array has other extents or is not real.
inline std::vector<float> part_of_numbers(const io::archive& from, const io::stored_array& a,
                                          const std::vector<std::size_t>& extents, std::size_t part,
                                          std::size_t parts) {
  using enum io::element_type;
  const bool is_real = a.type == f32 || a.type == bf16 || a.type == f16 || a.type == f64;
  if (!is_real || a.extents != extents) {
    throw io::file_error(from.title() + ": " + io::detail::printable(a.name) + " " + std::string(io::name_of(a.type)) +
                         " " + io::detail::listed(a.extents) + " does not fit: F32 or BF16 " +
                         io::detail::listed(extents) + " was expected");
  }
  std::vector<float> all(io::count_of(extents).value_or(0) / parts);
  (void)io::detail::visit_elements(a, [&](const auto& source) {
    for (std::size_t i = 0; i < all.size(); ++i) { all[i] = static_cast<float>(source(part * all.size() + i)); }
  });
  return all;
}

// The weight `before` + "original" with the adapter of a task. A map has B [tasks, rows, rank] and A [tasks, rank,
// columns]; the adapter of an embedding is transposed, so A has its rows.
inline std::vector<float> adapted_weight(const io::archive& from, const encoder_adapters& adapters,
                                         const std::string& before, std::size_t task) {
  const io::stored_array& weight = from.at(before + "original");
  if (weight.extents.size() != 2) {
    throw io::file_error(from.title() + ": " + io::detail::printable(weight.name) + " " +
                         io::detail::listed(weight.extents) + " has adapters, but [rows, columns] was expected");
  }
  const bool is_table = before.find("embeddings.") != std::string::npos;
  const std::size_t rows = weight.extents[0];
  const std::size_t columns = weight.extents[1];
  const std::size_t tasks = adapters.names.size();
  const std::size_t rank = adapters.rank;
  const auto factor = [&](const char* name, const std::vector<std::size_t>& extents) {
    return part_of_numbers(from, from.at(before + name), extents, task, tasks);
  };
  const std::vector<float> left = factor(is_table ? "0.lora_A" : "0.lora_B", {tasks, rows, rank});
  const std::vector<float> right = factor(is_table ? "0.lora_B" : "0.lora_A", {tasks, rank, columns});
  std::vector<float> sum = part_of_numbers(from, weight, weight.extents, 0, 1);
  for (std::size_t i = 0; i < (columns > 0 ? rows : 0); ++i) {
    for (std::size_t k = 0; k < rank; ++k) {
      const float by = left[i * rank + k] * static_cast<float>(adapters.scale);
      for (std::size_t j = 0; j < columns; ++j) { sum[i * columns + j] += by * right[k * columns + j]; }
    }
  }
  return sum;
}

// The index of the task with this name; throws `file_error` if there is none.
inline std::size_t task_of_adapter(const io::archive& from, const encoder_adapters& adapters, const std::string& name) {
  const auto found = std::find(adapters.names.begin(), adapters.names.end(), name);
  if (found == adapters.names.end()) {
    std::string known;
    for (const std::string& one : adapters.names) { known += (known.empty() ? "" : ", ") + one; }
    throw io::file_error(from.title() + ": there is no adapter " + io::detail::printable(name) +
                         (known.empty() ? "" : "; there are " + known));
  }
  return static_cast<std::size_t>(found - adapters.names.begin());
}

/// The arrays of a file without those of adapters. Each weight that has adapters is under its own name, with the
/// adapter `name` added unless it is empty. Throws `file_error` for an unknown adapter and for arrays that do not fit.
inline io::archive with_adapter(const io::archive& from, const encoder_adapters& adapters, const std::string& name) {
  const std::size_t task = name.empty() ? 0 : task_of_adapter(from, adapters, name);
  if (adapters.names.empty()) { return from; }
  const std::string adapted = ".parametrizations.weight.";
  io::archive to = from.without_arrays();
  for (io::stored_array a : from.arrays()) {
    const std::size_t at = a.name.rfind(adapted);
    if (at == std::string::npos) {
      to.add(std::move(a));
      continue;
    }
    if (a.name.substr(at + adapted.size()) != "original") { continue; }
    const std::string before = a.name.substr(0, at + adapted.size());
    if (!name.empty()) {
      const auto sum = std::make_shared<std::vector<float>>(adapted_weight(from, adapters, before, task));
      a.type = io::element_type::f32;
      a.bytes = std::as_bytes(std::span(*sum));
      to.keep(sum);
    }
    a.name = before.substr(0, at) + ".weight";
    to.add(std::move(a));
  }
  return to;
}

}  // namespace dimwise::models::detail
