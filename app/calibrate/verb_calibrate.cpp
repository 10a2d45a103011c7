/// c3sim calibrate: coefficients of a kernel class from measured kernels.

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/broken_rows.hpp"
#include "app/calibrate/calibrate_request.hpp"
#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "base/options.hpp"
#include "base/usage_error.hpp"
#include "configs/presets/coefficient_file.hpp"
#include "configs/presets/preset_store.hpp"
#include "engine/interrupt.hpp"
#include "files/temporary_file.hpp"
#include "gpu/calibration/row_groups.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace app {
namespace {

/// Lines of one table: errors of predictions, one GPU a line and all together.
class ErrorTable {
 public:
  ErrorTable()
      : table_({"rows of", "GPU", "rows", "MAPE [%]", "95 %", "median [%]", "bias [%]", "within 10 % [%]"}) {}

  void add(const std::string& what, const MeasuredSet& set, const std::vector<KernelSample>& samples,
           const std::vector<Seconds>& predicted) {
    for (std::size_t gpu = 0; gpu < set.gpus.size(); ++gpu) {
      Rows rows;
      for (std::size_t i = 0; i < samples.size(); ++i) {
        if (samples[i].gpu == gpu) rows.push_back(i);
      }
      if (!rows.empty()) add_line(what, set.gpus[gpu].name, samples, predicted, rows);
    }
    if (set.gpus.size() > 1) add_line(what, "all", samples, predicted, every_row(samples.size()));
  }
  std::string text() const { return table_.text(); }

 private:
  void add_line(const std::string& what, const std::string& gpu, const std::vector<KernelSample>& samples,
                const std::vector<Seconds>& predicted, const Rows& rows) {
    std::vector<Seconds> measured, model;
    std::vector<std::uint64_t> shapes;
    for (const std::size_t row : rows) {
      measured.push_back(samples[row].time);
      model.push_back(predicted[row]);
      shapes.push_back(shape_key(samples[row].op));
    }
    const ErrorStatistics errors = error_statistics(measured, model);
    const auto interval = mape_interval(measured, model, shapes);
    const auto percent = [](double share) { return fmt::format("{:.1f}", 100.0 * share); };
    table_.add({what, gpu, std::to_string(errors.rows), percent(errors.mean_absolute),
                interval ? fmt::format("{}..{}", percent(interval->low), percent(interval->high)) : "",
                percent(errors.median_signed), percent(errors.bias), percent(errors.within_10_percent)});
  }

