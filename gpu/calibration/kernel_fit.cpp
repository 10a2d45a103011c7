#include "gpu/calibration/kernel_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "engine/random.hpp"
#include "gpu/calibration/cross_validation.hpp"
#include "gpu/calibration/row_groups.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_table.hpp"

namespace c3 { inline namespace gpu {
namespace {

std::vector<std::uint64_t> gpus_of(std::span<const KernelSample> samples) {
  std::vector<std::uint64_t> gpus(samples.size());
  std::ranges::transform(samples, gpus.begin(), [](const KernelSample& sample) { return sample.gpu; });
  return gpus;
}

/// GPUs with a table's coefficients, and the times of samples on them.
class Trial {
 public:
  Trial(std::span<const KernelSample> samples, std::span<const GpuSpec> gpus)
      : samples_(samples), gpus_(gpus.begin(), gpus.end()) {}

  void time(const CoefficientTable& table, std::span<Seconds> times) {
    for (GpuSpec& gpu : gpus_) {
      KernelCoefficients coefficients = gpu.kernels;
      apply(table, gpu.family.name, gpu.hbm.technology, coefficients);
      set_coefficients(gpu, coefficients);
    }
    for (std::size_t i = 0; i < samples_.size(); ++i)
      times[i] = time_of(samples_[i].op, gpus_.at(samples_[i].gpu), {.calls = samples_[i].calls}).time;
  }

