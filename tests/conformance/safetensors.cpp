// tests/conformance/safetensors.cpp -- files, good and bad: the verdict must be that of the reference parser.
//
// Where the format's text says nothing ("unspecified"), either verdict is fine. A name that occurs twice is refused, as
// the text has it; the reference keeps the last.
// SPDX-License-Identifier: BSL-1.0
#include "suite.hpp"
#include <dimwise/io/safetensors.hpp>

namespace conformance {

namespace {

void verdict(run& r) {
  const nlohmann::json& entry = r.entry();
  const std::string spec = entry.at("spec");
  const array file = r.file(entry.at("file"));
  bool accepted = true;
  std::string why;
  try {
    (void)dimwise::io::parse_safetensors({file.bytes.get(), file.size()}, r.name());
  } catch (const dimwise::io::file_error& problem) {
    accepted = false;
    why = problem.what();
  }
  const bool twice = entry.at("rule").get<std::string>().starts_with("duplicate tensor name");
  const bool expected = entry.at("reference") == "accept" && !(twice && spec == "reject");
  if (spec == "unspecified" || accepted == expected) { return; }
  r.differs(accepted ? "is accepted, the reference refuses it: " + entry.at("rule").get<std::string>()
                     : "is refused, the reference accepts it: " + why);
}

const family safetensors_cases{"safetensors", verdict};

}  // namespace
}  // namespace conformance
