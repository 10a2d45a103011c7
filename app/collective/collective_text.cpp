/// Rows of `c3sim collective` as a table and as JSON.

#include <array>
#include <utility>

#include <fmt/format.h>

#include "app/collective/collective_rows.hpp"
#include "base/json.hpp"
#include "base/percent.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "importers/collective_times/error_score.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr double kMicro = 1e6;  // microseconds in a second

/// Copy engines have none of the two.
std::string protocol_of(const CollectiveRow& row) {
  return row.how.backend == Backend::cu ? std::string(name_of(row.how.method.protocol)) : "none";
}
std::string launch_of(const CollectiveRow& row) {
  return row.how.backend == Backend::cu ? std::string(name_of(row.how.launch)) : "none";
}

/// "bcst+pl": broadcast commands, prelaunched.
std::string variant_of(const CollectiveRow& row) {
  if (row.how.backend != Backend::dma) return "-";
  return fmt::format("{}{}", name_of(row.how.dma.variant), row.how.dma.prelaunch ? "+pl" : "");
}

double gbps(BytesPerSecond rate) { return rate.value / 1e9; }

/// Null for one node.
Json fabric_of(const ClusterSpec& cluster) {
  if (cluster.nodes == 1) return nullptr;
  return cluster.fabric->name;
}

Json microseconds(const std::optional<Seconds>& time) {
  return time ? Json(time->value * kMicro) : Json(nullptr);
}

/// Null where the library's choice is the best, or nearly so.
Json json_of(const std::optional<BetterChoice>& better) {
  if (!better) return nullptr;
  return {{"algorithm", name_of(better->better.algorithm)},
          {"protocol", name_of(better->better.protocol)},
          {"time_us", better->of_better.time.value * kMicro},
          {"bottleneck", better->of_better.limit},
          {"less_percent", kPercent * better->share_saved()}};
}

/// The type of the row's elements: as measured, where that is one that no collective here has.
std::string type_of(const CollectiveRow& row) {
  const bool is_other = row.measured != nullptr && !row.measured->other_type.name.empty();
  return is_other ? row.measured->other_type.name : std::string(name_of(*row.call.dtype));
}

/// Elements as nccl-tests counts them.
double count_of(const CollectiveRow& row, const CollectiveRequest& request) {
  const double count = request.count(row.call);
  const bool is_other = row.measured != nullptr && !row.measured->other_type.name.empty();
  return is_other ? count * (element_size(*row.call.dtype) / row.measured->other_type.element) : count;
}

std::string redop_of(const CollectiveRequest& request) {
  if (!reduces(request.call.kind)) return "none";
  const MeasuredChoice* measured = request.measured();
  return measured != nullptr && !measured->table.redop.empty() ? measured->table.redop : "sum";
}

Json measured_json(const CollectiveRow& row, const CollectiveRequest& request) {
  Json entry{{"time_us", row.measured->time.value * kMicro},
             {"out_of_place_us", microseconds(row.measured->out_of_place)},
             {"in_place_us", microseconds(row.measured->in_place)},
             {"busbw_gbps", gbps(bus_bandwidth(row.call, request.members, row.measured->time))},
             {"error_percent", row.error()},
             {"repetitions", row.measured->repetitions}};
  if (const auto& spread = row.measured->spread)
    entry.update({{"iterations",
                   {{"least_us", spread->least.value * kMicro},
                    {"most_us", spread->most.value * kMicro},
                    {"p99_us", spread->p99.value * kMicro},
                    {"cv_percent", spread->cv_percent}}}});
  return entry;
}

Json json_of(const CollectiveRow& row, const CollectiveRequest& request) {
  Json entry{{"backend", name_of(row.how.backend)},
             {"bytes", counted_bytes(row.call, request.members).value},
             {"count", count_of(row, request)},
             {"dtype", type_of(row)},
             {"algorithm", name_of(row.how.method.algorithm)},
             {"protocol", protocol_of(row)},
             {"launch", launch_of(row)},
             {"channels", row.here.channels},
             {"time_us", row.here.time.value * kMicro},
             {"algbw_gbps", gbps(algorithm_bandwidth(row.call, request.members, row.here.time))},
             {"busbw_gbps", gbps(bus_bandwidth(row.call, request.members, row.here.time))},
             {"bottleneck", row.here.limit},
             {"faster_choice", json_of(row.better)}};
  if (row.how.backend == Backend::dma)
    entry.update({{"dma_variant", name_of(row.how.dma.variant)},
                  {"prelaunch", row.how.dma.prelaunch},
                  {"dma_host", name_of(row.how.dma.host)}});
  if (row.measured != nullptr) entry.update({{"measured", measured_json(row, request)}});
  if (row.logged != nullptr)
    entry.update({{"logged",
                   {{"algorithm", row.logged->algorithm},
                    {"protocol", row.logged->protocol},
                    {"channels", row.logged->channels ? Json(*row.logged->channels) : Json(nullptr)}}}});
  return entry;
}

