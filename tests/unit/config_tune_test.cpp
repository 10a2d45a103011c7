/// [tune]: what may vary, by its own keys or those of [sweep], and what is wanted of it.

#include "configs/jobs/sweep_positions.hpp"
#include "configs/jobs/tune.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/config_files.hpp"

namespace c3::config_tune_test { namespace {

/// A pair of streams with \p tables behind it.
std::string experiment(const std::string& tables) {
  return "schema = 1\nsystem = \"mi300x-8\"\n"
         "[[stream]]\nname = \"compute\"\nrun = [{ gemm = { m = 512, n = 512, k = 512, dtype = \"bf16\" } }]\n"
         "[[stream]]\nname = \"comm\"\nrun = [{ all_gather = \"1 MiB\" }]\n"
         "[strategy.partitioned]\ncomm.cus = 8\n" +
         tables;
}

class TuneFileTest {
 public:
  TuneFile load(const std::string& tables) const {
    return TuneFile::load(folder.write("t.toml", experiment(tables)));
  }
  std::string error(const std::string& tables) const {
    return error_of([&] { load(tables); });
  }

  ScratchFolder folder;
};

const std::string kSweepOfThree =
    "[sweep]\nseeds = 2\n[sweep.product]\n\"strategy.partitioned.comm.cus\" = [8, 16, 32]\n";

TEST_CASE("candidates are what [tune] names, under its conditions") {
  const TuneFileTest test;
  const TuneFile file = test.load(
      "[tune]\nobjective = \"tokens_per_s_per_gpu\"\nmost_gpus = 64\nseeds = 3\nwhole_steps = 5\nregret = "
      "0.01\n"
      "where = \"cus < 32\"\n[tune.product]\ncus = [8, 16, 32]\n"
      "[tune.set]\n\"strategy.partitioned.comm.cus\" = \"${cus}\"\n" +
      kSweepOfThree);
  CHECK(file.goal.objective == Objective::tokens_per_s_per_gpu);
  CHECK(file.goal.most_gpus == 64);
  CHECK(file.goal.whole_steps == 5);
  CHECK(limits_of(file.goal).budget == 5U);
  CHECK(limits_of(file.goal).regret == 0.01);
  CHECK(file.space.names() == std::vector<std::string>{"cus"});
  REQUIRE(file.space.points().size() == 2);
  const Experiment experiment = file.space.experiment(file.space.points()[1]).make(std::nullopt);
  CHECK(experiment.strategies.front().streams.at("comm").cus.low == 16);
  CHECK(experiment.measure.seeds == 3);
  // Only times are wanted.
  CHECK_FALSE(experiment.measure.alone);
  CHECK_FALSE(experiment.measure.loss_split);
}

TEST_CASE("without keys of its own, [tune] searches the points of [sweep], each once whatever its seeds") {
  const TuneFileTest test;
  for (const std::string& tune : {std::string(), std::string("[tune]\nwhole_steps = 2\n")}) {
    const TuneFile file = test.load(kSweepOfThree + tune);
    CHECK(file.space.points().size() == 3);
    CHECK(file.space.names() == std::vector<std::string>{"strategy.partitioned.comm.cus"});
    CHECK(file.goal.whole_steps == (tune.empty() ? 16 : 2));
    CHECK(file.goal.objective == Objective::time);
    CHECK(file.space.sets(file.space.points()[2]) ==
          std::vector<std::string>{"strategy.partitioned.comm.cus=32"});
  }
}

TEST_CASE("points of a space are as far apart as logarithms of numbers and texts say") {
  const TuneFileTest test;
  const TuneFile file = test.load(
      "[tune.product]\nnodes = [1, 2, 8]\nsystem = [\"mi300x-8\", \"h100-sxm-8\"]\nmeasure.seed = [0, 5]\n");
  const std::vector<std::vector<double>> positions = positions_of(file.space);
  REQUIRE(positions.size() == 12);
  const auto distance = [&](std::size_t a, std::size_t b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < positions[a].size(); ++i)
      sum += std::abs(positions[a][i] - positions[b][i]);
    return sum;
  };
  CHECK(distance(0, 4) == doctest::Approx(1.0 / 3.0));  // 1 and 2 nodes, of 1 to 8
  CHECK(distance(0, 8) == doctest::Approx(1.0));
  CHECK(distance(0, 2) == doctest::Approx(1.0));  // systems
  CHECK(distance(0, 1) == doctest::Approx(1.0));  // seeds 0 and 5 have no logarithms
  CHECK(distance(0, 11) == doctest::Approx(3.0));
}

TEST_CASE("what [tune] cannot say") {
  const TuneFileTest test;
  CHECK(test.error("") == Part{"t.toml:1:1: tune: is missing"});
  CHECK(test.error("[tune]\nwhole_steps = 2\n") ==
        Part{"there is nothing to tune: name keys in [tune.product] or [tune.zip]"});
  CHECK(test.error("[tune]\nobjectve = \"time\"\n" + kSweepOfThree) == Part{"did you mean 'objective'?"});
  CHECK(test.error("[tune]\nobjective = \"tokens\"\n" + kSweepOfThree) ==
        Part{"t.toml:12:13: tune.objective: "});
  CHECK(test.error("[tune]\nregret = 1.5\n" + kSweepOfThree) == Part{"tune.regret: "});
  CHECK(test.error("[tune]\nmost_gpus = 0\n" + kSweepOfThree) == Part{"tune.most_gpus: "});
  CHECK(test.error("[tune]\nwhere = \"a == 1\"\n" + kSweepOfThree) ==
        Part{"tune.where: requires [tune.product] or [tune.zip]"});
  CHECK(test.error("[tune]\nwhere = \"nods == 1\"\n[tune.product]\nnodes = [1]\n") ==
        Part{"tune.where: 'nods == 1': "});
  CHECK(test.error("[tune]\nwhere = \"nodes == 2\"\n[tune.product]\nnodes = [1]\n") ==
        Part{"tune.where: leaves no point"});
  CHECK(test.error("[tune.product]\nsytem = [\"mi300x-8\"]\n") == Part{"tune.product.sytem: changes nothing"});
  CHECK(test.error("[tune.zip]\na = [1, 2]\ngpu.xcds = [1]\n") ==
        Part{"tune.zip.gpu.xcds: has 1 values where 'a' has 2"});
}

TEST_CASE("a run and a sweep of a file with [tune] do without it, and it is checked") {
  const TuneFileTest test;
  const std::string file =
      test.folder.write("r.toml", experiment("[tune.product]\nnodes = [1, 2]\n" + kSweepOfThree));
  CHECK(ExperimentFile::load(file).resolved_toml().find("[tune") == std::string::npos);
  CHECK(Sweep::load(file).points().size() == 6);
  const std::vector<std::string> set = {"tune.product.nodes=3"};
  CHECK(error_of([&] { ExperimentFile::load(file, set); }) == Part{"tune.product.nodes: must be a list"});
}

}}  // namespace c3::config_tune_test
