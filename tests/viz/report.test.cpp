// tests/viz/report.test.cpp -- what the page of a report holds, without a browser.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/texts.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/viz.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace report_test {
namespace {

using namespace dimwise;
using dimwise_test::has;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct heads : heads_dim<2> {};
struct d_k : feature_dim<4> {};
struct d_v : feature_dim<3> {};

nlohmann::json data_of(const std::string& page) {
  const std::string begin = "id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at));
}

auto attention(const tensor<float, seq, heads, d_k>& q, const tensor<float, key, heads, d_k>& k) {
  const tensor<float, key, heads, d_v> v(key{3});
  return contract<key>(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{})), v);
}

TEST_CASE("report: a formula gives its picture, its steps, its weights and its mask") {
  const tensor<float, seq, heads, d_k> q(seq{3});
  const tensor<float, key, heads, d_k> k(key{3});
  const auto y = attention(q, k);
  attention_report page("a <title>", labels<seq>({"</script>", "b\"", "\xff"}), labels<key>({"x", "<!--", "z\n"}));
  page.add_formula(y);
  const std::string html = page.html();
  CHECK(has(html, "<title>a &lt;title&gt;</title>"));
  CHECK(has(html, ">softmax&lt;key&gt;<"));
  CHECK_FALSE(has(html, "http://www.w3.org/2000/svg\" class=\"dw\" role=\"img\"><style>"));
  const auto data = data_of(html);
  REQUIRE(data["steps"].size() == 8);
  REQUIRE(data["steps"].size() == explain(y).derivation().steps().size());
  CHECK(data["steps"][5]["words"] == "softmax<key> of step 5");
  CHECK(data["steps"][5]["result"] == "heads[2] seq[3] key[3], normalised<key>");
  CHECK(has(data["steps"][5]["table"], "seq \\ key       x    <!--      z␊\n"));
  CHECK(has(data["steps"][5]["table"], "       b\"  0.5000  0.5000  0.0000\n"));
  CHECK(has(data["steps"][4]["table"], "-inf"));  // what the mask hides
  REQUIRE(data["weights"].size() == 1);
  const auto w = data["weights"][0];
  CHECK(w["name"] == "step 6: softmax<key>");
  CHECK(w["places"] == nlohmann::json{"heads 0", "heads 1"});
  CHECK(w["rowWords"] == nlohmann::json{"</script>", "b\"", "�"});
  CHECK(w["columnWords"] == nlohmann::json{"x", "<!--", "z␊"});
  CHECK(w["values"].size() == 18);
  CHECK(w["values"][3] == 0.5);
  CHECK(w["values"][5] == 0);
  CHECK(w["values"][8] == 0.3333);
  REQUIRE(data["masks"].size() == 1);
  CHECK(data["masks"][0]["name"] == "causal<seq, key>");
  CHECK(data["masks"][0]["values"] == nlohmann::json{1, 0, 0, 1, 1, 0, 1, 1, 1});
}

TEST_CASE("report: heads and steps have the names that the user gives") {
  const tensor<float, seq, heads, d_k> q(seq{3});
  const tensor<float, key, heads, d_k> k(key{3});
  attention_report page("x", labels<heads>({"copies", "matches"}));
  page.add_formula(attention(q, k), {{3, "scores"}, {6, "attention"}});
  page.add_weights("again", softmax<key>(scores<d_k>(q, k)));
  const auto data = data_of(page.html());
  CHECK(data["weights"][0]["name"] == "attention");
  CHECK(data["weights"][0]["places"] == nlohmann::json{"copies", "matches"});
  CHECK(data["weights"][1]["places"] == nlohmann::json{"copies", "matches"});
  CHECK(data["steps"][5]["words"] == "attention: softmax<key> of step 5");
  CHECK(data["steps"][3]["words"] == "scaled: scores times the number 0.5 = 1/√4");
  CHECK(has(data["steps"][7]["words"], "contract<key> of attention and step 7: sums over key"));
  CHECK(has(data["steps"][5]["table"], "\ncopies\n"));
  CHECK_FALSE(has(data["steps"][5]["table"], "heads 0"));
  for (const std::size_t step : {0, 9}) {
    CHECK_THROWS_WITH_AS(
        page.add_formula(attention(q, k), {{step, "none"}}),
        ("report: the formula has 8 steps, and the name none is for step " + std::to_string(step)).c_str(), error);
  }
  CHECK_THROWS_WITH_AS(attention_report("x", labels<heads>({"one"})).add_weights("w", softmax<key>(scores<d_k>(q, k))),
                       "report: dimension heads has extent 2 and 1 labels (R15)", extent_error);
}

