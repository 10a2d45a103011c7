#pragma once
/// Commands of c3sim, asked by a study as a user would.

#include <span>
#include <string>

#include "files/child_program.hpp"

namespace c3 { inline namespace studies {

/// Runs the c3sim that lies beside this program with \p words after its name, and waits.
/// \throws IoError when it cannot be started; InterruptedError after Ctrl-C; std::runtime_error when it crashes
ChildEnd ask_c3sim(std::span<const std::string> words);

}}  // namespace c3::studies
