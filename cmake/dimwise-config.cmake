# find_package(dimwise) defines dimwise::dimwise; dimwise::kernels where it was built; dimwise::tbb where oneTBB was found
# then and is found now.
include(CMakeFindDependencyMacro)
find_dependency(Boost 1.74)
find_dependency(xtensor 0.24)
find_dependency(xsimd 8.1)
find_package(TBB QUIET)
include("${CMAKE_CURRENT_LIST_DIR}/dimwise-targets.cmake")
