#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/conccl/heuristics_part.hpp"
#include "studies/conccl/ladder_cases.hpp"
#include "studies/conccl/ladder_part.hpp"
#include "studies/conccl/scenarios.hpp"
#include "studies/conccl/sensitivity_part.hpp"
#include "studies/study.hpp"
#include "tests/support/near.hpp"
#include "tests/support/temporary_folder.hpp"

namespace c3::studies_conccl_test { namespace {

const StudyProgress kQuiet = [](std::size_t, std::size_t) {};

constexpr const char* kHeader =
    "id,bound,class,model,projection,m,n,k,dtype,traffic,collective,algorithm,size_mib,gemm_alone_us,"
    "collective_alone_us\n";
constexpr const char* kRow =
    "a,cb,GC-equal,llama-70b,square,1536,1536,1024,bf16,tiled,all_gather,ring,4,20.5,\n";

ScenarioList read(const std::string& text) {
  const TemporaryFolder folder;
  const auto file = folder / "scenarios.csv";
  std::ofstream(file) << text;
  return read_scenarios(file);
}

/// What is said of the second line, without the folder.
std::string refusal(const std::string& row) {
  const ScenarioList list = read(std::string(kHeader) + row);
  REQUIRE(list.broken.size() == 1);
  return list.broken.front().substr(list.broken.front().find("scenarios.csv"));
}

std::string with(const std::string& from, const std::string& to) {
  std::string row = kRow;
  return row.replace(row.find(from), from.size(), to);
}

ExperimentFile study_experiment() { return ExperimentFile::load(study_file("conccl", "one.toml")); }

/// Small pairs, none of the study's: two with the same GEMM.
std::vector<Scenario> small_scenarios() {
  return read(std::string(kHeader) + kRow +
              "b,cb,GC-equal,llama-70b,square,1536,1536,1024,bf16,tiled,all_to_all,direct,4,,\n"
              "c,mb,G-long,llama-70b,wide,2048,1536,2048,bf16,streamed,all_gather,ring,3,,\n")
      .scenarios;
}

TEST_CASE("a scenario is read with its units") {
  const ScenarioList list = read(std::string("# ours\n") + kHeader + kRow);
  CHECK(list.broken.empty());
  REQUIRE(list.scenarios.size() == 1);
  const Scenario& scenario = list.scenarios.front();
  CHECK(scenario.gemm == GemmShape{1536, 1536, 1024, DType::bf16});
  CHECK(scenario.collective.bytes == Bytes{4.0 * kMebi});
  CHECK(scenario.collective.kind == CollectiveKind::all_gather);
  CHECK(scenario.algorithm == Algorithm::ring);
  CHECK(scenario.bound == Bound::compute);
  CHECK(scenario.length == LengthClass::equal);
  CHECK(scenario.gemm.traffic == GemmTraffic::tiled);
}

TEST_CASE("a scenario that says nothing sensible is refused at its place") {
  CHECK(refusal(with("cb", "xb"))
            .starts_with("scenarios.csv:2:3: bound: unknown bound 'xb'; did you mean 'cb'? known: cb, mb"));
  CHECK(refusal(with("GC-equal", "equal")).starts_with("scenarios.csv:2:6: class: unknown class 'equal'"));
  CHECK(refusal(with("llama-70b", "llama-7b"))
            .starts_with("scenarios.csv:2:15: model: unknown model 'llama-7b'"));
  CHECK(refusal(with("square", "")) == "scenarios.csv:2:25: projection: is missing");
  CHECK(refusal(with("1536,1536", "1536.5,1536")) ==
        "scenarios.csv:2:32: m: must be a whole number from 1 to 16777216, not '1536.5'");
  CHECK(refusal(with("1024", "0")) ==
        "scenarios.csv:2:42: k: must be a whole number from 1 to 16777216, not '0'");
  CHECK(refusal(with("bf16", "int3")).starts_with("scenarios.csv:2:47: dtype: unknown dtype 'int3'"));
  CHECK(refusal(with("tiled", "tile")).starts_with("scenarios.csv:2:52: traffic: unknown traffic 'tile'"));
  CHECK(refusal(with("all_gather", "all_reduce"))
            .starts_with("scenarios.csv:2:58: collective: unknown collective"));
  CHECK(refusal(with("all_gather,ring", "all_to_all,tree")) ==
        "scenarios.csv:2:69: algorithm: there is no tree all_to_all");
  CHECK(refusal(with(",4,", ",0,")) == "scenarios.csv:2:74: size_mib: must be a number above 0, not '0'");
  CHECK(refusal(with(",20.5", "")) == "scenarios.csv:2:76: row: has 14 cells, the header 15");

  const ScenarioList twice = read(std::string(kHeader) + kRow + kRow);
  REQUIRE(twice.broken.size() == 1);
  CHECK(twice.broken.front().ends_with("scenarios.csv:3:1: id: 'a' is there twice"));
  CHECK_THROWS_WITH_AS(read(kHeader), doctest::Contains("scenarios.csv:1:1: id: no scenario below the header"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(read("id,bound\na,cb\n"), doctest::Contains("class: the column is missing"),
                       ConfigError);
}

TEST_CASE("a pair takes the place of the experiment's, under every strategy") {
  const Experiment base = study_experiment().make(std::nullopt);
  const Scenario scenario = small_scenarios()[2];
  const Experiment pair = experiment_of(base, scenario);
  CHECK(*shape_of<GemmShape>(pair.program.scripts[0].streams[0].front()) == scenario.gemm);
  CHECK(pair.program.calls.front().what == scenario.collective);
  CHECK(pair.cluster == base.cluster);
  for (const Strategy& strategy : pair.strategies) {
    CAPTURE(strategy.name);
    const StreamPolicy& policy = strategy.streams.at("comm");
    // Copy engines write straight to every peer: the ring is the library's.
    CHECK(policy.method.algorithm ==
          (policy.backend == Backend::cu ? std::optional(Algorithm::ring) : std::nullopt));
  }
}

TEST_CASE("a ladder is the same at every number of processes, and on every repeat") {
  const std::vector<Scenario> scenarios = small_scenarios();
  const ExperimentFile file = study_experiment();
  const auto make = [&](std::optional<std::uint64_t> draw) { return file.make(draw); };
  std::vector<std::string> rows;
  for (const std::size_t processes : {1, 2, 3, 1}) {
    LadderPart ladder(scenarios, make, {.draws = 2, .seeds = 2});
    SimulationJobs jobs;
    ladder.plan(jobs);
    CHECK(jobs.size() == 4 * 2);  // two GEMMs, two seeds, two draws
    run_simulations(jobs, kQuiet, processes);
    rows.push_back(ladder.rows_as_csv("predicted"));
    CHECK(std::ranges::count(rows.back(), '\n') == 4 * 3 * 10);
    CHECK(rows.back() == rows.front());
  }
}

TEST_CASE(
    "the study keeps ConCCL's time for a compute-bound GEMM where CUs are removed from memory-bound ones") {
  LadderTimes times{.kernel = Seconds{2.0}, .collective = Seconds{1.0}};
  times.together[index_of(Rung::conccl)] = Seconds{2.4};
  times.together[index_of(Rung::conccl_8)] = Seconds{2.0};
  Scenario scenario;
  const auto share = [&](const char* id) { return study_speedup(scenario, times, study_strategy(id)).share(); };
  CHECK(share("conccl_8") == near(0.5));
  CHECK(share("conccl_8.from_all") == near(1.0));
  scenario.bound = Bound::memory;
  CHECK(share("conccl_8") == near(1.0));
  CHECK(share("conccl") == near(0.5));
}

TEST_CASE("a heuristic's regret is the time of its pick over the best, less one") {
  LadderTimes times{.kernel = Seconds{2.0}, .collective = Seconds{2.0}};
  const auto put = [&](Rung rung, double time, int cus = 0) {
    times.together[index_of(rung)] = Seconds{time};
    times.cus[index_of(rung)] = cus;
  };
  put(Rung::base, 3.5);
  put(Rung::sp, 3.0);
  put(Rung::rp, 2.5, 64);
  put(Rung::rp_lookup, 2.8, 32);
  put(Rung::sp_rp, 2.5, 64);
  put(Rung::conccl, 2.0);
  put(Rung::conccl_8, 2.2);
  const PairRegret collective_first = regret_of(times, true);
  CHECK(collective_first.sp == near(0.2));   // 3.0 for 2.5
  CHECK(collective_first.rp == near(0.12));  // 2.8 for 2.5
  CHECK(collective_first.rp_masks == near(0.12));
  CHECK(collective_first.of_all == near(0.4));  // 2.8 for 2.0
  CHECK(collective_first.cus == 32);
  CHECK(collective_first.best_cus == 64);
  CHECK(regret_of(times, false).sp == near(0.4));  // the order of base
  put(Rung::sp, 2.4);
  CHECK(regret_of(times, true).sp == 0.0);
  CHECK(regret_of(times, true).best_cus == 0);
  CHECK(regret_of(times, true).rp == near(2.8 / 2.4 - 1.0));
  CHECK(regret_of(times, true).rp_masks == near(0.12));  // among masks 2.5 stays the best
}

TEST_CASE("a case comes to averages of its scenarios, for the strategies that were asked for") {
  const std::vector<Scenario> scenarios = small_scenarios();
  LadderCases cases(scenarios, rungs_of(std::array{Rung::sp, Rung::conccl}));
  cases.add(study_experiment().make(std::nullopt), 0);
  SimulationJobs jobs;
  cases.plan(jobs);
  run_simulations(jobs, kQuiet);
  const NamedNumbers numbers = cases.numbers(0);
  const std::vector<PairSpeedup> pairs = cases.speedups(0, study_strategy("sp"));
  REQUIRE(pairs.size() == 3);
  CHECK(numbers.at("sp.share") == near(100.0 / 3.0 * (pairs[0].share() + pairs[1].share() + pairs[2].share())));
  CHECK(numbers.at("sp.cb") == near(50.0 * (pairs[0].share() + pairs[1].share())));
  CHECK(numbers.at("sp.g_long") == near(100.0 * pairs[2].share()));
  CHECK(numbers.at("sp.most") == std::max({pairs[0].speedup, pairs[1].speedup, pairs[2].speedup}));
  CHECK(numbers.at("sp.share_of_means") ==
        near(100.0 * (numbers.at("sp.speedup") - 1.0) / (numbers.at("ideal") - 1.0)));
  CHECK(numbers.contains("conccl.share"));
  for (const char* not_there : {"sp.c_long", "base.share", "conccl_8.share", "tau"})
    CHECK_FALSE(numbers.contains(not_there));
}

TEST_CASE("sensitivity looks at one scenario of each bound and class, collectives in turn") {
  std::vector<Scenario> all;
  for (const Bound bound : kBounds) {
    for (const LengthClass length : kLengthClasses) {
      for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
        Scenario scenario;
        scenario.bound = bound;
        scenario.length = length;
        scenario.collective.kind = kind;
        all.insert(all.end(), 2, scenario);
      }
    }
  }
  const std::vector<Scenario> chosen = stratified(all);
  REQUIRE(chosen.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(chosen[i].bound == kBounds[i / 3]);
    CHECK(chosen[i].length == kLengthClasses[i % 3]);
    CHECK((chosen[i].collective.kind == CollectiveKind::all_gather) == (i % 2 == 0));
  }
}

TEST_CASE("every range of the experiment can be put at either end, the others staying nominal") {
  const ExperimentFile file = study_experiment();
  const Experiment nominal = file.make(std::nullopt);
  const std::vector<NamedRange> ranges = file.ranges();
  CHECK(ranges.size() > 20);
  const auto payload = std::ranges::find(ranges, "library.link_payload", &NamedRange::key);
  REQUIRE(payload != ranges.end());
  CHECK(payload->range == Range{34.8e9, 42.9e9, 45.4e9});
  Experiment high = file.make_at({.key = payload->key, .high = true});
  CHECK(high.cluster.library.link_payload == BytesPerSecond{45.4e9});
  high.cluster.library.link_payload = nominal.cluster.library.link_payload;
  CHECK(high == nominal);

  const std::uint64_t draw = 7;
  const Experiment drawn_experiment = file.make(draw);
  CHECK(drawn(*payload, draw, nominal.measure.seed) == drawn_experiment.cluster.library.link_payload.value);
  std::size_t moved = 0;  // a range of another GPU's family is read, and changes nothing
  for (const NamedRange& range : ranges) {
    CAPTURE(range.key);
    for (const bool end : {false, true}) {
      const bool same = file.make_at({.key = range.key, .high = end}) == nominal;
      if ((end ? range.range.high : range.range.low) == range.range.nominal) CHECK(same);
      moved += same ? 0 : 1;
    }
  }
  CHECK(moved > ranges.size());
}

}}  // namespace c3::studies_conccl_test
