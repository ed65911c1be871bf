# dimwise_precompile_headers(<target> [<header>…]): the compiler reads dimwise/dimwise.hpp, or the headers given, once for all
# files of the target. find_package(dimwise) and add_subdirectory both define it.
function(dimwise_precompile_headers target)
  set(headers ${ARGN})
  if(NOT headers)
    set(headers <dimwise/dimwise.hpp>)
  endif()
  target_precompile_headers(${target} PRIVATE ${headers})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Templates that the headers themselves use are instantiated once as well.
    set_target_properties(${target} PROPERTIES PCH_INSTANTIATE_TEMPLATES ON)
  endif()
endfunction()
