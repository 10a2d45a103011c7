#include "importers/machines/ib_ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>
#include <utility>

#include "importers/machines/text_lines.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr int kMostPorts = 4096;

/// Gb/s of data of one lane, encoding taken off, by the name that linux-rdma/rdma-core prints
/// (libibmad/dump.c at 7237cedf). Source: InfiniBand Trade Association, roadmap.
struct LaneRate {
  std::string_view name;
  double gigabits;
};
constexpr auto kLaneRates = std::to_array<LaneRate>({{"SDR", 2},
                                                     {"DDR", 4},
                                                     {"QDR", 8},
                                                     {"FDR10", 10},
                                                     {"FDR", 13.64},
                                                     {"EDR", 25},
                                                     {"HDR", 50},
                                                     {"NDR", 100},
                                                     {"XDR", 200}});

/// What is in the first quotes of \p text; nothing where there are none.
std::string_view quoted(std::string_view text) {
  const std::size_t open = text.find('"');
  if (open == std::string_view::npos) return {};
  const std::size_t close = text.find('"', open + 1);
  return close == std::string_view::npos ? std::string_view() : text.substr(open + 1, close - open - 1);
}

class PortReader {
 public:
  explicit PortReader(const ForeignFile& file) : lines_(file.text, file.name) {}

  std::vector<IbSwitch> read() && {
    while (lines_.next())
      read_line();
    add_unknown_peers(switches_, lines_.begin(), mistakes_);
    if (!mistakes_.empty()) throw ConfigError(mistakes_);
    return std::move(switches_);
  }

 private:
  void fail(std::string_view part, std::string_view key, std::string_view message) {
    if (mistakes_.size() < kMostIbMistakes) mistakes_.emplace_back(lines_.place(part), key, message);
  }

  void read_line() {
    const auto& words = lines_.words();
    if (words.empty() || words.front().starts_with('#')) return;
    const std::string_view first = words.front();
    if (first == "Switch")
      begin_switch();
    else if (first == "Ca" || first == "Rt")
      is_in_switch_ = false;
    else if (first.starts_with('[') && is_in_switch_)
      read_port(first);
  }

  void begin_switch() {
    const std::string_view id = quoted(lines_.line());
    is_in_switch_ = true;
    ports_.clear();
    if (!id.starts_with("S-"))
      fail(lines_.words().front(), "Switch", "must read as: Switch 36 \"S-0002c9..\" # ..");
    if (!ids_.insert(id).second)
      fail(lines_.words().front(), "Switch", fmt::format("'{}' has a section already", id));
    switches_.push_back({.id = id, .origin = lines_.place(lines_.words().front())});
  }

  /// `[2] "H-0002c903.."[1](2c903..) # "node01 HCA-1" lid 5 4xQDR`
  void read_port(std::string_view first) {
    const std::size_t close = first.find(']');
    const int number =
        close == std::string_view::npos ? -1 : whole_number(first.substr(1, close - 1), kMostPorts);
    const std::string_view line = lines_.line();
    const std::size_t comment = std::min(line.find('#'), line.size());
    const std::string_view peer = quoted(line.substr(0, comment));
    const bool is_switch = peer.starts_with("S-");
    const bool is_whole = number >= 0 && (is_switch || peer.starts_with("H-") || peer.starts_with("R-"));
    const std::optional<double> rate = last_rate();
    if (!is_whole || !rate) {
      fail(first, "port",
           "must read as: [2] \"H-0002c903..\"[1] # \"node01 HCA-1\" lid 5 4xNDR; the file may end too early");
      return;
    }
    if (!ports_.insert(number).second) fail(first, "port", fmt::format("{} is listed already", number));
    const std::string_view description = quoted(line.substr(comment));
    switches_.back().ports.push_back(
        {.peer = peer,
         .host = description.substr(0, description.find(' ')),
         .gigabits = *rate,
         .is_switch = is_switch,
         .reduces = description.find("Aggregation Node") != std::string_view::npos});
  }

  /// Behind the rate come words such as "s=4" with --full.
  std::optional<double> last_rate() const {
    const auto& words = lines_.words();
    const auto found = std::find_if(words.rbegin(), words.rend(), ib_rate);
    return found == words.rend() ? std::nullopt : ib_rate(*found);
  }

  TextLines lines_;
  std::vector<IbSwitch> switches_;
  std::unordered_set<std::string_view> ids_;
  std::unordered_set<int> ports_;  ///< ports of the switch that is being read
  bool is_in_switch_ = false;
  std::vector<ConfigError> mistakes_;
};

}  // namespace

std::optional<double> ib_rate(std::string_view word) {
  const std::size_t by = word.find('x');
  if (by == std::string_view::npos) return std::nullopt;
  constexpr int kMostLanes = 12;
  const int lanes = whole_number(word.substr(0, by), kMostLanes);
  const auto* const lane = std::ranges::find(kLaneRates, word.substr(by + 1), &LaneRate::name);
  if (lanes < 1 || lane == kLaneRates.end()) return std::nullopt;
  return lanes * lane->gigabits;
}

void add_unknown_peers(const std::vector<IbSwitch>& switches, const Origin& begin,
                       std::vector<ConfigError>& mistakes) {
  std::unordered_set<std::string_view> known;
  for (const IbSwitch& one : switches)
    known.insert(one.id);
  for (const IbSwitch& one : switches) {
    for (const IbPort& port : one.ports) {
      if (!port.is_switch || known.contains(port.peer) || mistakes.size() >= kMostIbMistakes) continue;
      mistakes.emplace_back(
          one.origin, one.id,
          fmt::format("'{}' at one of its ports is not in the file, which may end too early", port.peer));
    }
  }
  if (switches.empty()) mistakes.emplace_back(begin, "Switch", "the file has none");
}

std::vector<IbSwitch> read_ib_switches(const ForeignFile& file) { return PortReader(file).read(); }

}}  // namespace c3::importers
