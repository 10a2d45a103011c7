// What is written and printed of a training step, by hand.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/json.hpp"
#include "results/picoseconds.hpp"
#include "results/report/timeline.hpp"
#include "results/step_cells.hpp"
#include "results/step_tables.hpp"
#include "results/study_json.hpp"
#include "results/study_reader.hpp"
#include "results/summary_numbers.hpp"
#include "results/table.hpp"
#include "results/throughput_cells.hpp"
#include "results/timeline_writer.hpp"
#include "tests/support/near.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/text_lines.hpp"

namespace c3::results_step_test { namespace {

using test::lines;

constexpr std::size_t kWidth = 110;

std::string line_of(const std::string& text, const std::string& begin) {
  const auto all = lines(text);
  const auto found = std::ranges::find_if(all, [&](const auto& line) { return line.starts_with(begin); });
  return found == all.end() ? "" : *found;
}

StepFacts facts() {
  return {.tokens = 131072,
          .flops = {{DType::bf16, 989.4_TFLOPs, Flops{4e14}, Flops{5e14}}},
          .peak = 989.4_TFLOPs,
          .memory = {.bytes = 60.0_GB,
                     .held = 64.0_GB,
                     .reserved = 70.0_GB,
                     .by_class = {10.0_GB, 5.0_GB, 20.0_GB, 25.0_GB, Bytes{}},
                     .moment = "backward, layer 1",
                     .tenants = {{"moments", MemoryClass::optimizer, 20.0_GB},
                                 {"mlp.gate_up", MemoryClass::activations, 16.0_GB},
                                 {"shards", MemoryClass::weights, 10.0_GB},
                                 {"attn.qkv", MemoryClass::activations, 9.0_GB},
                                 {"of layers", MemoryClass::gradients, 4.0_GB},
                                 {"root", MemoryClass::gradients, 1.0_GB}}},
          .memory_size = 80.0_GB};
}

/// A step of 1 s on 8 GPUs: 0.9 s of kernels, 0.4 s of collectives, of which 0.1 s exposed.
StepResult step() {
  return {.facts = facts(),
          .times = {.kernels = 0.88_s,
                    .communication = 0.4_s,
                    .exposed = 0.1_s,
                    .idle = 20.0_ms,
                    .classes = {{"gemm", 0.8_s, 12},
                                {"norm", 80.0_ms, 6.5},
                                {"embedding", 1.0_us, 1},
                                {"all_gather", 0.4_s, 4}}},
          .mfu = 0.404,
          .hfu = 0.505};
}

StrategyResult strategy(const std::string& name, std::optional<StepResult> step_of = step()) {
  StrategyResult result;
  result.name = name;
  result.time = 1.0_s;
  result.notes = {"steady state from 7 of 32 layers", "a second note"};
  result.step = std::move(step_of);
  if (result.step) result.throughput = {{StepItem::tokens, result.step->facts.tokens}, 131072, 8};
  return result;
}

StudyResult study(std::vector<StrategyResult> strategies) {
  return {
      .experiment = "hand", .conditions = {.system = "node", .seeds = 1}, .strategies = std::move(strategies)};
}

TEST_CASE("a step's table has rates of all GPUs and of one, and the share of communication that is hidden") {
  const std::string table = format_study(study({strategy("fsdp")}));
  CHECK(line_of(table, "step") ==
        "step   time  tokens/s  per GPU    MFU    HFU  comm.  exposed  hidden   idle");
  CHECK(lines(table.substr(table.find("\nstep") + 1)).at(2) ==
        "fsdp  1.000    131072    16384  40.4%  50.5%  0.400    0.100   75.0%  0.020");
  CHECK(table.find("peak 989.4 TFLOP/s") != std::string::npos);
}

TEST_CASE(
    "products of several types count each at its own peak, and the note gives the factor to one peak alone") {
  // 4e14 flop at 1e15 and 8e14 at 2e15 flop/s: 0.8 s at peak; all at 1e15 would be 1.2 s.
  StepResult mixed = step();
  mixed.facts.peak = 1000.0_TFLOPs;
  mixed.facts.flops = {{DType::bf16, 1000.0_TFLOPs, Flops{4e14}, Flops{4e14}},
                       {DType::fp8, 2000.0_TFLOPs, Flops{8e14}, Flops{1e15}}};
  CHECK(mixed.facts.model_flops() == Flops{1.2e15});
  CHECK(mixed.facts.model_at_peak().value == near(0.8));
  CHECK(mixed.facts.hardware_at_peak().value == near(0.9));
  const std::string notes = step_cells(study({strategy("fsdp", mixed)})).notes;
  CHECK(notes.find("peaks 1000.0 TFLOP/s (bf16), 2000.0 TFLOP/s (fp8), each for the products of its type") !=
        std::string::npos);
  CHECK(notes.find("over 1000.0 TFLOP/s alone, as frameworks print it, MFU would be 1.50 times as much") !=
        std::string::npos);
  CHECK(notes.find("2 x where weights are frozen") != std::string::npos);
}

TEST_CASE("without communication nothing is hidden, and the cell says so") {
  StepResult alone = step();
  alone.times.communication = alone.times.exposed = Seconds{};
  CHECK_FALSE(alone.times.hidden_share().has_value());
  CHECK(step_cells(study({strategy("fsdp", alone)})).rows.at(0).at(8) == "-");
}

TEST_CASE("classes of operators are rows, collectives say so, and what is short is not nothing") {
  const std::string table = format_study(study({strategy("fsdp"), strategy("fsdp_dma")}));
  CHECK(line_of(table, "class") == "class of operators         fsdp  fsdp_dma");
  CHECK(line_of(table, "gemm") == "gemm                      0.800     0.800");
  CHECK(line_of(table, "embedding") == "embedding                <0.001    <0.001");
  CHECK(line_of(table, "all_gather") == "all_gather (collective)   0.400     0.400");
}

TEST_CASE("a class that a strategy lacks has no time there") {
  StepResult other = step();
  other.times.classes = {{"gemm", 0.8_s, 12}, {"all_reduce", 0.2_s, 1}};
  const StudyCells cells = class_cells(study({strategy("fsdp"), strategy("ddp", other)}));
  const auto row = [&](const std::string& name) {
    return *std::ranges::find(cells.rows, name, [](const auto& cell_row) { return cell_row.front(); });
  };
  CHECK(row("norm") == std::vector<std::string>{"norm", "0.080", "-"});
  CHECK(row("all_reduce (collective)") == std::vector<std::string>{"all_reduce (collective)", "-", "0.200"});
}

TEST_CASE("tables of a step fit 110 characters however many strategies there are") {
  std::vector<StrategyResult> many;
  for (int i = 0; i < 7; ++i)
    many.push_back(strategy("prioritized_partition_" + std::to_string(i)));
  const std::string table = format_study(study(many));
  for (const auto& line : lines(table)) {
    CAPTURE(line);
    CHECK(line.size() <= kWidth);
  }
  const auto all = lines(table);
  // Three columns of 23 characters beside the classes, three, and one.
  CHECK(std::ranges::count_if(all, [](const auto& line) { return line.starts_with("class of operators"); }) ==
        3);
  CHECK(std::ranges::count_if(all, [](const auto& line) { return line.starts_with("gemm"); }) == 3);
}

TEST_CASE("the memory table has every class, their sum, and the five largest tenants, once") {
  const std::string table = format_study(study({strategy("a"), strategy("b")}));
  CHECK(line_of(table, "activations") == "activations    25.000   31.2%");
  CHECK(line_of(table, "communication") == "communication   0.000    0.0%");
  CHECK(line_of(table, "all tensors") == "all tensors    60.000   75.0%");
  CHECK(line_of(table, "needed") == "needed         64.000   80.0%");
  CHECK(line_of(table, "reserved") == "reserved       70.000   87.5%");
  CHECK(line_of(table, "limit") == "limit          80.000  100.0%");
  CHECK(table.find("'backward, layer 1'") != std::string::npos);
  CHECK(line_of(table, "of layers") == "of layers              gradients   4.000   5.0%");
  CHECK(table.find("root") == std::string::npos);
  CHECK(table.find("peak memory") == table.rfind("peak memory"));
}

TEST_CASE("a step that fits and reserves more than there is fits, with a warning") {
  // The allocator cannot free 64 GB, and takes 70 GB where it can.
  StepResult tight = step();
  const auto warns = [&](Bytes size) {
    tight.facts.memory_size = size;
    CHECK(tight.facts.fits());
    const StudyResult warned = study({strategy("a", tight)});
    const auto json = Json::parse(study_json(warned, "hand.h5"))["strategies"].elements()[0]["step"]["memory"];
    const bool is_said = format_study(warned).find("\nreserved exceeds the limit: ") != std::string::npos;
    CHECK(json["frees_cache"] == is_said);
    return is_said;
  };
  CHECK_FALSE(warns(70.0_GB));
  CHECK(warns(69.0_GB));
  CHECK(warns(64.0_GB));
}

TEST_CASE("a pipeline reserves more than there is where any of its stages does, and the warning says so") {
  StepResult step_of = step();
  step_of.facts.reserved = {70.0_GB, 76.0_GB};  // the first holds most
  const auto said = [&](Bytes size) {
    step_of.facts.memory_size = size;
    return format_study(study({strategy("a", step_of)}));
  };
  CHECK(said(76.0_GB).find("reserved exceeds") == std::string::npos);
  CHECK(said(75.0_GB).find("\non another stage reserved exceeds the limit: ") != std::string::npos);
  CHECK(said(69.0_GB).find("\nreserved exceeds the limit: ") != std::string::npos);
}

TEST_CASE("a study without a training step has no table of one, and null in the JSON") {
  const StudyResult none = study({strategy("a", std::nullopt)});
  const std::string table = format_study(none);
  for (const auto* heading : {"tokens/s", "class of operators", "peak memory"})
    CHECK(table.find(heading) == std::string::npos);
  CHECK(Json::parse(study_json(none, "hand.h5"))["strategies"].elements()[0]["step"].is_null());
}

/// 1024 images in 1 s on 8 GPUs, of a step of which no more is known.
StrategyResult of_images(const std::string& name) {
  StrategyResult result = strategy(name, std::nullopt);
  result.throughput = Throughput{{StepItem::images, 1024}, 1024, 8};
  return result;
}

TEST_CASE("steps without facts have a table, JSON and columns of what they take a second, named after it") {
  const StudyResult images = study({of_images("a"), strategy("b", std::nullopt)});
  const std::string table = format_study(images);
  CHECK(table.find("strategy  images/s  per GPU\n") != std::string::npos);
  CHECK(line_of(table.substr(table.find("images/s")), "a ") == "a             1024      128");
  CHECK(table.find("1024 images a step of 8 GPUs\n") != std::string::npos);
  const auto json = Json::parse(study_json(images, "hand.h5"))["strategies"];
  CHECK(json.elements()[0]["throughput"]["of"] == "images");
  CHECK(json.elements()[0]["throughput"]["of_step"] == 1024);
  CHECK(json.elements()[0]["throughput"]["per_second"] == 1024);
  CHECK(json.elements()[0]["throughput"]["per_second_per_gpu"] == 128);
  CHECK(json.elements()[1]["throughput"].is_null());
  std::vector<std::string> names;
  std::ranges::transform(all_numbers(of_images("a")), std::back_inserter(names), &SummaryNumber::name);
  CHECK(std::ranges::find(names, "images_per_second") != names.end());
  CHECK(std::ranges::find(names, "images_per_second_per_gpu") != names.end());
}

TEST_CASE("below 1000 a second there are four digits") {
  CHECK(throughput_texts(Throughput{{StepItem::sequences, 8}, 1234.5, 500}) ==
        std::array<std::string, 2>{"1234", "2.469"});
  CHECK(throughput_texts(std::nullopt) == std::array<std::string, 2>{"-", "-"});
}

TEST_CASE("the JSON of a step has its rates, times, classes and memory") {
  const auto json =
      Json::parse(study_json(study({strategy("a")}), "hand.h5"))["strategies"].elements()[0]["step"];
  CHECK(json["tokens_per_second"] == 131072);
  CHECK(json["tokens_per_second_per_gpu"] == 16384);
  CHECK(json["mfu"] == 0.404);
  CHECK(json["hfu"] == 0.505);
  CHECK(json["kernels_us"].number() == near(880e3, 1e-12));
  CHECK(json["communication_us"].number() == near(400e3, 1e-12));
  CHECK(json["exposed_us"].number() == near(100e3, 1e-12));
  CHECK(json["idle_us"].number() == near(20e3, 1e-12));
  CHECK(json["model_flops"] == 4e14);
  CHECK(json["hardware_flops"] == 5e14);
  REQUIRE(json["flops_by_type"].size() == 1);
  CHECK(json["flops_by_type"].elements()[0]["dtype"] == "bf16");
  CHECK(json["flops_by_type"].elements()[0]["peak_flops_per_second"].number() == near(989.4e12, 1e-12));
  CHECK(json["classes"].size() == 4);
  CHECK(json["classes"].elements()[1]["name"] == "norm");
  CHECK(json["classes"].elements()[1]["count"] == 6.5);
  const auto& memory = json["memory"];
  CHECK(memory["peak_bytes"] == 60e9);
  CHECK(memory["reserved_bytes"] == 70e9);
  CHECK(memory["limit_bytes"] == 80e9);
  CHECK(memory["fits"] == true);
  CHECK(memory["moment"] == "backward, layer 1");
  CHECK(memory["by_class"]["optimizer"] == 20e9);
  CHECK(memory["by_class"].size() == kMemoryClasses.size());
  CHECK(memory["tenants"].size() == 6);
  CHECK(memory["tenants"].elements()[0]["class"] == "optimizer");
}

/// A step whose timeline ends after 0.25 s.
ResultReader written(const TemporaryFolder& folder, const StudyResult& study) {
  const auto path = folder / "hand.h5";
  RunHeader header;
  header.experiment = study.experiment;
  header.conditions = study.conditions;
  header.ranks = 8;
  ResultFile file(path, header);
  for (const StrategyResult& result : study.strategies) {
    TimelineWriter timeline(file, result.name);
    timeline.activity_started(1, {.name = "forward", .kind = ActivityKind::range, .gpu = 0, .stream = 0}, {});
    timeline.activity_finished(1, 0.25_s);
    timeline.finish(result, {});
  }
  file.commit();
  return ResultReader(path);
}

TEST_CASE("a step read back from its file is the one that was written, notes too") {
  const TemporaryFolder folder;
  StudyResult before = study({strategy("a"), strategy("b", std::nullopt), of_images("images"), strategy("c")});
  before.strategies.back().step->is_shortened = true;
  const StudyResult after = read_study(written(folder, before));
  CHECK(after.strategies.at(0).step == before.strategies.at(0).step);
  CHECK(after.strategies.at(0).notes == before.strategies.at(0).notes);
  CHECK_FALSE(after.strategies.at(1).step.has_value());
  CHECK(after.strategies.at(3).step == before.strategies.at(3).step);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(after.strategies.at(i).throughput == before.strategies.at(i).throughput);
  CHECK(format_study(after) == format_study(before));
}

TEST_CASE(
    "an estimate is labelled with method, bounds and share in table, JSON and file, and nothing else is") {
  const TemporaryFolder folder;
  StudyResult before = study({strategy("a"), strategy("b")});
  before.strategies.front().estimate =
      Estimate{.low = 0.9_s, .high = 1.2_s, .method = "steady state", .simulated = 0.25};
  const std::string table = format_study(before);
  CHECK(line_of(table, "a: estimate") == "a: estimate by steady state, 0.900 to 1.200, 25% simulated");
  CHECK(table.find("b: estimate") == std::string::npos);
  StudyResult unbounded = before;
  unbounded.strategies.front().estimate->high = 500.0_s;
  CHECK(line_of(format_study(unbounded), "a: estimate") ==
        "a: estimate by steady state, 0.900 or more, by loads that differ too much for an upper bound, 25% "
        "simulated");
  const auto json = Json::parse(study_json(before, "hand.h5"))["strategies"];
  CHECK(json.elements()[0]["estimate"]["share_simulated"] == 0.25);
  CHECK(json.elements()[0]["estimate"]["method"] == "steady state");
  CHECK(json.elements()[1]["estimate"].is_null());
  const StudyResult after = read_study(written(folder, before));
  CHECK(after.strategies.at(0).estimate == before.strategies.at(0).estimate);
  CHECK_FALSE(after.strategies.at(1).estimate);
}

TEST_CASE("the file says how long the run in its timeline took") {
  const TemporaryFolder folder;
  const ResultReader file = written(folder, study({strategy("a"), strategy("b", std::nullopt)}));
  CHECK(recorded_picoseconds(file, "a") == picoseconds(0.25_s));
  CHECK(recorded_picoseconds(file, "b") == picoseconds(1.0_s));
}

TEST_CASE("a kernel of a range is drawn with what it waited for, and the range is not") {
  const TemporaryFolder folder;
  const auto path = folder / "hand.h5";
  RunHeader header;
  header.streams = {"compute"};
  ResultFile file(path, header);
  {
    TimelineWriter timeline(file, "a");
    const ActivityInfo cohort{.name = "gemm", .kind = ActivityKind::cohort, .gpu = 0, .stream = 0, .parent = 3};
    timeline.activity_started(1, {.name = "norm", .kind = ActivityKind::kernel, .gpu = 0, .stream = 0}, {});
    timeline.activity_finished(1, 2.0_us);
    timeline.activity_started(2, {.name = "layer", .kind = ActivityKind::range, .gpu = 0, .stream = 0}, 2.0_us);
    timeline.activity_started(
        3, {.name = "gemm", .kind = ActivityKind::kernel, .gpu = 0, .stream = 0, .parent = 2}, 2.0_us);
    timeline.depends(3, 1, DependencyKind::stream_order);
    timeline.activity_started(4, cohort, 3.0_us);
    for (const ActivityId id : {4, 3, 2})
      timeline.activity_finished(id, 5.0_us);
    timeline.finish(strategy("a"), {});
  }
  file.commit();
  const StrategyTimeline timeline = read_timeline(ResultReader(path), "a");
  CHECK(timeline.time == picoseconds(5.0_us));  // and not the whole step's
  const auto& slices = timeline.gpus.at(0).streams.at(0).slices;
  REQUIRE(slices.size() == 2);
  CHECK(slices.at(1).name == "gemm");
  CHECK(slices.at(1).running == picoseconds(3.0_us));
  CHECK(slices.at(1).released_by == std::vector<std::string>{"the end of norm"});
}

TEST_CASE("a step that does not fit is a table and a sentence with what takes most") {
  OutOfMemory verdict{.experiment = "hand", .step = facts()};
  verdict.step.memory_size = 63.5_GB;
  const auto text = [&] { return format_out_of_memory(verdict); };
  CHECK(line_of(text(), "limit") == "limit          63.500  100.0%");
  const std::string sentence =
      ": it needs 64.0 GB of 63.5 GB, of which 60.0 GB are tensors at 'backward, layer 1'; largest:";
  CHECK(text().find("\nhand does not fit" + sentence) != std::string::npos);
  verdict.draws = {3};
  CHECK(text().find("\nhand does not fit in draw 3: it needs") != std::string::npos);
  verdict.draws = {3, 7};
  CHECK(text().find("\nhand does not fit in draws 3, 7: it needs") != std::string::npos);
}

TEST_CASE("a step that does not fit is a verdict in JSON, with the draws that do not") {
  OutOfMemory verdict{.experiment = "hand", .step = facts()};
  verdict.step.memory_size = 63.5_GB;
  const auto json = [&] { return Json::parse(out_of_memory_json(verdict)); };
  CHECK(json()["schema_version"] == 1);
  CHECK(json()["verdict"] == "out_of_memory");
  CHECK(json()["memory"]["fits"] == false);
  CHECK(json()["memory"]["limit_bytes"] == 63.5e9);
  CHECK(json()["memory"]["needed_bytes"] == 64e9);
  CHECK_FALSE(json().contains("draws"));
  verdict.draws = {3, 7};
  CHECK(json()["draws"] == std::vector<int>{3, 7});
}

}}  // namespace c3::results_step_test
