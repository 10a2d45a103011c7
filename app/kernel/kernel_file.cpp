#include "app/kernel/kernel_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <future>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/broken_rows.hpp"
#include "app/command/progress_line.hpp"
#include "base/csv_text.hpp"
#include "base/nearest_name.hpp"
#include "base/usage_error.hpp"
#include "configs/presets/gpu_match.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/tables/kernel_table.hpp"
#include "engine/errors.hpp"
#include "engine/interrupt.hpp"
#include "files/input_files.hpp"
#include "files/temporary_file.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/kernel_bound.hpp"

namespace c3 { inline namespace app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStandardOutput = "-";
constexpr std::string_view kTimeColumns = "time_us,bound,waves,hbm_read_bytes,hbm_write_bytes";
constexpr TableHeader kTimedTable{.begins = {}, .ends = kTimeColumns};
constexpr std::size_t kRowsAtOnce = 8192;  // rows that a thread takes: some ms of work

/// A file under a temporary name until it is complete, or standard output.
class Output {
 public:
  Output(const std::string& target, TableHeader table) {
    if (target != kStandardOutput) file_.emplace(target, table);
  }

  void append(std::string_view text) {
    if (file_) return file_->append(text);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
      throw std::system_error(errno, std::generic_category(), "standard output");
  }
  void commit() {
    if (file_) file_->rename_to_target();
  }

 private:
  std::optional<TemporaryFile> file_;
};

/// A row and the GPU that it is timed on.
struct Job {
  const KernelRow* row;
  const GpuSpec* gpu;
  const BoundFinder* bounds;
};

/// The GPU of each row: its own, or that of --gpu.
class RowGpus {
 public:
  RowGpus(const KernelTable& table, const KernelOptions& options) : options_(options) {
    if (options.gpus.size() > 1) throw UsageError("--gpu: one for a file; several go into its column gpu");
    if (options.gpus.empty() && !table.has(TableColumn::gpu))
      throw UsageError("--gpu is required: the table has no column gpu");
    const std::string common = options.gpus.empty() ? "" : options.gpus.front();
    Found& found = by_name_[""];
    if (common.empty()) {
      found.why_not = "is missing, and there is no --gpu";
    } else {
      found = found_of(gpu_of(common, options));
    }
  }

  struct Found {
    std::shared_ptr<const GpuSpec> gpu;  ///< nullptr when there is none
    std::shared_ptr<const BoundFinder> bounds = nullptr;
    std::string why_not = {};
  };
  /// \param name as the row's cell has it. Valid as long as this object.
  const Found& find(std::string_view name) {
    const auto known = by_name_.find(name);
    return known != by_name_.end() ? known->second
                                   : by_name_.emplace(std::string(name), load(name)).first->second;
  }

 private:
  static Found found_of(std::shared_ptr<const GpuSpec> gpu) {
    return {.gpu = gpu, .bounds = std::make_shared<const BoundFinder>(*gpu)};
  }

  Found load(std::string_view name) const {
    if (const auto preset = gpu_preset_of(name)) return found_of(gpu_of(*preset, options_));
    return {.gpu = nullptr, .why_not = unknown_name("GPU preset", name, preset_names(PresetKind::gpu))};
  }

