# Compiles several source files at once, which parses their headers and instantiates their templates once: a build from
# nothing takes half as long, a build after a small change some seconds longer.

option(C3_UNITY "Compile source files in groups: faster from nothing, slower after a change" OFF)
set(C3_UNITY_SIZE 20 CACHE STRING "Files of a group: more compile faster from nothing, and slower after a change")

# c3_group_sources(TARGET SOURCE..): see unity_groups.py for which files may be together.
function(c3_group_sources target)
  if(NOT C3_UNITY)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/cmake/unity_groups.py
                          ${PROJECT_SOURCE_DIR} ${C3_UNITY_SIZE} ${ARGN}
                  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" lines "${lines}")
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION TRUE)
  foreach(line IN LISTS lines)
    if(line MATCHES "^([0-9]+) (.+)$")
      set_source_files_properties(${CMAKE_MATCH_2} PROPERTIES SKIP_UNITY_BUILD_INCLUSION FALSE
                                  UNITY_GROUP ${target}_${CMAKE_MATCH_1})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD TRUE UNITY_BUILD_MODE GROUP)
endfunction()
