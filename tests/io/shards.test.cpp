// tests/io/shards.test.cpp -- the checkpoint of a folder: one file, several, or one with an index of itself.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"
#include <dimwise/io/shards.hpp>

#include <doctest/doctest.h>

using namespace dimwise;
using dimwise_test::message;
using dimwise_test::safetensors_bytes;

TEST_CASE("an index may list the arrays of model.safetensors alone, and is compared with it") {
  const dimwise_test::temporary_folder folder;
  const std::string name = "model.safetensors.index.json";
  folder.write("model.safetensors", safetensors_bytes(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                                                      R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                                                      8));
  folder.write(
      name, R"({"metadata": {"total_size": 8}, "weight_map": {"a": "model.safetensors", "b": "model.safetensors"}})");
  const io::archive file = io::read_checkpoint(folder.path());
  CHECK(file.arrays().size() == 2);
  CHECK(file.at("b").bytes.size() == 4);
  const auto told = [&](const std::string& index) {
    folder.write(name, index);
    return message([&] { (void)io::read_checkpoint(folder.path()); });
  };
  CHECK(told(R"({"weight_map": {"a": "model.safetensors"}})").find("\"b\" is in model.safetensors, where the index") !=
        std::string::npos);
  const std::string both =
      folder.path().string() + ": there is both model.safetensors and model.safetensors.index.json; one was expected";
  CHECK(told(R"({"weight_map": {"a": "model.safetensors", "b": "model-00001-of-00002.safetensors"}})") == both);
  CHECK(told(R"({"weight_map": {}})") == both);
  CHECK(told("[]") == both);
}
