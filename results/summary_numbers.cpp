#include "results/summary_numbers.hpp"

#include <fmt/format.h>

namespace c3 {
namespace {

class Numbers {
 public:
  void time(std::string name, std::string long_name, Seconds time) {
    add(std::move(name), "us", std::move(long_name), time / 1.0_us);
  }
  void ratio(std::string name, std::string long_name, double ratio) {
    add(std::move(name), "1", std::move(long_name), ratio);
  }
  void add(std::string name, std::string units, std::string long_name, double value) {
    numbers_.push_back({std::move(name), std::move(units), std::move(long_name), value});
  }
  void add(std::vector<SummaryNumber> numbers) {
    for (SummaryNumber& number : numbers)
      numbers_.push_back(std::move(number));
  }
  std::vector<SummaryNumber> take() { return std::move(numbers_); }

 private:
  std::vector<SummaryNumber> numbers_;
};

void add_side(Numbers& numbers, const std::string& side, const std::optional<SideTimes>& times) {
  if (!times) return;
  numbers.time(side + "_alone", fmt::format("time of the {} isolated on the whole GPU", side), times->alone);
  numbers.time(side + "_together", fmt::format("release to completion of the {}", side), times->together);
}

void add_loss(Numbers& numbers, const LossSplit& loss) {
  numbers.time("loss_dispatch", "loss to waiting behind another kernel's work groups", loss.dispatch);
  numbers.time("loss_cus", "loss to CUs given to the other side, and to its clock", loss.cus);
  numbers.time("loss_cache", "loss to L2 and LLC pollution", loss.cache);
  numbers.time("loss_hbm", "loss to shared HBM bandwidth", loss.hbm);
  numbers.time("loss_links", "loss to shared interconnect", loss.links);
  numbers.time("loss_interaction", "loss that no private copy of one resource removes", loss.interaction);
}

void add_step(Numbers& numbers, const StepResult& step) {
  numbers.add("tokens_per_second", "1/s", "tokens of all GPUs", step.tokens_per_second);
  numbers.add("tokens_per_second_per_gpu", "1/s", "tokens of one GPU", step.tokens_per_second_per_gpu());
  numbers.ratio("mfu", "model flops over time and peak", step.mfu);
  numbers.ratio("hfu", "hardware flops over time and peak", step.hfu);
  numbers.time("kernels", "in which a kernel ran on GPU 0", step.times.kernels);
  numbers.time("communication", "in which a collective was in flight on GPU 0", step.times.communication);
  numbers.time("exposed", "of that, in which no kernel ran", step.times.exposed);
  numbers.time("idle", "in which there was neither", step.times.idle);
  numbers.add(memory_numbers(step.facts));
}

}  // namespace

std::vector<SummaryNumber> memory_numbers(const StepFacts& facts) {
  Numbers numbers;
  numbers.add("memory_peak", "B", "most that all tensors of a GPU take together", facts.memory.bytes.value);
  numbers.add("memory_reserved", "B", "what the allocator has taken by the end", facts.memory.reserved.value);
  numbers.add("memory_limit", "B", "HBM less what the framework itself takes", facts.memory_size.value);
  return numbers.take();
}

std::vector<SummaryNumber> summary_numbers(const StrategyResult& result) {
  Numbers numbers;
  numbers.time("time", "median time over seeds and draws", result.time);
  numbers.time("time_p5", "5th percentile of time", result.time_p5);
  numbers.time("time_p95", "95th percentile of time", result.time_p95);
  numbers.time("lower_bound", "what physics leaves at least", result.lower_bound);
  numbers.ratio("speedup", "serial time over time", result.speedup);
  numbers.ratio("ideal_speedup", "sum over maximum of the two sides alone", result.ideal_speedup);
  if (result.share_of_ideal)
    numbers.ratio("share_of_ideal", "(speedup - 1) / (ideal_speedup - 1)", *result.share_of_ideal);
  add_side(numbers, "kernel", result.kernel);
  add_side(numbers, "collective", result.collective);
  for (const StreamTimes& stream : result.streams)
    add_side(numbers, "stream." + stream.name, stream.times);
  if (result.loss) add_loss(numbers, *result.loss);
  if (result.best_cus) numbers.ratio("best_cus", "CUs of the best partition that was tried", *result.best_cus);
  if (result.step) add_step(numbers, *result.step);
  return numbers.take();
}

}  // namespace c3
