# cmake -D COMPILER= -D ROOT= -D SOURCE= -P check.cmake
# SOURCE must compile without MUST_NOT_COMPILE. With it, the compiler must refuse the line after "#ifdef
# MUST_NOT_COMPILE" and no other: a file that is wrong elsewhere proves nothing about that line.

function(compile out_failed out_errors)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${COMPILER} -std=c++20 -fsyntax-only -I ${ROOT} ${ARGN} ${SOURCE}
    RESULT_VARIABLE failed ERROR_VARIABLE errors)
  set(${out_failed} ${failed} PARENT_SCOPE)
  set(${out_errors} "${errors}" PARENT_SCOPE)
endfunction()

compile(failed errors)
if(failed)
  message(FATAL_ERROR "does not compile even without the line that must not:\n${errors}")
endif()

compile(failed errors -DMUST_NOT_COMPILE)
if(NOT failed)
  message(FATAL_ERROR "compiles, and must not")
endif()

file(READ ${SOURCE} text)
string(REGEX MATCH "^(.*)#ifdef MUST_NOT_COMPILE\n" before "${text}")
string(REGEX REPLACE "[^\n]" "" newlines "${before}")
string(LENGTH "${newlines}" line)
math(EXPR line "${line} + 1")

string(REGEX MATCHALL "[^\n]*:[0-9]+:[0-9]+: (fatal )?error:[^\n]*" found "${errors}")
foreach(error IN LISTS found)
  string(FIND "${error}" "${SOURCE}:${line}:" at)
  if(NOT at EQUAL 0)
    message(FATAL_ERROR "refused for something else than line ${line}:\n${errors}")
  endif()
endforeach()
if(NOT found)
  message(FATAL_ERROR "refused, but no error names line ${line}:\n${errors}")
endif()
