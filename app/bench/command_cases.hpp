#pragma once
/// Whole commands, as users type them: what they take, beside what another build of c3sim takes.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace c3::bench {

struct CommandCase {
  std::string name;
  std::string what;  ///< one line for humans
  /// After the program's name. STEP is the file of the step of all_command_cases(), OUT one to write.
  std::vector<std::string> words;
};

/// The cases in the order in which they are reported. Most run a step of Llama 3 70B on 64 H100, in four
/// stages of five chunks, with 64 micro-batches.
std::vector<CommandCase> all_command_cases();

/// What a command costs under one program.
struct CommandCost {
  double user_seconds = 0.0;
  std::uint64_t peak_rss_bytes = 0;
};

struct CommandMeasurement {
  CommandCost here;                    ///< medians
  std::optional<CommandCost> against;  ///< cost under the other program
  double ratio = 1.0;                  ///< ratio of CPU times, other over here: the median of pairs
};

/// Runs \p work \p repeats times, each time by both programs in turn. \param against path of the other program;
/// empty: none. \throws std::runtime_error where a command fails, IoError where a program cannot be started
CommandMeasurement measure(const CommandCase& work, int repeats, const std::string& against);

}  // namespace c3::bench
