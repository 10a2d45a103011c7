#include "results/step_tables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "files/io_error.hpp"
#include "results/picoseconds.hpp"
#include "results/summary_numbers.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr const char* kStep = "step";
constexpr const char* kClasses = "step_classes";
constexpr const char* kFlops = "step_flops";
constexpr const char* kExposed = "step_exposed";
constexpr const char* kMemory = "memory";

std::string column_of(MemoryClass memory_class) { return fmt::format("memory_{}", name_of(memory_class)); }

void write_classes(const H5Id& strategy, const std::vector<ClassTime>& classes, NameTable& names) {
  const H5Id group = h5_create_group(strategy, kClasses);
  Column<NameIndex> name(group, {"name", "1", "operators of one kind, or a collective"});
  Column<std::int64_t> time(group, {"time", "ps", "from release to end, added up over operations"});
  Column<double> count(group, {"count", "1", "operations; of an extrapolated step not always a whole number"});
  for (const ClassTime& class_time : classes) {
    name.push(names.index(class_time.name));
    time.push(picoseconds(class_time.time));
    count.push(class_time.count);
  }
  name.flush();
  time.flush();
  count.flush();
}

void write_flops(const H5Id& strategy, const std::vector<TypedFlops>& flops, NameTable& names) {
  const H5Id group = h5_create_group(strategy, kFlops);
  Column<NameIndex> dtype(group, {"dtype", "1", "of the operands of matrix products and attention"});
  Column<double> peak(group, {"peak", "flop/s", "of one GPU for such products"});
  Column<double> model(group, {"model", "flop", "of one GPU, of model_flops those of this type"});
  Column<double> hardware(group, {"hardware", "flop", "of one GPU, of hardware_flops those of this type"});
  for (const TypedFlops& type_flops : flops) {
    dtype.push(names.index(type_flops.dtype ? name_of(*type_flops.dtype) : std::string_view()));
    peak.push(type_flops.peak.value);
    model.push(type_flops.model.value);
    hardware.push(type_flops.hardware.value);
  }
  dtype.flush();
  peak.flush();
  model.flush();
  hardware.flush();
}

std::vector<TypedFlops> read_flops(const ResultReader& file, const std::string& strategy,
                                   const ResultTable& step) {
  if (!file.has_table(strategy, kFlops))  // an older file
    return {{.peak = FlopsPerSecond{step.values<double>("peak").at(0)},
             .model = Flops{step.values<double>("model_flops").at(0)},
             .hardware = Flops{step.values<double>("hardware_flops").at(0)}}};
  const ResultTable table = file.table(strategy, kFlops);
  std::vector<TypedFlops> flops;
  for (std::size_t i = 0; i < table.rows(); ++i)
    flops.push_back({.dtype = value_named<DType>(table.values<std::string>("dtype")[i]),
                     .peak = FlopsPerSecond{table.values<double>("peak")[i]},
                     .model = Flops{table.values<double>("model")[i]},
                     .hardware = Flops{table.values<double>("hardware")[i]}});
  return flops;
}

void write_exposed(const H5Id& strategy, const std::vector<ExposedTime>& exposed, NameTable& names) {
  const H5Id group = h5_create_group(strategy, kExposed);
  Column<NameIndex> kind(group, {"kind", "1", "parallelism that communication serves, or its stream"});
  Column<std::int64_t> time(group, {"time", "ps", "in which it is in flight and no kernel runs"});
  Column<std::int64_t> waiting(group, {"waiting", "ps", "of that, for members that have not come"});
  for (const ExposedTime& exposed_time : exposed) {
    kind.push(names.index(exposed_time.kind));
    time.push(picoseconds(exposed_time.time));
    waiting.push(picoseconds(exposed_time.waiting));
  }
  kind.flush();
  time.flush();
  waiting.flush();
}

void read_exposed(const ResultReader& file, const std::string& strategy, StepBreakdown& times) {
  if (!file.has_table(strategy, kExposed)) return;  // an older file
  const ResultTable table = file.table(strategy, kExposed);
  for (std::size_t i = 0; i < table.rows(); ++i)
    times.exposed_by.push_back({table.values<std::string>("kind")[i],
                                seconds(table.values<std::int64_t>("time")[i]),
                                seconds(table.values<std::int64_t>("waiting")[i])});
}

void write_tenants(const H5Id& strategy, const std::vector<MemoryTenant>& tenants, NameTable& names) {
  const H5Id group = h5_create_group(strategy, kMemory);
  Column<NameIndex> name(group, {"name", "1", "all tensors alike"});
  Column<NameIndex> memory_class(group, {"class", "1", "what they are"});
  Column<double> bytes(group, {"bytes", "B", "that they take at the peak"});
  for (const MemoryTenant& tenant : tenants) {
    name.push(names.index(tenant.name));
    memory_class.push(names.index(name_of(tenant.memory_class)));
    bytes.push(tenant.bytes.value);
  }
  name.flush();
  memory_class.flush();
  bytes.flush();
}

Bytes bytes_of(const ResultTable& step, const std::string& column) {
  return Bytes{step.values<double>(column).at(0)};
}

MemoryClass memory_class(const ResultReader& file, const std::string& name) {
  const auto found = std::ranges::find(kMemoryClasses, name, [](MemoryClass known) { return name_of(known); });
  if (found == kMemoryClasses.end())
    throw IoError(file.path(), "read", "memory class '" + name + "' is unknown");
  return *found;
}