/// The scores of one wish: rows of 1 MiB and more, and rows below.
struct WishScore {
  std::optional<ErrorScore> large, small;
  double peak_measured = 0.0, peak_here = 0.0;  ///< bus bandwidth [GB/s]; 0 without large rows
};

WishScore score_of(std::size_t wish, const CollectiveRequest& request, const CollectiveRows& found) {
  WishScore score;
  std::vector<double> large, small;
  for (const CollectiveRow& row : found.rows) {
    if (row.wish != wish) continue;
    const bool is_large = row.call.bytes >= kLargeFrom;
    (is_large ? large : small).push_back(row.error());
    if (!is_large) continue;
    const auto busbw = [&](Seconds time) { return gbps(bus_bandwidth(row.call, request.members, time)); };
    score.peak_measured = std::max(score.peak_measured, busbw(row.measured->time));
    score.peak_here = std::max(score.peak_here, busbw(row.here.time));
  }
  score.large = c3::score_of(large);
  score.small = c3::score_of(small);
  return score;
}

Json json_of(const std::optional<ErrorScore>& score) {
  if (!score) return nullptr;
  return {{"rows", score->rows},
          {"median_percent", score->median},
          {"p90_percent", score->p90},
          {"bias_percent", score->bias}};
}

Json scores_json(const CollectiveRequest& request, const CollectiveRows& found) {
  Json list = Json::array();
  for (std::size_t wish = 0; wish < found.wishes.size(); ++wish) {
    const WishScore score = score_of(wish, request, found);
    list.push_back({{"method", label_of(found.wishes[wish])},
                    {"from_1_mib", json_of(score.large)},
                    {"below_1_mib", json_of(score.small)},
                    {"peak_busbw_measured_gbps", score.peak_measured},
                    {"peak_busbw_gbps", score.peak_here}});
  }
  return list;
}

std::string scores_text(const CollectiveRequest& request, const CollectiveRows& found) {
  TextTable table({"error beside measured", "rows from 1 MiB", "median", "p90", "bias", "rows below", "median",
                   "p90", "bias", "peak busbw measured [GB/s]", "here", "error"});
  for (std::size_t wish = 0; wish < found.wishes.size(); ++wish) {
    const WishScore score = score_of(wish, request, found);
    std::vector<std::string> cells{label_of(found.wishes[wish])};
    for (const auto& part : {score.large, score.small}) {
      cells.push_back(std::to_string(part ? part->rows : 0));
      if (!part) cells.insert(cells.end(), {"-", "-", "-"});
      if (!part) continue;
      cells.push_back(fmt::format("{:.1f} %", part->median));
      cells.push_back(fmt::format("{:.1f} %", part->p90));
      cells.push_back(fmt::format("{:+.1f} %", part->bias));
    }
    const bool has_peak = score.peak_measured > 0.0;
    cells.push_back(has_peak ? fmt::format("{:.1f}", score.peak_measured) : "-");
    cells.push_back(has_peak ? fmt::format("{:.1f}", score.peak_here) : "-");
    cells.push_back(
        has_peak ? fmt::format("{:+.1f} %", kPercent * (score.peak_here / score.peak_measured - 1.0)) : "-");
    table.add(std::move(cells));
  }
  return table.text();
}

std::string time_text(const std::optional<Seconds>& time) {
  return time ? fmt::format("{:.2f}", time->value * kMicro) : "-";
}

}  // namespace

double CollectiveRow::error() const { return kPercent * (here.time / measured->time - 1.0); }

std::string label_of(const Wish& wish) {
  if (wish.mover.backend == Backend::dma)
    return fmt::format("dma {}{}", name_of(wish.mover.dma.variant), wish.mover.dma.prelaunch ? "+pl" : "");
  return fmt::format("cu {} {} {}", wish.algorithm ? name_of(*wish.algorithm) : "auto",
                     wish.protocol ? name_of(*wish.protocol) : "auto", name_of(wish.launch));
}

std::string collective_json(const CollectiveRequest& request, const CollectiveRows& found) {
  Json list = Json::array();
  for (const CollectiveRow& row : found.rows)
    list.push_back(json_of(row, request));
  Json document{{"schema_version", kJsonSchemaVersion},
                {"system", request.cluster.name},
                {"nodes", request.cluster.nodes},
                {"fabric", fabric_of(request.cluster)},
                {"op", name_of(request.call.kind)},
                {"ranks", request.members},
                {"rows", list}};
  if (!request.logged.environment.empty()) {
    Json variables = Json::object();
    for (const auto& [name, value] : request.logged.environment)
      variables[name] = value;
    document.update({{"env", variables}});
  }
  if (request.measured() != nullptr)
    document.update({{"table", request.measured()->table.name}, {"errors", scores_json(request, found)}});
  if (request.file) document.update({{"log", logged_json(request, found)}});
  return document.dump(2) + "\n";
}

