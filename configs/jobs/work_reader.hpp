#pragma once
/// What an experiment runs: written streams, a step that c3sim makes, or a trace.

#include <map>
#include <string>

#include "configs/toml/section.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace configs {

/// How much of a training step is written.
enum class StepExtent {
  whole,
  sketch,   ///< a step that is as short as can be, once it is sure that the whole could be written
  outline,  ///< outlined_micro_batches() of it, while the experiment's family is that of the whole step
  stage,    ///< written_stage() of a pipeline, without a family; the outline of everything else
};

/// What strategies may say of the streams of some work.
struct StreamsOfWork {
  std::map<std::string, StreamPolicy> usual = {};  ///< policies of streams of which a strategy says nothing
  bool all_known = true;  ///< the program has every stream; false of one stage, and of a step without a program
  std::string never_serial = {};  ///< why they cannot run one after another; empty: they can
};

/// Streams that are written out, those of a step of [training], [recurrent] or [recommendation], or those of a
/// trace, as the program of \p experiment, whose cluster is known. \throws ConfigError
StreamsOfWork read_work(Section& root, const Sampling& sampling, StepExtent extent, Experiment& experiment);

}}  // namespace c3::configs
