#include "configs/jobs/strategy_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <ranges>
#include <vector>

namespace c3 { inline namespace configs {
namespace {

constexpr int kHighestPriority = 7;

template <class Values>
auto named(const Values& values) {
  std::vector<std::pair<std::string_view, std::ranges::range_value_t<Values>>> pairs;
  for (const auto& value : values)
    pairs.emplace_back(name_of(value), value);
  return pairs;
}

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "best 8..128"
std::optional<CuShare> swept_share(std::string_view text) {
  constexpr std::string_view kBest = "best ";
  const std::size_t dots = text.find("..");
  if (!text.starts_with(kBest) || dots == std::string_view::npos) return std::nullopt;
  const auto low = whole_number(text.substr(kBest.size(), dots - kBest.size()));
  const auto high = whole_number(text.substr(dots + 2));
  if (!low || !high) return std::nullopt;
  return CuShare{*low, *high};
}

constexpr auto kStrategyKeys = std::to_array<KeyText>({
    {"serial", "whether streams run one after another", false},
    {"order", "order in which streams enqueue at time 0; default: as defined"},
    {"hbm_arbitration", "how HBM bandwidth is divided here; default: the GPU's"},
});

const auto kPolicyKeys = std::to_array<KeyText>({
    {"cus", "CUs (SMs) reserved for the stream, or \"best LOW..HIGH\"; default: none"},
    {"reserve_cus", "CUs that the stream leaves unused", std::int64_t{0}},
    {"priority", "queue priority, larger first", std::int64_t{0}},
    {"kernel_selection", "part of the GPU for which its kernels are tuned",
     name_of(StreamPolicy{}.kernel_selection)},
    {"backend", "what moves its collectives: CUs, copy engines, the kernel before",
     name_of(StreamPolicy{}.backend)},
    {"dma", "commands of copy engines; implies backend = \"dma\"", name_of(DmaOptions{}.variant)},
    {"prelaunch", "whether commands are queued ahead; implies backend = \"dma\"", DmaOptions{}.prelaunch},
    {"dma_host", "host threads that feed copy engines; implies backend = \"dma\"", name_of(DmaOptions{}.host)},
    {"reduction", "what adds the stores of fused collectives; implies backend = \"fused\"",
     name_of(FusedReduction::near_memory)},
    {"algorithm", "algorithm (c3sim list collectives); default: the library's choice"},
    {"protocol", "protocol of its collectives' channels; default: the library's choice"},
    {"channels", "most channels of a collective; default: the library's"},
    {"min_channels", "fewest channels of a collective; default: the library's"},
});

class StrategyReader {
 public:
  StrategyReader(const std::vector<std::string>& streams, const StreamsOfWork& work, const GpuSpec& gpu)
      : streams_(streams), work_(work), gpu_(gpu) {}

  Strategy read(const std::string& name, Section section) const {
    Strategy strategy;
    strategy.name = name;
    if (section.has("serial")) strategy.serial = section.flag("serial");
    if (strategy.serial && !work_.never_serial.empty()) section.refuse("serial", work_.never_serial);
    if (section.has("order")) strategy.order = read_order(section);
    if (section.has("hbm_arbitration"))
      strategy.hbm_arbitration = section.choice<HbmArbitration>("hbm_arbitration");
    section.explain(kStrategyKeys);
    for (const ChosenKey& key : section.chosen_keys()) {
      section.explain(key.name, "what the strategy decides for the stream of this name");
      if (!may_be_stream(key.name)) {
        throw ConfigError(key.origin, section.dotted(key.name), unknown_name("stream", key.name, streams_));
      }
      strategy.streams.emplace(key.name, read_policy(usual_of(key.name), section.table(key.name)));
    }
    strategy.streams.insert(work_.usual.begin(), work_.usual.end());  // streams that it does not name
    check_shares(section, strategy);
    return strategy;
  }

 private:
  bool may_be_stream(const std::string& name) const {
    return !work_.all_known || std::ranges::find(streams_, name) != streams_.end();
  }

  std::vector<std::string> read_order(Section& section) const {
    const Node& node = section.node("order", {ListRule{std::make_shared<Rule>(Rule{slug_rule()})}});
    if (node.array() == nullptr) section.fail("order", "must be a list of stream names");
    std::vector<std::string> order;
    for (const Node& element : *node.array()) {
      const std::string name = element.text() == nullptr ? std::string() : *element.text();
      if (!may_be_stream(name)) {
        throw ConfigError(element.origin, section.dotted("order"), unknown_name("stream", name, streams_));
      }
      if (std::ranges::find(order, name) != order.end()) {
        throw ConfigError(element.origin, section.dotted("order"), fmt::format("names '{}' twice", name));
      }
      order.push_back(name);
    }
    if (work_.all_known && order.size() != streams_.size())
      section.fail("order", "must name every stream once");
    return order;
  }

  StreamPolicy usual_of(const std::string& stream) const {
    const auto found = work_.usual.find(stream);
    return found == work_.usual.end() ? StreamPolicy{} : found->second;
  }

