// tests/viz/pictures.test.cpp -- what pictures hold: boxes, strands, cells, curves, and words that come from outside.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/texts.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/viz.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace pictures_test {
namespace {

using namespace dimwise;
using dimwise_test::count;
using dimwise_test::has;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct heads : heads_dim<2> {};
struct d_k : feature_dim<4> {};
struct d_v : feature_dim<3> {};

const tensor<float, seq, heads, d_k> q(seq{5});
const tensor<float, key, heads, d_k> k(key{5});
const tensor<float, key, heads, d_v> v(key{5});

// Every element that is opened is closed, in order; attributes are quoted.
bool well_formed(const std::string& s) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '&' && s.find(';', i) > i + 6) { return false; }
    if (s[i] == '>') { return false; }
    if (s[i] != '<') { continue; }
    const bool style = s.compare(i, 7, "<style>") == 0;
    std::size_t end = i + 1;
    for (bool quoted = false; end < s.size() && (quoted || s[end] != '>'); ++end) {
      if (s[end] == '<') { return false; }
      quoted = (s[end] == '"') != quoted;
    }
    const std::string tag = s.substr(i + 1, s.find_first_of(" >/", i + 2) - i - 1);
    if (s[i + 1] == '/') {
      const std::string name = s.substr(i + 2, end - i - 2);
      if (open.empty() || open.back() != name) { return false; }
      open.pop_back();
    } else if (s[end - 1] != '/') {
      open.push_back(tag);
    }
    i = style ? s.find("</style>", end) - 1 : end;
  }
  return open.empty();
}

TEST_CASE("pictures: the check of well-formedness can fail") {
  CHECK(well_formed("<a b=\"c>\"><d/></a>"));
  for (const char* wrong : {"<a>", "<a></b>", "<a>&b</a>", "<a>b>c</a>", "<a b=\"<\"/>"}) {
    CHECK_FALSE(well_formed(wrong));
  }
}

TEST_CASE("pictures: a derivation has a box for each tensor and a strand for each of its dimensions") {
  const auto y = contract<key>(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{})), v);
  const picture p = draw(y);
  const std::string s = p.svg();
  CHECK(well_formed(s));
  CHECK(count(s, "class=\"leaf\"") == 3);
  CHECK(count(s, "class=\"box\"") == 2);  // scores with all that keeps their dimensions; the product with the values
  for (const char* words : {">scores&lt;d_k&gt;<", ">scaled 0.5 = 1/√4<", ">masked causal&lt;seq, key&gt;<",
                            ">softmax&lt;key&gt;<", ">contract&lt;key&gt;<", ">normalised&lt;key&gt;<", ">d_v 3<"}) {
    CHECK_MESSAGE(has(s, words), words);
  }
  CHECK(count(s, "class=\"strand ") == 12);  // four tensors of three dimensions run into boxes
  CHECK(count(s, "class=\"dot ") == 4);      // d_k and key vanish, from both sides
  CHECK(p.title() == "derivation of heads[2] seq[5] d_v[3]");
  CHECK(has(s, "<desc>1. a tensor of numbers"));
  CHECK_FALSE(has(p.inner_svg(), "<style>"));
  CHECK(has(s, "@media (prefers-color-scheme:dark)"));
  CHECK(has(s, "@media print"));
  CHECK(well_formed(draw(q).svg()));
  const std::string renamed = draw(rename<key, seq>(k) * 2.0F).svg();
  CHECK(has(renamed, ">rename key → seq<"));
  CHECK(count(renamed, "class=\"dot ") == 0);
}

TEST_CASE("pictures: graphs for other programs") {
  const auto product = contract<d_k>(q, rename<key, prime<key>>(k));
  CHECK(mermaid(product) ==
        "flowchart TD\n"
        "  s1([\"tensor<br>seq[5] heads[2] d_k[4]\"])\n"
        "  s2([\"tensor<br>key[5] heads[2] d_k[4]\"])\n"
        "  s3[\"rename key → prime&lt;key&gt;<br>prime&lt;key&gt;[5] heads[2] d_k[4]\"]\n"
        "  s2 --> s3\n"
        "  s4[\"contract&lt;d_k&gt;<br>heads[2] seq[5] prime&lt;key&gt;[5], raw&lt;d_k&gt;\"]\n"
        "  s1 --> s4\n"
        "  s3 --> s4\n");
  const std::string graph = dot(product);
  CHECK(has(graph,
            "  s4 [label=\"contract<d_k>\\nheads[2] seq[5] prime<key>[5], raw<d_k>\"];\n  s1 -> s4;\n  s3 -> s4;\n}"));
}

