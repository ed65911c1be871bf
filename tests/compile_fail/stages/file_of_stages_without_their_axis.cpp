// MISTAKE: the mesh does not have the ranks of the other stages, whose parameters the file needs.
// RULE: R25
// EXPECT: ERROR_R25_mesh_has_no_such_axis<.*load.*pp
#include "stages_prelude.hpp"
#include <dimwise/ranks/checkpoint.hpp>

struct listed {
  using stage_along = pp;
  std::vector<tensor<float, d_model>> gain;
  using members = nn::member_list<&listed::gain>;
};

#ifdef FIXED
using axis = pp;
#else
using axis = dp;
#endif
void restore(listed& m, const ranks::mesh<axis>& grid) {
  ranks::load(m, io::read_safetensors("model.safetensors"), grid);
}
