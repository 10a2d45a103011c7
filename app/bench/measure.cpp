#include "app/bench/measure.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "app/bench/fluid_run.hpp"
#include "app/bench/in_child.hpp"
#include "app/bench/native_run.hpp"
#include "base/statistics.hpp"
#include "files/sha256.hpp"

namespace c3::bench {
namespace {

/// What children report: plain bytes for a pipe.
struct FluidReport {
  double here = 0.0;   ///< events/s
  double limit = 0.0;  ///< events/s
  std::uint64_t peak_rss = 0;
  std::array<char, 64> sha256{};
};

/// Rates of repeated runs, and proof that they are the same run.
class Repeats {
 public:
  void add(const Run& run) {
    rates_.push_back(static_cast<double>(run.dates.size()) / run.cpu_seconds);
    const auto* bytes = reinterpret_cast<const char*>(run.dates.data());
    const std::string sha256 = sha256_hex({bytes, run.dates.size() * sizeof(double)});
    if (!sha256_.empty() && sha256 != sha256_)
      throw std::logic_error("two runs of one benchmark differ in their dates");
    sha256_ = sha256;
  }
  double rate() { return upper_median(rates_); }
  const std::string& sha256() const { return sha256_; }

 private:
  std::vector<double> rates_;
  std::string sha256_;
};

FluidReport repeat_fluid(const Load& load, int repeats) {
  Repeats here, limit;
  for (int i = 0; i < repeats; ++i) {
    here.add(run_here(load));
    limit.add(run_without_simgrid(load));
  }
  if (here.sha256() != limit.sha256()) throw std::logic_error("dates differ with and without SimGrid's loop");
  FluidReport report{.here = here.rate(), .limit = limit.rate(), .peak_rss = peak_rss()};
  std::ranges::copy(here.sha256(), report.sha256.begin());
  return report;
}

// Its dates are not compared: they count from SimGrid's clock, which goes on from repeat to repeat.
double repeat_native(const Load& load, int repeats) {
  const std::unique_ptr<NativeRuns> native = native_runs(load);
  std::vector<double> rates;
  for (int i = 0; i < repeats; ++i) {
    const Run run = native->run();
    rates.push_back(static_cast<double>(run.dates.size()) / run.cpu_seconds);
  }
  return upper_median(rates);
}

}  // namespace

Measurement measure(const Load& load, int repeats) {
  const auto fluid = report_of_child<FluidReport>([&] { return repeat_fluid(load, repeats); });
  const auto native = report_of_child<double>([&] { return repeat_native(load, repeats); });
  return {.events_per_s = fluid.here,
          .limit_events_per_s = fluid.limit,
          .native_events_per_s = native,
          .peak_rss_bytes = fluid.peak_rss,
          .dates_sha256 = std::string(fluid.sha256.data(), fluid.sha256.size())};
}

}  // namespace c3::bench
