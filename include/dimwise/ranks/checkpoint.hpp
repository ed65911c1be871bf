// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/checkpoint.hpp -- saving and loading modules whose parameters ranks divide: the file has whole arrays,
// so any number of ranks reads what any other number wrote.
//
// Layer: ranks. Includes io; link dimwise::io. No other header of ranks includes it.
// Tests: tests/ranks/checkpoint.test.cpp
//
//   const ranks::mesh grid(world, tp{2});
//   ranks::save(model, "model.safetensors", grid);                        // one file, as io::save of the whole model
//   ranks::load(model, io::read_safetensors("model.safetensors"), grid);  // each rank reads its parts
#pragma once

#include <dimwise/io/checkpoint.hpp>
#include <dimwise/nn/parameters/stage.hpp>
#include <dimwise/ranks/mesh.hpp>

#include <map>
#include <string>
#include <vector>

namespace dimwise::ranks {

namespace detail {

template <class Op, class M>
using one_stage =
    ERROR_R25_model_is_one_of_several_stages<Op,
                                             dimwise::detail::over_t<decltype(dimwise::detail::stages_in_model<M>())>>;

// An axis of a mesh, without its type.
struct ranks_along {
  dimwise::detail::axis_key axis;
  communicator ranks;
};
template <class... Axes>
std::vector<ranks_along> axes_of(const mesh<Axes...>& grid) {
  return {ranks_along{&dimwise::detail::axis_id<Axes>, grid.template along<Axes>()}...};
}

DIMWISE_DETAIL_LIBRARY void save_whole(const io::detail::file_parameters& own, const std::filesystem::path& path,
                                       const io::bindings& file, const std::map<std::string, std::string>& metadata,
                                       bool has_dimensions, const communicator& world,
                                       const std::vector<ranks_along>& axes);
DIMWISE_DETAIL_LIBRARY void load_parts(const io::detail::file_parameters& own, const io::archive& from,
                                       const io::bindings& file, io::rounding how, const communicator& world,
                                       const std::vector<ranks_along>& axes);

}  // namespace detail

/// Saves all parameters under their names in the module, as `io::save` saves a module with the whole dimensions. Rank 0
/// writes the file; it receives one array after the other, and has one of them and one part in memory. It writes its
/// own parameters where they are not divided.
///
/// Every rank of the mesh calls it. Throws `io::file_error` on every rank; then an existing file is as it was.
template <nn::module M, class... Axes>
  requires dimwise::detail::in_one_stage<M>
void save(const M& m, const std::filesystem::path& path, const mesh<Axes...>& grid) {
  detail::taking_part_in(grid, "save", [&] {
    const auto own = io::detail::file_parameters::own(m);
    io::bindings file;
    io::detail::bind_own(own, file);
    detail::save_whole(own, path, file, {}, true, grid.world(), detail::axes_of(grid));
  });
}
/// The same with the names and orders of bindings.
template <nn::module M, class... Axes>
  requires dimwise::detail::in_one_stage<M>
void save(const M& m, const std::filesystem::path& path, const mesh<Axes...>& grid, const io::bindings& file,
          const std::map<std::string, std::string>& metadata = {}) {
  detail::taking_part_in(grid, "save", [&] {
    const auto own = io::detail::file_parameters::bound(m);
    detail::save_whole(own, path, file, metadata, false, grid.world(), detail::axes_of(grid));
  });
}

/// Loads this rank's part of all parameters from the whole arrays of a file that `io::save` or `ranks::save` wrote, on
/// any number of ranks. The extents of the parameters are those of this rank.
///
/// Every rank of the mesh calls it. Throws `io::file_error` that lists every mismatch, on every rank; then nothing
/// changes. A mismatch of some ranks only is after their number.
template <io::detail::loaded_module M, class... Axes>
  requires dimwise::detail::in_one_stage<M>
void load(M& m, const io::archive& from, const mesh<Axes...>& grid, io::rounding how = io::rounding::refused) {
  detail::taking_part_in(grid, "load", [&] {
    const auto own = io::detail::file_parameters::own(m);
    io::bindings file;
    io::detail::bind_own(own, file);
    detail::load_parts(own, from, file, how, grid.world(), detail::axes_of(grid));
  });
}
/// The same with the names and orders of bindings, whose run-time extents are those of this rank.
template <io::detail::loaded_module M, class... Axes>
  requires dimwise::detail::in_one_stage<M>
void load(M& m, const io::archive& from, const mesh<Axes...>& grid, const io::bindings& file,
          io::rounding how = io::rounding::refused) {
  detail::taking_part_in(grid, "load", [&] {
    const auto own = io::detail::file_parameters::bound(m);
    detail::load_parts(own, from, file, how, grid.world(), detail::axes_of(grid));
  });
}
// One stage of a pipeline: the file would have the parameters of one rank only (R25).
template <class M, class... Axes, class... More, class Error = detail::one_stage<op::save, M>>
  requires(!dimwise::detail::in_one_stage<M>)
Error save(const M& m, const std::filesystem::path& path, const mesh<Axes...>& grid, const More&... more);
template <class M, class... Axes, class... More, class Error = detail::one_stage<op::load, M>>
  requires(!dimwise::detail::in_one_stage<M>)
Error load(M& m, const io::archive& from, const mesh<Axes...>& grid, const More&... more);

}  // namespace dimwise::ranks

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/ranks/checkpoint_definitions.hpp>
#endif
