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
  set_tests_properties(structure.format PROPERTIES LABELS once)
endif()
# clang-format leaves comments alone. The head of a compile-fail case is one sentence or one pattern for each line, as is a row of a
# table in a string. grep ends with 1 where it finds nothing.
add_test(NAME structure.columns COMMAND sh -c "grep -nP '^(?!// (MISTAKE|EXPECT|FROM)|[|] ).{121}' $(cat ${PROJECT_BINARY_DIR}/cpp_files.txt); test $? = 1"
         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(structure.columns PROPERTIES LABELS rules ENVIRONMENT LC_ALL=C.UTF-8)
