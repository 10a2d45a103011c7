#include "workloads/training/stage_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>

namespace c3 { inline namespace workloads {
namespace {

template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) {
  throw std::invalid_argument(fmt::format(text, std::forward<Values>(values)...));
}

/// A layout in the language of Megatron-Core's pipeline_model_parallel_layout: virtual stages separated by
/// `|`, of which each is E (embedding), t (a layer) and L (loss), in this order; `x*3` and `(x)*3` repeat.
/// Commas may stand between.
class LayoutReader {
 public:
  explicit LayoutReader(std::string_view text) : rest_(text), whole_(text) {}

  /// Letters, one by one.
  std::string expanded() {
    std::string letters = sequence();
    if (!rest_.empty()) fail(fmt::format("'{}' is not expected", rest_.front()));
    return letters;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    refuse("layout '{}': {}; allowed are E, t, L, |, (..) and a repetition such as t*3", whole_, what);
  }

  std::string sequence() {
    std::string letters;
    while (!rest_.empty() && rest_.front() != ')') {
      const char next = rest_.front();
      rest_.remove_prefix(1);
      if (next == ',') continue;
      if (next != '(' && std::string_view("EtL|").find(next) == std::string_view::npos)
        fail(fmt::format("'{}' is not expected", next));
      letters += repeated(next == '(' ? in_parentheses() : std::string(1, next));
    }
    return letters;
  }

  std::string in_parentheses() {
    std::string inner = sequence();
    if (rest_.empty()) fail("a parenthesis is not closed");
    rest_.remove_prefix(1);
    return inner;
  }

  std::string repeated(const std::string& letters) {
    if (!rest_.starts_with('*')) return letters;
    rest_.remove_prefix(1);
    constexpr std::size_t kMost = 65'536;
    std::size_t times = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), times);
    if (error != std::errc{} || times == 0 || times * letters.size() > kMost)
      fail("a number of repetitions from 1 to 65536 must follow '*'");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    std::string all;
    for (std::size_t i = 0; i < times; ++i)
      all += letters;
    return all;
  }

  std::string_view rest_, whole_;
};

/// One for each virtual stage, in the order of layers.
std::vector<StageChunk> written_out(const std::string& layout, std::int64_t layers) {
  std::vector<StageChunk> chunks(1);
  std::int64_t next = 0;
  char before = 'E';
  const std::string letters = LayoutReader(layout).expanded();
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const char letter = letters[i];
    if (letter == 'E' && i > 0) refuse("layout '{}': E must be the first letter", layout);
    if (before == 'L') refuse("layout '{}': L must be the last letter", layout);
    before = letter;
    if (letter == '|') chunks.push_back({.first = next});
    if (letter == 'E') chunks.back().embedding = true;
    if (letter == 'L') chunks.back().head = true;
    if (letter != 't') continue;
    ++chunks.back().layers;
    ++next;
  }
  if (!chunks.front().embedding) refuse("layout '{}': lacks E, the embedding", layout);
  if (!chunks.back().head) refuse("layout '{}': lacks L, the loss", layout);
  if (next != layers) refuse("layout '{}' has {} layers, and the model has {}", layout, next, layers);
  return chunks;
}

/// Layers of each stage: of the first and the last as given, of the others alike. The embedding and the loss
/// count where they are in the split.
std::vector<std::int64_t> layers_by_stage(const PipelineSetup& pipeline, std::int64_t layers) {
  const std::int64_t stages = pipeline.stages;
  const std::int64_t counted = layers + static_cast<std::int64_t>(pipeline.embedding_in_split) +
                               static_cast<std::int64_t>(pipeline.loss_in_split);
  const bool gives_first = pipeline.first_layers > 0, gives_last = pipeline.last_layers > 0;
  const std::int64_t given = pipeline.first_layers + pipeline.last_layers;
  const std::int64_t others =
      stages - static_cast<std::int64_t>(gives_first) - static_cast<std::int64_t>(gives_last);
  const std::int64_t rest = counted - given;
  if (rest < others || (others == 0 && rest != 0))
    refuse("{} layers are too few, or too many, for {} stages of which {} are given {}", layers, stages,
           stages - others, given);
  if (others > 0 && rest % others != 0)
    refuse("{} layers (embedding and loss counted where they are in the split) do not divide among {} stages",
           rest, others);
  std::vector<std::int64_t> by_stage(static_cast<std::size_t>(stages), others > 0 ? rest / others : 0);
  if (gives_first) by_stage.front() = pipeline.first_layers;
  if (gives_last) by_stage.back() = pipeline.last_layers;
  return by_stage;
}

/// One for each virtual stage, in the order of layers; \p place_of finds its stage.
template <class StageOf>
std::vector<StageChunk> divided(const PipelineSetup& pipeline, std::int64_t layers, StageOf stage_of) {
  const std::vector<std::int64_t> by_stage = layers_by_stage(pipeline, layers);
  const int all = pipeline.stages * pipeline.virtual_stages;
  std::vector<StageChunk> chunks;
  std::int64_t next = 0;
  for (int number = 0; number < all; ++number) {
    const std::int64_t of_stage = by_stage[static_cast<std::size_t>(stage_of(number))];
    if (of_stage % pipeline.virtual_stages != 0)
      refuse("{} layers of a stage do not divide among {} virtual stages", of_stage, pipeline.virtual_stages);
    StageChunk chunk{.embedding = number == 0,
                     .first = next,
                     .layers = of_stage / pipeline.virtual_stages,
                     .head = number + 1 == all};
    chunk.layers -= static_cast<std::int64_t>(chunk.embedding && pipeline.embedding_in_split);
    chunk.layers -= static_cast<std::int64_t>(chunk.head && pipeline.loss_in_split);
    next += chunk.layers;
    chunks.push_back(chunk);
  }
  return chunks;
}

}  // namespace

std::vector<std::vector<StageChunk>> stage_layers(const PipelineSetup& pipeline, std::int64_t layers) {
  const int stages = pipeline.stages;
  const auto stage_of = [&](int number) {
    const int within = number % stages;
    const bool turns_back = pipeline.schedule == ScheduleKind::zb_v && number / stages % 2 == 1;
    return turns_back ? stages - 1 - within : within;
  };
  const std::vector<StageChunk> chunks =
      pipeline.layout.empty() ? divided(pipeline, layers, stage_of) : written_out(pipeline.layout, layers);
  const auto wanted = static_cast<std::size_t>(stages * pipeline.virtual_stages);
  if (chunks.size() != wanted)
    refuse("layout '{}' has {} virtual stages, and pipeline x virtual_stages is {}", pipeline.layout,
           chunks.size(), wanted);
  std::vector<std::vector<StageChunk>> by_stage(static_cast<std::size_t>(stages));
  for (std::size_t number = 0; number < chunks.size(); ++number)
    by_stage[static_cast<std::size_t>(stage_of(static_cast<int>(number)))].push_back(chunks[number]);
  if (pipeline.schedule == ScheduleKind::dualpipe) {
    for (std::size_t stage = 0; stage < chunks.size(); ++stage)
      by_stage[stage].push_back(chunks[chunks.size() - 1 - stage]);
  }
  return by_stage;
}

}}  // namespace c3::workloads
