// MISTAKE: a path is divided by a tensor. Without one, paths keep their operators, whatever is included first.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*divide
#include "../prelude.hpp"
using namespace dimwise;
#include <filesystem>

auto name_in(const std::filesystem::path& folder, const tensor<float, demo::batch, demo::seq>& x) {
#ifdef FIXED
  (void)x;
  return folder / "weights";
#else
  return folder / x;
#endif
}
