// tools/marks_table.cpp -- prints docs/reference/marks.md from the table in include/dimwise/shape/marks_table.hpp.
//
//   g++ -std=c++20 -Iinclude tools/marks_table.cpp -o build/marks_table
//   build/marks_table include > docs/reference/marks.md
//
// Fails when the list of operations below is not the one of the header. Which operations have a function is read from
// include/dimwise/expr and eval: a row of the table may be there before its function is.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/shape/marks_table.hpp>
#include <dimwise/support/name.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
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

template <class Op>
row row_of() {
  constexpr auto whole = dw::detail::raw_type_name<Op>();
  const std::string name(whole.begin, whole.length);
  return {name.substr(name.rfind(':') + 1), dw::detail::marks_row<Op>};
}
template <class... Op>
std::vector<row> rows_of() {
  return {row_of<Op>()...};
}

// Operations on tensors; those on masks, which have no marks; those of modules, whose own rules say what they take.
const std::vector<row> tensor_rows =
    rows_of<op::contract, op::outer, op::scores, op::scaled, op::unscaled, op::elementwise, op::divide, op::map,
            op::compare, op::where, op::maximum, op::minimum, op::clamp, op::pow, op::masked, op::biased, op::softmax,
            op::log_softmax, op::renormalise, op::argmax, op::top_k, op::sum, op::mean, op::max, op::min, op::norm,
            op::logsumexp, op::cross_entropy, op::kl_divergence, op::mean_squared_error, op::binary_cross_entropy,
            op::standardize, op::layer_norm, op::rms_norm, op::rename, op::relabel, op::permute, op::split, op::merge,
            op::part, op::slice, op::at, op::concat, op::stack, op::gather, op::roll, op::flip, op::one_hot,
            op::scatter_add, op::dequantised, op::quantised, op::rounded, op::broadcast, op::broadcast_like,
            op::diagonal, op::rotary, op::scan, op::skew, op::unroll, op::pool, op::plain, op::assign>();
const std::vector<row> mask_rows = rows_of<op::padding, op::allow, op::block, op::whole_rows, op::mask_and, op::mask_or,
                                           op::causal, op::window, op::prefix, op::document>();
const std::vector<row> module_rows = rows_of<op::append, op::linear_attention>();

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The names declared in `namespace op { … }`, in the header's order.
std::vector<std::string> declared_operations(const std::string& header) {
  std::vector<std::string> names;
  const std::size_t end = header.find("}  // namespace op");
  for (std::size_t at = header.find("namespace op {"); (at = header.find("struct ", at)) < end;) {
    at += 7;
    names.push_back(header.substr(at, header.find(';', at) - at));
  }
  return names;
}

bool has_function(const std::string& sources, const std::string& name) {
  return name == "elementwise" || name == "divide" || name == "assign" ||
         sources.find(" auto " + name + "(") != std::string::npos ||
         sources.find("DIMWISE_DETAIL_OPERATION(" + name + ")") != std::string::npos;
}

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

std::string shown(const row& r) {
  if (r.name == "elementwise") { return "`+ - *`"; }
  if (r.name == "divide") { return "`/`"; }
  if (r.name == "assign") { return "assignment to a declared type"; }
  return "`" + r.name + "`";
}

// An identifier with an underscore, or a mark's name, stands in code.
std::string with_code(const std::string& text) {
  static const std::vector<std::string> marks = {"raw",        "score",    "masked_for",     "biased_for",
                                                 "normalised", "weighted", "log_normalised", "rotated",
                                                 "indexed",    "exp",      "sigmoid",        "scaled"};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
      ++end;
    }
    if (end == i) {
      out += text[i++];
      continue;
    }
    const std::string w = text.substr(i, end - i);
    out += std::find(marks.begin(), marks.end(), w) == marks.end() ? w : "`" + w + "`";
    i = end;
  }
  return out;
}

std::string cell(const char* text) { return *text == '\0' ? std::string() : with_code(text); }

