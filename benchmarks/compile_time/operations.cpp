// One operation each, formed and evaluated: -DOP_<NAME> chooses; without, what all of them share.
// benchmarks/compile_time/instantiations.py counts what the compiler instantiates for each.
#include <dimwise/dimwise.hpp>

namespace model {

using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_model : feature_dim<512> {};
struct heads : heads_dim<8> {};
struct d_k : divided<d_model, heads> {};
struct rot : feature_dim<32> {};
struct pass : feature_dim<32> {};
struct vocab : choice_dim<1000> {};
struct best : choice_dim<4> {};
struct layers : batch_dim<2> {};
struct distance : position_dim<> {};
struct taps : position_dim<3> {};

using hidden = tensor<float, batch, seq, d_model>;
using queries = tensor<float, batch, seq, heads, d_k>;
using keys = tensor<float, batch, key, heads, d_k>;
using logits = tensor<float, batch, heads, seq, key, score<d_k>>;
using weights = tensor<float, batch, heads, seq, key, normalised<key>>;

// Evaluates: what is shared is instantiated for the tensors alone.
void use(const hidden& x, const queries& q, const keys& k, const logits& s, const weights& a,
         const tensor<float, d_model, heads, d_k>& w, const tensor<float, vocab, d_model>& table,
         const tensor<id<vocab>, batch, seq>& tokens, const tensor<int, batch>& lengths) {
#if defined OP_CONTRACT
  tensor y = contract<d_model>(x, w);
#elif defined OP_SCORES
  tensor y = scores<d_k>(q, k);
#elif defined OP_SOFTMAX
  tensor y = softmax<key>(s);
#elif defined OP_MASKED_SOFTMAX
  tensor y = softmax<key>(masked(s, causal<seq, key>{} & padding<key>(lengths)));
#elif defined OP_ALIBI
  tensor y = biased(s, alibi<seq, key, heads>{});
#elif defined OP_ATTEND
  tensor y = contract<key>(a, k);
#elif defined OP_FUSED_ATTENTION
  tensor y = contract<key>(softmax<key>(scores<d_k>(q, k)), k);
#elif defined OP_ADD
  tensor y = x + x;
#elif defined OP_GELU
  tensor y = gelu(x);
#elif defined OP_MEAN
  tensor y = mean<seq>(x);
#elif defined OP_LAYER_NORM
  tensor y = layer_norm<d_model>(x);
#elif defined OP_CUMSUM
  tensor y = cumsum<seq>(x);
#elif defined OP_RENAME
  tensor y = rename<seq, key>(x);
#elif defined OP_PERMUTE
  tensor y = permute<seq, batch, d_model>(x);
#elif defined OP_MERGE
  tensor y = merge<heads, d_k>(q);
#elif defined OP_SLICE
  tensor y = slice<seq>(x, 0, 1);
#elif defined OP_AT
  tensor y = at<seq>(x, 0);
#elif defined OP_CONCAT
  tensor y = concat<seq>(x, x);
#elif defined OP_STACK
  tensor y = stack<layers>(x, x);
#elif defined OP_GATHER
  tensor y = gather<vocab>(table, tokens);
#elif defined OP_TOP_K
  auto y = top_k<vocab, best>(table);
#elif defined OP_ARGMAX
  tensor y = argmax<vocab>(table);
#elif defined OP_ROTARY
  tensor y = rotary<seq, d_k>(q);
#elif defined OP_UNROLL
  tensor y = unroll<seq, taps>(x);
#endif
}

}  // namespace model

int main() {}
