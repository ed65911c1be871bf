// SPDX-License-Identifier: BSL-1.0
// examples/live/exports.hpp -- the functions that a report's page calls in a WebAssembly model.
//
// The page writes a request to `room(bytes)`, calls `answer()`, and reads the returned null-terminated text. The
// program defines `model`.
#pragma once

#include <dimwise/viz/report.hpp>

#include <cstddef>
#include <string>

const dimwise::live_model& model();

namespace {
std::string request;
std::string text;
}  // namespace

extern "C" {
[[clang::export_name("room")]] char* room(std::size_t bytes) {
  request.resize(bytes);
  return request.data();
}
[[clang::export_name("answer")]] const char* answer() {
  text = dimwise::detail::live_answer(model(), request);
  return text.c_str();
}
}
