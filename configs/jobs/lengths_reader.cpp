#include "configs/jobs/lengths_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "configs/presets/document.hpp"
#include "configs/tables/length_table.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::int64_t kMostSequences = 10'000'000;  // sequences in an epoch
constexpr std::int64_t kMostTokens = 16'777'216;     // tokens in a sequence
constexpr std::int64_t kMostCount = 1LL << 32;
constexpr double kMostDeviation = 4.0;

constexpr auto kKeys = std::to_array<KeyText>({
    {"sequences", "sequences of an epoch; default: the sum of the counts"},
    {"lognormal", "lengths are drawn from a log-normal"},
    {"histogram", "pairs of a length and its count"},
    {"file", "a CSV file with a column length and perhaps one of counts"},
    {"shortest", "tokens to which shorter ones are padded", std::int64_t{1}},
    {"longest", "tokens to which longer ones are cut; default: training.sequence"},
    {"multiple", "tokens to a multiple of which iterations are padded", std::int64_t{1}},
    {"batches",
     "padded: in any order, as long as the longest of an iteration; sorted: by length; packed: joined",
     std::string_view("padded")},
    {"document_mask", "packed: whether tokens see only their own sequence", false},
});

std::int64_t whole_number(const Node& node, std::int64_t most, const std::string& key) {
  const auto* number = std::get_if<std::int64_t>(&node.value);
  if (number == nullptr || *number < 1 || *number > most)
    throw ConfigError(node.origin, key, fmt::format("must be a whole number from 1 to {}", most));
  return *number;
}

std::vector<LengthCount> read_histogram(Section& section) {
  const Rule pair = {ListRule{std::make_shared<Rule>(Rule{IntegerRule{1, kMostCount}})}};
  const Node& written = section.node("histogram", {ListRule{std::make_shared<Rule>(pair)}});
  if (section.is_rehearsal()) return {};
  const std::string key = section.dotted("histogram");
  const Array* pairs = written.array();
  if (pairs == nullptr || pairs->empty())
    section.fail("histogram", "must be a list of pairs of a length and a count, as in [[128, 3], [512, 1]]");
  std::vector<LengthCount> histogram;
  for (const Node& node : *pairs) {
    const Array* numbers = node.array();
    if (numbers == nullptr || numbers->size() != 2)
      throw ConfigError(node.origin, key, "must be a pair of a length and a count, as in [128, 3]");
    histogram.push_back(
        {whole_number(numbers->front(), kMostTokens, key), whole_number(numbers->back(), kMostCount, key)});
  }
  return histogram;
}

LogNormalLengths read_lognormal(Section& section) {
  Section table = section.table("lognormal");
  LogNormalLengths lognormal{.median = table.fraction("median", static_cast<double>(kMostTokens), 1.0),
                             .deviation = table.fraction("deviation", kMostDeviation)};
  table.explain("median", "tokens");
  table.explain("deviation", "of the logarithm");
  table.finish();
  return lognormal;
}

/// Exactly one of the three keys that say what lengths there are.
void read_source(Section& section, SequenceLengths& job) {
  constexpr std::array<std::string_view, 3> kSources{"lognormal", "histogram", "file"};
  const auto given = [&](std::string_view key) { return section.has(key); };
  const std::array<bool, 3> is_there{given(kSources[0]), given(kSources[1]), given(kSources[2])};
  if (std::ranges::count(is_there, true) != 1)
    section.refuse(is_there[1] ? "histogram" : "lognormal",
                   "exactly one of lognormal, histogram and file must say what lengths there are");
  if (is_there[0]) job.lognormal = read_lognormal(section);
  if (is_there[1]) job.histogram = read_histogram(section);
  if (is_there[2]) {
    const std::string file = section.text("file");
    if (!section.is_rehearsal()) job.histogram = read_length_counts(file);
  }
}

std::int64_t counted(const SequenceLengths& job) {
  std::int64_t sum = 0;
  for (const LengthCount& one : job.histogram)
    sum += one.count;
  return sum;
}

/// \param key of the sequence that a step takes
SequenceLengths read_job(Section& section, std::int64_t sequence, std::string_view key) {
  SequenceLengths job{.lognormal = {}, .longest = sequence};
  section.gather_conflicts();
  read_source(section, job);
  const bool says_sequences = section.has("sequences");
  if (says_sequences) job.sequences = section.integer("sequences", 1, kMostSequences);
  if (!says_sequences && job.lognormal) section.refuse("lognormal", "requires sequences, how many are drawn");
  if (!says_sequences) job.sequences = counted(job);
  if (!section.is_rehearsal() && job.sequences > kMostSequences)
    section.fail("sequences",
                 fmt::format("must not exceed {} (the counts add up to {})", kMostSequences, job.sequences));
  if (section.has("shortest")) job.shortest = section.integer("shortest", 1, kMostTokens);
  if (section.has("longest")) job.longest = section.integer("longest", 1, kMostTokens);
  if (section.has("multiple")) job.multiple = section.integer("multiple", 1, kMostTokens);
  if (section.has("batches")) job.batches = section.choice<LengthBatches>("batches");
  if (section.has("document_mask")) job.document_mask = section.flag("document_mask");
  if (job.document_mask && job.batches != LengthBatches::packed)
    section.refuse("document_mask",
                   fmt::format("requires batches = \"packed\" (it is \"{}\")", name_of(job.batches)));
  if (job.longest > sequence)
    section.refuse("longest", fmt::format("must not exceed {}, which is {}", key, sequence));
  if (job.shortest > job.longest)
    section.refuse("shortest", fmt::format("must not exceed longest, which is {}", job.longest));
  if (sequence % job.multiple != 0)
    section.refuse("multiple", fmt::format("must divide {}, which is {}", key, sequence));
  section.explain(kKeys);
  section.finish();
  return job;
}

/// \param key of \p sequence, for errors
std::optional<SequenceLengths> read_table(Section& root, std::int64_t sequence, std::string_view key) {
  const bool is_there = root.has("workload");
  root.explain("workload", "what a whole job runs (c3sim sample epoch)");
  if (!is_there) return std::nullopt;
  Section workload = root.table("workload");
  Section section = workload.table("lengths");
  workload.explain("lengths", "how long the sequences of a training job are");
  workload.finish();
  return read_job(section, sequence, key);
}

}  // namespace

void place_lengths(Table& root) {
  Node* workload = root.find("workload");
  Node* lengths =
      workload == nullptr || workload->table() == nullptr ? nullptr : workload->table()->find("lengths");
  Node* file = lengths == nullptr || lengths->table() == nullptr ? nullptr : lengths->table()->find("file");
  if (file != nullptr) place_path(*file);
}

std::optional<SequenceLengths> read_lengths(Section& root, std::int64_t sequence) {
  return read_table(root, sequence, "training.sequence");
}

std::optional<SequenceLengths> read_lengths(Section& root, const RecurrentJob& job) {
  const auto lengths = read_table(root, job.sequence, "recurrent.sequence");
  if (lengths && lengths->batches == LengthBatches::packed)
    root.refuse("workload", "batches = \"packed\" requires [training]");
  return lengths;
}

}}  // namespace c3::configs
