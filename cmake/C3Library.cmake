# One library a folder: c3_add_library(engine SOURCES .. HEADERS .. DEPS ..) makes c3_engine, alias c3::engine.
# Includes are written from the root of the repository.

add_library(c3_build_flags INTERFACE)
target_compile_options(c3_build_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 has false positives of these in inlined std::string and std::variant code (GCC bugs 105329, 105593, 105651).
  target_compile_options(c3_build_flags INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds
                         -Wno-stringop-overflow)
endif()

option(C3_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
if(C3_SANITIZE)
  # Without null and alignment, which take a fifth of the time to compile: a null pointer that is used stops a program
  # under AddressSanitizer as well, and nothing here makes a misaligned one.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null,alignment -fno-sanitize-recover=undefined
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# The allocator of the programs: what simulates many steps takes a tenth to a fourth longer with that of glibc. The
# sanitizers bring their own.
pkg_check_modules(JEMALLOC REQUIRED IMPORTED_TARGET jemalloc)
add_library(c3_allocator INTERFACE)
if(NOT C3_SANITIZE)
  target_link_libraries(c3_allocator INTERFACE PkgConfig::JEMALLOC)
  target_sources(c3_allocator INTERFACE ${PROJECT_SOURCE_DIR}/base/allocator_settings.cpp)
endif()

option(C3_FUZZ "Build the libFuzzer targets of tests/fuzz, with AddressSanitizer; clang only" OFF)
if(C3_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address)
endif()

# The headers that nearly every file includes, parsed once for all targets that are compiled alike: GCC takes a
# precompiled header only where options and macros are those it was made with.
set(C3_COMMON_HEADERS <algorithm> <array> <chrono> <cmath> <deque> <filesystem> <functional> <map> <memory> <optional>
                      <random> <ranges> <set> <span> <string> <string_view> <unordered_map> <variant> <vector>
                      <fmt/format.h> <fmt/ranges.h>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # For ccache, which else cannot look up what is compiled with a precompiled header.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()

add_library(c3_common_headers OBJECT ${PROJECT_SOURCE_DIR}/cmake/common_headers.cpp)
target_link_libraries(c3_common_headers PRIVATE c3_build_flags fmt::fmt)
target_compile_features(c3_common_headers PRIVATE cxx_std_20)
set_target_properties(c3_common_headers PROPERTIES CXX_EXTENSIONS OFF)
target_precompile_headers(c3_common_headers PRIVATE ${C3_COMMON_HEADERS})

include(C3Unity)

function(c3_add_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;DEPS;PRIVATE_DEPS")
  add_library(c3_${folder})
  add_library(c3::${folder} ALIAS c3_${folder})
  target_sources(c3_${folder} PRIVATE ${arg_SOURCES}
                 PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  target_link_libraries(c3_${folder} PUBLIC ${arg_DEPS}
                        PRIVATE $<BUILD_INTERFACE:c3_build_flags> fmt::fmt ${arg_PRIVATE_DEPS})
  target_compile_features(c3_${folder} PUBLIC cxx_std_20)
  set_target_properties(c3_${folder} PROPERTIES EXPORT_NAME ${folder} CXX_EXTENSIONS OFF)
  target_precompile_headers(c3_${folder} REUSE_FROM c3_common_headers)
  c3_group_sources(c3_${folder} ${arg_SOURCES})
endfunction()