TEST_CASE("report: results of two models or texts are in one page") {
  const auto of = [](const std::string& text, float weight) {
    attention_report r("", labels<seq>({text}));
    r.add_weights("layer", tensor<float, seq, key>{{weight}});
    r.add_formula(tensor<float, seq>(seq{1}) + 1);
    return r;
  };
  attention_report page("two");
  page.add_result("small <model>", of("a", 0.5F));
  page.add_result("large", of("b", 0.25F));
  const std::string html = page.html();
  const auto data = data_of(html);
  CHECK(data["weights"].empty());
  REQUIRE(data["results"].size() == 2);
  CHECK(data["results"][0]["name"] == "small <model>");
  CHECK(data["results"][0]["weights"][0]["values"] == nlohmann::json{0.5});
  CHECK(data["results"][1]["weights"][0]["rowWords"] == nlohmann::json{"b"});
  CHECK(data["results"][1]["weights"][0]["values"] == nlohmann::json{0.25});
  CHECK(html.find("<desc>") == html.rfind("<desc>"));  // the formula of both is drawn once
  CHECK(data_of(attention_report("none").html())["results"].empty());
}

TEST_CASE("report: words where they fit, weights that are given by their name") {
  const tensor<float, seq, key, normalised<key>> given{{1, 0}, {0.5F, 0.5F}};
  attention_report page("x", labels<seq>({"one", "two"}));
  page.add_formula(slice<seq>(given, 0, 1));
  const auto data = data_of(page.html());
  CHECK(data["weights"][0]["name"] == "step 1: tensor");
  CHECK(has(data["steps"][0]["table"], "      one "));
  CHECK_FALSE(has(data["steps"][1]["table"], "one"));
}

TEST_CASE("report: nothing is fetched, and nothing leaves the text that is data") {
  attention_report page("x");
  page.add_formula(tensor<float, seq>(seq{2}) + 1);
  std::string html = page.html();
  CHECK(data_of(html)["weights"].empty());
  for (std::size_t at; (at = html.find("http://www.w3.org/2000/svg")) != std::string::npos;) { html.erase(at, 26); }
  for (const char* never : {"http:", "https:", "src=", "@import", "url(", "fetch", "innerHTML", "eval("}) {
    CHECK_MESSAGE(!has(html, never), never);
  }
}

TEST_CASE("report: weights and masks of a run, special values, labels that do not fit") {
  attention_report page("run", labels<key>({"a", "b"}));
  page.add_weights("layer 1", tensor<float, seq, key>{{std::nanf(""), INFINITY}, {-0.0F, 1e-9F}});
  page.add_mask("near", window<seq, key>{0, 0}, seq{2}, key{2});
  const auto data = data_of(page.html());
  CHECK(data["weights"][0]["places"] == nlohmann::json{"all"});
  CHECK(data["weights"][0]["values"].dump() == "[\"NaN\",\"∞\",0,1e-09]");
  CHECK(data["weights"][0]["rowWords"].empty());
  CHECK(data["masks"][0]["values"] == nlohmann::json{1, 0, 0, 1});
  CHECK_THROWS_WITH_AS(page.add_weights("layer 2", tensor<float, seq, key>(seq{1}, key{3})),
                       "report: dimension key has extent 3 and 2 labels (R15)", extent_error);
  CHECK_THROWS_WITH_AS(page.save("/nowhere/x.html"),
                       "report: /nowhere/x.html: the file cannot be written: No such file or directory", error);
}

struct letter : choice_dim<3> {};

// A model of letters: its weights are its mask, and of two choices the first is likelier where head 1 is on.
live_model model_of_letters() {
  return {"letters", "a & b", {"head <0>", "head 1"}, [](const live_settings& of) {
    if (of.text.empty()) { throw error(error{} << "type a letter"); }
    std::vector<std::string> words;
    for (const char c : of.text) { words.emplace_back(1, c); }
    const std::size_t n = words.size();
    attention_report run("", labels<seq>(words), labels<key>(words), labels<letter>({"a", "b", "c"}));
    const tensor w = indicator(of.visible<seq, key>(), seq{n}, key{n});
    run.add_weights("layer 1", w);
    run.add_prediction("next", tensor<float, seq, letter>(seq{n}) + (of.on(1) ? 0.5F : 0.25F));
    run.add_formula(w + 1.0F);
    return run;
  }};
}
nlohmann::json answer(const std::string& request) {
  return nlohmann::json::parse(detail::live_answer(model_of_letters(), request));
}

