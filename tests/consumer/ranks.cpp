// tests/consumer/ranks.cpp -- a foreign program on ranks: it includes no header of MPI, and links dimwise::mpi.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/ranks.hpp>

int main() {
  return dimwise::ranks::run([](const dimwise::ranks::communicator& world) {
    float one = 1;
    world.all_reduce(&one, 1, "one");
    return one == static_cast<float>(world.size()) ? 0 : 1;
  });
}