  TextTable table_;
};

std::vector<std::string> names_of(const MeasuredSet& set, const std::vector<KernelSample>& samples) {
  std::vector<std::string> names;
  for (const KernelSample& sample : samples) {
    const std::string& name = set.gpus[sample.gpu].name;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string source_text(const CalibrateOptions& options, const MeasuredSet& set, std::size_t rows) {
  std::vector<std::string> files;
  files.reserve(set.sources.size());
  for (const std::string& file : set.sources)
    files.push_back(std::filesystem::path(file).filename().string());
  const std::string origin = options.source.empty() ? "" : fmt::format(" ({})", options.source);
  return fmt::format("c3sim calibrate: {} rows of {}; {}{}", rows, fmt::join(names_of(set, set.train), ", "),
                     fmt::join(files, ", "), origin);
}

/// The file of -o, begun before the work so that a folder that cannot be written costs no fit.
std::optional<TemporaryFile> begin_output(const CalibrateOptions& options) {
  if (options.output.empty()) return std::nullopt;
  if (options.output == "-") throw UsageError("-o: needs a file");
  return std::make_optional<TemporaryFile>(options.output);
}

void finish_output(TemporaryFile& file, const std::string& text) {
  file.append(marked_text(text));
  file.rename_to_target();
}

void report_left_out(const MeasuredSet& set) {
  report_broken_rows(set.broken);
  if (set.broken.size() + set.short_rows + set.impossible == 0) return;
  fmt::print("left out: {} broken rows, {} below --min-time, {} that their GPU cannot run\n", set.broken.size(),
             set.short_rows, set.impossible);
}

/// One factor for a GPU: of all times but launches, from a few of its kernels.
int calibrate_scale(const CalibrateOptions& options, const MeasuredSet& set, const std::string& kernel_class) {
  if (names_of(set, set.train).size() != 1) throw UsageError("--scale: the rows must be of one GPU");
  const std::filesystem::path start =
      options.start.empty() ? shipped_coefficients(kernel_class) : std::filesystem::path(options.start);
  CoefficientTable table = load_coefficients(kernel_class, start);
  std::optional<TemporaryFile> output = begin_output(options);
  const std::vector<Seconds> before = predict_kernels(set.train, set.gpus, table);
  const Scale scale = fit_scale(set.train, set.gpus, table);
  const std::vector<CoefficientKey> keys = coefficient_keys(kernel_class);
  const auto range = std::ranges::find(keys, "scale", &CoefficientKey::key);
  if (scale.factor < 1.001 * range->low || scale.factor > 0.999 * range->high) {
    throw UsageError(fmt::format("--scale: the factor is not within {}..{}: another GPU, or another unit?",
                                 range->low, range->high));
  }
  table.values = {{"scale", scale.factor}};
  ErrorTable errors;
  errors.add("before", set, set.train, before);
  errors.add("scaled", set, set.train, predict_kernels(set.train, set.gpus, table));
  fmt::print("{} on {}: times x {:.4f}", kernel_class, set.gpus[set.train.front().gpu].name, scale.factor);
  if (scale.interval) fmt::print(" (95 %: {:.4f}..{:.4f})", scale.interval->low, scale.interval->high);
  fmt::print(", from {} rows\n\n{}", scale.rows, errors.text());
  report_left_out(set);
  if (!output) return kExitOk;
  const std::string& gpu = set.gpus[set.train.front().gpu].name;
  finish_output(
      *output,
      fmt::format(
          "# One factor of all {0} times of {1} but launches. To use it, one of\n"
          "#   --set gpu.kernels.{0}.scale={2:.6f}, of c3sim kernel and of an experiment;\n"
          "#   a preset of your own, gpus/NAME.toml in a folder of C3SIM_CONFIGS, with name = \"NAME\" and\n"
          "#   extends = [\"{3}\", \"PATH OF THIS FILE\"].\n\n[kernels.{0}]\n{4}",
          kernel_class, gpu, scale.factor, preset_file(PresetKind::gpu, gpu).string(),
          sourced_line("scale", scale.factor, "measured", source_text(options, set, scale.rows))));
  return kExitOk;
}

KernelFitOptions fit_options_of(const CalibrateOptions& options, const std::string& kernel_class,
                                const std::filesystem::path& start) {
  KernelFitOptions fit_options;
  fit_options.hold = unfitted_coefficients(kernel_class, start);
  for (const std::string& key : options.free) {
    if (std::erase(fit_options.hold, key) == 0)
      throw UsageError(fmt::format("--free: '{}' is no coefficient that is only published or assumed", key));
  }
  fit_options.hold.insert(fit_options.hold.end(), options.hold.begin(), options.hold.end());
  fit_options.most_rows = options.rows;
  fit_options.fit.starts = options.starts;
  fit_options.fit.seed = options.seed;
  return fit_options;
}

std::string value_table(const CoefficientTable& start, const KernelFit& fit) {
  TextTable values({start.kernel_class, "start", "fitted", "meaning"});
  const std::vector<CoefficientKey> keys = coefficient_keys(start.kernel_class);
  for (std::size_t i = 0; i < start.values.size(); ++i) {
    const auto& [key, before] = start.values[i];
    const double after = fit.table.values[i].second;
    const bool at_bound = std::ranges::find(fit.at_bound, key) != fit.at_bound.end();
    const auto found = std::ranges::find_if(
        keys, [&](const CoefficientKey& coefficient) { return key.starts_with(coefficient.key); });
    values.add({key, fmt::format("{:.4g}", before),
                after == before ? "unchanged" : fmt::format("{:.4g}", after),
                fmt::format("{}{}", found->meaning, at_bound ? " (AT THE BOUND OF ITS RANGE)" : "")});
  }
  return values.text();
}

/// Errors where the fit looked, where it did not, and, refitted, of what a fit did not see.
std::string error_table(const CalibrateOptions& options, const MeasuredSet& set, const CoefficientTable& start,
                        const KernelFit& fit, KernelFitOptions fit_options) {
  ErrorTable errors;
  errors.add("training", set, set.train, predict_kernels(set.train, set.gpus, fit.table));
  if (!set.test.empty()) errors.add("test", set, set.test, predict_kernels(set.test, set.gpus, fit.table));
  if (!set.others.empty()) {
    errors.add("other GPUs", set, set.others, predict_kernels(set.others, set.gpus, fit.table));
  }
  fit_options.fit.starts = 1;
  if (options.leave_out && names_of(set, set.train).size() > 1) {
    errors.add("GPU left out", set, set.train, predict_unseen_gpus(set.train, set.gpus, start, fit_options));
  }
  if (options.folds > 1) {
    errors.add("shapes left out", set, set.train,
               predict_unseen_shapes(set.train, set.gpus, start, options.folds, fit_options));
  }
  return errors.text();
}

int calibrate_class(const CalibrateOptions& options, const MeasuredSet& set, const std::string& kernel_class) {
  const std::filesystem::path start =
      options.start.empty() ? shipped_coefficients(kernel_class) : std::filesystem::path(options.start);
  const CoefficientTable table = load_coefficients(kernel_class, start);
  std::optional<TemporaryFile> output = begin_output(options);
  const KernelFitOptions fit_options = fit_options_of(options, kernel_class, start);
  const KernelFit fit = fit_kernels(set.train, set.gpus, table, fit_options);
  fmt::print("{}\n{}", value_table(table, fit), error_table(options, set, table, fit, fit_options));
  fmt::print("{} rows fitted, {} evaluations, cost {:.4g} (soft-L1 of ln(predicted / measured), 0.1)\n",
             fit.rows, fit.evaluations, fit.cost);
  report_left_out(set);
  if (!output) return kExitOk;
  const std::string source = source_text(options, set, fit.rows);
  const std::string comment =
      fmt::format("Coefficients of the kernel class {}, made by\n{}", kernel_class, source);
  finish_output(*output, coefficient_text(fit.table, start, comment, source));
  return kExitOk;
}

int run_calibrate(const CalibrateOptions& options) {
  install_interrupt_handler();
  const MeasuredSet set = read_measured_set(options);
  const std::string kernel_class = coefficient_class(options, set);
  try {
    return options.scale ? calibrate_scale(options, set, kernel_class)
                         : calibrate_class(options, set, kernel_class);
  } catch (const std::invalid_argument& error) {  // a key to hold that is none, too few rows or shapes
    throw UsageError(fmt::format("{} (for few rows of one GPU there is --scale)", error.what()));
  }
}

}  // namespace

void add_calibrate_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<CalibrateOptions>();
  Command& verb = app.add_command("calibrate", "Fit the coefficients of a kernel class to measured kernels");
  verb.add_option("FILE", options->files,
                  "Measured kernels, or GPU[,GPU..]=FILE to take only these GPUs or to name the one")
      .required()
      .type_name("[GPU=]FILE");
  verb.add_option("--class", options->kernel_class, "Kernels to fit")
      .required()
      .one_of({"gemm", "attention", "vector"});
  verb.add_option("--train", options->train, "GPUs to fit; others are predicted (default: all)")
      .comma_separated()
      .type_name("GPU,..");
  verb.add_option("-o,--output", options->output, "Write the coefficients").type_name("FILE.toml");
  verb.add_option("--start", options->start, "Coefficients to start from (default: the shipped ones)")
      .type_name("FILE.toml");
  verb.add_option("--source", options->source, "Origin of the data, recorded in the file").type_name("TEXT");
  verb.add_option(
          "--host", options->host,
          "Host preset whose part of a call is in the times: they were taken between events (default: none)")
      .type_name("HOST");
  verb.add_option("--free", options->free, "Published or assumed keys to fit nevertheless")
      .comma_separated()
      .type_name("KEY,..");
  verb.add_option("--hold", options->hold, "Keys to keep fixed, besides published and assumed ones")
      .comma_separated()
      .type_name("KEY,..");
  verb.add_option("--min-time", options->least_time, "Ignore kernels shorter than this")
      .type_name("TIME")
      .show_default();
  verb.add_option("--rows", options->rows, "Use at most this many rows of each GPU, chosen at random (0: all)")
      .show_default();
  verb.add_option("--starts", options->starts, "Random starting points of the search")
      .in_range(1, 100)
      .show_default();
  verb.add_option("--folds", options->folds, "Cross-validate over shapes with this many folds (0: do not)")
      .in_range(0, 100)
      .show_default();
  verb.add_option("--seed", options->seed, "Seed of all random choices: rows, starts, folds and intervals")
      .show_default();
  verb.add_flag("!--no-leave-out", options->leave_out, "Do not refit with each GPU left out");
  verb.add_flag("--scale", options->scale,
                "Fit one factor for one GPU instead of all coefficients: 20 rows are enough");
  verb.set_footer(
      "A file has the columns of `c3sim kernel --csv` with gpu and time_us (and split: train or test), or is "
      "one of\n"
      "NeuSight's or aiconfigurator's tables.\n\n"
      "Examples:\n"
      "  c3sim calibrate a100-sxm-80gb=gemm_a100.csv h100-sxm=gemm_h100.csv --class gemm -o matrix_gemm.toml\n"
      "  c3sim calibrate my-gpu=twenty.csv --class gemm --scale -o my-gpu-scale.toml");
  verb.when_parsed([&action, options] { action = [options] { return run_calibrate(*options); }; });
}

}}  // namespace c3::app
