// tests/models/decoders/qwen2.test.cpp -- Qwen2: logits against float64, and its own conventions.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/decoders.hpp>

#include <doctest/doctest.h>

using namespace dimwise;

namespace {

struct qwen2_folder : dimwise_test::model_folder {
  qwen2_folder() : model_folder("qwen2", "architectures_decoders.dwpack") {}
  // The largest error of the longest prompt, read at once or token by token.
  [[nodiscard]] double error(bool at_once) const {
    return dimwise_test::prompt_error(models::read_decoder(path()), *this, "2", at_once);
  }
};

}  // namespace

TEST_CASE("Qwen2 has the logits in float64") {
  const qwen2_folder files;
  // Rounding of float32 at logits below 1.
  CHECK(files.error(true) < 1e-5);
  CHECK(files.error(false) < 1e-5);
}

TEST_CASE("each convention of Qwen2 is read") {
  const qwen2_folder files;
  const auto model = models::read_decoder(files.path());
  CHECK(model.config.input_bias);
  CHECK_FALSE(model.config.output_bias);
  // The window needs both settings, and begins at max_window_layers.
  nlohmann::json settings = io::read_json(files / "config.json");
  settings.erase("layer_types");
  settings["sliding_window"] = 3;
  settings["max_window_layers"] = 1;
  files.write("config.json", settings.dump());
  CHECK(files.error(true) < 1e-5);
  settings["use_sliding_window"] = true;
  files.write("config.json", settings.dump());
  const auto windowed = models::read_decoder(files.path());
  CHECK(windowed.config.layers[0].window == 0);
  CHECK(windowed.config.layers[1].window == 3);
  CHECK(files.error(true) > 1e-3);
}
