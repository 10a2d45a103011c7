#include "results/result_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>

#include <fmt/chrono.h>
#include <utility>

#include <fmt/format.h>

#include "results/build_info.hpp"
#include "results/io_error.hpp"
#include "results/schema.hpp"
#include "results/sha256.hpp"

namespace c3 {
namespace {

std::string system_reason(int error) { return std::generic_category().message(error); }

std::string utc_now() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

/// Another run may be writing the same target, or one that was killed may have left its file: those are not
/// ours.
std::filesystem::path temporary_name(const std::filesystem::path& target, int attempt) {
  return attempt == 0 ? target.string() + ".tmp" : fmt::format("{}.{}.tmp", target.string(), attempt);
}

/// Renaming over a folder fails late, and over a device (/dev/null) it succeeds.
void refuse_special_file(const std::filesystem::path& target) {
  std::error_code
      ignored;  // what cannot be looked at cannot be created either, and that has the better message
  const auto status = std::filesystem::status(target, ignored);
  if (std::filesystem::is_directory(status)) throw IoError(target.string(), "write", system_reason(EISDIR));
  if (std::filesystem::is_other(status)) throw IoError(target.string(), "write", "it is not a regular file");
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
  for (const auto& stream : experiment.streams)
    header.streams.push_back(stream.name);
  return header;
}

NameIndex NameTable::index(std::string_view name) {
  if (const auto known = index_.find(name); known != index_.end()) return known->second;
  const auto index = static_cast<NameIndex>(names_.size());
  index_.emplace(names_.emplace_back(name), index);
  return index;
}

TemporaryFile::TemporaryFile(std::filesystem::path target) : target_(std::move(target)) {
  constexpr int kAttempts = 100;
  constexpr mode_t kMode = 0666;  // less the user's umask
  refuse_special_file(target_);
  for (int attempt = 0; attempt < kAttempts && descriptor_ < 0; ++attempt) {
    path_ = temporary_name(target_, attempt);
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) throw IoError(target_.string(), "create", system_reason(errno));
}

TemporaryFile::~TemporaryFile() {
  ::close(descriptor_);
  if (!renamed_) ::unlink(path_.c_str());
}

void TemporaryFile::append(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw IoError(path_.string(), "write", system_reason(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void TemporaryFile::rename_to_target() {
  if (::fsync(descriptor_) != 0) throw IoError(target_.string(), "write", system_reason(errno));
  if (::rename(path_.c_str(), target_.c_str()) != 0)
    throw IoError(target_.string(), "create", system_reason(errno));
  renamed_ = true;
}

ResultFile::ResultFile(const std::filesystem::path& target, const RunHeader& header)
    : temporary_(target), file_(h5_create_file(temporary_.path().string())) {
  write_header(file_, header);
  strategies_ = h5_create_group(file_, "strategies");
  h5_flush(file_);
}

H5Id ResultFile::add_strategy(const std::string& name) { return h5_create_group(strategies_, name); }

void ResultFile::commit() {
  write_texts(file_, {"names", "1", "texts that columns with an attribute 'indexes' point to"}, names_.names());
  h5_flush(file_);
  strategies_.close();
  if (!file_.close()) throw IoError(temporary_.path().string(), "write", "HDF5 could not close the file");
  temporary_.rename_to_target();
}

}  // namespace c3
