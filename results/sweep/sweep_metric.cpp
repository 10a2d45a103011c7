#include "results/sweep/sweep_metric.hpp"

#include <algorithm>
#include <array>

namespace c3 { inline namespace results {
namespace {

constexpr std::array kMetrics{SweepMetric{"time", Better::less},
                              SweepMetric{"time_p5", Better::less},
                              SweepMetric{"time_p95", Better::less},
                              SweepMetric{"speedup", Better::more},
                              SweepMetric{"share_of_ideal", Better::more, true},
                              SweepMetric{"_together", Better::less},
                              SweepMetric{"loss_dispatch", Better::less},
                              SweepMetric{"loss_cus", Better::less},
                              SweepMetric{"loss_cache", Better::less},
                              SweepMetric{"loss_hbm", Better::less},
                              SweepMetric{"loss_links", Better::less},
                              SweepMetric{"loss_interaction", Better::less},
                              SweepMetric{"loss_total", Better::less},
                              SweepMetric{"_per_second", Better::more},
                              SweepMetric{"_per_second_per_gpu", Better::more},
                              SweepMetric{"mfu", Better::more, true},
                              SweepMetric{"hfu", Better::neither, true},  // recomputation raises it, too
                              SweepMetric{"communication", Better::less},
                              SweepMetric{"exposed", Better::less},
                              SweepMetric{"idle", Better::less},
                              SweepMetric{"memory_peak", Better::less},
                              SweepMetric{"memory_needed", Better::less},
                              SweepMetric{"memory_reserved", Better::less}};
constexpr SweepMetric kOther{"", Better::neither};

}  // namespace

const SweepMetric& sweep_metric(std::string_view metric) {
  const std::string_view number = metric.substr(metric.rfind('.') + 1);
  const auto is_it = [&](const SweepMetric& known) {
    return known.number == number || (known.number.starts_with('_') && number.ends_with(known.number));
  };
  const auto found = std::ranges::find_if(kMetrics, is_it);
  return found == kMetrics.end() ? kOther : *found;
}

}}  // namespace c3::results
