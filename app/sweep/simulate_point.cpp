#include "app/sweep/simulate_point.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>
#include <vector>

#include "app/sweep/table_placement.hpp"
#include "configs/toml/config_error.hpp"
#include "engine/errors.hpp"
#include "workloads/analysis/out_of_memory.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace app {
namespace {

/// A point that does not fit: its memory, which is alike in all strategies.
PointResult result_of(const OutOfMemory& verdict, const std::vector<Strategy>& strategies) {
  PointResult result{
      .status = PointStatus::out_of_memory,
      .error = fmt::format("needs {:.1f} GB of {:.1f} GB, at '{}'", verdict.step.memory.held.value / 1e9,
                           verdict.step.memory_size.value / 1e9, verdict.step.memory.moment),
      .numbers = {}};
  for (const Strategy& strategy : strategies) {
    for (SummaryNumber& number : memory_numbers(verdict.step))
      result.numbers.push_back(point_number(strategy.name, std::move(number)));
  }
  return result;
}

PointResult result_of(const StudyResult& study) {
  PointResult result{.error = {}, .numbers = {}};
  for (const StrategyResult& strategy : study.strategies) {
    for (SummaryNumber& number : all_numbers(strategy))
      result.numbers.push_back(point_number(strategy.name, std::move(number)));
  }
  return result;
}

}  // namespace

PointResult failed_point(std::string error) {
  return {.status = PointStatus::failed, .error = std::move(error), .numbers = {}};
}

PointResult simulate_point(const ExperimentFile& written) {
  try {
    const ExperimentFile file = with_placed_tables(written).file;
    const Experiment nominal = file.nominal();
    const auto make = [&](std::optional<std::uint64_t> draw) { return draw ? file.make(draw) : nominal; };
    if (const auto verdict = out_of_memory(make)) return result_of(*verdict, nominal.strategies);
    return result_of(run_study(make));
  } catch (const ConfigError& error) {
    return failed_point(error.what());
  } catch (const InfeasibleError& error) {
    return failed_point(error.what());
  } catch (const InterruptedError&) {
    throw;  // says nothing of the point
  } catch (const std::exception& error) {
    return failed_point(fmt::format("internal error: {}", error.what()));
  }
}

}}  // namespace c3::app
