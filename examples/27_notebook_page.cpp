// SPDX-License-Identifier: BSL-1.0
// 27_notebook_page -- the notebook's attention as an interactive page with editable text, mask and heads.
//
//   27_notebook_page notebook.html [notebook.wasm]
//
// The weights are the random ones of 00_notebook. Prints what the page stores; without arguments, writes no file.
#include "support/file.hpp"
#include "support/notebook.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

int main(int count, char** arguments) try {
  const notebook::weights w(dimwise_test::pack(dimwise_test::data_file("seed_notebook.dwpack")));
  const std::string sentence = "Life is short, eat dessert first";
  const std::vector<dimwise::live_settings> stored = {{.text = sentence, .mask = "none"},
                                                      {.text = sentence},
                                                      {.text = sentence, .mask = "window", .width = 2},
                                                      {.text = sentence, .mask = "none", .heads = {true, false, true}},
                                                      {.text = "eat first", .mask = "none"},
                                                      {.text = "dessert is dessert is dessert", .mask = "none"}};
  dimwise::attention_report page(sentence);
  page.add_live(notebook::live(w), stored,
                examples::content_of(count > 2 ? arguments[2] : DIMWISE_LIVE_DIR "/notebook.wasm"));
  if (count > 1) { page.save(arguments[1]); }
  for (const auto& run : stored) { std::printf("%-34s mask %s\n", run.text.c_str(), run.mask.c_str()); }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "27_notebook_page: %s\n", e.what());
  return 1;
}