void print_row(const row& r) {
  const mark_row& f = r.effects;
  std::printf("| %s |", shown(r).c_str());
  for (const effect one :
       {f.raw, f.score, f.masked_for, f.biased_for, f.normalised, f.weighted, f.log_normalised, f.rotated, f.indexed}) {
    std::printf(" %s |", word(one));
  }
  std::printf(" %s | %s | %s |\n", cell(f.sets).c_str(), cell(f.needs).c_str(), cell(f.note).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "marks_table <the folder include of this project>\n");
    return 2;
  }
  const std::filesystem::path include = argv[1];
  std::string sources;
  std::vector<std::filesystem::path> files;
  for (const char* layer : {"expr", "eval"}) {
    for (const auto& file : std::filesystem::directory_iterator(include / "dimwise" / layer)) {
      files.push_back(file.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) { sources += read(file); }

  std::vector<std::string> known;
  for (const auto* rows : {&tensor_rows, &mask_rows, &module_rows}) {
    for (const row& r : *rows) { known.push_back(r.name); }
  }
  std::vector<std::string> declared = declared_operations(read(include / "dimwise/shape/marks_table.hpp"));
  std::sort(known.begin(), known.end());
  std::sort(declared.begin(), declared.end());
  if (known != declared) {
    std::vector<std::string> differ;
    std::set_symmetric_difference(known.begin(), known.end(), declared.begin(), declared.end(),
                                  std::back_inserter(differ));
    for (const auto& name : differ) {
      std::fprintf(stderr, "marks_table: op::%s is not in both this program and the header\n", name.c_str());
    }
    return 1;
  }

  std::printf(R"(# Marks

<!-- generated: build/marks_table include > docs/reference/marks.md; see tools/marks_table.cpp -->

What every operation does with every mark. The page is printed from `include/dimwise/shape/marks_table.hpp`, which the
rules read.

| mark | says | ends by |
|---|---|---|
| `raw<D…>` | a product of positions over the features D, not yet scaled (R6) | `scores`, `scaled`, `unscaled` |
| `score<D…>` | such a product after its scale (R6) | `softmax`, `log_softmax`, `logsumexp`, `argmax` |
| `masked_for<D…>` | something is hidden; a softmax or reduction over one of D may follow (R7) | that softmax or reduction, `exp`, `sigmoid` |
| `biased_for<D…>` | something that varies along D was added; a softmax over one of D sees it (R7) | that softmax, a function, a contraction, a reduction |
| `normalised<D…>` | sums to one over D (R5) | a contraction over D |
| `weighted<D…>` | a product with something normalised over D (R5) | a sum over D |
| `log_normalised<D…>` | its exponentials sum to one over D (R5, R22) | `exp`, arithmetic, a function |
| `rotated<F, P>` | the feature F was turned by the positions of P, or of a prime of P (R9) | a contraction over F |
| `indexed<D>` | one element of D was taken by `at` (R18) | `broadcast<D>`, a product, or storing |

`plain(x)` ends all of them, visibly.

* **keep**: the result has the mark, too.
* **end**: the mark ends here.
* **refuse**: an operand with this mark does not compile.
* **weaken**: `normalised<D>` becomes `weighted<D>`.
* **rule**: the rule of the operation decides; the last column says how.

)");
  std::printf(
      "| operation | raw | score | masked_for | biased_for | normalised | weighted | log_normalised | rotated | "
      "indexed "
      "| sets | needs | note |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  std::string absent;
  for (const row& r : tensor_rows) {
    if (has_function(sources, r.name)) {
      print_row(r);
    } else {
      absent += (absent.empty() ? "`" : ", `") + r.name + "`";
    }
  }
  if (!absent.empty()) {
    std::printf("\nThe table has rows for %s, too: those of `a < b`, of `max(a, b)` and `min(a, b)`, and of losses.\n",
                absent.c_str());
  }
  std::printf("\nMasks themselves (`causal`, `padding`, `allow`, …) are no tensors and have no marks.\n");
  return 0;
}