TEST_CASE("report: a model in the page is told what a reader has set, and says what is wrong with it") {
  const auto causal = answer("causal\n4\n11\naba");
  CHECK(causal["weights"][0]["values"] == nlohmann::json{1, 0, 0, 1, 1, 0, 1, 1, 1});
  CHECK(causal["weights"][0]["rowWords"] == nlohmann::json{"a", "b", "a"});
  CHECK(causal["predictions"][0]["columnWords"] == nlohmann::json{"a", "b", "c"});
  CHECK(causal["predictions"][0]["values"][8] == 0.5);
  CHECK(causal["steps"].size() == 2);
  CHECK(answer("none\n4\n10\nab")["weights"][0]["values"] == nlohmann::json{1, 1, 1, 1});
  CHECK(answer("none\n4\n10\nab")["predictions"][0]["values"][0] == 0.25);
  CHECK(answer("none\n4\n\nab")["predictions"][0]["values"][0] == 0.5);  // heads that are not listed are on
  CHECK(answer("window\n1\n11\nab")["weights"][0]["values"] == nlohmann::json{1, 0, 0, 1});
  CHECK(answer("window\n2\n11\na\nb")["weights"][0]["values"] == nlohmann::json{1, 0, 0, 1, 1, 0, 0, 1, 1});
  for (const char* width : {"9223372036854775807", "9223372036854775808", "18446744073709551615",
                            "18446744073709551616"}) {  // as wide as a window may be, and wider than a number
    CHECK(answer("window\n" + std::string(width) + "\n11\nab")["weights"][0]["values"] == nlohmann::json{1, 0, 1, 1});
  }
  CHECK(live_settings{.text = "", .mask = "window", .width = std::size_t{1} << 63}.visible<seq, key>().left() >
        1'000'000);
  CHECK(answer("causal\n4\n11\n") == nlohmann::json{{"error", "type a letter"}});
  CHECK(answer("window\n\n11\nab") == nlohmann::json{{"error", "a window has at least one key"}});
  CHECK(answer("window\n-1\n11\nab") == nlohmann::json{{"error", "a window has at least one key"}});
  CHECK(answer("all\n4\n11\nab") == nlohmann::json{{"error", "unknown mask all"}});
  CHECK(answer("") == nlohmann::json{{"error", "type a letter"}});
}

TEST_CASE("report: a page holds the model's words, its stored runs and its program") {
  attention_report page("live");
  page.add_live(model_of_letters(), {{.text = "ab", .mask = "none"}, {.text = "b", .width = 2, .heads = {true, false}}},
                std::string_view("\0asm", 4));
  const std::string html = page.html();
  const auto live = data_of(html)["live"];
  CHECK(live["label"] == "letters");
  CHECK(live["hint"] == "a & b");
  CHECK(live["heads"] == nlohmann::json{"head <0>", "head 1"});
  REQUIRE(live["runs"].size() == 2);
  CHECK(live["runs"][0]["text"] == "ab");
  CHECK(live["runs"][0]["mask"] == "none");
  CHECK(live["runs"][0]["off"].empty());
  CHECK(live["runs"][0]["weights"] == answer("none\n4\n11\nab")["weights"]);
  CHECK(live["runs"][1]["width"] == 2);
  CHECK(live["runs"][1]["off"] == nlohmann::json{1});
  CHECK(live["runs"][1]["predictions"][0]["values"] == nlohmann::json{0.25, 0.25, 0.25});
  CHECK(has(html, "id=\"program\">AGFzbQ==</script>"));
  CHECK(html.find("<h2>The formula, of the first stored run</h2>") >
        html.find("id=\"steps\""));  // of the first run alone
  CHECK(html.find("<desc>") == html.rfind("<desc>"));

  attention_report stored("stored");
  stored.add_live(model_of_letters(), {{.text = "ab"}});
  CHECK(has(stored.html(), "id=\"program\"></script>"));
  CHECK_FALSE(data_of(attention_report("none").html()).contains("live"));
  CHECK_THROWS_WITH_AS(page.add_live(model_of_letters(), {}), "report: a live model needs a stored run", error);
  CHECK_THROWS_WITH_AS(page.add_live(model_of_letters(), {{.text = ""}}), "type a letter", error);
  CHECK(detail::in_base64("") == "");
  CHECK(detail::in_base64("a") == "YQ==");
  CHECK(detail::in_base64("ab") == "YWI=");
  CHECK(detail::in_base64("\xff\xfe\xfd") == "//79");
}

}  // namespace
}  // namespace report_test
