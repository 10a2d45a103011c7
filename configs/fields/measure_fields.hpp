#pragma once
/// Keys of [measure] in an experiment.

#include "configs/fields/field.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace configs {

inline constexpr std::int64_t kMostRuns = 1000;
inline constexpr double kLargestSeed = 9'007'199'254'740'991.0;  // 2^53 - 1, which a double still holds

inline constexpr auto kMeasureFields = std::to_array<Field<Measure>>({
    number<&Measure::seeds>("seeds", {1, kMostRuns},
                            "repetitions with other work-group times; default: 8, 1 of steps and several nodes")
        .by_others(),
    number<&Measure::draws>("draws", {0, kMostRuns},
                            "draws of every number that is a range; 0 takes nominal values")
        .optional(),
    number<&Measure::seed>("seed", {0, kLargestSeed}, "random seed of `seeds` and `draws`").optional(),
    plain_flag<&Measure::loss_split>("loss_split",
                                     "whether to split losses; default: true, false for training steps")
        .by_others(),
    plain_flag<&Measure::alone>("alone", "whether kernels and collectives run alone, too, which ideal needs")
        .optional(),
    choice<&Measure::kernel_grain>("kernel_grain",
                                   "how finely kernels are simulated; default: cohort, auto for steps")
        .by_others(),
    choice<&Measure::vector_grain>("vector_grain",
                                   "the same of other kernels; default: kernel_grain, fluid for steps")
        .by_others(),
    choice<&Measure::collective_grain>("collective_grain", "how finely collectives are simulated").optional(),
    choice<&Measure::memory_grain>("memory_grain", "whether HBM is one bandwidth or channels, by address")
        .optional(),
    choice<&Measure::estimate>("estimate", "what stands for the rest: nothing, steady layers, sampled kernels")
        .optional(),
    number<&Measure::estimate_error>("estimate_error", {1e-4, 0.5},
                                     "error that \"stem\" may make of the time, relative, at 95 %")
        .optional(),
    choice<&Measure::fold>(
        "fold",
        "ranks that are simulated: all (none), one of each class, of mean (mean) or equal (exact) loads")
        .optional(),
});
static_assert(member_count<Measure>() == kMeasureFields.size());

}}  // namespace c3::configs
