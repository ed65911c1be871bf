// COUNT contractions of different shapes, alternately of 3 and of 4 dimensions, as types alone. The slope between two
// counts is the cost of one: every tenth brings a new feature dimension, the positions are ten and their primes.
#include <dimwise/shape.hpp>

#include <cstddef>
#include <utility>

namespace {

namespace dw = dimwise;
using dw::detail::list;

struct batch : dw::batch_dim<> {};
struct heads : dw::heads_dim<8> {};
template <std::size_t I>
struct d_k : dw::feature_dim<I + 2> {};
template <std::size_t I>
struct seq : dw::position_dim<I + 2> {};
template <std::size_t I>
struct key : dw::prime<seq<I>> {};

template <class S, class K, class D, bool WithHeads>
struct product {
  using type = dw::rule::contract<list<D>, list<>, dw::shape<batch, S, D>, dw::shape<batch, K, D>>;
};
template <class S, class K, class D>
struct product<S, K, D, true> {
  using type = dw::rule::contract<list<D>, list<>, dw::shape<batch, S, heads, D>, dw::shape<batch, K, heads, D>>;
};

template <std::size_t I>
using result = typename product<seq<I % 10>, key<I % 10>, d_k<I / 10>, I % 2 == 1>::type::shape;

template <std::size_t... I>
constexpr std::size_t total(std::index_sequence<I...>) {
  return (sizeof(result<I>) + ... + 0);
}

}  // namespace

int main() { return total(std::make_index_sequence<COUNT>{}) == 0 ? 1 : 0; }
