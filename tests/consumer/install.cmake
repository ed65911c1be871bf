# cmake -DBUILD=... -DPREFIX=... -P install.cmake: installs into an empty folder, so that no removed header lingers.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} COMMAND_ERROR_IS_FATAL ANY)
# The programs run, where they are built.
foreach(program IN ITEMS dimwise-errors dimwise-generate dimwise-embed)
  if(EXISTS ${PREFIX}/bin/${program})
    execute_process(COMMAND ${PREFIX}/bin/${program} --help OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
