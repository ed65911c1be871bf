// MISTAKE: the keys of the best beams are appended as they were gathered: they still have the dimension of the ids.
// RULE: R10
// LINES(clang): 13
// EXPECT: ERROR_R10_
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

struct beam : dimension<ability::parallel | ability::choice, 2> {};
struct best : prime<beam, 2> {};
using beam_cache =
    nn::kv_cache<past, nn::capacity<64>, nn::keys<float, beam, past, d_k>, nn::values<float, beam, past, d_v>>;

auto reordered(auto& to, const auto& from, const auto& beams) {
#ifdef FIXED
  to.append(rename<best, beam>(gather<beam>(from.keys(), beams)),
            rename<best, beam>(gather<beam>(from.values(), beams)));
#else
  to.append(gather<beam>(from.keys(), beams), gather<beam>(from.values(), beams));
#endif
}
auto step(auto& to, const auto& from, const auto& beams) { reordered(to, from, beams); }

void search(beam_cache& to, const beam_cache& from, const tensor<id<beam>, best>& beams) { step(to, from, beams); }
