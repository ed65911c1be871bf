// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks.hpp -- programs on several ranks: communicators, meshes, and how a program is run on ranks.
//
// Layer: ranks. MPI needs the target dimwise::mpi; no header of it is included here.
#pragma once

#include <dimwise/ranks/collectives.hpp>
#include <dimwise/ranks/cross_entropy.hpp>
#include <dimwise/ranks/error.hpp>
#include <dimwise/ranks/mesh.hpp>
#include <dimwise/ranks/messages/communicator.hpp>
#include <dimwise/ranks/run.hpp>
#include <dimwise/ranks/threads.hpp>
