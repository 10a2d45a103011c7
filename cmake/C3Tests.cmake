# Tests by label (tests/README.md says which question each label answers). One CTest a test case, named
# <label>/<the claim>, found by running the executable after it is linked; under the sanitizers one a source file.

find_package(doctest 2.4 REQUIRED)
find_package(rapidcheck REQUIRED)
include(doctest)

set(CMAKE_CXX_EXTENSIONS OFF)

# Under the sanitizers, undefined behaviour is looked for in the libraries: checking a test's own code as well takes 40 %
# longer to compile.
add_library(c3_test_flags INTERFACE)
target_link_libraries(c3_test_flags INTERFACE c3_build_flags doctest::doctest rapidcheck fmt::fmt)
target_include_directories(c3_test_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_features(c3_test_flags INTERFACE cxx_std_20)
if(C3_SANITIZE)
  target_compile_options(c3_test_flags INTERFACE -fno-sanitize=undefined)
endif()

# The headers that nearly every test includes, parsed once for all.
add_library(c3_test_headers OBJECT ${PROJECT_SOURCE_DIR}/cmake/common_headers.cpp)
target_link_libraries(c3_test_headers PRIVATE c3_test_flags)
target_compile_options(c3_test_headers PRIVATE -O0)
target_precompile_headers(c3_test_headers PRIVATE ${C3_COMMON_HEADERS} <doctest/doctest.h>)

add_library(c3_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/main.cpp)
target_link_libraries(c3_test_main PRIVATE c3_test_flags)

# Builds every C++ test executable of the preset, and those that the sanitizers do not run.
add_custom_target(c3_tests)
add_custom_target(c3_unsanitized_tests)

# c3_add_tests(engine LABEL unit SOURCES unit/units_test.cpp .. DEPS c3::engine ..) makes c3_engine_tests.
# LABEL: the executable's name by default. TIMEOUT of one test case, in seconds.
# OPTIMISED: the test's own code is hot.
# NOT_SANITIZED: there is no such executable under the sanitizers, which are for what simulates: pages and studies would
# take as long to build as all the rest, and metamorphic tests as long to run, of code that contract tests run as well.
function(c3_add_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMISED;NOT_SANITIZED" "LABEL;TIMEOUT" "SOURCES;DEPS")
  if(C3_SANITIZE AND arg_NOT_SANITIZED)
    return()
  endif()
  if(NOT arg_LABEL)
    set(arg_LABEL ${name})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  set(target c3_${name}_tests)
  add_executable(${target} ${arg_SOURCES} $<TARGET_OBJECTS:c3_test_main>)
  add_dependencies(c3_tests ${target})
  if(arg_NOT_SANITIZED OR NOT arg_LABEL MATCHES "^(unit|property|contract)$")
    add_dependencies(c3_unsanitized_tests ${target})
  endif()
  target_link_libraries(${target} PRIVATE c3_test_flags ${arg_DEPS})
  if(arg_OPTIMISED)
    target_compile_options(${target} PRIVATE -O1)
  else()
    target_compile_options(${target} PRIVATE -O0)  # optimising takes longer to compile than it saves
    target_precompile_headers(${target} REUSE_FROM c3_test_headers)
  endif()
  c3_group_sources(${target} ${arg_SOURCES})
  if(C3_SANITIZE)
    c3_add_sanitized_tests(${target} ${arg_LABEL} ${arg_SOURCES})
    return()
  endif()
  # A name that selects nothing (it holds a ';') would pass without having run: zero test cases is a failure.
  doctest_discover_tests(${target} TEST_PREFIX "${arg_LABEL}/"
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} FAIL_REGULAR_EXPRESSION "test cases: +0")
  if(arg_LABEL MATCHES "^(unit|property|contract)$")
    c3_add_label_fast(${target} ${arg_LABEL})
  endif()
endfunction()

# Gives the tests that were found in an executable a second label: doctest_discover_tests() takes one.
function(c3_add_label_fast target label)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}_fast.cmake)
  file(WRITE ${script} "foreach(name IN LISTS ${target}_TESTS)
  set_tests_properties(\${name} PROPERTIES LABELS \"${label};fast\")
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

# One CTest a source file, named <label>/<file>: to start a sanitized executable takes longer than most cases.
# COST: contract tests, some of which take a minute, start first, so that no core waits for one at the end.
function(c3_add_sanitized_tests target label)
  set(cost_of_unit 1)
  set(cost_of_property 10)
  set(cost_of_contract 100)
  foreach(source IN LISTS ARGN)
    cmake_path(GET source STEM stem)
    add_test(NAME ${label}/${stem} COMMAND ${target} --source-file=*/${stem}.cpp)
    set_tests_properties(${label}/${stem} PROPERTIES LABELS ${label} TIMEOUT 900 COST ${cost_of_${label}}
      FAIL_REGULAR_EXPRESSION "test cases: +0")
  endforeach()
endfunction()

# Debian's python3-h5py belongs to Debian's interpreter, whatever python3 comes first on PATH.
set(C3_PYTHON /usr/bin/python3 CACHE FILEPATH "Python interpreter with h5py")

# c3_add_python_test(cli cli/test_run.py) makes cli/test_run: a script whose exit status says whether it passed.
# It finds the command in $C3SIM, the repository in $C3SIM_SOURCE, and may import what lies in tests/support. TIMEOUT in seconds. 77: it had nothing to test.
# READS_MEASURED_DATA: it is skipped without $C3SIM_DATA; its second label, measured_data, selects all such tests.
# FAST: it takes a second or two at most; its second label is fast.
# LONG: it is run by hand only, as label long (the presets release and dev leave it out).
# WHOLE 3600: it has a small size, run here, and a whole one, made a LONG test of that TIMEOUT, cli/test_run_whole, which
# finds C3SIM_WHOLE in its environment.
function(c3_add_python_test label script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "READS_MEASURED_DATA;FAST;LONG" "TIMEOUT;WHOLE" "")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  set(labels ${label})
  foreach(further IN ITEMS FAST LONG)
    if(arg_${further})
      string(TOLOWER ${further} word)
      list(APPEND labels ${word})
    endif()
  endforeach()
  if(arg_READS_MEASURED_DATA)
    list(APPEND labels measured_data)
  endif()
  cmake_path(GET script STEM name)
  c3_add_python_ctest(${label}/${name} ${script} "${labels}" ${arg_TIMEOUT})
  if(arg_WHOLE)
    c3_add_python_ctest(${label}/${name}_whole ${script} "${label};long" ${arg_WHOLE} C3SIM_WHOLE=1)
  endif()
  if(label STREQUAL "bench")  # they measure CPU time, which a neighbour on the other core changes little
    set_tests_properties(${label}/${name} PROPERTIES RESOURCE_LOCK clock)
  endif()
endfunction()

# Further arguments are variables of its environment.
function(c3_add_python_ctest name script labels timeout)
  add_test(NAME ${name} COMMAND ${C3_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/${script})
  # COST: CTest starts what may take long first, so that no core is left with a long test at the end of a first run.
  set(environment C3SIM=$<TARGET_FILE:c3sim> C3SIM_SOURCE=${PROJECT_SOURCE_DIR}
    PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/support ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout} COST ${timeout} SKIP_RETURN_CODE 77
    ENVIRONMENT "${environment}")
endfunction()

# c3_add_compile_fail_test(compile_fail/bytes_plus_seconds.cpp): see check.cmake there.
function(c3_add_compile_fail_test source)
  cmake_path(GET source STEM name)
  add_test(NAME compile_fail/${name}
    COMMAND ${CMAKE_COMMAND} -D COMPILER=${CMAKE_CXX_COMPILER} -D ROOT=${PROJECT_SOURCE_DIR}
            -D SOURCE=${CMAKE_CURRENT_SOURCE_DIR}/${source} -P ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/check.cmake)
  set_tests_properties(compile_fail/${name} PROPERTIES LABELS "compile_fail;fast" TIMEOUT 60)
endfunction()
