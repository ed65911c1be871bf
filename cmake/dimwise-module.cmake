# dimwise_define_module(<file>): the target dimwise::module, `import dimwise;`, of the file dimwise.cppm. The project that links the
# target compiles the module, because a compiled module serves one compiler with one set of flags. find_package(dimwise) and
# add_subdirectory both call it.
#
# The target exists where CMake can compile modules: CMake 3.28 with Ninja, clang 19 with its clang-scan-deps. Elsewhere CMake
# rejects a project that has such a target, even if nothing links it.
function(dimwise_define_module file)
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.28 AND CMAKE_GENERATOR MATCHES "Ninja" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang"
     AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 19 AND CMAKE_CXX_COMPILER_CLANG_SCAN_DEPS AND NOT TARGET dimwise_module)
    cmake_path(GET file PARENT_PATH folder)
    add_library(dimwise_module STATIC EXCLUDE_FROM_ALL)
    add_library(dimwise::module ALIAS dimwise_module)
    target_sources(dimwise_module PUBLIC FILE_SET CXX_MODULES BASE_DIRS ${folder} FILES ${file})
    target_link_libraries(dimwise_module PUBLIC dimwise::dimwise)
  endif()
endfunction()
