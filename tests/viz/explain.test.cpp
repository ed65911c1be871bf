// tests/viz/explain.test.cpp -- the derivation of a shape in words: the steps, their shapes, why marks come and go.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>

namespace explain_test {
namespace {

using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct distance : position_dim<> {};
struct taps : position_dim<2> {};
struct d_model : feature_dim<12> {};
struct heads : heads_dim<3> {};
struct d_k : divided<d_model, heads> {};
struct d_v : feature_dim<5> {};
struct rot : feature_dim<2> {};
struct pass : feature_dim<2> {};
struct vocab : choice_dim<7> {};
struct layers : batch_dim<2> {};

const tensor<float, batch, seq, d_model> x(batch{2}, starting_at(seq{5}, 3));
const tensor<float, seq, heads, d_k> q(seq{5});
const tensor<float, key, heads, d_k> k(key{5});
const tensor<float, key, heads, d_v> v(key{5});

// The last step in words: without its number, what it changes and what it costs.
template <class X>
std::string last_step(const X& e) {
  const auto derived = detail::derivation_of(e);
  const detail::step_description& s = derived.steps().back();
  std::string all = s.what + "\n   -> " + detail::in_words(s.result) + "\n";
  for (const std::string& r : s.reasons) { all += "      " + r + "\n"; }
  return all;
}

TEST_CASE("describe: dimensions with extents, where positions begin, marks") {
  CHECK(describe(x) == "batch[2] seq[5 from position 3] d_model[12]");
  CHECK(describe(tensor<float>({1.0F})) == "one number");
  CHECK(describe(scores<d_k>(q, k)) == "heads[3] seq[5] key[5], score<d_k>");
  CHECK(describe(softmax<key>(scores<d_k>(q, k)) * 2.0F) == "heads[3] seq[5] key[5], weighted<key>");
  CHECK(describe(tensor<float, prime<heads>, merged<heads, d_k>, out<d_model>>()) ==
        "prime<heads>[3] merged<heads, d_k>[12] out<d_model>[12]");
  struct local : heads_dim<2> {};  // of this function, and of a namespace without a name: said without them
  CHECK(describe(tensor<float, prime<d_v, 6>, summed<merged<heads, prime<rot>>, local>>()) ==
        "prime<d_v, 6>[6] summed<merged<heads, prime<rot>>, local>[8]");
  // Features have no positions, wherever they were cut.
  CHECK(describe(slice<d_k, rot>(q, 2)) == "seq[5] heads[3] rot[2]");
}

TEST_CASE("explain: attention, step by step") {
  const auto a = softmax<key>(masked(scaled<d_k>(contract<d_k>(q, k)), causal<seq, key>{}));
  CHECK(explain(contract<key>(a, v)).text() == R"(1. a tensor of numbers
   -> seq[5] heads[3] d_k[4]
      240 bytes
2. a tensor of numbers
   -> key[5] heads[3] d_k[4]
      240 bytes
3. contract<d_k> of step 1 and step 2: sums over d_k; side by side: heads; free on the left: seq; free on the right: key
   -> heads[3] seq[5] key[5], raw<d_k>
      d_k vanishes; 300 multiply-adds, 300 bytes
      raw<d_k>: free positions on both sides (seq; key) and no feature left; scale it before softmax
4. scaled: step 3 times the number 0.5 = 1/√4
   -> heads[3] seq[5] key[5], score<d_k>
      300 bytes
      score<d_k>: the products over d_k are scaled now; nothing is scaled twice
5. masked: of step 4 only what causal<seq, key> allows
   -> heads[3] seq[5] key[5], score<d_k>, masked_for<key>
      300 bytes
      masked_for<key>: the next softmax or reduction goes over key, which ends it
6. softmax<key> of step 5
   -> heads[3] seq[5] key[5], normalised<key>
      300 bytes
      normalised<key>: sums to one over key
      score<d_k> ends: taken by softmax
      masked_for<key> ends: softmax counts what is masked as nothing
7. a tensor of numbers
   -> key[5] heads[3] d_v[5]
      300 bytes
8. contract<key> of step 6 and step 7: sums over key; side by side: heads; free on the left: seq; free on the right: d_v
   -> heads[3] seq[5] d_v[5]
      key vanishes; 375 multiply-adds, 300 bytes
      normalised<key> ends: the weights are used up: key is summed over
in all: 675 multiply-adds
what runs:
  attention softmax of scores, contracted with values -> heads[3] seq[5] d_v[5]
)");
}

TEST_CASE("explain: a plan is printed as its text") {
  const auto e = softmax<key>(scores<d_k>(q, k));
  std::ostringstream out;
  out << plan(e) << plan(sum<seq>(x));
  CHECK(out.str() == plan(e).text() + plan(sum<seq>(x)).text());
  CHECK(out.str().find(" -> heads[3] seq[5] key[5]") != std::string::npos);
}

TEST_CASE("explain: scores are a product and its scale; unscaled says so") {
  const std::string told = explain(scores<d_k>(q, k)).text();
  CHECK(told.find("3. scores<d_k> of step 1 and step 2: sums over d_k") != std::string::npos);
  CHECK(told.find("4. scaled: step 3 times the number 0.5 = 1/√4\n   -> heads[3] seq[5] key[5], score<d_k>\n"
                  "      300 bytes\n") != std::string::npos);
  CHECK(last_step(unscaled(contract<d_k>(q, k))) ==
        "unscaled: step 3, the same elements\n   -> heads[3] seq[5] key[5], score<d_k>\n"
        "      score<d_k>: taken as scores without a scale, visibly\n");
}

TEST_CASE("explain: dimensions come, go and change their names; sizes of elements") {
  const auto line = [](const auto& e) {
    const std::string all = explain(e).text();
    const std::size_t shape = all.find("-> ", all.rfind("\n   ->"));
    const std::size_t begin = all.find_first_not_of(' ', all.find('\n', shape) + 1);
    return all.substr(begin, all.find('\n', begin) - begin);
  };
  CHECK(line(x) == "480 bytes");
  CHECK(line(rename<key, seq>(k)) == "key becomes seq; 240 bytes");
  CHECK(line(merge<heads, d_k>(q)) == "merged<heads, d_k> appears; heads, d_k vanish; 240 bytes");
  CHECK(line(sum<seq>(q)) == "seq vanishes; 48 bytes");
  CHECK(line(broadcast<layers>(x)) == "layers appears; 960 bytes");
  CHECK(line(x < 0.5F) == "120 bytes");
  CHECK(line(tensor<double, batch>(batch{3}) * 2.0) == "24 bytes");
  CHECK(line(outer(tensor<float, vocab>(), tensor<float, d_v>())) == "35 multiply-adds, 140 bytes");
  CHECK(explain(tensor<int, batch>(batch{3}) * 2).plan().empty());
}

TEST_CASE("explain: Markdown and JSON say what the text says") {
  const auto e = explain(contract<d_k>(q, rename<key, prime<key>>(k)));
  CHECK(e.multiply_adds() == 300);
  CHECK(e.markdown() == R"(| step | operation | dimensions | changes | multiply-adds | bytes |
|--:|---|---|---|--:|--:|
| 1 | a tensor of numbers | seq[5] heads[3] d\_k[4] |  |  | 240 |
| 2 | a tensor of numbers | key[5] heads[3] d\_k[4] |  |  | 240 |
| 3 | rename in step 2: key is called prime&lt;key> |)"
                        R"( prime&lt;key>[5] heads[3] d\_k[4] | key becomes prime&lt;key> |  | 240 |
| 4 | contract&lt;d\_k> of step 1 and step 3: sums over d\_k; side by side: heads;)"
                        R"( free on the left: seq; free on the right: prime&lt;key> |)"
                        R"( heads[3] seq[5] prime&lt;key>[5], raw&lt;d\_k> | d\_k vanishes | 300 | 300 |

| runs | operation | gives |
|---|---|---|
| product | contract over d\_k | heads[3] seq[5] prime&lt;key>[5], raw&lt;d\_k> |
)");
  const auto j = nlohmann::json::parse(e.json());
  CHECK(j["multiply_adds"] == 300);
  CHECK(j["plan"][0]["kind"] == "product");
  REQUIRE(j["steps"].size() == 4);
  CHECK(j["steps"][2]["renamed"].dump() == R"([["key","prime<key>"]])");
  const auto last = j["steps"][3];
  CHECK(last["number"] == 4);
  CHECK(last["operation"] == "contract");
  CHECK(last["over"] == nlohmann::json{"d_k"});
  CHECK(last["operands"] == nlohmann::json{1, 3});
  CHECK(last["dims"][2] == nlohmann::json{{"name", "prime<key>"}, {"extent", 5}});
  CHECK(last["marks"] == nlohmann::json{"raw<d_k>"});
  CHECK(last["vanish"] == nlohmann::json{"d_k"});
  CHECK(last["appear"].empty());
  CHECK(last["bytes"] == 300);
  CHECK(last["reasons"].size() == 1);
  CHECK(explain(x < 0.5F).markdown().find("| 2 | step 1 &lt; the number 0.5, element by element |") !=
        std::string::npos);
}