  const KernelOptions& options_;
  std::map<std::string, Found, std::less<>> by_name_;
};

std::vector<Job> jobs_of(const KernelTable& table, RowGpus& gpus, std::vector<BrokenRow>& broken) {
  std::vector<Job> jobs;
  jobs.reserve(table.rows().size());
  for (const KernelRow& row : table.rows()) {
    const RowGpus::Found& found = gpus.find(row.gpu);
    if (found.gpu) {
      jobs.push_back({&row, found.gpu.get(), found.bounds.get()});
    } else {
      broken.push_back({table.place_of(row, row.gpu), "gpu", found.why_not, row.text});
    }
  }
  return jobs;
}

/// What became of some rows in order.
struct Timed {
  fmt::memory_buffer text;
  std::vector<BrokenRow> broken;
};

Timed time_rows(const KernelTable& table, std::span<const Job> jobs, const KernelSlice& slice) {
  Timed timed;
  for (const Job& job : jobs) {
    try {
      const KernelTime time = time_of(job.row->op, *job.gpu, slice);
      fmt::format_to(std::back_inserter(timed.text), "{},{:.9g},{},{},{:.0f},{:.0f}\n", job.row->text,
                     time.time.value * 1e6, name_of(job.bounds->bound_of(job.row->op, time, slice)), time.waves,
                     time.hbm_read.value, time.hbm_write.value);
    } catch (const InfeasibleError& error) {
      timed.broken.push_back({table.place_of(*job.row, job.row->op_name), "op", error.what(), job.row->text});
    }
  }
  return timed;
}

/// Times \p jobs on all of this machine's cores, and writes them in order.
void time_all(const KernelTable& table, std::span<const Job> jobs, const KernelOptions& options, Output& output,
              std::vector<BrokenRow>& broken) {
  const KernelSlice slice = slices_of(options).front();
  const std::size_t threads = std::max(2U, std::thread::hardware_concurrency());
  ProgressLine progress(options.quiet, "rows");
  std::deque<std::future<Timed>> running;
  std::size_t begun = 0;
  while (begun < jobs.size() || !running.empty()) {
    if (interrupt_requested()) throw InterruptedError("interrupted");
    while (begun < jobs.size() && running.size() < threads) {
      const auto part = jobs.subspan(begun, std::min(kRowsAtOnce, jobs.size() - begun));
      running.push_back(
          std::async(std::launch::async, [&table, part, slice] { return time_rows(table, part, slice); }));
      begun += part.size();
    }
    Timed timed = running.front().get();
    running.pop_front();
    output.append({timed.text.data(), timed.text.size()});
    std::ranges::move(timed.broken, std::back_inserter(broken));
    progress(begun, jobs.size());
  }
}

/// The input's columns, of which the measured time makes room for the predicted one.
std::string output_header(const KernelTable& table) {
  std::vector<std::string_view> names;
  cut_cells(table.header(), names);
  std::string header;
  for (const std::string_view name : names) {
    header += name == "time_us" ? "measured_us" : name;
    header += ',';
  }
  return fmt::format("{}{}\n", header, kTimeColumns);
}

std::string quoted_cell(std::string_view text) {
  std::string cell = "\"";
  for (const char c : text)
    cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell + '"';
}

fs::path rejected_beside(const std::string& output) {
  return fs::path(output).replace_extension(".rejected.csv");
}

/// Header of the rows that cannot be timed.
TableHeader rejected_header(const KernelTable& table) { return {.begins = table.header(), .ends = ",reason"}; }

/// Writes the rejected rows. Without any, rejected rows of an earlier run are deleted.
void write_rejected(const KernelTable& table, const std::vector<BrokenRow>& broken, const fs::path& target) {
  std::error_code not_there;
  if (broken.empty()) {
    fs::remove(target, not_there);
    return;
  }
  std::string text = fmt::format("{},reason\n", table.header());
  for (const BrokenRow& row : broken)
    text += fmt::format("{},{}\n", row.text, quoted_cell(row.key + ": " + row.reason));
  TemporaryFile file(target, rejected_header(table));
  file.append(text);
  file.rename_to_target();
}

/// The file says what is not said here.
void check_usage(const KernelOptions& options) {
  for (const auto& [key, words] : options.shape) {
    if (!words.empty() && key != ShapeKey::dtype)
      throw UsageError(fmt::format("{}: with --csv, the file has the shapes", option_name(key)));
  }
  if (options.json) throw UsageError("--json: the output of --csv is CSV");
  if (options.cus.size() > 1) throw UsageError("--cus: one for a file");
}

void check_output(const KernelOptions& options, const KernelTable& table) {
  if (options.output.empty())
    throw UsageError("-o is required: the file for the times, or - for standard output");
  if (options.output == kStandardOutput) return;
  const fs::path rejected = rejected_beside(options.output);
  if (is_input(rejected))
    throw OutputConflictError(
        rejected.string() +
        ": rejected rows would replace this file, which the command reads; choose another output");
  refuse_file_of_user(rejected, rejected_header(table));
}

/// More CUs than the one GPU of all rows has are no mistake of the rows.
void check_slice(const GpuSpec* common, const KernelOptions& options) {
  const int cus = slices_of(options).front().cus;
  if (common != nullptr && cus > common->compute.cus()) {
    throw InfeasibleError(fmt::format("gpu '{}' has {} CUs, not {}", common->name, common->compute.cus(), cus));
  }
}

TableFormat format_of(const KernelOptions& options) {
  TableFormat format = shape_table_format();
  const auto dtype = options.shape.find(ShapeKey::dtype);
  if (dtype != options.shape.end() && !dtype->second.empty())
    format.words[ShapeKey::dtype] = dtype->second.front();
  return format;
}

}  // namespace

ExitCode time_kernel_file(const KernelOptions& options) {
  check_usage(options);
  const bool to_file = options.output != kStandardOutput;
  const KernelTable table = KernelTable::read(options.csv, format_of(options));
  check_output(options, table);
  RowGpus gpus(table, options);
  check_slice(gpus.find("").gpu.get(), options);
  std::vector<BrokenRow> broken = table.broken();
  const std::vector<Job> jobs = jobs_of(table, gpus, broken);

  Output output(options.output, kTimedTable);
  output.append(output_header(table));
  time_all(table, jobs, options, output, broken);
  std::ranges::stable_sort(broken, {}, [](const BrokenRow& row) { return row.at.line; });
  if (to_file) write_rejected(table, broken, rejected_beside(options.output));
  output.commit();
  report_broken_rows(broken);
  if (to_file && !options.quiet) {
    const std::size_t rows = table.rows().size() + table.broken().size();
    fmt::print(stderr, "wrote {}: {} of {} rows timed\n", options.output, rows - broken.size(), rows);
  }
  return broken.empty() ? kExitOk : kExitPartial;
}

}}  // namespace c3::app
