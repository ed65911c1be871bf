// SPDX-License-Identifier: BSL-1.0
// A program with a model of dimwise::models.
#include <dimwise/models/decoders.hpp>

#include <cstring>
#include <iostream>

int main() {
  try {
    (void)dimwise::models::read_decoder("no_such_folder");
  } catch (const dimwise::io::file_error& problem) {
    std::cout << problem.what() << '\n';
    return std::strstr(problem.what(), "no_such_folder") != nullptr ? 0 : 1;
  }
  return 1;
}