std::vector<MemoryTenant> read_tenants(const ResultReader& file, const std::string& strategy) {
  const ResultTable table = file.table(strategy, kMemory);
  const auto& names = table.values<std::string>("name");
  const auto& classes = table.values<std::string>("class");
  const auto& bytes = table.values<double>("bytes");
  std::vector<MemoryTenant> tenants;
  for (std::size_t i = 0; i < table.rows(); ++i)
    tenants.push_back({names[i], memory_class(file, classes[i]), Bytes{bytes[i]}});
  return tenants;
}

MemoryPeak read_peak(const ResultTable& step) {
  MemoryPeak peak{.bytes = bytes_of(step, "memory_peak"),
                  .held = bytes_of(step, step.has("memory_needed") ? "memory_needed" : "memory_peak"),
                  .reserved = bytes_of(step, "memory_reserved"),
                  .moment = step.values<std::string>("memory_moment").at(0)};
  for (std::size_t i = 0; i < kMemoryClasses.size(); ++i)
    peak.by_class.at(i) = bytes_of(step, column_of(kMemoryClasses.at(i)));
  return peak;
}

StepFacts read_facts(const ResultReader& file, const std::string& strategy, const ResultTable& step) {
  return {.tokens = step.values<std::int64_t>("tokens").at(0),
          .flops = read_flops(file, strategy, step),
          .peak = FlopsPerSecond{step.values<double>("peak").at(0)},
          .memory = read_peak(step),
          .memory_size = bytes_of(step, "memory_limit")};
}

StepBreakdown read_times(const ResultReader& file, const std::string& strategy, const ResultTable& step) {
  const auto time = [&](const char* column) { return seconds(step.values<std::int64_t>(column).at(0)); };
  StepBreakdown times{.kernels = time("kernels"),
                      .communication = time("communication"),
                      .exposed = time("exposed"),
                      .idle = time("idle")};
  const ResultTable table = file.table(strategy, kClasses);
  const auto& names = table.values<std::string>("name");
  const auto& lengths = table.values<std::int64_t>("time");
  const auto& counts = table.values<double>("count");
  for (std::size_t i = 0; i < table.rows(); ++i)
    times.classes.push_back({names[i], seconds(lengths[i]), counts[i]});
  read_exposed(file, strategy, times);
  return times;
}

}  // namespace

void write_step(const H5Id& strategy, const StrategyResult& result, Seconds recorded, NameTable& names) {
  const StepResult& step = result.step.value();
  const H5Id group = h5_create_group(strategy, kStep);
  if (result.throughput) write_numbers(group, throughput_numbers(*result.throughput));
  write_numbers(group, step_numbers(step));
  write_one(group, {"memory_moment", "1", "range of the timeline in which the peak is"},
            names.index(step.facts.memory.moment));
  if (step.facts.pipeline)
    write_one(group, {"schedule", "1", "of the pipeline"}, names.index(step.facts.pipeline->schedule));
  write_one(group,
            {"recorded_time", "ps", "of the run in the timeline, maybe of fewer layers and micro-batches"},
            picoseconds(recorded));
  write_one<std::int32_t>(
      group, {"is_shortened", "1", "1: the timeline has fewer layers or micro-batches than the step"},
      step.is_shortened ? 1 : 0);
  write_classes(strategy, step.times.classes, names);
  write_flops(strategy, step.facts.flops, names);
  write_exposed(strategy, step.times.exposed_by, names);
  write_tenants(strategy, step.facts.memory.tenants, names);
}

std::optional<StepResult> read_step(const ResultReader& file, const std::string& strategy) {
  if (!file.has_table(strategy, kStep)) return std::nullopt;
  const ResultTable table = file.table(strategy, kStep);
  StepResult step{.facts = read_facts(file, strategy, table),
                  .is_shortened = table.values<std::int64_t>("is_shortened").at(0) != 0,
                  .times = read_times(file, strategy, table),
                  .mfu = table.values<double>("mfu").at(0),
                  .hfu = table.values<double>("hfu").at(0)};
  step.facts.memory.tenants = read_tenants(file, strategy);
  if (table.has("bubble")) {
    step.bubble = seconds(table.values<std::int64_t>("bubble").at(0));
    step.facts.pipeline = PipelineFacts{.stages = static_cast<int>(table.values<std::int64_t>("stages").at(0)),
                                        .schedule = table.values<std::string>("schedule").at(0),
                                        .bubble_share = table.values<double>("schedule_bubble").at(0)};
  }
  return step;
}

std::optional<Throughput> read_throughput(const ResultReader& file, const std::string& strategy) {
  const ResultTable table = file.table(strategy, file.has_table(strategy, kStep) ? kStep : "summary");
  for (const StepItem item : kStepItems) {
    if (!table.has(per_second_name(item))) continue;
    return Throughput{.of_step = {item, table.values<std::int64_t>(std::string(name_of(item))).at(0)},
                      .per_second = table.values<double>(per_second_name(item)).at(0),
                      .gpus = static_cast<int>(file.number("ranks"))};
  }
  return std::nullopt;
}

std::int64_t recorded_picoseconds(const ResultReader& file, const std::string& strategy) {
  const bool has_step = file.has_table(strategy, kStep);
  const ResultTable table = file.table(strategy, has_step ? kStep : "summary");
  return table.values<std::int64_t>(has_step ? "recorded_time" : "time").at(0);
}

}}  // namespace c3::results