namespace {

/// Columns that only some tables have.
struct ExtraColumns {
  bool measured = false;  ///< times to compare with
  bool spread = false;    ///< there are spreads of their iterations
  bool logged = false;    ///< how the log's library ran it

  explicit ExtraColumns(const CollectiveRows& found) {
    for (const CollectiveRow& row : found.rows) {
      measured = measured || row.measured != nullptr;
      spread = spread || (row.measured != nullptr && row.measured->spread);
      logged = logged || row.logged != nullptr;
    }
  }
};

std::vector<std::string> header_of(const ExtraColumns& extra) {
  std::vector<std::string> header{"backend",  "size [B]",  "count",        "type",         "redop",
                                  "root",     "algo",      "variant",      "proto",        "launch",
                                  "channels", "time [us]", "algbw [GB/s]", "busbw [GB/s]", "limit"};
  if (extra.measured) header.insert(header.end(), {"out of place [us]", "in place [us]", "error"});
  if (extra.spread) header.emplace_back("iterations [us]");
  if (extra.logged) header.emplace_back("in the log");
  return header;
}

std::string spread_text(const std::optional<IterationSpread>& spread) {
  if (!spread) return "-";
  return fmt::format("{:.1f} to {:.1f}, p99 {:.1f}, cv {:.1f} %", spread->least.value * kMicro,
                     spread->most.value * kMicro, spread->p99.value * kMicro, spread->cv_percent);
}

void add_extra(std::vector<std::string>& cells, const CollectiveRow& row, const ExtraColumns& extra) {
  if (extra.measured) {
    const MeasuredCollective& measured = *row.measured;
    const bool has_places = measured.out_of_place || measured.in_place;
    cells.push_back(time_text(has_places ? measured.out_of_place : std::optional(measured.time)));
    cells.push_back(time_text(measured.in_place));
    cells.push_back(fmt::format("{:+.1f} %", row.error()));
  }
  if (extra.spread) cells.push_back(spread_text(row.measured->spread));
  if (extra.logged) cells.push_back(words_of(row.logged));
}

std::vector<std::string> cells_of(const CollectiveRow& row, const CollectiveRequest& request) {
  const CollectiveKind kind = request.call.kind;
  return {std::string(name_of(row.how.backend)),
          fmt::format("{:.0f}", counted_bytes(row.call, request.members).value),
          fmt::format("{:.0f}", count_of(row, request)),
          type_of(row),
          redop_of(request),
          is_rooted(kind) ? std::to_string(row.call.root) : "-1",
          std::string(name_of(row.how.method.algorithm)),
          variant_of(row),
          protocol_of(row),
          launch_of(row),
          std::to_string(row.here.channels),
          time_text(row.here.time),
          fmt::format("{:.2f}", gbps(algorithm_bandwidth(row.call, request.members, row.here.time))),
          fmt::format("{:.2f}", gbps(bus_bandwidth(row.call, request.members, row.here.time))),
          row.here.limit};
}

/// How many times here lie among those of the iterations. Empty where the table has none.
std::string within_text(const CollectiveRows& found) {
  std::size_t within = 0, all = 0;
  for (const CollectiveRow& row : found.rows) {
    if (row.measured == nullptr || !row.measured->spread) continue;
    ++all;
    const IterationSpread& spread = *row.measured->spread;
    within += row.here.time >= spread.least && row.here.time <= spread.most ? 1U : 0U;
  }
  if (all == 0) return "";
  return fmt::format("{} of {} times here lie between the shortest and the longest iteration measured.\n",
                     within, all);
}

}  // namespace

std::string collective_text(const CollectiveRequest& request, const CollectiveRows& found) {
  const ExtraColumns extra(found);
  TextTable table(header_of(extra));
  double sum = 0.0;
  for (const CollectiveRow& row : found.rows) {
    sum += gbps(bus_bandwidth(row.call, request.members, row.here.time));
    std::vector<std::string> cells = cells_of(row, request);
    add_extra(cells, row, extra);
    table.add(std::move(cells));
  }
  std::string text =
      fmt::format("{} on {}, {} ranks", name_of(request.call.kind), title_of(request.cluster), request.members);
  if (request.file)
    text += fmt::format(", beside {}",
                        request.measured() != nullptr ? request.measured()->table.name : request.file->name);
  text += fmt::format("\n\n{}average busbw: {:.2f} GB/s\n", table.text(),
                      sum / static_cast<double>(found.rows.size()));
  text +=
      "1 GB/s = 1e9 B/s; busbw as nccl-tests defines it. limit: the resource that is full while bytes move;\n"
      "latency where they move for less than half of the time.\n";
  if (!extra.measured) return text + logged_text(request, found);
  return text + "\n" + scores_text(request, found) +
         "error: time here / measured - 1, of the shorter of the two measured times, which a disturbance can "
         "only\n"
         "lengthen. bias: median with sign; above 0 the times here are too long.\n" +
         within_text(found) + logged_text(request, found);
}

}}  // namespace c3::app
