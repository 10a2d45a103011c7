# Tests by label (tests/README.md says which question each label answers). One CTest a test case, named
# <label>/<the claim>, found by running the executable after it is linked.

find_package(doctest 2.4 REQUIRED)
find_package(rapidcheck REQUIRED)
include(doctest)

set(CMAKE_CXX_EXTENSIONS OFF)

add_library(c3_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/main.cpp)
target_compile_features(c3_test_main PUBLIC cxx_std_20)
target_link_libraries(c3_test_main PUBLIC doctest::doctest PRIVATE c3_build_flags)

# c3_add_tests(unit SOURCES unit/units_test.cpp .. DEPS c3::engine ..) makes c3_unit_tests.
# TIMEOUT is of one test case, in seconds.
function(c3_add_tests label)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;DEPS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  if(C3_SANITIZE)
    math(EXPR arg_TIMEOUT "3 * ${arg_TIMEOUT}")  # what is counted and checked takes its time
  endif()
  set(target c3_${label}_tests)
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE c3_test_main c3_build_flags rapidcheck fmt::fmt ${arg_DEPS})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  c3_precompile_common_headers(${target} <doctest/doctest.h>)
  # A test's own code is not hot: optimising it fully takes 40 % longer to compile and saves nothing.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  # Under the sanitizers, undefined behaviour is looked for in the libraries: checking a test's own code as well takes
  # 40 % longer to compile.
  if(C3_SANITIZE)
    target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
  endif()
  # A name that selects nothing (it holds a ';') would pass without having run: zero test cases is a failure.
  doctest_discover_tests(${target} TEST_PREFIX "${label}/"
    PROPERTIES LABELS ${label} TIMEOUT ${arg_TIMEOUT} FAIL_REGULAR_EXPRESSION "test cases: +0")
endfunction()

# Debian's python3-h5py belongs to Debian's interpreter, whatever python3 comes first on PATH.
set(C3_PYTHON /usr/bin/python3 CACHE FILEPATH "Python interpreter with h5py")

# c3_add_python_test(cli cli/test_run.py) makes cli/test_run: a script whose exit status says whether it passed.
# It finds the command in $C3SIM and the repository in $C3SIM_SOURCE. TIMEOUT in seconds. 77: it had nothing to test.
# READS_MEASURED_DATA: it is skipped without $C3SIM_DATA; its second label, measured_data, selects all such tests.
function(c3_add_python_test label script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "READS_MEASURED_DATA" "TIMEOUT" "")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  cmake_path(GET script STEM name)
  add_test(NAME ${label}/${name} COMMAND ${C3_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/${script})
  # COST: CTest starts what may take long first, so that no core is left with a long test at the end of a first run.
  set_tests_properties(${label}/${name} PROPERTIES LABELS ${label} TIMEOUT ${arg_TIMEOUT} COST ${arg_TIMEOUT}
    SKIP_RETURN_CODE 77 ENVIRONMENT "C3SIM=$<TARGET_FILE:c3sim>;C3SIM_SOURCE=${PROJECT_SOURCE_DIR}")
  if(arg_READS_MEASURED_DATA)
    set_tests_properties(${label}/${name} PROPERTIES LABELS "${label};measured_data")
  endif()
  if(label STREQUAL "bench")
    set_tests_properties(${label}/${name} PROPERTIES RUN_SERIAL TRUE)  # they measure time
  endif()
endfunction()

# c3_add_compile_fail_test(compile_fail/bytes_plus_seconds.cpp): see check.cmake there.
function(c3_add_compile_fail_test source)
  cmake_path(GET source STEM name)
  add_test(NAME compile_fail/${name}
    COMMAND ${CMAKE_COMMAND} -D COMPILER=${CMAKE_CXX_COMPILER} -D ROOT=${PROJECT_SOURCE_DIR}
            -D SOURCE=${CMAKE_CURRENT_SOURCE_DIR}/${source} -P ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/check.cmake)
  set_tests_properties(compile_fail/${name} PROPERTIES LABELS compile_fail TIMEOUT 60)
endfunction()
