# Parts of the programs that they load when they are first needed, with the libraries behind them (base/module.hpp):
# c3_add_module(c3sim_mpi SOURCES .. DEPS ..) makes c3sim_mpi.so beside the programs.

# Where the loader looks for them if the program was copied from where it was built.
set(CMAKE_BUILD_RPATH ${PROJECT_BINARY_DIR})

function(c3_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  add_library(${name} MODULE ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE c3_build_flags ${arg_DEPS})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_EXTENSIONS OFF LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  install(TARGETS ${name} LIBRARY DESTINATION lib/c3sim)
endfunction()
