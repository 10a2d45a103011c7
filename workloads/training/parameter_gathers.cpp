#include "workloads/training/parameter_gathers.hpp"

#include <algorithm>
#include <utility>

namespace c3 { inline namespace workloads {

ParameterGathers::ParameterGathers(bool aligned, int stage, const std::vector<Chunk>& chunks, CallOf call,
                                   StepProgram& program, StepProgram::Stream gathers)
    : aligned_(aligned),
      stage_(static_cast<std::size_t>(stage)),
      call_(std::move(call)),
      program_(program),
      compute_(program.stream("compute")),
      gathers_(gathers) {
  for (const Chunk& chunk : chunks)
    add(chunk);
}

// Forward, a unit's numbers lie behind those of the units before it, and buckets come in reverse order.
void ParameterGathers::add(const Chunk& chunk) {
  std::vector<std::int64_t> ends;
  std::vector<Bucket>& buckets = buckets_.emplace_back();
  for (auto size = chunk.buckets.rbegin(); size != chunk.buckets.rend(); ++size) {
    buckets.push_back({.numbers = *size});
    ends.push_back((ends.empty() ? 0 : ends.back()) + *size);
  }
  first_passes_.push_back(chunk.of_stage.first_pass);
  const auto bucket_with = [&](std::int64_t number) {
    return static_cast<std::size_t>(std::ranges::upper_bound(ends, number) - ends.begin());
  };
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < chunk.numbers.size(); ++i) {
    const std::size_t unit = chunk.of_stage.units[i];
    const std::int64_t end = begin + chunk.numbers[i];
    places_.resize(std::max(places_.size(), unit + 1));
    if (end > begin) places_[unit] = Place{buckets_.size() - 1, bucket_with(begin), bucket_with(end - 1)};
    begin = end;
  }
}

void ParameterGathers::begin_step() {
  if (!aligned_) return;
  for (std::size_t chunk = 0; chunk < std::min<std::size_t>(2, buckets_.size()); ++chunk)
    launch_chunk(chunk);
}

void ParameterGathers::begin_forward(std::size_t number) {
  if (!aligned_) return;
  for (std::size_t chunk = 1; chunk + 1 < buckets_.size(); ++chunk)
    if (first_passes_[chunk] == number + stage_) launch_chunk(chunk + 1);
}

void ParameterGathers::before_forward(std::size_t unit) {
  if (unit >= places_.size() || !places_[unit]) return;
  const auto [chunk, first, last] = *places_[unit];
  std::vector<Bucket>& buckets = buckets_[chunk];
  for (std::size_t number = first; number <= last; ++number) {
    Bucket& bucket = buckets[number];
    if (std::exchange(bucket.is_awaited, true)) continue;
    launch(bucket);
    program_.wait(compute_, bucket.gathered);
    if (number + 1 < buckets.size()) launch(buckets[number + 1]);
  }
}

void ParameterGathers::launch_chunk(std::size_t chunk) {
  for (Bucket& bucket : buckets_[chunk])
    launch(bucket);
}

void ParameterGathers::launch(Bucket& bucket) {
  if (std::exchange(bucket.is_launched, true)) return;
  program_.order(compute_, gathers_, "parameters needed");
  program_.collective(gathers_, "parameters all_gather", call_(bucket.numbers));
  bucket.gathered = program_.record(gathers_, "parameters gathered");
}

}}  // namespace c3::workloads
