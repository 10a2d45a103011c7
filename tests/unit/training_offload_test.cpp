// Activations and the optimizer in the memory of hosts: what is copied when, and what the GPU holds less.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/fabrics.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/training/offload_rules.hpp"

namespace c3::training_offload_test {

using namespace literals;
using namespace test;

namespace {

TrainingSetup offloading(std::int64_t layers, std::vector<std::string> parts = {}) {
  TrainingSetup setup = llama_setup(6);
  setup.offload.layers = layers;
  setup.offload.parts = std::move(parts);
  return setup;
}

/// Bytes of the copies of \p stream, in order.
std::vector<Bytes> copies(const WrittenStep& step, const std::string& stream) {
  std::vector<Bytes> bytes;
  if (!step.program.stream_named(stream)) return bytes;
  for (const Operation& operation : operations_of(step, stream))
    if (const auto* copy = std::get_if<HostCopy>(&operation.work)) bytes.push_back(copy->bytes);
  return bytes;
}

Bytes kept_by_layer(const TrainingSetup& setup, const std::string& part = "") {
  Bytes sum;
  for (const PartKernel& kernel : layer_kernels(setup).forward)
    if (part.empty() || name_of(kernel.part) == part) sum += kernel.kept;
  return sum;
}

}  // namespace

TEST_CASE("of four of six layers all that the backward pass needs goes to the host and comes back") {
  const TrainingSetup setup = offloading(4);
  const WrittenStep step = training_step(setup, 1);
  const Bytes kept = kept_by_layer(setup);
  CHECK(copies(step, "offload") == std::vector<Bytes>(4, kept));
  CHECK(copies(step, "reload") == std::vector<Bytes>(4, kept));
  CHECK(copies(training_step(offloading(0), 1), "offload").empty());
}

TEST_CASE("parts by name go alone") {
  const TrainingSetup setup = offloading(2, {"mlp.norm"});
  CHECK(copies(training_step(setup, 1), "offload") == std::vector<Bytes>(2, kept_by_layer(setup, "mlp.norm")));
}

TEST_CASE("with full recomputation the layers' inputs wait at the host") {
  TrainingSetup setup = offloading(6);
  setup.recompute = Recompute::full;
  const Bytes input = element_size(setup.dtype) * static_cast<double>(setup.tokens() * setup.model.hidden);
  CHECK(copies(training_step(setup, 1), "offload") == std::vector<Bytes>(6, input));
}

TEST_CASE("each micro-batch is offloaded anew") {
  TrainingSetup setup = offloading(2);
  setup.micro_batches = 3;
  CHECK(copies(training_step(setup, 1), "offload").size() == 6);
}

TEST_CASE("the GPU holds less by the layers that are away, but for two that leave or come back") {
  const Bytes all = training_step(offloading(0), 1).facts.memory.bytes;
  const Bytes some = training_step(offloading(4), 1).facts.memory.bytes;
  const Bytes kept = kept_by_layer(offloading(0));
  CHECK((all - some) / kept > 2.0 - 1e-9);
  CHECK((all - some) / kept < 4.0 + 1e-9);
  // What has gone is back before it is used: nothing is left or freed twice.
  CHECK(training_step(offloading(6), 1).facts.memory.bytes < some);
}

TEST_CASE("a layer's copy begins behind its pass, and the next layer's pass does not wait for it") {
  TrainingSetup setup = offloading(6);
  Experiment experiment = fluid_step(setup, 1, true);
  experiment.cluster.node.pcie = node_of_four().pcie;
  const Strategy strategy{.name = "s", .order = {}, .streams = {}};
  const Seconds hidden = run_once(experiment, strategy, {}).time;
  experiment.cluster.node.pcie.one_way = experiment.cluster.node.pcie.both_ways = 0.2_GBps;
  const RunResult slow = run_once(experiment, strategy, {});
  Experiment whole = fluid_step(offloading(0), 1, true);
  const Seconds without = run_once(whole, strategy, {}).time;
  CHECK(hidden > without);
  // Twelve copies, of which each way runs by itself: passes wait for a link that slow, nothing else.
  const Seconds copied = kept_by_layer(setup) / 0.2_GBps;
  CHECK(slow.time > 11.0 * copied);
  CHECK(slow.time < 12.0 * copied + without + 1.0_ms);
}

TEST_CASE("what shorter steps leave out is whole periods of layers of which as many are offloaded") {
  const auto period = [](std::int64_t offloaded) {
    TrainingSetup setup = offloading(offloaded);
    setup.model.layers = 24;
    return training_family(setup)->layer_period();
  };
  CHECK(period(2) == 2);
  CHECK(period(5) == 5);
  CHECK(period(24) == 1);
}

TEST_CASE("a copy begins behind the kernels whose outputs it takes, and backward kernels behind what is back") {
  const WrittenStep step = training_step(offloading(6), 1);
  const HappensBefore happens(step);
  const auto place_of = [&](const std::string& stream, const std::string& name) {
    const std::vector<Operation>& all = operations_of(step, stream);
    const auto found = std::ranges::find_if(all, [&](const Operation& operation) {
      return std::holds_alternative<HostCopy>(operation.work) && step.program.name_of(operation) == name;
    });
    REQUIRE(found != all.end());
    return OperationPlace{*step.program.stream_named(stream), static_cast<std::size_t>(found - all.begin())};
  };
  for (const int layer : {0, 3, 5}) {
    CAPTURE(layer);
    const std::string name = "activations of layer " + std::to_string(layer);
    const OperationPlace out = place_of("offload", name), back = place_of("reload", name + " back");
    int forward = 0, backward = 0;
    for (const Placed& kernel : named(step, "compute", "")) {
      if (kernel.range == "forward, layer " + std::to_string(layer)) {
        ++forward;
        CHECK(happens(kernel.place, out));
      }
      if (kernel.range == "backward, layer " + std::to_string(layer)) {
        ++backward;
        CHECK(happens(back, kernel.place));
      }
    }
    CHECK(forward > 5);
    CHECK(backward > 5);
    CHECK(happens(out, back));
  }
}

TEST_CASE("the host updates its share: gradients out, parameters back, and states of the rest on the GPU") {
  TrainingSetup setup = gpt_setup();
  const WrittenStep whole = training_step(setup, 1);
  setup.offload.optimizer = 0.25;
  const WrittenStep step = training_step(setup, 1);
  const auto sum = [&](const std::string& stream) {
    double bytes = 0.0;
    for (const Bytes copied : copies(step, stream))
      bytes += copied.value;
    return bytes;
  };
  double parameters = static_cast<double>(embedding_kernels(setup).parameters + head_kernels(setup).parameters);
  parameters += static_cast<double>(layer_kernels(setup).parameters * setup.model.layers);
  const double of_host = 0.25 * parameters;
  const bool has_master = setup.framework.master_copy;
  const double gradient = has_master ? 4.0 : element_size(setup.framework.gradient_dtype).value;
  const double held = has_master ? 2.0 : element_size(setup.framework.parameter_dtype).value;
  CHECK(sum("offload") == near(gradient * of_host, 1e-5));
  CHECK(sum("reload") == near(held * of_host, 1e-5));
  CHECK(sum("host") == near((7 * 4.0 + held) * of_host, 1e-5));  // Adam reads four numbers and writes three
  const auto state = [](const WrittenStep& written) {
    return written.facts.memory.of(MemoryClass::optimizer).value;
  };
  CHECK(state(step) == near(0.75 * state(whole), 1e-3));
}

TEST_CASE("rules of offloading name their key") {
  const auto broken = [](const TrainingSetup& setup) {
    const BrokenRules rules = broken_offload_rules(setup);
    return rules.empty() ? std::string() : rules.front().key;
  };
  CHECK(broken(offloading(2)).empty());
  CHECK(broken(offloading(0, {"mlp.norm"})) == "offload_parts");
  CHECK(broken(offloading(2, {"mlp.nrm"})) == "offload_parts");
  TrainingSetup graphs = offloading(2);
  graphs.graphs = StepGraphs::layers;
  CHECK(broken(graphs) == "offload_layers");
  TrainingSetup near = offloading(0);
  near.offload.optimizer = 0.5;
  CHECK(broken(near).empty());
  near.optimizer.place = Place::pim;
  CHECK(broken(near) == "offload_optimizer");
}

}  // namespace c3::training_offload_test
