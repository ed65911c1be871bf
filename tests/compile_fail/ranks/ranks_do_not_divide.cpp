// MISTAKE: three ranks share eight features.
// RULE: R4
// EXPECT: ERROR_R4_extent_does_not_divide<.*hidden, .*extent<8.*tp, .*extent<3
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct hidden : feature_dim<8> {};
#ifdef FIXED
struct tp : mesh_axis<4> {};
#else
struct tp : mesh_axis<3> {};
#endif

struct hidden_here : shard<hidden, tp> {};