TEST_CASE("explain: one query among keys, and batches among batches, are raw for another reason") {
  CHECK(last_step(contract<d_k>(at<seq>(q, 1), k))
            .find("raw<d_k>: free positions on both sides (one of seq; key) and no feature left") != std::string::npos);
  struct texts : batch_dim<4> {};
  struct images : batch_dim<4> {};
  CHECK(last_step(contract<d_model>(tensor<float, texts, d_model>(), tensor<float, images, d_model>()))
            .find("raw<d_model>: free parallel dimensions on both sides (texts; images) and no feature left") !=
        std::string::npos);
}

TEST_CASE("explain: masks and biases in words") {
  const auto s = scores<d_k>(q, k);
  const auto what = [](const std::string& step) { return step.substr(0, step.find('\n')); };
  CHECK(what(last_step(masked(s, causal<seq, key>{} & padding<key>(3)))) ==
        "masked: of step 4 only what (causal<seq, key> & padding<key>) allows");
  CHECK(what(last_step(masked(s, window<seq, key>{1, 2} | !prefix<seq, key>{2}))) ==
        "masked: of step 4 only what (window<seq, key>{1 before, 2 after} | !prefix<seq, key>{2}) allows");
  CHECK(what(last_step(masked(s, window<seq, key>{-1, 0}))) ==
        "masked: of step 4 only what window<seq, key>{all before, 0 after} allows");
  CHECK(what(last_step(masked(s, allow(tensor<bool, seq, key>(seq{5}, key{5}))))) ==
        "masked: of step 4 only what a given mask over seq, key allows");
  CHECK(what(last_step(biased(s, alibi<seq, key, heads>{}))) == "biased: step 4 plus alibi<seq, key, heads>");
  CHECK(what(last_step(biased(s, relative_bias<seq, key, distance>(tensor<float, distance, heads>(distance{9}))))) ==
        "biased: step 4 plus relative_bias<seq, key, heads> from a table of distance[9] heads[3]");
  CHECK(last_step(indicator(causal<seq, key>{}, seq{2}, key{2})) ==
        "indicator by causal<seq, key>\n   -> seq[2] key[2]\n");
}

