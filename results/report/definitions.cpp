#include <array>

#include <fmt/format.h>

#include "results/report/html.hpp"
#include "results/report/sections.hpp"

namespace c3 { inline namespace results {
namespace {

struct Definition {
  const char* term;
  const char* meaning;
};

constexpr std::array kDefinitions{
    Definition{
        "time",
        "From the release of the first operation to the end of the last. The median over seeds, and over "
        "draws of ranges when there are any, by nearest rank: it is the time of a run that was simulated."},
    Definition{"p5 - p95", "5th and 95th percentile over the same runs."},
    Definition{
        "bound",
        "Lower bound from physics: flops at the peak rate, bytes at the peak HBM rate and at the raw link "
        "rate, latencies. Kernels and collectives in turn for a serial strategy, at once for the others."},
    Definition{
        "alone",
        "The median of isolated runs: kernels, or collectives, with nothing beside them, under the backends, "
        "channels and partition of the strategy."},
    Definition{"together", "From release to completion in this strategy. Waiting is part of it."},
    Definition{"speedup", "Time of the serial strategy over time."},
    Definition{
        "ideal",
        "Kernels alone plus collectives alone, over the longer of the two, on the whole GPU with the default "
        "backend: the speedup of a perfect overlap."},
    Definition{"share",
               "(speedup - 1) / (ideal - 1). Above 100% when a backend is faster than the default one that "
               "defines ideal."},
    Definition{"CUs",
               "Compute units; SMs (streaming multiprocessors) on NVIDIA GPUs. In the table of times: how many "
               "CUs the "
               "best of the partitions tried reserves."},
    Definition{
        "loss",
        "Time beyond the longer side alone, both as printed. The strategy is run again with a private "
        "copy of a resource for each stream, in every combination; each resource's part is its Shapley value, "
        "so the parts add up. A negative part is time gained."},
    Definition{"dispatch", "Waiting behind another kernel's work groups for a slot."},
    Definition{"CUs (loss)", "Compute units given to the other side, and its lower clock."},
    Definition{"cache", "L2 and last-level cache filled by the other side."},
    Definition{"HBM", "HBM bandwidth used by the other side."},
    Definition{"links", "Links used by the other side."},
    Definition{"interaction",
               "What stays when no resource is shared, such as launch gaps; negative where the strategy's own "
               "backend or partition is faster than the isolated runs that make ideal."},
    Definition{"kernels run, collectives run",
               "While any work group of a kernel, or any channel or transfer of a "
               "collective, is in flight; on the GPU that ends last. Compute only, both and "
               "communication only come from unions and intersections of these intervals. Of a "
               "training step: from release to end, over the whole step, on GPU 0."},
    Definition{"training step",
               "The time of a step of many layers or micro-batches is that of fewer, once each more adds the "
               "same; its timeline shows those."},
    Definition{
        "MFU, HFU",
        "The time that the flops of the model, or of all products that run, take with each product at the "
        "peak of the type of its operands, over the time of the step."},
    Definition{"released, not yet running",
               "An operation may start, but its first work group, channel or copy has not."},
    Definition{"HBM, links out, copy engines (head)",
               "What the model of GPU 0 has: bytes a second of reads, of all links in "
               "the direction that sends while the other is idle, and of each engine."},
    Definition{"engines", "Copy (DMA) engines of the GPU, a lane for each that copies."},
    Definition{
        "share in use",
        "Used over available capacity: occupied CUs; bytes a second at HBM, whose capacity depends on "
        "the mix of reads and writes; payload a second on links, of what one direction carries while "
        "the other is idle. Each drawn step is the mean over 1/600 of the axis (1/300 for single links)."}};

}  // namespace

std::string definitions_section() {
  std::string items;
  for (const auto& [term, meaning] : kDefinitions)
    items += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(term), escaped(meaning));
  return "<section id=\"definitions\">\n<details><summary>What the words mean</summary>\n<dl>\n" + items +
         "</dl></details>\n</section>\n";
}

}}  // namespace c3::results
