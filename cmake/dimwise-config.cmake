# find_package(dimwise) defines dimwise::dimwise and dimwise::header_only; dimwise::tbb where oneTBB was found then and is
# found now, dimwise::io and dimwise::models where nlohmann_json was and is, dimwise::text where utf8proc and PCRE2 were, too, and
# dimwise::npz where libzip was. dimwise::kernels is the old name of dimwise::dimwise. dimwise::module is defined where the compiled
# library was installed and CMake can compile modules (dimwise-module.cmake).
#
# find_package(dimwise COMPONENTS mpi) looks for MPI, and defines dimwise::mpi where MPI was found when dimwise was built. Other
# components are the names of targets.
include(CMakeFindDependencyMacro)
find_dependency(Boost 1.74)
find_dependency(xtensor 0.24)
find_dependency(xsimd) # its version file accepts no later major version than the one that is asked for
if(DEFINED xsimd_VERSION AND xsimd_VERSION VERSION_LESS 8.1)
  set(dimwise_FOUND FALSE)
  set(dimwise_NOT_FOUND_MESSAGE "dimwise needs xsimd 8.1 or later; this is ${xsimd_VERSION}")
  return()
endif()
find_package(TBB QUIET)
find_package(nlohmann_json 3.11 QUIET)
if("mpi" IN_LIST dimwise_FIND_COMPONENTS AND NOT TARGET MPI::MPI_CXX)
  # Not for every project: it compiles programs.
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)
endif()
include("${CMAKE_CURRENT_LIST_DIR}/dimwise-targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/dimwise-precompile.cmake")

get_target_property(dimwise_type dimwise::dimwise TYPE)
if(NOT dimwise_type STREQUAL "STATIC_LIBRARY")
  if(NOT dimwise_FIND_QUIETLY)
    message(STATUS "dimwise was installed with DIMWISE_BUILD_KERNELS=OFF, so dimwise::dimwise is dimwise::header_only")
  endif()
else()
  if(NOT TARGET dimwise::kernels)
    add_library(dimwise::kernels ALIAS dimwise::dimwise)
  endif()
  include("${CMAKE_CURRENT_LIST_DIR}/dimwise-module.cmake")
  get_target_property(dimwise_include dimwise::header_only HEADER_DIRS)
  dimwise_define_module("${dimwise_include}/dimwise/dimwise.cppm")
  unset(dimwise_include)
endif()
unset(dimwise_type)

foreach(component IN LISTS dimwise_FIND_COMPONENTS)
  set(dimwise_${component}_FOUND FALSE)
  if(TARGET dimwise::${component} AND (NOT component STREQUAL "mpi" OR TARGET MPI::MPI_CXX))
    set(dimwise_${component}_FOUND TRUE)
  elseif(dimwise_FIND_REQUIRED_${component})
    set(dimwise_FOUND FALSE)
    set(dimwise_NOT_FOUND_MESSAGE "dimwise::${component} needs a package that is missing here, or was when dimwise was built")
    if(component STREQUAL "module")
      set(dimwise_NOT_FOUND_MESSAGE "dimwise::module needs CMake 3.28, the generator Ninja, clang 19 and its clang-scan-deps, and the compiled library")
    endif()
  endif()
endforeach()