TEST_CASE("explain: names, order, parts") {
  const auto what = [](const std::string& step) { return step.substr(0, step.find('\n')); };
  CHECK(last_step(permute<heads, seq, d_k>(q)) ==
        "permute step 1: another order in memory\n   -> heads[3] seq[5] d_k[4]\n");
  CHECK(last_step(merge<heads, d_k>(q)) ==
        "merge dimensions of step 1 into one product\n   -> seq[5] merged<heads, d_k>[12]\n");
  CHECK(what(last_step(split<heads, d_k>(merge<heads, d_k>(q)))) == "split step 2 into the factors of its product");
  CHECK(what(last_step(rename<key, seq>(k))) == "rename in step 1: key is called seq");
  CHECK(what(last_step(relabel<rot, pass>(tensor<float, rot>()))) ==
        "relabel in step 1: rot is called pass, though they are not related");
  CHECK(last_step(at<seq>(q, 1)) ==
        "at<seq> of step 1: element 1\n   -> heads[3] d_k[4], indexed<seq>\n"
        "      indexed<seq>: one element of seq was taken; it meets a tensor that has seq only through broadcast\n");
  CHECK(last_step(slice<seq>(q, 1, 2)) ==
        "slice<seq> of step 1: 2 elements from 1\n   -> seq[2 from position 1] heads[3] d_k[4]\n");
  CHECK(what(last_step(slice<d_k, rot>(q, 2))) == "slice<d_k> of step 1: 2 elements from 2, called rot");
  CHECK(what(last_step(part<rot>(tensor<float, summed<rot, pass>>()))) == "part rot of summed<rot, pass> in step 1");
  CHECK(what(last_step(concat<summed<rot, pass>>(tensor<float, rot>(), tensor<float, pass>()))) ==
        "concat<summed<rot, pass>> of step 1 and step 2");
  CHECK(what(last_step(stack<layers>(x, x))) == "stack<layers> of step 1 and step 2");
  CHECK(what(last_step(broadcast<layers>(x))) == "broadcast step 1: the same for every layers");
  CHECK(last_step(diagonal<seq, key>(tensor<float, seq, key>(seq{2}, key{2}))) ==
        "diagonal of step 1: seq and key run together\n   -> seq[2]\n");
}

