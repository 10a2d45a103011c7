#include "workloads/execute/run_estimates.hpp"
#include "base/percent.hpp"

#include <fmt/format.h>

#include <string>

namespace c3 { inline namespace workloads {
namespace {

/// Share of the time by which steps that were folded by the mean differed from exact ones (0.3 % in
/// tests/contract), rounded up: at the edge of a class the latency of a step shows more or less.
constexpr double kOfEdges = 0.005;
/// The same of steps whose kernels were flows, from those of cohorts (docs/decisions/workloads.md).
constexpr double kOfFlows = 0.01;

std::string with_loads(const std::string& method, const std::optional<Estimate>& of_loads) {
  return method + (of_loads ? ", " + of_loads->method : std::string());
}

std::string classes_note(const RunResult& result, int ranks) {
  const std::size_t classes = result.classes.size();
  const std::string which = classes == 1 ? fmt::format("{} alike", ranks)
                                         : fmt::format("each of {} classes of the {} ranks", classes, ranks);
  std::string note = fmt::format("one rank is simulated for {}, with {} flows", which, result.flows);
  if (result.inequity > 0.0)
    note += fmt::format(
        "; loads that differ by up to {:.0f} % within them are averaged, so that times are estimates",
        kPercent * result.inequity);
  return note;
}

/// What replayed kernels are of \p result, whose simulated ranks ran them.
class Replayed {
 public:
  Replayed(const KernelReplay::Summary& replays, const RunResult& result)
      : replays_(replays), whole_(result.time * static_cast<double>(result.classes.size())) {}

  double simulated() const { return 1.0 - replays_.replayed_time / replays_.time; }  ///< share of kernels' time
  double bound(double error) const { return error + replays_.surprised_time / whole_; }
  std::string note() const {
    std::string note = fmt::format(
        "stem: {} of {} kernels were simulated, {:.3g} % of their time, and the rest replayed; expected error "
        "{:.2g} %",
        replays_.simulated, replays_.simulated + replays_.replayed, kPercent * simulated(),
        kPercent * (replays_.expected_error / whole_));
    if (replays_.surprised > 0)
      note += fmt::format("; what ran beside {} replayed kernels became another, {:.2g} % of the time",
                          replays_.surprised, kPercent * (replays_.surprised_time / whole_));
    return note;
  }

 private:
  const KernelReplay::Summary& replays_;
  Seconds whole_;
};

}  // namespace

void add_averaged_loads(RunResult& result, double spread, const AveragedLoads& averaged, int ranks) {
  constexpr double kRounding = 1e-9;
  if (spread > kRounding) {
    result.inequity = spread;
    const Seconds of_edges = kOfEdges * result.time;
    result.averaged = {averaged.longer + of_edges, averaged.shorter + of_edges};
    result.estimate = Estimate{.low = result.time - result.averaged.shorter,
                               .high = result.time + result.averaged.longer,
                               .method = "mean loads of classes of ranks",
                               .simulated = static_cast<double>(result.classes.size()) / ranks};
  }
  result.notes.push_back(classes_note(result, ranks));
}

void add_corrected_flows(RunResult& result) {
  const Seconds off = kOfFlows * result.time;
  result.averaged = {result.averaged.longer + off, result.averaged.shorter + off};
  const std::optional<Estimate> of_loads = result.estimate;
  result.estimate = Estimate{.low = result.time - result.averaged.shorter,
                             .high = result.time + result.averaged.longer,
                             .method = with_loads("kernels as flows", of_loads),
                             .simulated = of_loads ? of_loads->simulated : 1.0};
}

void add_replays(RunResult& result, const KernelReplay::Summary& replays, double error) {
  if (replays.replayed == 0) return;
  const std::optional<Estimate> of_loads = result.estimate;
  const Replayed replayed(replays, result);
  const double bound = replayed.bound(error);
  Estimate estimate{.low = (result.time - result.averaged.shorter) / (1.0 + bound),
                    .high = (result.time + result.averaged.longer) / (1.0 - bound),
                    .method = with_loads("stem", of_loads),
                    .simulated = replayed.simulated() * (of_loads ? of_loads->simulated : 1.0)};
  if (!of_loads) estimate.bound = bound;
  result.estimate = std::move(estimate);
  result.notes.push_back(replayed.note());
}

}}  // namespace c3::workloads
