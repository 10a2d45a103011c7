#pragma once
/// The table [measure] of an experiment: how often it is run, and how finely.

#include "configs/toml/section.hpp"
#include "configs/toml/tree.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace configs {

/// [measure], and whether it has the key whose default depends on the rest of the file.
struct WrittenMeasure {
  Measure measure;
  bool has_seeds = false;
};

/// Reads [measure]. \p root is the whole file, because defaults depend on whether it trains. \throws
/// ConfigError
WrittenMeasure read_measure(Section& root);

/// [measure] with its defaults written out. \param written the table of the file; nullptr when it has none.
Table measure_table(const Measure& measure, const Table* written);

}}  // namespace c3::configs