TEST_CASE("explain: reductions, positions, functions") {
  const auto what = [](const std::string& step) { return step.substr(0, step.find('\n')); };
  CHECK(last_step(mean<seq>(x)) == "mean<seq> of step 1: seq is gone\n   -> batch[2] d_model[12]\n");
  CHECK(last_step(mean<seq>(x, padding<seq>(2))).find("masked_for<seq> ends: mean counts what is masked as nothing") !=
        std::string::npos);
  CHECK(what(last_step(cumsum<seq>(x))) == "cumsum<seq> of step 1");
  CHECK(what(last_step(cumprod<seq>(x))) == "cumprod<seq> of step 1");
  CHECK(what(last_step(sort<seq>(x))) == "sort<seq> of step 1");
  CHECK(what(last_step(argsort<seq>(x, descending{}))) == "descending argsort<seq> of step 1");
  CHECK(last_step(rotary<seq, d_k>(q))
            .find("rotary<seq, d_k> of step 1\n   -> seq[5] heads[3] d_k[4], rotated<d_k, seq>\n"
                  "      rotated<d_k, seq>: d_k carries positions now; queries and keys must agree\n") == 0);
  CHECK(what(last_step(roll<seq>(x, -1))) == "roll<seq> of step 1: element 0 becomes element 4");
  CHECK(what(last_step(flip<seq>(x))) == "flip<seq> of step 1");
  CHECK(what(last_step(unroll<seq, taps>(x))) == "unroll<seq, taps> of step 1");
  CHECK(last_step(skew<seq, distance, key>(tensor<float, seq, distance>(seq{3}, distance{5}), key{3})) ==
        "skew<seq, distance, key> of step 1\n   -> seq[3] key[3]\n");
  CHECK(what(last_step(gather<vocab>(tensor<float, vocab, d_model>(), tensor<id<vocab>, batch>(batch{2})))) ==
        "gather<vocab> of step 1 and step 2");
  CHECK(last_step(tensor<id<vocab>, batch>(batch{2})) == "a tensor of ids of vocab\n   -> batch[2]\n");
  CHECK(what(last_step(relu(x))) == "relu of step 1, element by element");
  CHECK(what(last_step(map([](float f) { return f; }, x))) == "map: a function of step 1, element by element");
  CHECK(what(last_step(x * tensor<float, d_model>())) ==
        "step 1 * step 2, element by element; step 2 is the same for every batch, seq");
  CHECK(what(last_step(outer(q, tensor<float, vocab>()))) ==
        "outer of step 1 and step 2; free on the left: seq, heads, d_k; free on the right: vocab");
}

TEST_CASE("explain: how marks end") {
  const auto a = softmax<key>(scores<d_k>(q, k));
  CHECK(last_step(a * 2.0F).find("weighted<key>: no longer sums to one over key; it may only be summed over key") !=
        std::string::npos);
  CHECK(
      last_step(plain(a)) ==
      "plain: step 5, the same elements\n   -> heads[3] seq[5] key[5]\n      normalised<key> ends: dropped visibly\n");
  CHECK(last_step(plain(scores<d_k>(q, k))).find("score<d_k> ends: dropped visibly") != std::string::npos);
  CHECK(last_step(argmax<key>(scores<d_k>(q, k))).find("score<d_k> ends: taken by argmax") != std::string::npos);
  const auto biased_scores = biased(scores<d_k>(q, k), tensor<float, key>(key{5}));
  CHECK(last_step(biased_scores)
            .find("biased_for<key>: what was added varies along key; no softmax over another dimension sees it") !=
        std::string::npos);
  CHECK(last_step(softmax<key>(biased_scores)).find("biased_for<key> ends: taken by softmax") != std::string::npos);
  CHECK(last_step(contract<heads>(a, tensor<float, heads, prime<heads>>()))
            .find("normalised<key> ends: heads were mixed, and a mixture sums to something else") != std::string::npos);
  CHECK(last_step(contract<d_k>(rotary<seq, d_k>(q), rotary<key, d_k>(k)))
            .find("rotated<d_k, seq> ends: both sides were rotated alike, and d_k is summed over") !=
        std::string::npos);
  CHECK(last_step(contract<d_model>(x, tensor<float, d_model, out<d_model>>()))
            .find("; out<d_model> takes the place of d_model\n") != std::string::npos);
}

}  // namespace
}  // namespace explain_test
