# One library a folder: c3_add_library(engine SOURCES .. HEADERS .. DEPS ..) makes c3_engine, alias c3::engine.
# Includes are written from the root of the repository.

add_library(c3_build_flags INTERFACE)
target_compile_options(c3_build_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 has false positives of these three in inlined std::string and std::variant code (GCC bugs 105329, 105593).
  target_compile_options(c3_build_flags INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds)
endif()

option(C3_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
if(C3_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

option(C3_FUZZ "Build the libFuzzer targets of tests/fuzz, with AddressSanitizer; clang only" OFF)
if(C3_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address)
endif()

# Parses the headers that nearly every file includes once for the target, which saves a quarter of its compile time.
# Not under a launcher such as ccache: that caches objects, and a precompiled header differs from one clone to the next,
# so that no clone would find what another has compiled.
function(c3_precompile_common_headers target)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE <fmt/format.h> <algorithm> <filesystem> <functional> <map> <memory>
                              <optional> <string> <vector> ${ARGN})
  endif()
endfunction()

function(c3_add_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;DEPS;PRIVATE_DEPS")
  add_library(c3_${folder})
  add_library(c3::${folder} ALIAS c3_${folder})
  target_sources(c3_${folder} PRIVATE ${arg_SOURCES}
                 PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  target_link_libraries(c3_${folder} PUBLIC ${arg_DEPS}
                        PRIVATE $<BUILD_INTERFACE:c3_build_flags> ${arg_PRIVATE_DEPS})
  target_compile_features(c3_${folder} PUBLIC cxx_std_20)
  set_target_properties(c3_${folder} PROPERTIES EXPORT_NAME ${folder} CXX_EXTENSIONS OFF)
  c3_precompile_common_headers(c3_${folder})
endfunction()