  StreamPolicy read_policy(StreamPolicy policy, Section section) const {
    const int most = gpu_.compute.cus() - gpu_.dispatch.mask_granule;
    if (section.has("cus")) policy.cus = read_share(section, most);
    if (section.has("reserve_cus")) {
      policy.reserve_cus = static_cast<int>(section.integer("reserve_cus", 0, most));
      check_granule(section, "reserve_cus", policy.reserve_cus);
    }
    if (section.has("priority")) {
      policy.priority = static_cast<int>(section.integer("priority", -kHighestPriority, kHighestPriority));
    }
    if (section.has("kernel_selection"))
      policy.kernel_selection = section.choice<KernelSelection>("kernel_selection");
    if (section.has("backend")) policy.backend = section.choice<Backend>("backend", named(kBackends));
    read_dma_options(section, policy);
    read_reduction(section, policy);
    if (section.has("algorithm"))
      policy.method.algorithm = section.choice<Algorithm>("algorithm", named(kAlgorithms));
    if (section.has("protocol")) policy.method.protocol = section.choice<Protocol>("protocol");
    read_channels(section, policy.method.channels);
    section.explain(kPolicyKeys);
    section.finish();
    return policy;
  }

  static void read_channels(Section& section, ChannelLimits& channels) {
    if (section.has("channels")) channels.most = static_cast<int>(section.integer("channels", 1, 1024));
    if (!section.has("min_channels")) return;
    const int most = channels.most > 0 ? channels.most : 1024;
    channels.least = static_cast<int>(section.integer("min_channels", 1, most));
  }

  /// Keys of copy engines choose them, too.
  static void read_dma_options(Section& section, StreamPolicy& policy) {
    const bool says_backend = section.has("backend");
    for (const std::string_view key : {"dma", "prelaunch", "dma_host"}) {
      if (!section.has(key)) continue;
      if (says_backend && policy.backend != Backend::dma)
        section.fail(key, fmt::format("requires backend = \"dma\" (it is \"{}\")", name_of(policy.backend)));
      policy.backend = Backend::dma;
    }
    if (section.has("dma")) policy.dma.variant = section.choice<DmaVariant>("dma");
    if (section.has("prelaunch")) policy.dma.prelaunch = section.flag("prelaunch");
    if (section.has("dma_host")) policy.dma.host = section.choice<DmaHost>("dma_host");
  }

  static void read_reduction(Section& section, StreamPolicy& policy) {
    if (!section.has("reduction")) return;
    if (section.has("backend") && policy.backend != Backend::fused)
      section.fail("reduction",
                   fmt::format("requires backend = \"fused\" (it is \"{}\")", name_of(policy.backend)));
    policy.backend = Backend::fused;
    policy.reduction = section.choice<FusedReduction>("reduction");
  }

  CuShare read_share(Section& section, int most) const {
    const int granule = gpu_.dispatch.mask_granule;
    const Rule rule = {
        AnyOfRule{{{IntegerRule{granule, most}}, {PatternRule{"best [0-9]+\\.\\.[0-9]+", "best 1..1"}}}}};
    const Node& node = section.node("cus", rule);
    if (std::holds_alternative<std::int64_t>(node.value)) {
      const int cus = static_cast<int>(section.integer("cus", granule, most));
      check_granule(section, "cus", cus);
      return {cus, cus};
    }
    const auto share = node.text() == nullptr ? std::nullopt : swept_share(*node.text());
    if (!share) section.fail("cus", "must be a number of CUs or a range to search, as in 'best 8..128'");
    // HIGH may be more than this GPU has, so that one experiment serves many systems: the search stops at what
    // fits.
    if (share->low < granule || share->low > most || share->low > share->high) {
      section.fail("cus", fmt::format("'best LOW..HIGH' needs {} <= LOW <= {} and LOW <= HIGH", granule, most));
    }
    check_granule(section, "cus", share->low);
    return {share->low, std::min(share->high, most)};
  }

  void check_granule(Section& section, std::string_view key, int cus) const {
    const int granule = gpu_.dispatch.mask_granule;
    if (cus % granule == 0) return;
    section.fail(key, fmt::format("{} is not a multiple of {}, the granule of the CU mask of {}", cus, granule,
                                  gpu_.name));
  }

  /// Every stream must keep a CU to run on, whatever value of a searched share is tried.
  void check_shares(Section& section, const Strategy& strategy) const {
    const int cus = gpu_.compute.cus();
    int rest = cus;
    for (const auto& [name, policy] : strategy.streams) {
      rest -= policy.cus.high;
      if (rest < 0) section.fail(name, fmt::format("the streams' shares add up to more than {} CUs", cus));
    }
    for (const std::string& name : streams_) {
      const auto found = strategy.streams.find(name);
      const StreamPolicy policy = found == strategy.streams.end() ? StreamPolicy{} : found->second;
      const int own = policy.cus.is_set() ? policy.cus.low : rest;
      if (own > policy.reserve_cus) continue;
      const std::string& at = found == strategy.streams.end() ? strategy.streams.begin()->first : name;
      section.fail(at, fmt::format("leaves stream '{}' none of the {} CUs", name, cus));
    }
  }

  std::vector<std::string> streams_;
  const StreamsOfWork& work_;
  const GpuSpec& gpu_;
};

}  // namespace

std::vector<Strategy> read_strategies(Section& root, const std::vector<std::string>& streams,
                                      const StreamsOfWork& work, const GpuSpec& gpu) {
  Section section = root.table("strategy");
  const StrategyReader reader(streams, work, gpu);
  std::vector<Strategy> strategies;
  root.explain("strategy", "ways to run the streams, which are compared");
  for (const ChosenKey& key : section.chosen_keys()) {
    strategies.push_back(reader.read(key.name, section.table(key.name)));
    section.explain(key.name, "one way to run the streams, by a name of your own");
  }
  if (strategies.empty()) root.fail("strategy", "needs at least one [strategy.NAME]");
  return strategies;
}

}}  // namespace c3::configs
