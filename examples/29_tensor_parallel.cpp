// SPDX-License-Identifier: BSL-1.0
// 29_tensor_parallel -- a transformer block whose heads and hidden features several ranks share, with its gradient.
//
// Shows: each rank has the weights of its own heads and hidden features (Shoeybi et al. 2019, "Megatron-LM"). The types
// say what a rank has a part of, what is a term of a sum, and so where the ranks add. The gradient needs no line: what
// is whole on all ranks gets the sum of their terms. The numbers are those of one rank:
//
//   29_tensor_parallel                    one rank
//   DIMWISE_RANKS=2 29_tensor_parallel    two threads
//   mpirun -n 2 29_tensor_parallel        two processes, in a build with MPI
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

namespace lesson {
struct batch : dimwise::batch_dim<> {};
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_model : dimwise::feature_dim<16> {};
struct d_head : dimwise::feature_dim<8> {};
struct heads : dimwise::heads_dim<> {};
struct hidden : dimwise::feature_dim<> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

// [axis]
struct tp : mesh_axis<> {};             // the ranks of one block; how many, the program knows when it runs
using heads_here = shard<heads, tp>;    // this rank's heads
using hidden_here = shard<hidden, tp>;  // its hidden features
// [/axis]

// [block]
template <class T = float>
struct attention {
  using projection = tensor<T, heads_here, d_head, d_model>;
  BOOST_HANA_DEFINE_STRUCT(attention, (projection, w_q), (projection, w_k), (projection, w_v), (projection, w_out));

  template <operand X>
  auto operator()(const X& x, const ranks::mesh<tp>& grid) const {
    const tensor q = contract<d_model>(x, w_q);  // batch seq heads_here d_head
    const tensor k = rename<seq, key>(contract<d_model>(x, w_k));
    const tensor v = rename<seq, key>(contract<d_model>(x, w_v));
    const tensor z = contract<key>(softmax<key>(masked(scores<d_head>(q, k), causal<seq, key>{})), v);
    return all_reduce<tp>(contract<heads_here, d_head>(z, w_out), grid);  // partial<tp> ends here
  }
};
template <class T = float>
struct feed_forward {
  using weight = tensor<T, hidden_here, d_model>;
  BOOST_HANA_DEFINE_STRUCT(feed_forward, (weight, up), (weight, down));

  template <operand X>
  auto operator()(const X& x, const ranks::mesh<tp>& grid) const {
    return all_reduce<tp>(contract<hidden_here>(gelu(contract<d_model>(x, up)), down), grid);
  }
};
template <class T = float>
struct divided_block {
  using gain = tensor<T, d_model>;  // whole: on every rank
  BOOST_HANA_DEFINE_STRUCT(divided_block, (gain, norm1), (attention<T>, attend), (gain, norm2),
                           (feed_forward<T>, feed));

  template <operand X>
  auto operator()(const X& x, const ranks::mesh<tp>& grid) const {
    const tensor normed = rms_norm<d_model>(x, norm1, 1e-5);
    const tensor mixed = x + attend(normed, grid);
    const tensor normed_again = rms_norm<d_model>(mixed, norm2, 1e-5);
    return tensor(mixed + feed(normed_again, grid));
  }
};
// [/block]

// Numbers from -0.5 to 0.5.
template <class... D, class... Extents>
tensor<float, D...> drawn(unsigned seed, const Extents&... extents) {
  return random_uniform<float, D...>(random_seed{seed}, extents...) - 0.5F;
}
// The first of n elements that a rank has: if the ranks do not divide n, the first ones have one more.
std::size_t first_of(std::size_t n, std::size_t rank, std::size_t count) {
  return rank * (n / count) + std::min(rank, n % count);
}
double sum_of_squares(std::span<const float> values) {
  double all = 0;
  for (const float each : values) { all += double{each} * double{each}; }
  return all;
}

int main() {
  return ranks::run([](const ranks::communicator& world) {
    const ranks::mesh<tp> grid(world);
    const heads all_heads{4};
    const hidden all_hidden{64};

    // [parts]
    // Every rank draws the whole with the same seed, and keeps its part. A checkpoint would be read in parts.
    const std::size_t rank = world.rank(), count = world.size();
    const auto projection = [&](unsigned seed) {
      const heads_here mine = part_here<heads_here>(all_heads, rank, count);
      const tensor whole = drawn<heads, d_head, d_model>(seed, all_heads);
      return tensor(slice<heads, heads_here>(whole, first_of(4, rank, count), mine.extent()));
    };
    const auto features = [&](unsigned seed) {
      const hidden_here mine = part_here<hidden_here>(all_hidden, rank, count);
      const tensor whole = drawn<hidden, d_model>(seed, all_hidden);
      return tensor(slice<hidden, hidden_here>(whole, first_of(64, rank, count), mine.extent()));
    };
    // [/parts]
    tensor<float, d_model> ones;
    ones.fill(1);
    const divided_block<> model{
        ones, {projection(1), projection(2), projection(3), projection(4)}, ones, {features(5), features(6)}};
    const auto x = drawn<batch, seq, d_model>(7, batch{2}, seq{6});
    const auto target = drawn<batch, seq, d_model>(8, batch{2}, seq{6});

    // [gradient]
    const auto [loss, gradient] = value_and_gradient(
        model, [&](const auto& m) { return mean<batch, seq, d_model>(square(m(x, grid) - target)); });
    // [/gradient]

    // Gradients of parts differ from rank to rank; those of whole parameters are equal on all.
    double of_parts = 0;
    for (const auto* w : {&gradient.attend.w_q, &gradient.attend.w_k, &gradient.attend.w_v, &gradient.attend.w_out}) {
      of_parts += sum_of_squares(w->values());
    }
    for (const auto* w : {&gradient.feed.up, &gradient.feed.down}) { of_parts += sum_of_squares(w->values()); }
    world.all_reduce(&of_parts, 1, "squares of the gradient");
    const double of_whole = sum_of_squares(gradient.norm1.values()) + sum_of_squares(gradient.norm2.values());
    if (rank == 0) {
      std::printf("loss %.5f\n", static_cast<double>(loss));
      std::printf("norm of the gradient: divided weights %.5f, whole weights %.5f\n", std::sqrt(of_parts),
                  std::sqrt(of_whole));
    }
    return 0;
  });
}
