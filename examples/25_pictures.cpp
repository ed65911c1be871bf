// SPDX-License-Identifier: BSL-1.0
// 25_pictures -- a formula, a product, weights, a mask and a curve as SVG, and a report of attention.
//
//   25_pictures docs/pictures          # writes into a folder; without one, prints the file names
//
// One call per picture, from an expression or from values. Pictures support light and dark pages.
#include <dimwise/dimwise.hpp>
#include <dimwise/viz.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

// The program of README.md (15_attention), whose picture README.md shows, and the same with norm and residual.
namespace readme {
struct batch : dimwise::batch_dim<> {};
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_model : dimwise::feature_dim<512> {};
struct heads : dimwise::heads_dim<8> {};
struct d_k : dimwise::divided<d_model, heads> {};
struct d_v : dimwise::divided<d_model, heads> {};

using namespace dimwise;

template <class X>
auto attention(const X& in) {
  const tensor<float, d_model, heads, d_k> w_q;
  const tensor<float, d_model, heads, d_k> w_k;
  const tensor<float, d_model, heads, d_v> w_v;
  const tensor<float, heads, d_v, d_model> w_o;
  const auto q = contract<d_model>(in, w_q);
  const auto k = rename<seq, key>(contract<d_model>(in, w_k));
  const auto v = rename<seq, key>(contract<d_model>(in, w_v));
  const auto a = softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{}));
  return contract<heads, d_v>(contract<key>(a, v), w_o);
}
}  // namespace readme

// The formulas and values of docs/tutorial, whose pictures the pages show.
namespace tutorial {
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_k : dimwise::feature_dim<2> {};
struct d_model : dimwise::feature_dim<384> {};
struct kv_heads : dimwise::heads_dim<2> {};
struct group : dimwise::heads_dim<4> {};  // query heads that share one head of keys and values
struct text : dimwise::position_dim<4> {};
struct other : dimwise::prime<text> {};

using namespace dimwise;

auto first_formula() {
  const tensor<float, seq, d_k> q{{3, 0}, {0, 3}};
  const tensor<float, key, d_k> k{{3, 0}, {0, 3}};
  return softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{}));
}

picture similarity_of_means() {
  const tensor<float, text, seq, d_model> x(seq{6});
  const tensor<float, other, key, d_model> y(key{6});
  return draw(contract<d_model>(mean<seq>(x), mean<key>(y)));
}

picture grouped_attention() {
  const tensor<float, seq, kv_heads, group, d_k> q(seq{4});
  const tensor<float, key, kv_heads, d_k> k(key{4});
  const tensor<float, key, kv_heads, d_k> v(key{4});
  return draw(contract<key>(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{})), v));
}

picture similarities() {
  const tensor<float, text, other> cosines({1.0000F, 0.6946F, 0.9429F, 0.2568F, 0.6946F, 1.0000F, 0.6210F, 0.2490F,
                                            0.9429F, 0.6210F, 1.0000F, 0.2105F, 0.2568F, 0.2490F, 0.2105F, 1.0000F});
  const std::vector<std::string> texts{"happy person", "happy dog", "very happy", "sunny day"};
  return draw_weights(cosines, labels<text>(texts), labels<other>(texts));
}
}  // namespace tutorial

namespace lesson {
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_model : dimwise::feature_dim<8> {};
struct heads : dimwise::heads_dim<2> {};
struct d_k : dimwise::divided<d_model, heads> {};
struct d_v : dimwise::divided<d_model, heads> {};

using namespace dimwise;

void write(const std::string& folder, const char* name, const picture& p) {
  if (!folder.empty()) { p.save(folder + "/" + name); }
  std::printf("%-18s %s\n", name, p.title().c_str());
}

int run(const std::string& folder) {
  const std::vector<std::string> words{"the", "cat", "saw", "the", "dog", "."};
  tensor<float, seq, heads, d_k> q(seq{6});
  tensor<float, key, heads, d_k> k(key{6});
  for (std::size_t i = 0; i < q.size(); ++i) {
    q.data()[i] = static_cast<float>(2.2 * std::sin(1.3 * static_cast<double>(i)));
  }
  for (std::size_t i = 0; i < k.size(); ++i) {
    k.data()[i] = static_cast<float>(2.2 * std::sin(2.1 * static_cast<double>(i) + 1));
  }
  const tensor<float, key, heads, d_v> v(key{6});
  const tensor<float, heads, d_v, d_model> w_o;
  const auto a = softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{}));
  const auto y = contract<heads, d_v>(contract<key>(a, v), w_o);
  const tensor<float, readme::batch, readme::seq, readme::d_model> x(readme::batch{2}, readme::seq{5});
  write(folder, "attention.svg", draw(readme::attention(x)));
  write(folder, "pre_norm.svg", draw(x + readme::attention(layer_norm<readme::d_model>(x))));
  write(folder, "formula.svg", draw(y));
  write(folder, "network.svg", draw_network(contract<d_k>(q, k)));

  write(folder, "weights.svg", draw_weights(a, labels<seq>(words), labels<key>(words)));
  write(folder, "mask.svg", draw_mask(causal<seq, key>{} & window<seq, key>{3, 0}, seq{12}, key{12}));
  write(folder, "causal.svg", draw_mask(causal<seq, key>{}, seq{6}, key{6}));
  write(folder, "positions.svg", draw_weights(sinusoid<seq, d_model>(seq{24})));
  write(folder, "first_formula.svg", draw(tutorial::first_formula()));
  write(folder, "first_weights.svg", draw_weights(tutorial::first_formula()));
  write(folder, "grouped.svg", tutorial::grouped_attention());
  write(folder, "similarities.svg", tutorial::similarities());
  write(folder, "similarity.svg", tutorial::similarity_of_means());

  // All of it as one page for the browser.
  if (!folder.empty()) { report(y, folder + "/attention.html", labels<seq>(words), labels<key>(words)); }

  std::vector<double> train;
  std::vector<double> test;
  for (int i = 0; i < 200; ++i) {
    train.push_back(1.2 + 4.3 * std::exp(-i / 30.0) + 0.08 * std::sin(i * 1.7));
    test.push_back(1.5 + 4.1 * std::exp(-i / 33.0));
  }
  write(folder, "curve.svg",
        draw_curves({{"train", train}, {"test", test}}, {.title = "loss", .y = "nats for each byte"}));
  // A training as it runs, which a browser loads again; `finish` would end that.
  if (!folder.empty()) {
    training_report page(folder + "/training.html", {.title = "training", .loss = "nats per byte", .steps = 600});
    for (std::size_t i = 0; i < train.size(); ++i) {
      page.add_step(i + 1, {.loss = train[i], .rate = 1e-3, .gradient_norm = 0.2 * train[i], .seconds = 0.25});
    }
    page.add_text(200, "In the beginning\nwas the word.");
    page.save();
  }
  std::printf("\n%s\n%s", mermaid(a).c_str(), dot(contract<d_k>(q, k)).c_str());
  return 0;
}
}  // namespace lesson

int main(int argc, char** argv) {
  try {
    return lesson::run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "25_pictures: %s\n", e.what());
    return 1;
  }
}