 private:
  std::span<const KernelSample> samples_;
  std::vector<GpuSpec> gpus_;
};

/// The keys of \p table that the samples' GPUs resolve to: of a coefficient that differs, the most special one.
std::vector<std::string> keys_in_use(const CoefficientTable& table, std::span<const KernelSample> samples,
                                     std::span<const GpuSpec> gpus) {
  std::vector<std::string> used;
  for (const CoefficientKey& key : coefficient_keys(table.kernel_class)) {
    if (!key.differs) {
      used.emplace_back(key.key);
      continue;
    }
    for (const Rows& rows : rows_by_id(gpus_of(samples))) {
      const GpuSpec& gpu = gpus[samples[rows.front()].gpu];
      std::vector<std::string> variants = variants_of(key.key, gpu.family.name, gpu.hbm.technology);
      std::ranges::reverse(variants);
      const auto found =
          std::ranges::find_if(variants, [&](const auto& name) { return table.find(name) != nullptr; });
      if (found != variants.end() && std::ranges::find(used, *found) == used.end()) used.push_back(*found);
    }
  }
  return used;
}

/// The range of \p key, whose variants have that of their coefficient.
CoefficientKey range_of(std::string_view key, const std::vector<CoefficientKey>& known) {
  const auto found = std::ranges::find_if(known, [&](const CoefficientKey& each) {
    return key == each.key || (each.differs && key.starts_with(std::string(each.key) + "_"));
  });
  if (found == known.end()) throw std::invalid_argument(fmt::format("no coefficient '{}'", key));
  return *found;
}

std::vector<Parameter> parameters_of(const CoefficientTable& start, std::span<const KernelSample> samples,
                                     std::span<const GpuSpec> gpus, const std::vector<std::string>& hold) {
  for (const std::string& key : hold) {
    if (start.find(key) == nullptr)
      throw std::invalid_argument(fmt::format("no coefficient '{}' to hold", key));
  }
  constexpr double kSmallest = 1e-2;  // of the start, where a range begins at 0
  const std::vector<CoefficientKey> known = coefficient_keys(start.kernel_class);
  const std::vector<std::string> used = keys_in_use(start, samples, gpus);
  std::vector<Parameter> parameters;
  for (const auto& [key, value] : start.values) {
    const CoefficientKey range = range_of(key, known);
    const bool is_free = value > 0.0 && key != "scale" && std::ranges::find(hold, key) == hold.end() &&
                         std::ranges::find(used, key) != used.end();
    if (is_free) {
      parameters.push_back({key, std::max(range.low, kSmallest * value), range.high, value});
    } else {
      const double held = std::max(value, 1e-12);  // 0 has no logarithm; it is put back afterwards
      parameters.push_back({key, held, held, held});
    }
  }
  return parameters;
}

CoefficientTable with_values(const CoefficientTable& start, std::span<const double> values) {
  CoefficientTable table = start;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (table.values[i].second > 0.0) table.values[i].second = values[i];
  }
  return table;
}

std::vector<KernelSample> thinned(std::span<const KernelSample> samples, const KernelFitOptions& options) {
  if (options.most_rows == 0) return {samples.begin(), samples.end()};
  std::vector<KernelSample> kept;
  for (const Rows& rows : rows_by_id(gpus_of(samples))) {
    const RandomStream random(options.fit.seed, "calibration rows");
    const Rows order = random_order(rows.size(), random);
    for (std::size_t i = 0; i < std::min(rows.size(), options.most_rows); ++i)
      kept.push_back(samples[rows[order[i]]]);
  }
  return kept;
}

std::vector<Seconds> times_of(std::span<const KernelSample> samples) {
  std::vector<Seconds> times(samples.size());
  std::ranges::transform(samples, times.begin(), &KernelSample::time);
  return times;
}

std::vector<KernelSample> selected(std::span<const KernelSample> samples, std::span<const std::size_t> rows) {
  std::vector<KernelSample> some;
  for (const std::size_t row : rows)
    some.push_back(samples[row]);
  return some;
}

/// A default that nothing in the fit takes says nothing: what is known of a family that was never measured is
/// the mean of those that were.
void set_unseen_defaults(CoefficientTable& table, const std::vector<std::string>& used,
                         const std::vector<std::string>& hold) {
  for (const CoefficientKey& key : coefficient_keys(table.kernel_class)) {
    const std::string name = std::string(key.key) + "_default";
    const auto is_in = [&](const std::vector<std::string>& list) {
      return std::ranges::find(list, name) != list.end();
    };
    if (!key.differs || is_in(used) || is_in(hold)) continue;
    double log_sum = 0;
    int count = 0;
    for (const std::string& variant : used) {
      if (!variant.starts_with(std::string(key.key) + "_")) continue;
      log_sum += std::log(*table.find(variant));
      ++count;
    }
    for (auto& [each, value] : table.values) {
      if (each == name && count > 0) value = std::exp(log_sum / count);
    }
  }
}

/// \p start without the shares that only GPUs beyond \p samples would take: what is known of a family that was
/// never measured is the default.
CoefficientTable without_unseen(const CoefficientTable& start, std::span<const KernelSample> samples,
                                std::span<const GpuSpec> gpus) {
  const std::vector<CoefficientKey> known = coefficient_keys(start.kernel_class);
  const std::vector<std::string> used = keys_in_use(start, samples, gpus);
  CoefficientTable table = start;
  std::erase_if(table.values, [&](const auto& entry) {
    const bool is_variant = range_of(entry.first, known).differs && !entry.first.ends_with("_default");
    return is_variant && std::ranges::find(used, entry.first) == used.end();
  });
  return table;
}

std::vector<Seconds> predict_splits(std::span<const Split> splits, std::span<const KernelSample> samples,
                                    std::span<const GpuSpec> gpus, const CoefficientTable& start,
                                    const KernelFitOptions& options) {
  std::vector<Seconds> times(samples.size());
  for (const Split& split : splits) {
    const std::vector<Seconds> held_out =
        predict_from(selected(samples, split.fitted), selected(samples, split.held_out), gpus, start, options);
    for (std::size_t i = 0; i < held_out.size(); ++i)
      times[split.held_out[i]] = held_out[i];
  }
  return times;
}

}  // namespace

KernelFit fit_kernels(std::span<const KernelSample> samples, std::span<const GpuSpec> gpus,
                      const CoefficientTable& start, const KernelFitOptions& options) {
  const std::vector<KernelSample> rows = thinned(samples, options);
  const std::vector<Parameter> parameters = parameters_of(start, rows, gpus, options.hold);
  const std::vector<std::uint64_t> groups = gpus_of(rows);
  Trial trial(rows, gpus);
  const PredictTimes predict = [&](std::span<const double> values, std::span<Seconds> times) {
    trial.time(with_values(start, values), times);
  };
  const RobustFit found =
      robust_fit(parameters, times_of(rows), predict, options.fit, balanced_weights(groups));
  KernelFit fit;
  fit.table = with_values(start, found.parameters);
  for (std::size_t i = 0; i < found.bounds.size(); ++i) {
    if (found.bounds[i] != Bound::none) fit.at_bound.push_back(parameters[i].name);
  }
  fit.cost = found.cost;
  fit.rows = rows.size();
  fit.evaluations = found.evaluations;
  return fit;
}

std::vector<Seconds> predict_kernels(std::span<const KernelSample> samples, std::span<const GpuSpec> gpus,
                                     const CoefficientTable& table) {
  std::vector<Seconds> times(samples.size());
  Trial(samples, gpus).time(table, times);
  return times;
}

std::vector<Seconds> predict_from(std::span<const KernelSample> fitted, std::span<const KernelSample> asked,
                                  std::span<const GpuSpec> gpus, const CoefficientTable& start,
                                  const KernelFitOptions& options) {
  const CoefficientTable known = without_unseen(start, fitted, gpus);
  KernelFitOptions holding = options;
  std::erase_if(holding.hold, [&](const std::string& key) {
    return start.find(key) != nullptr && known.find(key) == nullptr;
  });
  KernelFit fit = fit_kernels(fitted, gpus, known, holding);
  set_unseen_defaults(fit.table, keys_in_use(fit.table, fitted, gpus), options.hold);
  return predict_kernels(asked, gpus, fit.table);
}

Scale fit_scale(std::span<const KernelSample> samples, std::span<const GpuSpec> gpus,
                const CoefficientTable& table) {
  constexpr int kHalvings = 40;
  const std::vector<CoefficientKey> keys = coefficient_keys(table.kernel_class);
  const auto range = std::ranges::find(keys, "scale", &CoefficientKey::key);
  std::vector<Seconds> factors;  // in place of times: scale_of wants the ratio to 1
  for (const KernelSample& sample : samples) {
    double low = range->low;
    double high = range->high;
    Trial trial({&sample, 1}, gpus);
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = std::sqrt(low * high);
      Seconds time;
      trial.time({table.kernel_class, {{"scale", middle}}}, {&time, 1});
      (time < sample.time ? low : high) = middle;
    }
    factors.push_back(Seconds{std::sqrt(low * high)});
  }
  return scale_of(factors, std::vector<Seconds>(factors.size(), Seconds{1.0}));
}

