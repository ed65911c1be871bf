# Checks by the tools that others keep: clang-format, clang-tidy, ShellCheck, codespell. A tool that is not installed is named when
# CMake configures, and its test is left out (tools/setup.sh tests installs all of them).

# find_check(<result> <test> <program>…): the program, or a message that its test is left out.
function(find_check result test)
  find_program(DIMWISE_${result} NAMES ${ARGN})
  mark_as_advanced(DIMWISE_${result})
  if(NOT DIMWISE_${result})
    message(STATUS "dimwise: ${ARGN} is not installed, so ${test} is left out (tools/setup.sh tests)")
  endif()
endfunction()

set(cpp_files)
foreach(folder IN ITEMS benchmarks examples include src tests tools)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.cpp ${PROJECT_SOURCE_DIR}/${folder}/*.hpp)
  list(APPEND cpp_files ${found})
endforeach()

# structure.format: every C++ file; `cmake --build --preset dev --target format` formats them. Another version formats otherwise.
list(JOIN cpp_files "\n" lines)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/cpp_files.txt CONTENT "${lines}\n" @ONLY)
find_check(CLANG_FORMAT structure.format clang-format-19)
if(DIMWISE_CLANG_FORMAT)
  set(format ${DIMWISE_CLANG_FORMAT} --files=${PROJECT_BINARY_DIR}/cpp_files.txt)
  add_custom_target(format COMMAND ${format} -i WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
  add_test(NAME structure.format COMMAND ${format} --dry-run -Werror WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(structure.format PROPERTIES LABELS "once;quick")
endif()
# clang-format leaves comments alone. The head of a compile-fail case is one sentence or one pattern for each line.
# grep ends with 1 where it finds nothing.
add_test(NAME structure.columns COMMAND sh -c "grep -nP '^(?!// (MISTAKE|EXPECT|FROM)).{121}' $(cat ${PROJECT_BINARY_DIR}/cpp_files.txt); test $? = 1"
         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(structure.columns PROPERTIES LABELS "rules;quick" ENVIRONMENT LC_ALL=C.UTF-8)

# One file that includes every header: what clang-tidy reads. mpi.h is in a folder of its own.
file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/*.hpp)
set(mpi_folders ${MPI_CXX_INCLUDE_DIRS})
list(TRANSFORM mpi_folders PREPEND -isystem)
if(NOT TARGET dimwise_mpi)
  list(REMOVE_ITEM found dimwise/ranks/mpi.hpp)
endif()
list(TRANSFORM found REPLACE "(.+)" "#include <\\1>")
list(JOIN found "\n" lines)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/every_header.cpp CONTENT "${lines}\n" @ONLY)

# structure.tidy: the headers, and the file that chooses the kernels; another version has other checks. With lists that the library
# has not, its functions are inline (support/library.hpp): one that is not is found.
find_check(CLANG_TIDY structure.tidy clang-tidy-14)
if(DIMWISE_CLANG_TIDY)
  add_test(NAME structure.tidy
           COMMAND ${DIMWISE_CLANG_TIDY} --quiet --config-file=${PROJECT_SOURCE_DIR}/.clang-tidy ${PROJECT_BINARY_DIR}/every_header.cpp
                   src/kernels.cpp -- -std=c++20 -Iinclude -DDIMWISE_COMPILED_KERNELS -D_GLIBCXX_DEBUG ${mpi_folders}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(structure.tidy PROPERTIES LABELS once)
endif()

# structure.shell: every shell script.
find_check(SHELLCHECK structure.shell shellcheck)
if(DIMWISE_SHELLCHECK)
  file(GLOB_RECURSE scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*.sh ${PROJECT_SOURCE_DIR}/benchmarks/*.sh ${PROJECT_SOURCE_DIR}/src/*.sh ${PROJECT_SOURCE_DIR}/examples/*.sh
       ${PROJECT_SOURCE_DIR}/tests/*.sh)
  add_test(NAME structure.shell COMMAND ${DIMWISE_SHELLCHECK} ${scripts} ${PROJECT_SOURCE_DIR}/.ci/run)
  set_tests_properties(structure.shell PROPERTIES LABELS "rules;quick")
endif()

# structure.spelling: what codespell's own list has. structure.terms: phrases of tests/docs/terms.txt, `phrase->what to write instead`.
find_check(CODESPELL "structure.spelling and structure.terms" codespell)
if(DIMWISE_CODESPELL)
  set(prose README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md docs)
  set(code benchmarks cmake examples include src tests tools)
  set(codespell ${DIMWISE_CODESPELL} --quiet-level 3 --skip=*.dwpack,*.safetensors,*.svg,*.json,terms.txt)
  add_test(NAME structure.spelling COMMAND ${codespell} --ignore-words-list=crate,nd ${prose} ${code}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  file(STRINGS docs/terms.txt terms)
  list(TRANSFORM terms REPLACE "->.*" "")
  list(JOIN terms "|" terms)
  add_test(NAME structure.terms COMMAND ${codespell} --dictionary=tests/docs/terms.txt --regex=\\b\(?i:${terms}\)\\b ${prose} ${code}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(structure.spelling structure.terms PROPERTIES LABELS "rules;quick")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS docs/terms.txt)
endif()

# benchmark.<program>: the benchmarks compile, but for the rivals. Nothing else of CI builds them.
set(benchmarks_folder ${PROJECT_SOURCE_DIR}/benchmarks)
file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${benchmarks_folder} ${benchmarks_folder}/*.cpp ${benchmarks_folder}/kernels/*.cpp
     ${benchmarks_folder}/training/*.cpp)
foreach(needs IN ITEMS io=bench_generation text=quantised_accuracy mpi=bench_ranks)
  string(REGEX MATCH "(.*)=(.*)" needs ${needs})
  if(NOT TARGET dimwise_${CMAKE_MATCH_1})
    list(REMOVE_ITEM sources ${CMAKE_MATCH_2}.cpp)
  endif()
endforeach()
set(threads)
if(TARGET dimwise::tbb)
  set(threads -DDIMWISE_BENCH_TBB)
endif()
foreach(source IN LISTS sources)
  string(REGEX REPLACE "[.]cpp$" "" name ${source})
  string(REPLACE / _ name ${name})
  set(kernels -DDIMWISE_COMPILED_KERNELS)
  if(source MATCHES "^kernels/")
    set(kernels)
  endif()
  add_test(NAME benchmark.${name}
           COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Werror ${kernels} ${threads} -Iinclude ${mpi_folders}
                   benchmarks/${source}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(benchmark.${name} PROPERTIES LABELS once TIMEOUT 600)
endforeach()
