#include "results/result_file.hpp"

#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "files/io_error.hpp"
#include "files/sha256.hpp"
#include "results/build_info.hpp"
#include "results/file_seal.hpp"
#include "results/schema.hpp"

namespace c3 { inline namespace results {
namespace {

std::string utc_now() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

/// Rates in whole flop/s.
void write_level(const H5Id& file, const SustainedLevel& level) {
  const auto rate = [&](const char* name, FlopsPerSecond value) {
    h5_set_attribute(file, name, static_cast<std::uint64_t>(std::llround(value.value)));
  };
  h5_set_attribute(file, "level_evidence", name_of(level.evidence));
  if (!level.measured_on.empty()) h5_set_attribute(file, "level_measured_on", level.measured_on);
  rate("level_rate", level.rate);
  if (level.low) rate("level_low", *level.low);
  if (level.high) rate("level_high", *level.high);
}

void write_conditions(const H5Id& file, const RunHeader& header) {
  const auto& conditions = header.conditions;
  const auto count = [&](const char* name, int value) {
    h5_set_attribute(file, name, static_cast<std::uint64_t>(value));
  };
  h5_set_attribute(file, "system", conditions.system);
  h5_set_attribute(file, "gpu", header.gpu);
  count("ranks", header.ranks);
  count("seeds", conditions.seeds);
  count("draws", conditions.draws);
  h5_set_attribute(file, "hbm_arbitration", name_of(conditions.hbm_arbitration));
  h5_set_attribute(file, "dispatch_policy", name_of(conditions.dispatch_policy));
  if (conditions.clock_state) h5_set_attribute(file, "clock_state", name_of(*conditions.clock_state));
  if (conditions.level) write_level(file, *conditions.level);
  write_texts(file, {kStreams, "1", "names of the streams; activities/stream are rows of this column"},
              header.streams);
}

void write_header(const H5Id& file, const RunHeader& header) {
  h5_set_attribute(file, "schema", kRunFileSchema);
  h5_set_attribute(file, "schema_version", kRunFileSchemaVersion);
  h5_set_attribute(file, "experiment", header.experiment);
  h5_set_attribute(file, "seed", header.seed);
  h5_set_attribute(file, "software", "c3sim");
  h5_set_attribute(file, "software_version", build_info().version);
  h5_set_attribute(file, "git_commit", build_info().git_commit);
  h5_set_attribute(file, "compiler", build_info().compiler);
  h5_set_attribute(file, "date", utc_now());
  h5_set_attribute(file, "command_line", header.command_line);
  h5_set_attribute(file, "config_sha256", sha256_hex(header.config_resolved));
  h5_set_attribute(file, "config_resolved", header.config_resolved);
  write_conditions(file, header);
}

}  // namespace

RunHeader run_header(const Experiment& experiment, std::string config_resolved, std::string command_line) {
  RunHeader header{.experiment = experiment.name,
                   .config_resolved = std::move(config_resolved),
                   .seed = experiment.measure.seed,
                   .command_line = std::move(command_line),
                   .conditions = conditions_of(experiment),
                   .gpu = experiment.cluster.gpu.name,
                   .ranks = experiment.cluster.ranks()};
  header.streams = experiment.program.streams;
  return header;
}

NameIndex NameTable::index(std::string_view name) {
  if (const auto known = index_.find(name); known != index_.end()) return known->second;
  const auto index = static_cast<NameIndex>(names_.size());
  index_.emplace(names_.emplace_back(name), index);
  return index;
}

ResultFile::ResultFile(const std::filesystem::path& target, const RunHeader& header)
    : temporary_(target), file_(h5_create_file(temporary_.path().string())) {
  write_header(file_, header);
  strategies_ = h5_create_group(file_, "strategies");
  h5_flush(file_);
}

H5Id ResultFile::add_strategy(const std::string& name) { return h5_create_group(strategies_, name); }

void ResultFile::remove_strategy(const std::string& name) { h5_remove(strategies_, name); }

void ResultFile::mark_incomplete(std::string_view reason, std::span<const std::string> missing) {
  h5_set_attribute(file_, kIncomplete, reason);
  h5_set_attribute(file_, kMissingStrategies, fmt::format("{}", fmt::join(missing, ", ")));
}

void ResultFile::commit() {
  write_texts(file_, {"names", "1", "texts that columns with an attribute 'indexes' point to"}, names_.names());
  h5_flush(file_);
  strategies_.close();
  if (!file_.close())
    throw IoError(final_name(temporary_.path().string()), "write", "HDF5 could not close the file");
  seal_file(temporary_);
  temporary_.rename_to_target();
}

}}  // namespace c3::results
