// The table of errors: an entry without a part does not compile, each declared error has one, and messages are the same
// when they are made by the compiler and when the program makes them.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/support/diagnostics.hpp>
#include <dimwise/support/errors.hpp>
#include <dimwise/support/messages/message.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace dimwise::detail::messages;

// --- an entry is whole, or does not compile

template <class T>
concept takes_all = requires {
  T{.id = "ERROR_R1_x",
    .title = "t",
    .seen = {"s"},
    .marked = {culprit::over},
    .causes = {"c"},
    .fix = "f",
    .example = "e"};
};
template <class T>
concept takes_no_causes = requires {
  T{.id = "ERROR_R1_x", .title = "t", .seen = {"s"}, .marked = {culprit::over}, .fix = "f", .example = "e"};
};
template <class T>
concept takes_no_fix = requires {
  T{.id = "ERROR_R1_x", .title = "t", .seen = {"s"}, .marked = {culprit::over}, .causes = {"c"}, .example = "e"};
};
template <class T>
concept takes_no_example = requires {
  T{.id = "ERROR_R1_x", .title = "t", .seen = {"s"}, .marked = {culprit::over}, .causes = {"c"}, .fix = "f"};
};
static_assert(takes_all<diagnostic>);
static_assert(!takes_no_causes<diagnostic> && !takes_no_fix<diagnostic> && !takes_no_example<diagnostic>);
static_assert(!std::is_default_constructible_v<required_text> && !std::is_default_constructible_v<error_id> &&
              !std::is_default_constructible_v<texts> && !std::is_default_constructible_v<culprits>);

// --- ids and patterns

static_assert(error_id("ERROR_R7_x").rule == 7 && error_id("ERROR_R12_x").rule == 12);

// The facts that a pattern names in braces.
std::vector<std::string> facts_of(const std::string& pattern) {
  std::vector<std::string> found;
  for (auto at = pattern.find('{'); at != std::string::npos; at = pattern.find('{', at + 1)) {
    found.push_back(pattern.substr(at + 1, pattern.find('}', at) - at - 1));
  }
  return found;
}

std::filesystem::path root() { return std::filesystem::path(DIMWISE_INCLUDE_DIR).parent_path(); }

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

// The errors that a header declares or defines, in its order.
std::vector<std::string> errors_in(const char* header) {
  std::istringstream lines(content(root().append("include/dimwise/support").append(header)));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    if (const auto name = line.find("ERROR_"); line.starts_with("template <class... Facts> struct ERROR_")) {
      found.push_back(line.substr(name, line.find_first_of(" ;", name) - name));
    }
  }
  return found;
}

}  // namespace

TEST_CASE("diagnostics: each declared error has an entry, and each entry is declared") {
  std::vector<std::string> ids;
  for (const diagnostic& one : diagnostics) { ids.emplace_back(one.id.words); }
  CHECK(ids == errors_in("errors.hpp"));
  CHECK(ids == errors_in("error_messages.hpp"));
  CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == ids.size());
}

TEST_CASE("diagnostics: patterns name facts that messages know") {
  for (const diagnostic& one : diagnostics) {
    for (int i = 0; i < one.seen.count; ++i) {
      for (const std::string& fact : facts_of(one.seen.items[i])) {
        CHECK_MESSAGE(facts<std::string>::knows(of(fact.c_str())), one.id.words << " names {" << fact << "}");
      }
    }
  }
  CHECK_FALSE(facts<std::string>::knows(of("nothing")));
}

TEST_CASE("diagnostics: the example of an error is a case that expects it") {
  for (const diagnostic& one : diagnostics) {
    const std::string example =
        content(root().append("tests/compile_fail").append(one.example.words + std::string(".cpp")));
    CHECK_MESSAGE(example.find(one.id.words) != std::string::npos, one.id.words << ": " << one.example.words);
  }
}

namespace {
constexpr const char* printed_types[] = {
    // g++
    "ERROR_R1_dimension_is_not_in_the_operand<dimwise::op::sum, dimwise::over<dimwise::about<{anonymous}::key, "
    "dimwise::extent<5> > >, dimwise::operand_shape<{anonymous}::seq, dimwise::score<dimwise::prime<{anonymous}::d_k> "
    "> > >'",
    // clang
    "ERROR_R1_dimension_is_not_in_the_operand<dimwise::op::sum, dimwise::over<dimwise::about<(anonymous "
    "namespace)::key, "
    "dimwise::extent<5UL>>>, dimwise::operand_shape<(anonymous namespace)::seq, dimwise::score<d_k>>>' requested here"};
constexpr const char* message_of_both = "`sum` names key, but its operand has seq (R1)";

consteval bool compiler_says_so() {
  for (const char* type : printed_types) {
    facts<message> error(of(type));
    const message& made = error.said(find(error.id())->seen);
    if (!same({made.data(), made.size()}, message_of_both)) { return false; }
  }
  return true;
}
static_assert(compiler_says_so());
}  // namespace

TEST_CASE("diagnostics: the message is the same at run time, of the texts of g++ and clang") {
  for (const char* type : printed_types) {
    facts<std::string> error(of(type));
    CHECK(error.said(find(error.id())->seen) == message_of_both);
  }
  // A mask that hides the queries of the keys that a softmax names: no softmax over the queries is proposed.
  facts<std::string> exchanged(
      of("ERROR_R7_mask_does_not_serve_this_dimension<dimwise::op::softmax, dimwise::over<k>, "
         "dimwise::operand_shape<q, k, dimwise::masked_for<q>>, dimwise::over<q>>"));
  CHECK(exchanged.said(find(exchanged.id())->seen) ==
        "`softmax` goes over k, but the mask hides q: does it take queries for keys? (R7)");
  // What an operation needs and is not given; and where it is given all it needs.
  facts<std::string> left_out(
      of("ERROR_R15_run_time_extents_are_given_once<dimwise::shape<a, b, c>, dimwise::over<a, b>, dimwise::over<a>>"));
  CHECK(left_out.said(find(left_out.id())->seen) ==
        "a tensor of [a, b, c] lacks the run-time extent of b; given: a (R15)");
  facts<std::string> twice(
      of("ERROR_R15_run_time_extents_are_given_once<dimwise::shape<a, c>, dimwise::over<a>, dimwise::over<a, a>>"));
  CHECK(twice.said(find(twice.id())->seen) ==
        "a tensor of [a, c] takes one extent for each run-time dimension; given: a and a (R15)");
  // A name of another library, and the operations to use instead.
  facts<std::string> other(of(
      "ERROR_R1_operation_has_another_name<dimwise::other_library::reshape, dimwise::use_instead<dimwise::op::split, "
      "dimwise::op::merge> >"));
  CHECK(other.said(find(other.id())->seen) == "`reshape` has another name here: split, merge (R1)");
  // Where no pattern has its facts, the name of the error says it.
  facts<std::string> bare(of("ERROR_R5_softmax_over_a_single_element"));
  CHECK(bare.said(find(bare.id())->seen) == "softmax over a single element (R5)");
  facts<std::string> unknown(of("ERROR_R99_new_error<dimwise::op::sum, dimwise::over<seq>>"));
  CHECK(find(unknown.id()) == nullptr);
  CHECK(unknown.said("{nothing}") == "`sum` over seq: new error (R99)");
}
