
#include "app/import/import_cells.hpp"
#include "app/import/import_tables.hpp"
#include "base/json.hpp"
#include "results/schema.hpp"

namespace c3 { inline namespace app {
namespace {

double us(Picoseconds time) { return time.microseconds(); }

Json rank_json(const RankSummary& rank) {
  return {{"rank", json_or_null(rank.rank)},
          {"file", rank.file},
          {"gpu", json_or_null(rank.gpu)},
          {"units", rank.units},
          {"memory_bytes", rank.memory_bytes},
          {"streams", rank.streams},
          {"threads", rank.threads},
          {"steps", rank.steps},
          {"operators", rank.ops},
          {"gpu_work", rank.activities},
          {"with_launch", rank.launched},
          {"graph_launches", rank.graph_launches},
          {"gpu_time_us", us(rank.gpu_time)},
          {"gpu_time_with_shapes_us", us(rank.time_with_shapes)},
          {"step_us", us(rank.step)},
          {"clock_offset_us", us(rank.clock_offset)},
          {"clock_corrected", rank.clock_corrected}};
}

Json collective_json(const CollectiveSummary& summary) {
  const bool has_whole = summary.instances > summary.partial;
  return {{"kind", json_or_null(summary.kind)},
          {"dtype", json_or_null(summary.dtype)},
          {"bytes", json_or_null(summary.bytes)},
          {"group_size", json_or_null(summary.group_size)},
          {"splits", json_or_null(summary.splits)},
          {"kernels", summary.kernels},
          {"matched", summary.instances},
          {"matched_in_part", summary.partial},
          {"recorded_us", us(summary.recorded)},
          {"true_cost_us", has_whole ? Json(us(summary.cost)) : Json(nullptr)},
          {"true_cost_median_us", has_whole ? Json(us(summary.median_cost)) : Json(nullptr)},
          {"cost_at_most_us", summary.partial > 0 ? Json(us(summary.cost_at_most)) : Json(nullptr)},
          {"waiting_us", has_whole ? Json(us(summary.waiting)) : Json(nullptr)},
          {"waiting_at_least_us", us(summary.waiting_at_least)}};
}

Json collectives_json(const ImportReport& report) {
  const std::size_t matched = report.matched_by_sequence + report.matched_by_order;
  const auto unspecified = [](const UnspecifiedCollective& collective) {
    return Json{{"rank", json_or_null(collective.rank)},
                {"event", collective.event},
                {"kernel", collective.kernel},
                {"missing", collective.missing},
                {"launched_before_recording", collective.before_window}};
  };
  return {{"kernels", report.collective_kernels},
          {"specified", report.collective_kernels - report.unspecified.size()},
          {"matched_by_sequence", report.matched_by_sequence},
          {"matched_by_order", report.matched_by_order},
          {"matched_in_part", report.partial},
          {"upper_bounds", report.collective_kernels > 0 && report.whole() == 0},
          {"true_cost_us", report.whole() > 0 ? Json(us(report.true_cost)) : Json(nullptr)},
          {"cost_at_most_us", report.partial > 0 ? Json(us(report.cost_at_most)) : Json(nullptr)},
          {"waiting_us", report.whole() > 0 ? Json(us(report.waiting)) : Json(nullptr)},
          {"unmatched_us", us(report.unmatched)},
          {"waiting_at_least_us", us(report.waiting_at_least)},
          {"end_spread_median_us", matched > 0 ? Json(us(report.end_spread_median)) : Json(nullptr)},
          {"end_spread_worst_us", matched > 0 ? Json(us(report.end_spread_worst)) : Json(nullptr)},
          {"alike", json_list(report.collectives, collective_json)},
          {"unspecified", json_list(report.unspecified, unspecified)}};
}

Json edges_json(const EdgeCounts& edges) {
  const auto waits = [&](WaitReason reason) { return edges.host_waits[static_cast<std::size_t>(reason)]; };
  return {{"launch", edges.launch},
          {"stream", edges.stream},
          {"recorded", edges.recorded},
          {"issue_by_sequence", edges.issue},
          {"wait_by_sequence", edges.wait},
          {"inferred", edges.inferred},
          {"thread", edges.resumes},
          {"host_waits", Json{{"device", waits(WaitReason::device)},
                              {"stream", waits(WaitReason::stream)},
                              {"event", waits(WaitReason::event)},
                              {"copy", waits(WaitReason::copy)},
                              {"allocation", waits(WaitReason::allocation)},
                              {"full_queue", waits(WaitReason::full_queue)}}}};
}

Json errors_json(const StartErrors& errors) {
  const auto step = [](const StepLength& length) {
    return Json{{"recorded_us", us(length.recorded)}, {"replayed_us", us(length.replayed)}};
  };
  return {{"step_us", us(errors.step)},          {"step_error", errors.step_error},
          {"start_error_median", errors.median}, {"start_error_p95", errors.p95},
          {"start_error_worst", errors.worst},   {"ranks", json_list(errors.steps, step)}};
}

}  // namespace

std::string import_json(const ImportReport& report, const ImportExtras& extras) {
  const auto work_class = [](const ClassSummary& summary) {
    return Json{{"class", name_of(summary.work)}, {"count", summary.count}, {"time_us", us(summary.time)}};
  };
  const auto lag = [](const UnexplainedLag& unexplained) {
    return Json{{"kernel", unexplained.kernel},
                {"count", unexplained.count},
                {"total_us", us(unexplained.total)},
                {"worst_us", us(unexplained.worst)}};
  };
  const auto bound = [](const BoundRow& row) {
    return Json{{"change", row.change},
                {"step_us", us(row.step)},
                {"to_end_of_gpu_work_us", row.gpu.count > 0 ? Json(us(row.gpu)) : Json(nullptr)}};
  };
  const auto straggler = [](const LateRank& late) {
    return Json{{"rank", late.rank},
                {"last", late.last},
                {"mean_late_us", us(late.mean_late)},
                {"worst_late_us", us(late.worst_late)}};
  };
  const auto join = [](const ExecutionJoin& joined) {
    return Json{{"rank", json_or_null(joined.rank)},
                {"file", joined.file},
                {"by", joined.by_record_id ? "rf_id" : "order"},
                {"nodes", joined.nodes},
                {"operators", joined.ops},
                {"joined", joined.joined},
                {"shapes_added", joined.shapes_added},
                {"shapes_same", joined.shapes_same},
                {"shapes_differ", joined.shapes_differ},
                {"collectives_added", joined.collectives_added}};
  };
  Json json{{"schema_version", kJsonSchemaVersion},
            {"format", "Kineto trace"},
            {"ranks", json_list(report.ranks, rank_json)},
            {"execution_traces", json_list(report.joins, join)},
            {"missing_ranks", report.missing_ranks},
            {"classes", json_list(report.classes, work_class)},
            {"collectives", collectives_json(report)},
            {"stragglers", json_list(report.stragglers, straggler)},
            {"edges", edges_json(report.edges)},
            {"unexplained", json_list(report.unexplained, lag)},
            {"bounds", json_list(report.bounds, bound)},
            {"replay", Json{{"with_cross_stream_edges", errors_json(report.errors)},
                            {"without_cross_stream_edges", errors_json(report.errors_without_cross_stream)}}}};
  for (const auto& [key, value] : extras)
    json[key] = value;
  return json.dump(2) + "\n";
}

}}  // namespace c3::app