namespace {

/// FNV-1a, 64 bits.
class Hash {
 public:
  void add(std::int64_t word) {
    for (int byte = 0; byte < 8; ++byte)
      add_byte(static_cast<std::uint64_t>(word) >> (8 * byte));
  }
  void add(std::string_view text) {
    for (const char letter : text)
      add_byte(static_cast<unsigned char>(letter));
    add(static_cast<std::int64_t>(text.size()));
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(std::uint64_t byte) { value_ = (value_ ^ (byte & 0xFF)) * 1099511628211ULL; }

  std::uint64_t value_ = 14695981039346656037ULL;
};

/// Of its class in the table.
std::int64_t class_number(const Operator& op) {
  const OperatorClasses all = operator_classes();
  return std::ranges::find(all, &op.of_class()) - all.begin();
}

}  // namespace

std::uint64_t operator_key(const Operator& op) {
  Hash hash;
  hash.add(name_of(op));
  for (const ShapeField& field : op.of_class().fields(op))
    std::visit([&](const auto& value) { hash.add(value); }, field.value);
  return hash.value();
}

std::uint64_t shape_key(const Operator& op) {
  const OperatorClass& of = op.of_class();
  if (of.shape_numbers == nullptr) return operator_key(op);
  Hash hash;
  hash.add(class_number(op));
  for (const std::int64_t number : of.shape_numbers(op))
    hash.add(number);
  return hash.value();
}

std::vector<Seconds> predict_unseen_shapes(std::span<const KernelSample> samples, std::span<const GpuSpec> gpus,
                                           const CoefficientTable& start, std::size_t folds,
                                           const KernelFitOptions& options) {
  std::vector<std::uint64_t> keys(samples.size());
  std::ranges::transform(samples, keys.begin(),
                         [](const KernelSample& sample) { return shape_key(sample.op); });
  return predict_splits(folds_by_key(keys, folds, options.fit.seed), samples, gpus, start, options);
}

std::vector<Seconds> predict_unseen_gpus(std::span<const KernelSample> samples, std::span<const GpuSpec> gpus,
                                         const CoefficientTable& start, const KernelFitOptions& options) {
  return predict_splits(leave_one_group_out(gpus_of(samples)), samples, gpus, start, options);
}

}}  // namespace c3::gpu