TEST_CASE("pictures: a product as a network") {
  const std::string s = draw_network(contract<d_k>(q, k)).svg();
  CHECK(well_formed(s));
  CHECK(count(s, "class=\"node\"") == 2);
  CHECK(count(s, "class=\"strand k") == 3);         // d_k between them, seq, key
  CHECK(count(s, "class=\"strand shared k") == 1);  // heads
  CHECK(count(draw_network(outer(v, tensor<float, batch>(batch{2}))).svg(), "class=\"strand k") == 4);
}

TEST_CASE("pictures: weights with words of any sort") {
  const float nan = std::nanf("");
  const tensor<float, seq, key> x{{0.25F, 0.75F}, {nan, -INFINITY}};
  const std::string s = draw_weights(x, labels<seq>({"<pad>", "a\"b"}), labels<key>({"&\n", "\xff"})).svg();
  CHECK(well_formed(s));
  CHECK(has(s, "<title>&lt;pad&gt; → &amp;␊: .25</title>"));
  CHECK(has(s, ">a&quot;b<"));
  CHECK(has(s, ">�<"));
  CHECK(has(s, "→ &amp;␊: NaN</title>"));
  CHECK(has(s, "→ �: -∞</title>"));
  CHECK(count(s, "class=\"heat\"") == 2 + 5);  // cells, legend
  CHECK(has(s, "fill-opacity=\"0.33\""));
  CHECK(count(s, "class=\"odd\"") == 2);
  CHECK(has(s, ">× 1 NaN, 1 -∞<"));
  CHECK_THROWS_WITH_AS((void)draw_weights(x, labels<key>({"a", "b", "c"})),
                       "draw_weights: dimension key has extent 2 and 3 labels (R15)", extent_error);
}

TEST_CASE("pictures: maps side by side, long ones by levels, none of nothing") {
  const std::string four = draw_weights(tensor<float, batch, heads, seq, key>(batch{2}, seq{2}, key{2}) - 1).svg();
  CHECK(well_formed(four));
  CHECK(has(four, ">batch 1, heads 0<"));
  CHECK(count(four, "<title>0 → 0: -1</title>") == 4);
  CHECK(!has(four, "rotate"));  // words that a column has room for stand upright
  const std::string large = draw_weights(softmax<key>(tensor<float, seq, key>(seq{200}, key{200}))).svg();
  CHECK(well_formed(large));
  CHECK(large.size() < 40000);
  CHECK(count(large, "<path") == 1);  // one level
  CHECK(has(large, "rotate(-90)\">196<"));
  CHECK(well_formed(draw_weights(tensor<float, seq, key>(seq{0}, key{3})).svg()));
  CHECK(well_formed(draw_weights(tensor<float, seq>{1, 2}).svg()));
}

TEST_CASE("pictures: a mask shows and hides") {
  const std::string s = draw_mask(causal<seq, key>{}, seq{3}, key{3}).svg();
  CHECK(well_formed(s));
  CHECK(has(s, "<title>causal&lt;seq, key&gt;</title>"));
  CHECK(count(s, ": visible</title>") == 6);
  CHECK(count(s, ": hidden</title>") == 3);
  CHECK(has(s, "<title>1 → 2: hidden</title>"));
}

TEST_CASE("pictures: curves with gaps, of one value, of none") {
  const auto s = draw_curves({{"a<b", {3, 2, std::nan(""), 1, 0.5}}}, {.title = "loss", .first = 10}).svg();
  CHECK(well_formed(s));
  CHECK(has(s, ">a&lt;b; not drawn: 1 NaN<"));
  const std::size_t line = s.find("<path d=\"", s.find("step</text>"));
  CHECK(count(s.substr(line, s.find('"', line + 9) - line), "M") == 2);  // one before the gap, one behind it
  CHECK(has(s, ">14</text>"));
  CHECK(has(s, "from 3 to 0.5 in 5 steps"));
  for (const std::vector<double>& values : {std::vector<double>{}, {2}, {0, 0}, {-1e9, 1e9}, {INFINITY}}) {
    const std::string odd = draw_curves({{"x", values}}).svg();
    CHECK(well_formed(odd));
    CHECK_FALSE(has(odd, "nan"));
    CHECK_FALSE(has(odd, "inf"));
  }
}

TEST_CASE("pictures: a file that cannot be written") {
  CHECK_THROWS_WITH_AS(draw(q).save(""),
                       "picture: an empty file name: the file cannot be written: No such file or directory", error);
  CHECK_THROWS_WITH_AS(draw(q).save("/nowhere/at/all.svg"),
                       "picture: /nowhere/at/all.svg: the file cannot be written: No such file or directory", error);
}

}  // namespace
}  // namespace pictures_test
