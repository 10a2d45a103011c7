#include "app/calibrate/calibrate_request.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "app/broken_rows.hpp"
#include "app/host_calls.hpp"
#include "base/nearest_name.hpp"
#include "base/usage_error.hpp"
#include "configs/jobs/measured_kernels.hpp"
#include "configs/presets/gpu_match.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/toml/quantity_text.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_class.hpp"

namespace c3 { inline namespace app {
namespace {

std::string preset_of(const std::string& name) {
  const auto preset = gpu_preset_of(name);
  if (!preset) throw UsageError(unknown_name("GPU preset", name, preset_names(PresetKind::gpu)));
  return *preset;
}

struct Source {
  std::vector<std::string> gpus;  ///< the only ones to take; empty: all that the file names
  std::string file;
};

/// "a100-sxm-80gb=gemm.csv": the file's rows are of that GPU, or, where it names GPUs, only of those.
Source source_of(const std::string& written) {
  const std::size_t equals = written.find('=');
  if (equals == std::string::npos) return {{}, written};
  Source source{{}, written.substr(equals + 1)};
  std::string_view names = std::string_view(written).substr(0, equals);
  while (!names.empty()) {
    const std::size_t comma = std::min(names.find(','), names.size());
    source.gpus.push_back(preset_of(std::string(names.substr(0, comma))));
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return source;
}

Seconds least_time_of(const CalibrateOptions& options) {
  try {
    const double least = parse_quantity(options.least_time, Dimension::duration);
    if (least < 0) throw std::invalid_argument("must be 0 or more");
    return Seconds{least};
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--min-time: {}", error.what()));
  }
}

class Reader {
 public:
  explicit Reader(const CalibrateOptions& options)
      : options_(options), least_(least_time_of(options)), calls_(calls_of(options.host)) {
    for (const std::string& name : options.train)
      train_.push_back(preset_of(name));
  }

  MeasuredSet read() {
    for (const std::string& written : options_.files) {
      const Source source = source_of(written);
      std::error_code ignored;  // what is not there is not the input
      if (std::filesystem::equivalent(source.file, options_.output, ignored))
        throw UsageError(options_.output + ": is a file with measurements, and would be written");
      const std::string only = source.gpus.size() == 1 ? source.gpus.front() : "";
      MeasuredKernels table = read_measured_kernels(source.file, only);
      std::ranges::stable_sort(table.broken, {}, [](const BrokenRow& row) { return row.at.line; });
      set_.sources.push_back(source.file);
      set_.broken.insert(set_.broken.end(), table.broken.begin(), table.broken.end());
      for (const MeasuredKernel& kernel : table.kernels) {
        const bool wanted =
            source.gpus.empty() || std::ranges::find(source.gpus, kernel.gpu) != source.gpus.end();
        if (wanted && kernel.op.of_class().name == options_.kernel_class) add(kernel);
      }
    }
    if (set_.train.empty()) {
      report_broken_rows(set_.broken);
      throw UsageError(fmt::format("no row of class {} to fit: {} broken, {} below --min-time, {} impossible",
                                   options_.kernel_class, set_.broken.size(), set_.short_rows,
                                   set_.impossible));
    }
    return std::move(set_);
  }

 private:
  void add(const MeasuredKernel& kernel) {
    if (kernel.time < least_) {
      ++set_.short_rows;
      return;
    }
    const std::size_t gpu = gpu_index(kernel.gpu);
    try {
      time_of(kernel.op, set_.gpus[gpu]);
    } catch (const InfeasibleError&) {
      ++set_.impossible;
      return;
    }
    const bool is_train_gpu = train_.empty() || std::ranges::find(train_, kernel.gpu) != train_.end();
    std::vector<KernelSample>& list = !is_train_gpu ? set_.others : kernel.train ? set_.train : set_.test;
    const auto [place, is_new] = places_.try_emplace({&list, gpu, operator_key(kernel.op)}, list.size());
    if (is_new) {
      list.push_back({kernel.op, gpu, kernel.time, calls_});
    } else {
      list[place->second].time = std::min(list[place->second].time, kernel.time);
    }
  }

  std::size_t gpu_index(const std::string& name) {
    const auto found = std::ranges::find(set_.gpus, name, &GpuSpec::name);
    if (found == set_.gpus.end()) {
      set_.gpus.push_back(load_gpu(preset_of(name)));
      set_.gpus.back().governor.state = ClockState::burst;  // tables are taken in milliseconds
      return set_.gpus.size() - 1;
    }
    return static_cast<std::size_t>(found - set_.gpus.begin());
  }

  const CalibrateOptions& options_;
  Seconds least_;
  CallCosts calls_;
  std::vector<std::string> train_;
  MeasuredSet set_;
  std::map<std::tuple<const void*, std::size_t, std::uint64_t>, std::size_t> places_;
};

}  // namespace

MeasuredSet read_measured_set(const CalibrateOptions& options) { return Reader(options).read(); }

std::string coefficient_class(const CalibrateOptions& options, const MeasuredSet& set) {
  if (options.kernel_class != "gemm") return options.kernel_class;
  const auto on_vectors = [](const KernelSample& sample) {
    return sample.op.of_class().coefficients(sample.op) == "vector_gemm";
  };
  const auto count = std::ranges::count_if(set.train, on_vectors);
  if (count == 0) return "matrix_gemm";
  if (static_cast<std::size_t>(count) == set.train.size()) return "vector_gemm";
  throw UsageError(
      "--class gemm: fp32 runs on vector units, the other types on matrix units; calibrate them apart");
}

}}  // namespace c3::app
