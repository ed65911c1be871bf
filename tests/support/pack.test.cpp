// The reader of the packed data: what it returns for the four suites, and what it refuses.
// SPDX-License-Identifier: BSL-1.0
#include "pack.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using dimwise_test::data_file;
using dimwise_test::pack;

std::string bytes_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The message with which a file of these contents is refused; empty if it is accepted.
std::string refusal(const std::string& contents) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("dimwise_pack_test_" + std::to_string(std::hash<std::string>{}(contents))))
                               .string();
  std::ofstream(path, std::ios::binary) << contents;
  std::string message;
  try {
    const pack accepted{path};
  } catch (const std::runtime_error& problem) {
    message = problem.what();
    CHECK(message.find(path) == 0);
  }
  std::filesystem::remove(path);
  return message;
}

std::string with_header(const std::string& json) {
  std::string contents = "DWPACK1\n" + std::string(8, '\0') + json;
  contents[8] = static_cast<char>(json.size());
  contents.resize(256, '\0');
  return contents;
}

}  // namespace

TEST_CASE("pack: every suite loads, with as many cases and arrays as were packed") {
  struct suite {
    const char* file;
    std::size_t cases, arrays;
  };
  for (const suite expected : {suite{"seed_notebook.dwpack", 6, 144}, suite{"onnx.dwpack", 166, 710},
                               suite{"onnxruntime.dwpack", 41, 392}, suite{"torch.dwpack", 93, 1190}}) {
    CAPTURE(expected.file);
    const pack data{data_file(expected.file)};
    CHECK(data.cases().size() == expected.cases);
    CHECK(data.manifest().at("count") == expected.cases);
    CHECK(data.arrays().size() == expected.arrays);
  }
}

TEST_CASE("pack: the notebook's attention weights are the six printed numbers") {
  const pack data{data_file("seed_notebook.dwpack")};
  const auto printed = data.at("single_head/printed.attention_weights_2").as<double>();
  const auto computed = data.at("single_head/output_f64.attention_weights_2").as<double>();
  const double expected[] = {0.2912, 0.0106, 0.0982, 0.0625, 0.4917, 0.0458};
  REQUIRE(printed.size() == 6);
  REQUIRE(computed.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(printed[i] == expected[i]);
    CHECK(std::abs(computed[i] - expected[i]) < 1e-4);
  }
}

TEST_CASE("pack: bytes in memory are a file, too") {
  const std::string bytes = bytes_of(data_file("seed_notebook.dwpack"));
  const pack data("in memory", std::as_bytes(std::span(bytes)));
  CHECK(data.arrays().size() == 144);
  const auto weight = data.at("single_head/weight.W_query").as<float>();
  const auto same = pack(data_file("seed_notebook.dwpack")).at("single_head/weight.W_query").converted<float>();
  CHECK(std::equal(weight.begin(), weight.end(), same.begin(), same.end()));
  CHECK_THROWS_WITH(pack("none", {}), "none: expected a packed data file, which starts with DWPACK1");
}

TEST_CASE("pack: elements are aligned, converted on request, and never read as another type") {
  const pack data{data_file("seed_notebook.dwpack")};
  const auto& weight = data.at("single_head/weight.W_query");
  CHECK(weight.shape == std::vector<std::size_t>{24, 16});
  CHECK(reinterpret_cast<std::uintptr_t>(weight.bytes.data()) % 64 == 0);
  CHECK(weight.converted<double>()[5] == static_cast<double>(weight.as<float>()[5]));
  CHECK(data.at("single_head/input.sentence_int").converted<int>() == std::vector<int>{0, 4, 5, 2, 1, 3});
  CHECK(data.at("single_head/output.omega_24").count() == 1);
  CHECK_THROWS_WITH(static_cast<void>(weight.as<double>()), doctest::Contains("holds float32, expected float64"));
  CHECK_THROWS_WITH(static_cast<void>(data.at("nothing")), doctest::Contains("expected an array named nothing"));
}

TEST_CASE("pack: half-precision numbers") {
  CHECK(dimwise_test::half_to_double(0x3c00) == 1.0);
  CHECK(dimwise_test::half_to_double(0xc000) == -2.0);
  CHECK(dimwise_test::half_to_double(0x7bff) == 65504.0);
  CHECK(dimwise_test::half_to_double(0x0001) == std::ldexp(1.0, -24));
  CHECK(dimwise_test::half_to_double(0xfc00) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(dimwise_test::half_to_double(0x7e00)));
}

TEST_CASE("pack: a damaged file is refused, with its name and what was expected") {
  const std::string good = bytes_of(data_file("seed_notebook.dwpack"));
  CHECK(refusal(good).empty());
  CHECK(refusal("").find("starts with DWPACK1") != std::string::npos);
  CHECK(refusal("PK" + good.substr(2)).find("starts with DWPACK1") != std::string::npos);
  CHECK(refusal(good.substr(0, 100)).find("expected a header of") != std::string::npos);
  CHECK(refusal(good.substr(0, good.size() - 1)).find("bytes of") != std::string::npos);
  CHECK(refusal(with_header(R"({"manifest":{}})")).find("expected a JSON header") != std::string::npos);

  const auto with_shape = [](const std::string& shape, int bytes) {
    return refusal(with_header(R"({"manifest":{},"arrays":{"a":{"dtype":"float32","shape":)" + shape +
                               R"(,"offset":128,"bytes":)" + std::to_string(bytes) + "}}}"));
  };
  CHECK(with_shape("[2,3]", 24).empty());
  CHECK(with_shape("[0,3]", 0).empty());
  CHECK(with_shape("[2,3]", 20).find("to fill its 20 bytes") != std::string::npos);
  CHECK(with_shape("[4611686018427387904,6]", 24).find("to fill its 24 bytes") != std::string::npos);  // overflows
}

TEST_CASE("pack: a missing file is refused") {
  CHECK_THROWS_WITH(pack{"no/such/file"}, "no/such/file: expected a readable file");
}
