// SPDX-License-Identifier: BSL-1.0
// live/notebook.wasm -- the notebook's heads with its numbers, for the page of 27_notebook_page.
#include "../support/notebook.hpp"

#include "embedded.hpp"
#include "exports.hpp"

const dimwise::live_model& model() {
  static const dimwise::live_model made =
      notebook::live(notebook::weights(dimwise_test::pack("seed_notebook.dwpack", embedded())));
  return made;
}
