// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/checkpoint.hpp -- saving and loading modules whose parameters ranks divide: the file has whole arrays,
// so any number of ranks reads what any other number wrote.
//
// Layer: ranks. Includes io; link dimwise::io. No other header of ranks includes it.
// Tests: tests/ranks/checkpoint.test.cpp
//
//   const ranks::mesh grid(world, tp{2});
//   ranks::save(model, "model.safetensors", grid);                        // one file, as io::save of the whole model
//   ranks::load(model, io::read_safetensors("model.safetensors"), grid);  // each rank reads its parts, or its layers
#pragma once

#include <dimwise/io/checkpoint.hpp>
#include <dimwise/nn/parameters/stage.hpp>
#include <dimwise/ranks/mesh.hpp>

#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dimwise::ranks {

namespace detail {

// Whether a member of a stage is a list or has no parameters.
template <std::size_t I, class M>
consteval bool is_list_or_setting() {
  using part = dimwise::detail::element_t<I, nn::detail::parts_t<M>>;
  return nn::detail::is_sequence<part> || !nn::detail::has_walked_parameters<part>();
}
// A model whose parameters have names of the whole model on each rank: if the model is one stage, they are in lists,
// which are numbered over the stages, or in members that the stages share.
template <class M>
consteval bool has_names_of_all_stages() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return (
        (is_list_or_setting<I, M>() || dimwise::detail::is_among_tied(dimwise::detail::names_of_tied<M>,
                                                                      nn::detail::members_of<M>::template name<I>)) &&
        ...);
  }(std::make_index_sequence<nn::detail::part_count<M>()>{});
}

// Whether a file of all ranks takes the parameters of a model. `Own`: under their own names.
template <class Op, class M, class Mesh, bool Own>
consteval auto judge_file() {
  using stages = decltype(dimwise::detail::stages_in_model<M>());
  using several = ERROR_R25_model_is_one_of_several_stages<Op, dimwise::detail::over_t<stages>>;
  if constexpr (stages::size == 0) {
    return dimwise::detail::answer<accepted<shape<>>>{};
  } else if constexpr (!dimwise::detail::names_its_stages<M>) {
    return dimwise::detail::answer<several>{};
  } else if constexpr (!Mesh::template has<dimwise::detail::first_t<stages>>) {
    return dimwise::detail::answer<ERROR_R25_mesh_has_no_such_axis<Op, dimwise::detail::over_t<stages>, Mesh>>{};
  } else if constexpr (Own && !has_names_of_all_stages<M>()) {
    return dimwise::detail::answer<several>{};
  } else {
    return dimwise::detail::answer<accepted<shape<>>>{};
  }
}
template <class Op, class M, class Mesh, bool Own>
using file_verdict = typename decltype(judge_file<Op, M, Mesh, Own>())::type;
template <class... More>
inline constexpr bool has_bindings = (std::is_same_v<More, io::bindings> || ...);

// An axis of a mesh, without its type.
struct ranks_along {
  dimwise::detail::axis_key axis;
  communicator ranks;
};
template <class... Axes>
std::vector<ranks_along> axes_of(const mesh<Axes...>& grid) {
  return {ranks_along{&dimwise::detail::axis_id<Axes>, grid.template along<Axes>()}...};
}

// The ranks of a file, and the stages among which they divide the model; a null axis if they do not.
struct ranks_of_file {
  communicator world;
  std::vector<ranks_along> axes;
  dimwise::detail::axis_key stage_axis;
  const char* const* tied;
};
template <class M, class... Axes>
ranks_of_file ranks_for(const mesh<Axes...>& grid) {
  const auto key_of = []<class... S>(dimwise::detail::list<S...>) {
    dimwise::detail::axis_key key = nullptr;
    ((key = &dimwise::detail::axis_id<S>), ...);
    return key;
  };
  return {grid.world(), axes_of(grid), key_of(dimwise::detail::stage_axis_t<M>()), dimwise::detail::names_of_tied<M>};
}

// Binds parameters under their own names, with lists numbered over the stages.
DIMWISE_DETAIL_LIBRARY void bind_own_of_ranks(const io::detail::file_parameters& own, io::bindings& to,
                                              const ranks_of_file& ranks);
DIMWISE_DETAIL_LIBRARY void save_whole(const io::detail::file_parameters& own, const std::filesystem::path& path,
                                       const io::bindings& file, const std::map<std::string, std::string>& metadata,
                                       bool has_dimensions, const ranks_of_file& ranks);
DIMWISE_DETAIL_LIBRARY void place_all(const io::bindings& file, const ranks_of_file& ranks);
DIMWISE_DETAIL_LIBRARY void load_parts(const io::detail::file_parameters& own, const io::archive& from,
                                       const io::bindings& file, io::rounding how, const ranks_of_file& ranks);

}  // namespace detail

