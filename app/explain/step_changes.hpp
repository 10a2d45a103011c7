#pragma once
/// Keys of an experiment that a user can set otherwise, on the same hardware.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"

namespace c3 { inline namespace app {

/// Keys with other values.
struct KeyChange {
  std::string what;               ///< "micro_batch 1, recompute full"
  std::vector<std::string> sets;  ///< words of --set
};

/// A key of [training].
KeyChange training_key(const std::string& key, std::string_view value);
KeyChange training_key(const std::string& key, std::int64_t value);
KeyChange both(KeyChange a, const KeyChange& b);

struct ChangedFile {
  ExperimentFile file;
  Experiment outline;  ///< ExperimentFile::outline() of it
};

/// \p file under \p sets and \p change. A training step has \p tokens: where the file states its number of
/// micro-batches, \p change gets another one. \throws ConfigError, InfeasibleError (also where the step cannot
/// have \p tokens), InterruptedError
ChangedFile with_change(const std::string& file, std::vector<std::string> sets, KeyChange& change,
                        std::int64_t tokens);

}}  // namespace c3::app
