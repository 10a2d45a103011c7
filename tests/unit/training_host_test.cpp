// What a training step's host takes: the processor's times, each by the framework's multiple of it.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/analysis/steady_state.hpp"
#include "workloads/analysis/study.hpp"

namespace c3::training_host_test {

using namespace literals;
using namespace test;

namespace {

/// Every time and every multiple is unlike the others.
Host unlike_host() {
  return {.name = "unlike",
          .kernel_launch = 10.0_us,
          .collective_launch = 40.0_us,
          .event = 2.0_us,
          .layer_forward = 100.0_us,
          .layer_backward = 200.0_us,
          .optimizer = 7.0_us,
          .stall_interval = {},
          .stall = {}};
}

Framework with_unlike_multiples(Framework framework) {
  framework.host_forward = 1.5;
  framework.host_backward = 0.8;
  framework.host_collective = 0.5;
  framework.host_event = 3.0;
  framework.host_layer_forward = 1.25;
  framework.host_layer_backward = 2.0;
  framework.host_optimizer = 3.0;
  return framework;
}

/// Host steps that take \p cost.
std::ptrdiff_t count(const WrittenStep& step, Seconds cost) {
  return std::ranges::count_if(host_of(step).steps,
                               [&](const HostStep& host) { return host.cost.value == near(cost.value); });
}

/// Times of a preset's framework on a preset's host, in microseconds.
std::vector<double> nominal_us(const std::string& framework, const std::string& host) {
  const HostCosts costs = host_costs(load_host(host), load_framework(framework));
  return {costs.forward_launch.value * 1e6,    costs.backward_launch.value * 1e6,
          costs.collective_launch.value * 1e6, costs.event.value * 1e6,
          costs.layer_forward.value * 1e6,     costs.layer_backward.value * 1e6};
}

void check_near(const std::vector<double>& found, const std::vector<double>& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    CHECK(found[i] == near(wanted[i], 1e-6));
}

}  // namespace

TEST_CASE("a framework's host cost is the host's time by the framework's multiple of it") {
  const HostCosts costs = host_costs(unlike_host(), with_unlike_multiples(eager_framework()));
  CHECK(costs.forward_launch.value == near(15e-6));
  CHECK(costs.backward_launch.value == near(8e-6));
  CHECK(costs.collective_launch.value == near(20e-6));
  CHECK(costs.event.value == near(6e-6));
  CHECK(costs.layer_forward.value == near(125e-6));
  CHECK(costs.layer_backward.value == near(400e-6));
  CHECK(costs.optimizer.value == near(21e-6));
}

TEST_CASE("each kernel, collective, event and layer of a step costs the host its product") {
  TrainingSetup setup = llama_setup();
  setup.host = unlike_host();
  setup.framework = with_unlike_multiples(setup.framework);
  const WrittenStep step = training_step(setup, 4);
  std::ptrdiff_t kernels = 0, collectives = 0, events = 0;
  for (const std::vector<Operation>& stream : step.program.scripts.front().streams) {
    for (const Operation& operation : stream) {
      const bool is_call = step.program.call_of(operation) != nullptr;
      const bool is_kernel = kernel_of(operation) != nullptr;
      kernels += is_kernel ? 1 : 0;
      collectives += is_call ? 1 : 0;
      events += is_kernel || is_call ? 0 : 1;
    }
  }
  CHECK(count(step, 15.0_us) + count(step, 8.0_us) == kernels);
  CHECK(count(step, 8.0_us) > 0);
  CHECK(count(step, 15.0_us) > 0);
  CHECK(count(step, 20.0_us) == collectives);
  CHECK(count(step, 6.0_us) == events);
  CHECK(count(step, 125.0_us) == setup.model.layers);
  CHECK(count(step, 400.0_us) == setup.model.layers);
}

TEST_CASE("before its first kernel the optimizer costs the host its time for each tensor") {
  // A layer has two norms and seven products; around the layers are an embedding, a norm and a head: 3 x 9 + 3.
  // FSDP 1 keeps each unit in one tensor: the root and three layers.
  for (const auto& [flat, tensors] : {std::pair{false, 30.0}, std::pair{true, 4.0}}) {
    CAPTURE(flat);
    TrainingSetup setup = llama_setup(3);
    setup.host.optimizer = 7.0_us;
    setup.framework.host_optimizer = 3.0;
    setup.framework.flat_parameters = flat;
    const WrittenStep step = training_step(setup, 4);
    const std::vector<HostStep>& steps = host_of(step).steps;
    const auto lists = std::ranges::find_if(steps, [](const HostStep& host) { return host.cost.value > 0.0; });
    REQUIRE(lists != steps.end());
    CHECK(lists->cost.value == near(tensors * 21e-6));
    REQUIRE(lists + 1 != steps.end());
    REQUIRE((lists + 1)->launches);
    const OperationPlace place = *(lists + 1)->launches;
    CHECK(step.program.name_of(step.program.scripts.front().streams[place.stream][place.operation]) == "adam");
    CHECK(count(step, lists->cost) == 1);
  }
}

TEST_CASE("frameworks on the hosts that they name take the times that their sources say") {
  CHECK(usual_host_of("pytorch-eager") == "xeon-8480c");
  CHECK(usual_host_of("pytorch-compiled") == "xeon-8480c");
  CHECK(usual_host_of("megatron-deepspeed") == "epyc-7002");
  check_near(nominal_us("pytorch-eager", "xeon-8480c"), {13.5, 11, 35, 1, 150, 150});
  check_near(nominal_us("pytorch-compiled", "xeon-8480c"), {9, 9, 35, 1, 140, 140});
  check_near(nominal_us("megatron-deepspeed", "epyc-7002"), {23, 18, 50, 1, 350, 430});
}

TEST_CASE("every framework names a host that there is") {
  const std::vector<std::string> hosts = preset_names(PresetKind::host);
  for (const std::string& framework : preset_names(PresetKind::framework)) {
    CAPTURE(framework);
    CHECK(std::ranges::find(hosts, usual_host_of(framework)) != hosts.end());
  }
}

TEST_CASE("a small step waits for its host: the slower the host, the longer the step") {
  const auto time_on = [](const Host& host) {
    TrainingSetup setup = llama_setup();
    setup.framework = load_framework("pytorch-eager");
    setup.host = host;
    return run_step(fluid_step(setup, 4, false), {.name = "default", .order = {}, .streams = {}}, {}).time;
  };
  const Seconds xeon = time_on(load_host("xeon-8480c"));
  // All is the host's: its times grow by 2.59 or 2.6, and hide what little the GPU does.
  CHECK(time_on(load_host("grace")).value == near(xeon.value * 35 / 13.5, 0.03));
  CHECK(time_on(load_host("epyc-7002")).value > 1.3 * xeon.value);
  CHECK(time_on(Host{}) < 0.7 * xeon);
}

}  // namespace c3::training_host_test
