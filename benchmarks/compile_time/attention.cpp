// Multi-head attention from the input to the output, with run-time batch and length, in one translation unit.
#include <dimwise/dimwise.hpp>

namespace model {

using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_model : feature_dim<512> {};
struct heads : heads_dim<8> {};
struct d_k : divided<d_model, heads> {};
struct d_v : divided<d_model, heads> {};

tensor<float, batch, seq, d_model> attention(const tensor<float, batch, seq, d_model>& x,
                                             const tensor<float, d_model, heads, d_k>& w_q,
                                             const tensor<float, d_model, heads, d_k>& w_k,
                                             const tensor<float, d_model, heads, d_v>& w_v,
                                             const tensor<float, heads, d_v, d_model>& w_o) {
  auto q = contract<d_model>(x, w_q);
  auto k = rename<seq, key>(contract<d_model>(x, w_k));
  auto v = rename<seq, key>(contract<d_model>(x, w_v));
  auto a = softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{}));
  tensor<float, batch, seq, d_model> y = contract<heads, d_v>(contract<key>(a, v), w_o);
  return y;
}

}  // namespace model

int main() {}
