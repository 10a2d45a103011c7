// The arguments that c3sim prints for a layout, read back, are the same layout.

#include <doctest/doctest.h>
#include "workloads/training/launch_arguments.hpp"

#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/toml/toml_text.hpp"
#include "importers/user_files/experiment_draft.hpp"
#include "importers/user_files/formats.hpp"
#include "workloads/training/training_step.hpp"

namespace c3::recipes_launch_test {

namespace {

constexpr const char* kDense = "use = \"llama-3-8b\"\ndtype = \"bf16\"\n";
constexpr const char* kExperts = "use = \"mixtral-8x7b\"\ndtype = \"bf16\"\n";

Experiment experiment_of(const std::string& text) {
  return ExperimentFile::read_with_outline(parse_toml(text, "test"), "test").second;
}

std::string written(const char* model, const std::string& training) {
  return std::string("schema = 1\nsystem = \"h100-sxm-8\"\nnodes = 4\n[model]\n") + model +
         "[training]\nframework = \"megatron-core\"\nsequence = 4096\n" + training +
         "[measure]\nloss_split = false\n[strategy.default]\n";
}

/// A script of \p words, as somebody would save it, with what they leave out of \p model.
std::string script_of(const std::vector<std::string>& words, const char* model) {
  std::string script = "#!/bin/bash\n";
  for (const std::string& word : words)
    script += "'" + word + "' ";
  return script + (model == kExperts ? "--num-experts 8 --moe-router-topk 2\n" : "\n");
}

/// What \p script says of a step of \p model.
TrainingSetup read_back(const std::string& script, const char* model) {
  const FileFormat* const format = format_of(script);
  REQUIRE(format != nullptr);
  CHECK(format->name == "megatron-script");
  FileReading reading = format->read({.name = "launch.sh", .text = script});
  std::erase_if(reading.taken, [](const TakenKey& key) { return key.key.starts_with("model."); });
  std::erase_if(reading.assumed, [](const AssumedKey& key) { return key.key.starts_with("model."); });
  const std::vector<FileReading> readings = {reading};
  ExperimentDraft draft(readings);
  draft.put("system", "\"h100-sxm-8\"", "");
  draft.put("measure.loss_split", "false", "");
  draft.put_table("strategy.default");
  return training_of(experiment_of(draft.toml() + "[model]\n" + model));
}

}  // namespace

TEST_CASE("arguments for Megatron-LM, read back, make the layout that they were printed for") {
  struct Layout {
    const char* model;
    const char* training;
  };
  for (const Layout& layout : {
           Layout{kDense,
                  "micro_batch = 2\nglobal_batch = 128\nsharding = \"zero1\"\ntensor_parallel = 4\n"
                  "sequence_parallel = true\n"},
           Layout{
               kDense,
               "micro_batch = 1\nglobal_batch = 64\nsharding = \"zero1\"\ntensor_parallel = 2\npipeline = 4\n"},
           Layout{kDense,
                  "micro_batch = 1\nglobal_batch = 64\nsharding = \"zero1\"\npipeline = 4\nvirtual_stages = 2\n"
                  "recompute = \"full\"\n"},
           Layout{kDense,
                  "micro_batch = 1\nglobal_batch = 32\nsharding = \"zero1\"\ncontext_parallel = 2\n"
                  "recompute = \"attention\"\nparameter_gather = \"overlapped\"\n[framework]\n"
                  "overlaps_gradients = true\n"},
           Layout{kDense,
                  "micro_batch = 1\nglobal_batch = 64\nsharding = \"zero1\"\npipeline = 4\nvirtual_stages = 2\n"
                  "pipeline_messages = \"batched\"\n"},
           Layout{kDense,
                  "micro_batch = 1\nglobal_batch = 32\nsharding = \"zero1\"\nprecision = \"fp8_delayed\"\n"},
           Layout{kDense,
                  "micro_batch = 1\nglobal_batch = 64\nsharding = \"ddp\"\ntensor_parallel = 8\n"
                  "sequence_parallel = true\ntensor_overlap = \"user_buffers\"\n"},
           Layout{kExperts,
                  "micro_batch = 1\nglobal_batch = 64\nsharding = \"zero1\"\nexpert_parallel = 8\n"
                  "pipeline = 2\n"},
       }) {
    CAPTURE(layout.training);
    const Experiment experiment = experiment_of(written(layout.model, layout.training));
    const TrainingSetup& asked = training_of(experiment);
    const std::optional<LaunchArguments> launch = launch_arguments(asked, experiment.cluster);
    REQUIRE(launch);
    CAPTURE(script_of(launch->words, layout.model));
    TrainingSetup read = read_back(script_of(launch->words, layout.model), layout.model);
    CHECK(read.framework.overlaps_gradients == asked.framework.overlaps_gradients);
    read.framework = asked.framework;  // what arguments do not say has Megatron-LM's defaults
    CHECK(read.tensor_parallel == asked.tensor_parallel);
    CHECK(read.pipeline == asked.pipeline);
    CHECK(read.context == asked.context);
    CHECK(read.experts.ranks == asked.experts.ranks);
    CHECK(read.expert_tensor_parallel() == asked.expert_tensor_parallel());
    read.experts.tensor = asked.experts.tensor;  // written out, where it was left to its default
    CHECK(read.micro_batch == asked.micro_batch);
    CHECK(read.micro_batches == asked.micro_batches);
    CHECK(read.sharding == asked.sharding);
    CHECK(read.recompute == asked.recompute);
    CHECK(read == asked);
  }
}

}  // namespace c3::recipes_launch_test
