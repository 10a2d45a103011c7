/// What `c3sim collective --table` took from a job's log, and where what is simulated differs from it.

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/collective/collective_rows.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace app {
namespace {

std::string here_of(const CollectiveRow& row) {
  return fmt::format("{} {}, {} channels", name_of(row.how.method.algorithm), name_of(row.how.method.protocol),
                     row.here.channels);
}

/// Whether the log's library ran \p row in another way. Kernels on registered buffers have many names.
bool differs(const CollectiveRow& row) {
  if (row.logged == nullptr) return false;
  const std::string_view here = name_of(row.how.method.algorithm);
  constexpr std::string_view kSymmetric = "symmetric";
  if (row.logged->algorithm.starts_with(kSymmetric)) return !here.starts_with(kSymmetric);
  return row.logged->algorithm != here || row.logged->protocol != name_of(row.how.method.protocol) ||
         (row.logged->channels && *row.logged->channels != row.here.channels);
}

std::string size_text(Bytes bytes) { return fmt::format("{:g} MB", bytes / 1.0_MB); }

/// Sizes at which methods differ, in one sentence. Empty where they do not.
std::string different_methods(const CollectiveRows& found) {
  std::size_t logged = 0, different = 0, channels_alone = 0;
  const CollectiveRow* largest = nullptr;
  for (const CollectiveRow& row : found.rows) {
    logged += row.logged != nullptr ? 1U : 0U;
    if (!differs(row)) continue;
    ++different;
    const bool same_method = row.logged->algorithm == name_of(row.how.method.algorithm) &&
                             row.logged->protocol == name_of(row.how.method.protocol);
    channels_alone += same_method ? 1U : 0U;
    largest = &row;
  }
  if (largest == nullptr) return "";
  const std::string alone =
      channels_alone > 0 ? fmt::format(" ({} of them in channels alone)", channels_alone) : "";
  return fmt::format("its library ran {} of {} sizes in another way{}; {} as {}, here as {}", different, logged,
                     alone, size_text(largest->call.bytes), words_of(largest->logged), here_of(*largest));
}

}  // namespace

std::string words_of(const LoggedChoice* choice) {
  if (choice == nullptr) return "-";
  std::string text = choice->algorithm;
  if (!choice->protocol.empty()) text += ' ' + choice->protocol;
  if (choice->channels) text += fmt::format(", {} channels", *choice->channels);
  return text;
}

const LoggedChoice* logged_choice(const CollectiveRequest& request, const Wish& wish,
                                  const CollectiveCall& call) {
  if (!request.file || wish.algorithm || wish.protocol || wish.mover.backend != Backend::cu) return nullptr;
  const LoggedChoice* found = nullptr;
  for (const LoggedChoice& choice : request.file->log.choices) {
    const bool fits = choice.bytes == call.bytes && (!choice.kind || *choice.kind == call.kind);
    if (fits && (found == nullptr || choice.calls > found->calls)) found = &choice;
  }
  return found;
}

std::vector<std::string> differences_of(const CollectiveRequest& request, const CollectiveRows& found) {
  if (!request.file) return {};
  std::vector<std::string> clauses = request.logged.differences;
  if (std::string methods = different_methods(found); !methods.empty()) clauses.push_back(std::move(methods));
  std::vector<std::string> sentences;
  for (const std::string& clause : clauses)
    sentences.push_back(fmt::format("{} differs from what is simulated: {}", request.file->name, clause));
  return sentences;
}

std::string logged_text(const CollectiveRequest& request, const CollectiveRows& found) {
  const LoggedSetup& logged = request.logged;
  const std::vector<std::string> differences = differences_of(request, found);
  std::string text;
  if (!logged.taken.empty() || !logged.assumed.empty()) {
    TextTable table({"key", "value", "from " + (request.file ? request.file->name : std::string())});
    for (const TakenKey& taken : logged.taken)
      table.add({taken.key, taken.value, taken.from});
    for (const AssumedKey& assumed : logged.assumed)
      table.add({assumed.key, assumed.value, "assumed: " + assumed.why});
    text += "\n" + table.text();
  }
  std::vector<std::string> ignored;
  for (const IgnoredKey& key : logged.ignored)
    ignored.push_back(fmt::format("{} ({})", key.from, key.why));
  if (!ignored.empty()) text += fmt::format("\nignored: {}\n", fmt::join(ignored, ", "));
  if (!differences.empty()) text += fmt::format("\n{}\n", fmt::join(differences, "\n"));
  return text;
}

Json logged_json(const CollectiveRequest& request, const CollectiveRows& found) {
  Json taken = Json::array(), assumed = Json::array(), ignored = Json::array();
  for (const TakenKey& key : request.logged.taken)
    taken.push_back({{"key", key.key}, {"value", key.value}, {"from", key.from}});
  for (const AssumedKey& key : request.logged.assumed)
    assumed.push_back({{"key", key.key}, {"value", key.value}, {"why", key.why}});
  for (const IgnoredKey& key : request.logged.ignored)
    ignored.push_back({{"from", key.from}, {"why", key.why}});
  return {{"taken", taken},
          {"assumed", assumed},
          {"ignored", ignored},
          {"differences", Json(differences_of(request, found))}};
}

}}  // namespace c3::app
