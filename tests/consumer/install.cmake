# cmake -DBUILD=... -DPREFIX=... -P install.cmake: installs into an empty folder, so that no removed header lingers.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} COMMAND_ERROR_IS_FATAL ANY)
