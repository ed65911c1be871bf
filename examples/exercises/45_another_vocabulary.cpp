// 45  The vocabulary of another model
//
// A tokenizer belongs to one vocabulary. Two vocabularies of the same size give a token different ids, and the
// embeddings of the wrong tokens run without an error in most libraries. Each vocabulary is a dimension of its own, and
// a typed id indexes only the table of its vocabulary.
//
// FAILS: ERROR_R18_ids_index_their_own_dimension_only, line 36
#include "exercise.hpp"

#include <algorithm>
#include <string>

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct bert_vocab : choice_dim<3> {};
struct gpt2_vocab : choice_dim<3> {};
struct d_model : feature_dim<1> {};

const std::vector<std::string> bert_tokens{"the", "cat", "sat"}, gpt2_tokens{"sat", "the", "cat"};

// The ids of the tokens of a text: their places in the vocabulary.
template <class Vocab>
tensor<id<Vocab>, seq> encode(const std::vector<std::string>& vocabulary, const std::vector<std::string>& text) {
  std::vector<id<Vocab>> ids;
  for (const std::string& token : text) {
    ids.emplace_back(std::find(vocabulary.begin(), vocabulary.end(), token) - vocabulary.begin());
  }
  return tensor<id<Vocab>, seq>(ids);
}

int main() {
  const tensor<float, bert_vocab, d_model> table({10, 20, 30});
  const auto tokens = encode<gpt2_vocab>(gpt2_tokens, {"cat", "sat"});
  tensor x = gather<bert_vocab>(table, tokens);
  expect(near(x, {20, 30}), "the embeddings of cat and sat");
}
