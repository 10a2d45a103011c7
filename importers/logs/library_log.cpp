#include "importers/logs/library_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/small_letters.hpp"
#include "base/trimmed.hpp"
#include "importers/logs/log_lines.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kMessage = " NCCL INFO ";
constexpr std::string_view kVersion = "CCL version";  // NCCL or RCCL

/// NCCL's numbers of algorithms and protocols, as logs of 2.20 to 2.23 have them.
constexpr std::array<std::string_view, 7> kAlgorithmNames = {"tree", "ring",      "collnet", "collnet_chain",
                                                             "nvls", "nvls_tree", "pat"};
constexpr std::array<std::string_view, 3> kProtocolNames = {"ll", "ll128", "simple"};

template <std::size_t N>
std::string name_at(const std::array<std::string_view, N>& names, std::string_view word) {
  const auto number = whole_at<std::size_t>(word);
  if (number && *number < N) return std::string(names[*number]);
  const std::string name = in_small_letters(word);
  return name == "collnet_direct" ? "collnet" : name;
}

std::string_view first_word(std::string_view text) {
  const auto words = words_of(text);
  return words.empty() ? std::string_view() : words.front();
}

/// "2.27.3" of "2.27.3+cuda12.8".
std::string_view release_in(std::string_view text) {
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, std::min(text.find_first_not_of("0123456789.", begin), text.size()) - begin);
}

/// "NCCL 2.27.3" of a line that says its version; empty for others.
std::string library_in(std::string_view line) {
  const std::size_t at = line.find(kVersion);
  if (at == std::string_view::npos || at == 0 || (line[at - 1] != 'N' && line[at - 1] != 'R')) return {};
  const std::string_view said = line.substr(at + kVersion.size());
  const std::string_view release = release_in(said);
  if (release.find('.') == std::string_view::npos || said.find_first_not_of(" :") != said.find(release))
    return {};
  const bool is_rccl = line[at - 1] == 'R' || said.find("+hip") != std::string_view::npos;
  return fmt::format("{} {}", is_rccl ? "RCCL" : "NCCL", release);
}

/// One log on its way.
class LibraryLogReader {
 public:
  LibraryLog read(std::string_view text) {
    for_each_line(text, [this](std::uint32_t number, std::string_view whole) {
      line_ = number;
      const std::string_view line = without_launcher(whole);
      read_version(line);
      if (line.starts_with('#')) return read_remark(line);
      const std::size_t at = line.find(kMessage);
      if (at == std::string_view::npos) return;
      read_host(line.substr(0, at));
      read_message(line.substr(at + kMessage.size()));
    });
    return finish();
  }

 private:
  void read_version(std::string_view line) {
    if (log_.library.empty()) log_.library = library_in(line);
  }

  void read_remark(std::string_view line) {
    if (auto rank = logged_rank(line)) {
      if (listed_.emplace(rank->group, rank->rank).second) log_.devices.push_back(std::move(*rank));
      return;
    }
    for (const auto& [tests, name] : {std::pair("nccl", "NCCL"), std::pair("rccl", "RCCL")}) {
      if (const auto version = text_between(line, fmt::format("{}-tests version ", tests), ""))
        log_.tests_version = first_word(*version);
      const auto number = text_between(line, fmt::format("{}-library=", tests), "");
      const auto release =
          number ? version_of_number(whole_at<std::int64_t>(*number).value_or(0)) : std::nullopt;
      if (release && log_.library.empty()) log_.library = fmt::format("{} {}", name, *release);
    }
    read_launch(line);
  }

  void read_launch(std::string_view line) {
    const auto gpus = line.starts_with("# nThread ") ? text_between(line, " nGpus ", " ") : std::nullopt;
    if (!gpus) return;
    if (const auto count = whole_at(*gpus); count && *count > 0) log_.gpus_per_thread = count;
    const auto graph = text_between(line, " graph: ", "");
    if (const auto launches = graph ? whole_at(*graph) : std::nullopt) log_.graph_launches = *launches > 0;
  }

  /// "node-a:6899:6899 [0]", with a time before it where the user asked for one.
  void read_host(std::string_view prefix) {
    for (const std::string_view word : words_of(prefix)) {
      const std::size_t colon = word.find(':');
      const bool has_two =
          colon != std::string_view::npos && word.find(':', colon + 1) != std::string_view::npos;
      if (has_two && whole_at(word.substr(colon + 1))) log_.hosts.emplace(word.substr(0, colon));
    }
  }

  void read_message(std::string_view text) {
    read_communicator(text);
    read_channels(text);
    read_network(text);
    read_variable(text);
    read_choice(text);
  }

