#include "results/summary_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "results/hdf5_column.hpp"
#include "results/picoseconds.hpp"

namespace c3 { inline namespace results {
namespace {

using Numbers = std::vector<SummaryNumber>;

SummaryNumber time_of(std::string name, std::string long_name, Seconds time) {
  return {std::move(name), "", std::move(long_name), time};
}

SummaryNumber ratio_of(std::string name, std::string long_name, double ratio) {
  return {std::move(name), "1", std::move(long_name), ratio};
}

void append(Numbers& numbers, Numbers more) { std::ranges::move(more, std::back_inserter(numbers)); }

Numbers side_numbers(const std::string& side, const SideTimes& times) {
  return {time_of(side + "_alone",
                  fmt::format("time of the {} by itself, under this strategy's settings", side), times.alone),
          time_of(side + "_together", fmt::format("release to completion of the {} in this strategy", side),
                  times.together)};
}

Numbers loss_numbers(const LossSplit& loss) {
  return {time_of("loss_dispatch", "loss to waiting behind another kernel's work groups", loss.dispatch),
          time_of("loss_cus", "loss to CUs given to the other side, and to its clock", loss.cus),
          time_of("loss_cache", "loss to L2 and LLC pollution", loss.cache),
          time_of("loss_hbm", "loss to shared HBM bandwidth", loss.hbm),
          time_of("loss_links", "loss to shared interconnect", loss.links),
          time_of("loss_interaction", "loss that no private copy of one resource removes", loss.interaction),
          time_of("loss_total", "time beyond the longer side alone: the sum of all losses", loss.total())};
}

Numbers clock_numbers(const std::string& prefix, std::string_view run, const RunClock& clock) {
  Numbers numbers = {
      ratio_of(prefix + "clock_speed", fmt::format("mean core clock of {} over boost", run), clock.speed),
      {prefix + "power", "W", fmt::format("mean power of the board in {}, derived", run), clock.mean.value},
      {prefix + "highest_power", "W",
       fmt::format("the most over the governor's averaging or over all of {}", run), clock.highest.value}};
  if (clock.energy)
    numbers.push_back(
        {prefix + "energy", "J", fmt::format("energy of all boards in {}, derived", run), clock.energy->value});
  return numbers;
}

}  // namespace

double SummaryNumber::number() const {
  if (const auto* time = std::get_if<Seconds>(&value)) return *time / 1.0_us;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::get<double>(value);
}

std::vector<SummaryNumber> strategy_numbers(const StrategyResult& result) {
  Numbers numbers = {time_of("time", "median time over seeds and draws", result.time)};
  if (result.spread) {
    append(numbers, {time_of("time_p5", "5th percentile of time over seeds and draws", result.spread->p5),
                     time_of("time_p95", "95th percentile of time over seeds and draws", result.spread->p95)});
  }
  if (const std::optional<Estimate>& estimate = result.estimate) {
    append(numbers,
           {time_of("estimate_low", "least that time may be, which was not simulated whole", estimate->low),
            time_of("estimate_high", "most that it may be", estimate->high),
            ratio_of("estimate_simulated", "share of time, kernels and ranks that was simulated",
                     estimate->simulated)});
    if (estimate->bound) {
      numbers.push_back(
          ratio_of("estimate_bound", "how far time is off at most, at 95 % confidence", *estimate->bound));
    }
  }
  numbers.push_back(time_of("lower_bound", "what physics leaves at least", result.lower_bound));
  if (result.speedup) numbers.push_back(ratio_of("speedup", "serial time over time", *result.speedup));
  if (result.ideal_speedup) {
    numbers.push_back(
        ratio_of("ideal_speedup", "sum over maximum of the two sides alone", *result.ideal_speedup));
  }
  if (result.share_of_ideal) {
    numbers.push_back(
        ratio_of("share_of_ideal", "(speedup - 1) / (ideal_speedup - 1)", *result.share_of_ideal));
  }
  if (result.kernel) append(numbers, side_numbers("kernel", *result.kernel));
  if (result.collective) append(numbers, side_numbers("collective", *result.collective));
  if (result.loss) append(numbers, loss_numbers(*result.loss));
  if (result.clock) append(numbers, clock_numbers("", "the run", *result.clock));
  if (result.kernel_clock)
    append(numbers, clock_numbers("kernel_alone_", "the kernels alone", *result.kernel_clock));
  if (result.best_cus) {
    numbers.push_back(
        {"best_cus", "1", "CUs of the best partition that was tried", std::int64_t{*result.best_cus}});
  }
  return numbers;
}

std::vector<SummaryNumber> memory_numbers(const StepFacts& facts) {
  const MemoryPeak& peak = facts.memory;
  Numbers numbers = {
      {"memory_peak", "B", "most that all tensors of a GPU take together", peak.bytes.value},
      {"memory_needed", "B", "most that the allocator cannot free: pages with a tensor on them",
       peak.held.value},
      {"memory_reserved", "B", "what the allocator takes for them where there is room", peak.reserved.value},
      {"memory_limit", "B", "HBM less what the framework itself takes", facts.memory_size.value}};
  for (const MemoryClass memory_class : kMemoryClasses) {
    numbers.push_back({fmt::format("memory_{}", name_of(memory_class)), "B",
                       fmt::format("of that peak, {}", name_of(memory_class)), peak.of(memory_class).value});
  }
  return numbers;
}

std::string per_second_name(StepItem item) { return fmt::format("{}_per_second", name_of(item)); }

std::vector<SummaryNumber> throughput_numbers(const Throughput& throughput) {
  const StepItems& items = throughput.of_step;
  const std::string rate = per_second_name(items.item);
  return {{std::string(name_of(items.item)), "1", fmt::format("{} of a step, of all GPUs", name_of(items.item)),
           std::int64_t{items.count}},
          {rate, "1/s", "of all GPUs", throughput.per_second},
          {rate + "_per_gpu", "1/s", "of one GPU", throughput.per_second_per_gpu()}};
}

std::vector<SummaryNumber> step_numbers(const StepResult& step) {
  const StepFacts& facts = step.facts;
  const StepBreakdown& times = step.times;
  Numbers numbers = {
      ratio_of("mfu", "time of model_flops at the peaks of their types (step_flops), over time", step.mfu),
      ratio_of("hfu", "time of hardware_flops at the peaks of their types, over time", step.hfu),
      {"model_flops", "flop",
       "of one GPU: three times the products and attention of the forward pass, twice those of frozen weights",
       facts.model_flops().value},
      {"hardware_flops", "flop", "of one GPU: of all products and attention that it computes",
       facts.hardware_flops().value},
      {"peak", "flop/s", "of one GPU in the type in which layers compute", facts.peak.value},
      time_of("kernels", "in which a kernel ran on GPU 0", times.kernels),
      time_of("communication", "in which a collective was in flight on GPU 0", times.communication),
      time_of("exposed", "of that, in which no kernel ran", times.exposed),
      time_of("idle", "in which there was neither", times.idle)};
  if (step.bubble && facts.pipeline) {
    append(
        numbers,
        {{"stages", "1", "of the pipeline", std::int64_t{facts.pipeline->stages}},
         time_of("bubble",
                 "in which a GPU has neither a kernel nor a collective but messages, averaged over GPUs",
                 *step.bubble),
         ratio_of("schedule_bubble", "bubble of the schedule alone, over time", facts.pipeline->bubble_share)});
  }
  append(numbers, memory_numbers(facts));
  return numbers;
}

namespace {

/// "exposed_tensor_parallel", "waiting_tensor_parallel".
Numbers exposed_numbers(const std::vector<ExposedTime>& exposed) {
  Numbers numbers;
  for (const ExposedTime& exposed_time : exposed) {
    std::string kind = exposed_time.kind;
    std::ranges::replace(kind, ' ', '_');
    append(numbers,
           {time_of("exposed_" + kind, fmt::format("of exposed, {}", exposed_time.kind), exposed_time.time),
            time_of("waiting_" + kind, "of that, for members that have not come", exposed_time.waiting)});
  }
  return numbers;
}

}  // namespace

std::vector<SummaryNumber> all_numbers(const StrategyResult& result) {
  Numbers numbers = strategy_numbers(result);
  for (const StreamTimes& stream : result.streams)
    append(numbers, side_numbers("stream." + stream.name, stream.times));
  if (result.throughput) append(numbers, throughput_numbers(*result.throughput));
  if (result.step) {
    append(numbers, step_numbers(*result.step));
    append(numbers, exposed_numbers(result.step->times.exposed_by));
  }
  return numbers;
}

void write_numbers(const H5Id& group, const std::vector<SummaryNumber>& numbers) {
  for (const SummaryNumber& number : numbers) {
    if (const auto* time = std::get_if<Seconds>(&number.value)) {
      write_one(group, {number.name, "ps", number.long_name}, picoseconds(*time));
    } else if (const auto* whole = std::get_if<std::int64_t>(&number.value)) {
      write_one(group, {number.name, number.units, number.long_name}, *whole);
    } else {
      write_one(group, {number.name, number.units, number.long_name}, std::get<double>(number.value));
    }
  }
}

}}  // namespace c3::results
