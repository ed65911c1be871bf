// tests/models/whole_number.test.cpp -- integer settings that may be 0, absent or null.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/models/common/whole_number.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace dimwise;
using models::null_setting;

io::config_check with(const nlohmann::json& value) {
  nlohmann::json settings = nlohmann::json::object();
  settings["n"] = value;
  return {settings, "settings"};
}
std::string mismatches(io::config_check& config) {
  try {
    config.finish();
  } catch (const io::file_error& e) { return e.what(); }
  return "";
}

TEST_CASE("whole_number: an integer from 0, absent or null") {
  io::config_check absent(nlohmann::json::object(), "settings");
  CHECK(models::whole_number(absent, "n", 7) == 7);
  CHECK(models::whole_number(absent, "n", 7, null_setting::is_zero) == 7);
  io::config_check null = with(nullptr);
  CHECK(models::whole_number(null, "n", 7) == 7);
  CHECK(models::whole_number(null, "n", 7, null_setting::is_zero) == 0);
  for (const std::size_t n : {std::size_t{0}, std::size_t{3}, (std::size_t{1} << 31) - 1}) {
    io::config_check given = with(n);
    CHECK(models::whole_number(given, "n", 7) == n);
    CHECK(mismatches(given) == "");
  }
}

TEST_CASE("whole_number: any other value is a mismatch, and the default is returned") {
  for (const nlohmann::json& value :
       {nlohmann::json(0.5), nlohmann::json(1e300), nlohmann::json(std::size_t{1} << 31)}) {
    CAPTURE(value.dump());
    for (const auto null : {null_setting::is_absent, null_setting::is_zero}) {
      io::config_check config = with(value);
      CHECK(models::whole_number(config, "n", 7, null) == 7);
      CHECK(mismatches(config).find("n is not a whole number from 0 to 2^31 - 1") != std::string::npos);
    }
  }
  io::config_check negative = with(-1);
  CHECK(models::whole_number(negative, "n", 7) == 7);
  CHECK(mismatches(negative).find("n is -1, a number from 0 was expected") != std::string::npos);
}

}  // namespace