  void read_communicator(std::string_view text) {
    if (text.find("comm 0x") == std::string_view::npos) return;
    const auto said =
        text_between(text, text.find(" nRanks ") == std::string_view::npos ? " nranks " : " nRanks ", "");
    const auto ranks = said ? whole_at(*said) : std::nullopt;
    if (!ranks || *ranks < 1 || *ranks < log_.ranks.value_or(0)) return;
    if (ranks != log_.ranks) log_.nodes = std::nullopt;
    log_.ranks = ranks;
    const auto nodes = text_between(text, " nNodes ", "");
    if (const auto count = nodes ? whole_at(*nodes) : std::nullopt; count && *count > 0) log_.nodes = count;
    if (text.find(" MNNVL 1") != std::string_view::npos) log_.multi_node_nvlink = true;
  }

  void read_channels(std::string_view text) {
    if (text.find(" coll channels") != std::string_view::npos) {
      log_.channels = whole_at(text);
      for (const auto& [name, to] :
           {std::pair(" nvls channels", &log_.nvls_channels), std::pair(" p2p channels", &log_.p2p_channels)}) {
        const std::string_view before = text.substr(0, std::min(text.find(name), text.size()));
        const std::size_t comma = before.rfind(',');
        if (before.size() < text.size() && comma != std::string_view::npos)
          *to = whole_at(before.substr(comma + 1));
      }
    }
    if (const auto ring = text_between(text, "Channel ", " :");
        ring && text.find("->") == std::string_view::npos)
      if (const auto rings = text_between(*ring, "/", "")) log_.rings = whole_at(*rings);
    if (text.starts_with("Trees [")) log_.trees = static_cast<int>(std::ranges::count(text, '['));
    if (text.starts_with("Connected all rings")) log_.connected_rings = true;
    if (const auto multicast = text_between(text, "NVLS multicast support is ", ""))
      log_.nvls = multicast->starts_with("available");
  }

  void read_network(std::string_view text) {
    if (const auto network = text_between(text, "Using network ", "")) log_.network = trimmed(*network);
    if (const auto plugin = text_between(text, "NET/Plugin: Loaded net plugin ", ""))
      log_.plugins.emplace(trimmed(plugin->substr(0, plugin->rfind(" (v"))));
    const auto devices = text_between(text, "NET/IB : Using", "");
    if (!devices) return;
    for (std::string_view word : words_of(devices->substr(0, devices->find(';')))) {
      const std::size_t bracket = word.find(']');
      if (bracket != std::string_view::npos && word.find('/') != std::string_view::npos)
        log_.nics.emplace(word.substr(bracket + 1));
    }
  }

  void read_variable(std::string_view text) {
    for (const std::string_view words : {" set by environment to ", " set to "}) {
      const std::size_t at = text.find(words);
      if (at == std::string_view::npos || !is_library_variable(text.substr(0, at))) continue;
      std::string_view value = trimmed(text.substr(at + words.size()));
      if (value.ends_with('.')) value.remove_suffix(1);
      return set_variable(text.substr(0, at), value);
    }
    const auto reset = text_between(text, " reset to ", "");
    const std::size_t equals = reset ? reset->find('=') : std::string_view::npos;
    if (equals != std::string_view::npos && is_library_variable(reset->substr(0, equals)))
      set_variable(reset->substr(0, equals), trimmed(reset->substr(equals + 1)));
  }

  void set_variable(std::string_view name, std::string_view value) {
    log_.variables[std::string(name)] = {.value = std::string(value), .line = line_};
  }

  void read_choice(std::string_view text) {
    const std::size_t arrow = text.find(" Bytes -> ");
    if (arrow == std::string_view::npos) return;
    const std::size_t colon = text.substr(0, arrow).rfind(':');
    const std::string_view size = colon == std::string_view::npos ? text : text.substr(colon + 1);
    const auto bytes = whole_at<std::int64_t>(size);
    if (!bytes || *bytes < 1) return;
    LoggedChoice choice{.kind = std::nullopt,
                        .bytes = Bytes{static_cast<double>(*bytes)},
                        .algorithm = "",
                        .protocol = "",
                        .channels = std::nullopt,
                        .calls = 1,
                        .line = line_};
    if (colon != std::string_view::npos) choice.kind = collective_named(first_word(text.substr(0, colon)));
    const std::string_view how = text.substr(arrow);
    if (read_way(how, choice)) add(choice, how.find(" time ") == std::string_view::npos);
  }

  static bool read_way(std::string_view how, LoggedChoice& choice) {
    if (const auto algorithm = text_between(how, "Algo ", " proto ")) {
      choice.algorithm = logged_algorithm(*algorithm);
      choice.protocol = logged_protocol(first_word(*text_between(how, " proto ", "")));
      if (const auto range = text_between(how, "={", "}")) {
        const auto low = whole_at(*range), high = whole_at(text_between(*range, "..", "").value_or(""));
        if (low && high && *low >= 0 && *high >= *low && *high < kMostChannels)
          choice.channels = *high - *low + 1;
      }
      return true;
    }
    if (const auto kernel = text_between(how, "Kernel ", " nchannels ")) {
      choice.algorithm = fmt::format("symmetric ({})", *kernel);
      choice.channels = whole_at(*text_between(how, " nchannels ", ""));
      return true;
    }
    return false;
  }

