// tools/marks_table.cpp -- prints the table of docs/reference/marks.md from include/dimwise/shape/marks_table.hpp.
//
//   marks_table <the folder include of this project>      (the target `marks`)
//
// Fails when the operations below are not those of the header. Why no kept tool: the table is made of C++ constants.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/shape/marks_table.hpp>
#include <dimwise/support/name.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace dw = dimwise;
namespace op = dimwise::op;
using dw::detail::effect;
using dw::detail::mark_row;

struct row {
  std::string name;
  mark_row effects;
};

template <class... Op>
std::vector<row> rows_of() {
  const auto name = []<class One>(std::type_identity<One>) {
    constexpr auto whole = dw::detail::raw_type_name<One>();
    const std::string text(whole.begin, whole.length);
    return text.substr(text.rfind(':') + 1);
  };
  return {row{name(std::type_identity<Op>{}), dw::detail::marks_row<Op>}...};
}

const std::vector<row> tensor_rows =
    rows_of<op::contract, op::outer, op::scores, op::scaled, op::unscaled, op::elementwise, op::divide, op::map,
            op::compare, op::where, op::maximum, op::minimum, op::clamp, op::pow, op::masked, op::biased, op::softmax,
            op::log_softmax, op::renormalise, op::argmax, op::top_k, op::sum, op::mean, op::max, op::min, op::logsumexp,
            op::norm, op::prod, op::cross_entropy, op::kl_divergence, op::mean_squared_error, op::binary_cross_entropy,
            op::standardize, op::layer_norm, op::rms_norm, op::rename, op::relabel, op::permute, op::split, op::merge,
            op::part, op::slice, op::at, op::unstack, op::replace_at, op::assign_at, op::concat, op::stack, op::gather,
            op::roll, op::flip, op::sort, op::argsort, op::one_hot, op::scatter_add, op::dequantised, op::quantised,
            op::rounded, op::broadcast, op::broadcast_like, op::diagonal, op::rotary, op::cumsum, op::cumprod, op::skew,
            op::unroll, op::pool, op::plain, op::assign>();
// Those of masks and of caches, which the table of the page leaves out.
const std::vector<row> other_rows =
    rows_of<op::padding, op::allow, op::block, op::whole_rows, op::mask_and, op::mask_or, op::causal, op::window,
            op::prefix, op::document, op::append, op::linear_attention>();

const char* word(effect f) {
  switch (f) {
    case effect::keep:
      return "keep";
    case effect::drop:
      return "end";
    case effect::refuse:
      return "**refuse**";
    case effect::weaken:
      return "weaken";
    case effect::by_rule:
      return "rule";
  }
  return "?";
}

std::string shown(const std::string& name) {
  static const std::map<std::string, std::string> symbols = {
      {"elementwise", "`+ - *`"}, {"divide", "`/`"},          {"compare", "`a < b`"},
      {"maximum", "`max(a, b)`"}, {"minimum", "`min(a, b)`"}, {"assign", "assignment to a declared type"}};
  const auto symbol = symbols.find(name);
  return symbol == symbols.end() ? "`" + name + "`" : symbol->second;
}

// Names of marks stand in code.
std::string cell(const std::string& text) {
  static const std::regex marks(
      R"(\b(raw|score|masked_for|biased_for|normalised|weighted|log_normalised|rotated|indexed|partial)\b)"
      R"(|\b(exp|sigmoid|scaled)\b)");
  return std::regex_replace(text, marks, "`$&`");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) { return 2; }

  // The names declared in `namespace op { … }`.
  std::ifstream file(std::string(argv[1]) + "/dimwise/shape/marks_table/operations.hpp");
  const std::string header{std::istreambuf_iterator<char>(file), {}};
  const std::string declarations =
      header.substr(0, header.find("}  // namespace op")).substr(header.find("namespace op {"));
  static const std::regex declaration(R"(struct (\w+);)");
  std::set<std::string> declared;
  for (std::sregex_iterator at(declarations.begin(), declarations.end(), declaration), end; at != end; ++at) {
    declared.insert((*at)[1]);
  }
  std::set<std::string> known;
  for (const auto* rows : {&tensor_rows, &other_rows}) {
    for (const row& r : *rows) { known.insert(r.name); }
  }
  std::vector<std::string> differing;
  std::ranges::set_symmetric_difference(known, declared, std::back_inserter(differing));
  for (const std::string& name : differing) {
    std::cerr << "marks_table: op::" << name << " is not in both this program and the header\n";
  }
  if (!differing.empty()) { return 1; }

  std::cout << "| operation | raw | score | masked_for | biased_for | normalised | weighted | log_normalised | rotated "
               "| indexed | partial | sets | needs | note |\n"
               "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, f] : tensor_rows) {
    std::cout << "| " << shown(name) << " |";
    for (const effect one : std::array{f.raw, f.score, f.masked_for, f.biased_for, f.normalised, f.weighted,
                                       f.log_normalised, f.rotated, f.indexed, f.partial}) {
      std::cout << " " << word(one) << " |";
    }
    std::cout << " " << cell(f.sets) << " | " << cell(f.needs) << " | " << cell(f.note) << " |\n";
  }
}