/// Saves all parameters under their names in the module, as `io::save` saves a module with the whole dimensions. Rank 0
/// writes the file; it receives one array after the other, and has one of them and one part in memory. It writes its
/// own parameters where they are not divided.
///
/// The lists of one stage of a pipeline, such as its layers, are numbered over all stages, so the file is that of one
/// rank that has all layers. Rejects a stage with a parameter that is neither in a list nor in a member that the stages
/// share (R25).
///
/// Every rank of the mesh calls it. Throws `io::file_error` on every rank; an existing file is then unchanged.
template <nn::module M, class... Axes, class Verdict = detail::file_verdict<op::save, M, mesh<Axes...>, true>>
  requires allowed<Verdict>
void save(const M& m, const std::filesystem::path& path, const mesh<Axes...>& grid) {
  detail::taking_part_in(grid, "save", [&] {
    const auto own = io::detail::file_parameters::own(m);
    const auto ranks = detail::ranks_for<M>(grid);
    io::bindings file;
    detail::bind_own_of_ranks(own, file, ranks);
    detail::save_whole(own, path, file, {}, true, ranks);
  });
}
/// The same with the names and orders of bindings. Those of a stage name the arrays of the whole model.
template <nn::module M, class... Axes, class Verdict = detail::file_verdict<op::save, M, mesh<Axes...>, false>>
  requires allowed<Verdict>
void save(const M& m, const std::filesystem::path& path, const mesh<Axes...>& grid, const io::bindings& file,
          const std::map<std::string, std::string>& metadata = {}) {
  detail::taking_part_in(grid, "save", [&] {
    const auto own = io::detail::file_parameters::bound(m);
    detail::save_whole(own, path, file, metadata, false, detail::ranks_for<M>(grid));
  });
}

/// Loads this rank's part of all parameters from the whole arrays of a file that `io::save` or `ranks::save` wrote, on
/// any number of ranks. The extents of the parameters are those of this rank; a stage has as many layers as it reads.
///
/// Every rank of the mesh calls it. Throws `io::file_error` that lists every mismatch, on every rank; then nothing
/// changes. A mismatch of some ranks only is after their number.
template <io::detail::loaded_module M, class... Axes,
          class Verdict = detail::file_verdict<op::load, M, mesh<Axes...>, true>>
  requires allowed<Verdict>
void load(M& m, const io::archive& from, const mesh<Axes...>& grid, io::rounding how = io::rounding::refused) {
  detail::taking_part_in(grid, "load", [&] {
    const auto own = io::detail::file_parameters::own(m);
    const auto ranks = detail::ranks_for<M>(grid);
    io::bindings file;
    detail::bind_own_of_ranks(own, file, ranks);
    detail::load_parts(own, from, file, how, ranks);
  });
}
/// The same with the names and orders of bindings, whose run-time extents are those of this rank.
template <io::detail::loaded_module M, class... Axes,
          class Verdict = detail::file_verdict<op::load, M, mesh<Axes...>, false>>
  requires allowed<Verdict>
void load(M& m, const io::archive& from, const mesh<Axes...>& grid, const io::bindings& file,
          io::rounding how = io::rounding::refused) {
  detail::taking_part_in(grid, "load", [&] {
    const auto own = io::detail::file_parameters::bound(m);
    detail::load_parts(own, from, file, how, detail::ranks_for<M>(grid));
  });
}
/// Makes the arrays of bindings the whole ones, of which the parameters are this rank's parts along M: `io::load` then
/// reads the parts, and its errors are those of one rank. Sends no message where the bindings have the extents of the
/// whole dimensions, or their types do. Throws `io::file_error` for a dimension that the file's order does not divide.
template <class M>
void place_parts(const io::bindings& file, const communicator& along) {
  detail::place_all(file, {along, {{&dimwise::detail::axis_id<M>, along}}, nullptr, nullptr});
}

template <nn::module M, class... Axes, class... More,
          class Verdict = detail::file_verdict<op::save, M, mesh<Axes...>, !detail::has_bindings<More...>>>
  requires refused<Verdict>
Verdict save(const M& m, const std::filesystem::path& path, const mesh<Axes...>& grid, const More&... more);
template <nn::module M, class... Axes, class... More,
          class Verdict = detail::file_verdict<op::load, M, mesh<Axes...>, !detail::has_bindings<More...>>>
  requires refused<Verdict>
Verdict load(M& m, const io::archive& from, const mesh<Axes...>& grid, const More&... more);

}  // namespace dimwise::ranks

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/ranks/checkpoint_definitions.hpp>
#endif
