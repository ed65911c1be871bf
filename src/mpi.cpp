// SPDX-License-Identifier: BSL-1.0
// src/mpi.cpp -- the backend of MPI processes. The target dimwise::mpi compiles it into the program that links it.
#include <dimwise/ranks/mpi.hpp>
