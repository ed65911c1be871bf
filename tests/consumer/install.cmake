# cmake -DBUILD=... -DPREFIX=... -P install.cmake: installs into an empty folder, so that no removed header lingers.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} COMMAND_ERROR_IS_FATAL ANY)
# The program that is installed reads what a compiler prints.
execute_process(COMMAND ${PREFIX}/bin/dimwise-errors --help OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
# And those that run models, where they are built.
foreach(program IN ITEMS dimwise-generate dimwise-embed)
  if(EXISTS ${PREFIX}/bin/${program})
    execute_process(COMMAND ${PREFIX}/bin/${program} --help OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
