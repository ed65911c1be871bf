// tests/viz/long_labels.test.cpp -- labels with thousands of combining characters: linear work, counted and not timed.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>
#include <dimwise/viz/pictures/weights.hpp>
#include <dimwise/viz/report.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

using namespace dimwise;

namespace {

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<4> {};

// A letter in each column, with accents above all of them, so that no column is wider than another.
std::string accented(std::size_t accents) {
  std::string all = "a";
  for (std::size_t i = 0; i < accents; ++i) { all += "\u0300"; }
  return all + "bcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
}
// The code points that are read to show a label with so many accents.
template <class Show>
std::size_t read_by(const Show& show, std::size_t accents) {
  const std::vector<std::string> words(3, accented(accents));
  std::size_t count = 0;
  detail::code_points_read = &count;
  show(words);
  detail::code_points_read = nullptr;
  return count;
}
template <class Show>
void is_linear(const Show& show) {
  const std::size_t once = read_by(show, 2000);
  const std::size_t fourfold = read_by(show, 8000);
  CAPTURE(once);
  CAPTURE(fourfold);
  CHECK(once > 2000);           // it is counted
  CHECK(fourfold <= 4 * once);  // a square would be sixteen times as much
  CHECK(once < 300 * 2000);     // of three labels, each shown in several places
}

}  // namespace

TEST_CASE("labels with thousands of accents are read in linear time") {
  const tensor<float, seq, d_k> q(seq{3});
  const tensor<float, key, d_k> k(key{3});
  const tensor y = softmax<key>(scores<d_k>(q, k));
  is_linear([&](const auto& words) { (void)detail::columns_of(words.front()); });
  is_linear([&](const auto& words) { (void)detail::shortened(words.front(), 20); });
  is_linear([&](const auto& words) { (void)detail::visible(words.front()); });
  is_linear([&](const auto& words) {
    std::ostringstream to;
    to << labelled(y, labels<seq>(words), labels<key>(words));
  });
  is_linear([&](const auto& words) { (void)draw_weights(y, labels<seq>(words), labels<key>(words)).svg(); });
  is_linear([&](const auto& words) {
    attention_report page("t", labels<seq>(words), labels<key>(words));
    page.add_weights("w", y);
    (void)page.html();
  });
}