  /// \param of_rank whether the size of an all-gather and a reduce-scatter is one rank's
  void add(const LoggedChoice& choice, bool of_rank) {
    const std::tuple key(choice.kind, choice.bytes, choice.algorithm, choice.protocol, choice.channels);
    const auto [found, is_new] = places_.try_emplace(key, log_.choices.size());
    if (!is_new) {
      ++log_.choices[found->second].calls;
      return;
    }
    log_.choices.push_back(choice);
    const bool has_shards =
        choice.kind == CollectiveKind::all_gather || choice.kind == CollectiveKind::reduce_scatter;
    if (of_rank && has_shards) shards_.push_back(found->second);
  }

  LibraryLog finish() {
    if (!log_.ranks && !log_.devices.empty()) log_.ranks = static_cast<int>(log_.listed_ranks());
    for (const std::size_t shard : shards_)
      log_.choices[shard].bytes = log_.choices[shard].bytes * static_cast<double>(log_.ranks.value_or(1));
    return std::move(log_);
  }

  static constexpr int kMostChannels = 1024;

  LibraryLog log_;
  std::uint32_t line_ = 0;
  std::map<std::tuple<std::optional<CollectiveKind>, Bytes, std::string, std::string, std::optional<int>>,
           std::size_t>
      places_;
  std::set<std::pair<int, int>> listed_;  ///< devices, by group and rank
  std::vector<std::size_t> shards_;       ///< choices whose size is one rank's
};

}  // namespace

std::size_t LibraryLog::listed_ranks() const {
  const auto is_in_first = [this](const LoggedRank& device) { return device.group == devices.front().group; };
  return static_cast<std::size_t>(std::ranges::count_if(devices, is_in_first));
}

std::size_t LibraryLog::host_count() const {
  std::set<std::string_view> names;
  for (const LoggedRank& device : devices)
    if (device.group == devices.front().group) names.insert(device.host);
  // A single host does not count: the others may print elsewhere.
  const bool is_whole = names.empty() && hosts.size() > 1;
  return is_whole ? hosts.size() : names.size();
}

std::string LibraryLog::gpu() const {
  std::set<std::string> names;
  for (const LoggedRank& device : devices)
    if (!device.gpu.empty()) names.insert(device.gpu);
  return names.size() == 1 ? *names.begin() : std::string();
}

bool LibraryLog::has_facts() const {
  return !library.empty() || !devices.empty() || ranks || !hosts.empty() || !variables.empty();
}

bool is_library_log(std::string_view text) {
  if (text.find(kMessage) != std::string_view::npos) return true;
  bool found = false;
  for_each_line(text, [&](std::uint32_t, std::string_view whole) {
    const std::string_view line = without_launcher(whole);
    const bool begins = line.starts_with("NCCL version") || line.starts_with("RCCL version");
    found = found || (begins && !library_in(line).empty());
  });
  return found;
}

LibraryLog read_library_log(std::string_view text) { return LibraryLogReader().read(text); }

std::optional<LoggedRank> logged_rank(std::string_view line) {
  if (!line.starts_with('#')) return std::nullopt;
  const auto rank = text_between(line, " Rank ", " on ");
  const auto where = text_between(line, " on ", "");
  const auto number = rank ? whole_at(*rank) : std::nullopt;
  if (!number || *number < 0 || where->find(" device ") == std::string_view::npos) return std::nullopt;
  LoggedRank read{.rank = *number, .group = 0, .host = std::string(first_word(*where)), .gpu = ""};
  if (const auto group = text_between(*rank, " Group ", "")) read.group = whole_at(*group).value_or(0);
  if (const auto name = text_between(*where, "] ", "")) read.gpu = trimmed(*name);
  return read;
}

std::string logged_algorithm(std::string_view word) { return name_at(kAlgorithmNames, word); }

std::string logged_protocol(std::string_view word) { return name_at(kProtocolNames, word); }

bool is_library_variable(std::string_view name) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return (name.starts_with("NCCL_") || name.starts_with("RCCL_")) &&
         name.find_first_not_of(kLetters) == std::string_view::npos;
}

std::optional<std::string> version_of_number(std::int64_t number) {
  constexpr std::int64_t kOld = 10'000;  // before NCCL 2.9: 2804 is 2.8.4
  constexpr std::int64_t kLast = 1'000'000;
  if (number < 1'000 || number >= kLast) return std::nullopt;
  const std::int64_t major = number < kOld ? number / 1'000 : number / kOld;
  const std::int64_t rest = number < kOld ? number % 1'000 : number % kOld;
  return fmt::format("{}.{}.{}", major, rest / 100, rest % 100);
}

}}  // namespace c3::importers
