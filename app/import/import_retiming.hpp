#pragma once
/// `c3sim import --gpu`: the kernels of traces on another GPU, as tables and JSON.

#include <string>
#include <vector>

#include "base/json.hpp"
#include "workloads/traces/rank_record.hpp"
#include "workloads/traces/retiming/retimed_kernels.hpp"

namespace c3 { inline namespace app {

/// The preset that --gpu names, which may be written as a driver does. \throws ConfigError for what is none
GpuSpec retiming_gpu(const std::string& gpu);

/// The kernels of \p ranks on \p gpu, and on the preset that fits the first rank's recorded GPU: ranks of a run
/// have alike GPUs.
Retiming retimed_on(const GpuSpec& gpu, const std::vector<Rank>& ranks);

/// Adds the times of the same kernels that find nothing in the caches, which only JSON shows.
void add_times_with_empty_caches(Retiming& retiming, const GpuSpec& gpu, const std::vector<Rank>& ranks);

/// What --csv takes beside the tables of the report, with --gpu.
std::vector<std::string> retiming_table_names();

std::string retiming_text(const Retiming& retiming);

/// Table \p table with a heading of its columns, units in brackets.
std::string retiming_csv(const Retiming& retiming, const std::vector<Rank>& ranks, const std::string& table);

/// Times in us.
Json retiming_json(const Retiming& retiming);

}}  // namespace c3::app
