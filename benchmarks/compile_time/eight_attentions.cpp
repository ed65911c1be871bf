// Different causal multi-head attentions in one file: -DONE compiles the first alone. All extents are known at run time
// only.
#include <dimwise/dimwise.hpp>

using namespace dimwise;

// clang-format off: eight copies of one program
#define ATTENTION(number)                                                                                              \
  namespace attention_##number {                                                                                       \
  struct batch : batch_dim<> {};                                                                                       \
  struct seq : position_dim<> {};                                                                                      \
  struct key : prime<seq> {};                                                                                          \
  struct heads : heads_dim<> {};                                                                                       \
  struct d_model : feature_dim<> {};                                                                                   \
  struct d_k : feature_dim<> {};                                                                                       \
  struct d_v : feature_dim<> {};                                                                                       \
  tensor<float, batch, seq, d_model> attend(const tensor<float, batch, seq, d_model>& x,                               \
                                            const tensor<float, d_model, heads, d_k>& w_q,                             \
                                            const tensor<float, d_model, heads, d_k>& w_k,                             \
                                            const tensor<float, d_model, heads, d_v>& w_v,                             \
                                            const tensor<float, heads, d_v, d_model>& w_o) {                           \
    const tensor q = contract<d_model>(x, w_q);                                                                        \
    const tensor k = contract<d_model>(rename<seq, key>(x), w_k);                                                      \
    const tensor v = contract<d_model>(rename<seq, key>(x), w_v);                                                      \
    const tensor context = contract<key>(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{})), v);              \
    return contract<heads, d_v>(context, w_o);                                                                         \
  }                                                                                                                    \
  }
// clang-format on

ATTENTION(1)
#if !defined(ONE)
ATTENTION(2)
ATTENTION(3)
ATTENTION(4)
ATTENTION(5)
ATTENTION(6)
ATTENTION(7)
ATTENTION(8)
#endif

int main() {}
