#include "studies/cases/own_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <stdexcept>

#include "engine/errors.hpp"

namespace c3 { inline namespace studies {

ChildEnd ask_c3sim(std::span<const std::string> words) {
  constexpr int kInterrupted = 130;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  ChildEnd end = run_child((self.parent_path() / "c3sim").string(), words);
  if (end.exit_code == kInterrupted) throw InterruptedError("interrupted");
  if (end.signal != 0)
    throw std::runtime_error(fmt::format("c3sim {}: signal {}", fmt::join(words, " "), end.signal));
  return end;
}

}}  // namespace c3::studies
