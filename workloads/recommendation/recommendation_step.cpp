#include "workloads/recommendation/recommendation_step.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "gpu/kernels/embedding/embedding_kernel.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/program/step_writer.hpp"
#include "workloads/recommendation/dense_layers.hpp"
#include "workloads/recommendation/placement.hpp"
#include "workloads/recommendation/sharding_search.hpp"

namespace c3 { inline namespace workloads {
namespace {

using Kind = OperatorOverheads;

constexpr double kIndex = 8.0;  // bytes of a lookup

/// The step of one rank.
class RankStep {
 public:
  RankStep(ProgramBuilder& builder, const RecommendationJob& job, int rank, NodeRanks grid)
      : builder_(builder),
        writer_(builder, job.overheads),
        job_(job),
        grid_(grid),
        samples_(job.batch / grid.ranks),
        layers_(job, samples_),
        compute_(builder.stream("compute")),
        copy_(builder.stream("copy")),
        host_rows_(copy_) {
    const std::vector<TablePart> parts = parts_of(job, rank, grid);
    lookup_ = kernel_of(parts);
    for (const TablePart& part : parts)
      fetched_ += part.fetched;
    if (fetched_.value > 0.0) host_rows_ = builder.stream("host_rows");
    if (is_alone()) return;
    inputs_ = builder.stream("inputs");
    exchange_ = builder.stream("exchange");
    gradients_ = builder.stream("gradients");
    has_rows_ = columns(TableSharding::row) + columns(TableSharding::grid) > 0;
    rows_ = has_rows_ ? builder.stream("rows") : exchange_;
  }

  void write() {
    load();
    builder_.set_range("forward");
    fetch_rows();
    look_up();
    forward();
    backward();
    writer_.run(compute_, layers_.optimizer());
    update_copies();
    writer_.finish();
  }

 private:
  bool is_alone() const { return grid_.ranks == 1; }
  std::int64_t columns(TableSharding sharding) const { return shared_columns(job_, sharding, grid_); }

  void load() {
    builder_.set_range("inputs");
    const auto samples = static_cast<double>(samples_);
    const Bytes dense = element_size(job_.dtype) * (samples * static_cast<double>(job_.bottom.front()));
    load("dense", dense);
    load("indices", loaded_indices());
    load("labels", element_size(job_.dtype) * samples);
    const bool is_pipelined = job_.pipeline == InputPipeline::three_stage;
    ProgramBuilder::Stream last = copy_;
    if (!is_alone() && job_.exchanges_inputs) {
      if (!is_pipelined) writer_.order(copy_, inputs_, "inputs loaded");
      exchange(inputs_, "indices.exchange", indices_sent(job_, grid_));
      last = inputs_;
    }
    if (!is_pipelined) writer_.order(last, compute_, "inputs here");
  }

  void load(std::string_view name, Bytes bytes) {
    if (bytes.value <= 0.0) return;
    writer_.copy(copy_, name, {.bytes = bytes, .way = HostWay::from_host, .most = job_.input_rate},
                 job_.inputs == InputCopies::blocking);
  }

  /// Indices of the rank's own samples where ranks exchange them, else of the tables that it has.
  Bytes loaded_indices() const {
    if (is_alone() || !job_.exchanges_inputs) return Bytes{lookup_ ? all_lookups(*lookup_) * kIndex : 0.0};
    Bytes sum;
    for (const EmbeddingTable& table : job_.tables)
      sum += Bytes{static_cast<double>(samples_ * table.lookups) * kIndex};
    return sum;
  }

  void exchange(ProgramBuilder::Stream stream, std::string_view name, std::vector<Bytes> sends) {
    const bool moves = std::ranges::any_of(sends, [](Bytes size) { return size.value > 0.0; });
    if (moves)
      writer_.collective(stream, name, {.kind = CollectiveKind::all_to_all_v, .sends = std::move(sends)});
  }

  /// Exchanges go on after what compute has been given so far, and compute after theirs.
  void after_compute(const std::string& event) {
    writer_.order(compute_, exchange_, event);
    if (has_rows_) writer_.order(compute_, rows_, event + " by row");
  }
  void before_compute(const std::string& event) {
    if (is_alone()) return;
    writer_.order(exchange_, compute_, event);
    if (has_rows_) writer_.order(rows_, compute_, event + " by row");
  }

  void shared_rows(std::string_view name, CollectiveKind kind, std::int64_t samples, std::int64_t columns,
                   std::optional<RankGroups> groups = std::nullopt) {
    writer_.collective(rows_, fmt::format("{}.{}", name, name_of(kind)),
                       {.kind = kind,
                        .bytes = element_size(job_.dtype) * static_cast<double>(samples * columns),
                        .dtype = job_.dtype,
                        .groups = groups});
  }

  /// Sums of tables by row are added up for the ranks of their samples. Tables by grid: a node's ranks add
  /// theirs up for the samples of ranks at the same place of all nodes, to which they then go.
  void add_up_rows() {
    if (const auto row_columns = columns(TableSharding::row))
      shared_rows("rows", CollectiveKind::reduce_scatter, job_.batch, row_columns);
    const auto grid_columns = columns(TableSharding::grid);
    if (grid_columns == 0) return;
    if (grid_.in_node > 1)
      shared_rows("grid", CollectiveKind::reduce_scatter, job_.batch, grid_columns, in_node());
    shared_rows("grid", CollectiveKind::all_to_all, job_.batch / grid_.in_node, grid_columns, across_nodes());
  }

  /// The gradients of those sums go the other way.
  void gather_rows() {
    if (const auto row_columns = columns(TableSharding::row))
      shared_rows("rows", CollectiveKind::all_gather, job_.batch, row_columns);
    const auto grid_columns = columns(TableSharding::grid);
    if (grid_columns == 0) return;
    shared_rows("grid.gradients", CollectiveKind::all_to_all, job_.batch / grid_.in_node, grid_columns,
                across_nodes());
    if (grid_.in_node > 1)
      shared_rows("grid.gradients", CollectiveKind::all_gather, job_.batch, grid_columns, in_node());
  }

  RankGroups in_node() const { return {.size = grid_.in_node}; }
  RankGroups across_nodes() const { return {.size = grid_.nodes(), .stride = grid_.in_node}; }

  /// Rows of the host's tables, before they are looked up.
  void fetch_rows() {
    if (fetched_.value <= 0.0) return;
    writer_.order(compute_, host_rows_, "indices here");
    writer_.copy(host_rows_, "rows.fetch", {.bytes = fetched_, .way = HostWay::from_host});
    writer_.order(host_rows_, compute_, "rows here");
  }
  void return_rows() {
    if (fetched_.value <= 0.0) return;
    writer_.order(compute_, host_rows_, "rows changed");
    writer_.copy(host_rows_, "rows.return", {.bytes = fetched_, .way = HostWay::to_host});
  }

  void look_up() {
    if (lookup_) writer_.run(compute_, {.kind = &Kind::lookup, .name = "embedding", .kernels = {*lookup_}});
    if (is_alone()) return;
    after_compute("sums made");
    exchange(exchange_, "sums.exchange", sums_sent(job_, grid_));
    add_up_rows();
  }

  void forward() {
    writer_.run(compute_, layers_.bottom_forward());
    before_compute("sums here");
    writer_.run(compute_, layers_.projections_forward());
    writer_.run(compute_, layers_.interaction_forward());
    writer_.run(compute_, layers_.top_forward());
  }

  void backward() {
    builder_.set_range("backward");
    writer_.run(compute_, layers_.zero_gradients());
    writer_.run(compute_, layers_.top_backward());
    sum_gradients("top", dense_parameters(job_).top);
    writer_.run(compute_, layers_.interaction_backward());
    writer_.run(compute_, layers_.projections_backward());
    if (!is_alone()) {
      after_compute("gradients of sums made");
      exchange(exchange_, "gradients.exchange", transposed(sums_sent(job_, grid_)));
      gather_rows();
    }
    writer_.run(compute_, layers_.bottom_backward());
    sum_gradients("bottom", dense_parameters(job_).bottom);
    before_compute("gradients of sums here");
    update_tables();
    builder_.set_range("optimizer");
    if (!is_alone()) writer_.order(gradients_, compute_, "gradients added up");
  }

  std::vector<Bytes> transposed(const std::vector<Bytes>& sends) const {
    const auto ranks = static_cast<std::size_t>(grid_.ranks);
    std::vector<Bytes> turned(sends.size());
    for (std::size_t i = 0; i < ranks; ++i) {
      for (std::size_t j = 0; j < ranks; ++j)
        turned[j * ranks + i] = sends[i * ranks + j];
    }
    return turned;
  }

  void sum_gradients(std::string_view layers, std::int64_t parameters) {
    if (is_alone()) return;
    writer_.order(compute_, gradients_, fmt::format("gradients of {} made", layers));
    writer_.collective(gradients_, fmt::format("gradients.{}", layers),
                       {.kind = CollectiveKind::all_reduce,
                        .bytes = element_size(job_.dtype) * static_cast<double>(parameters),
                        .dtype = job_.dtype});
  }

  void update_tables() {
    if (lookup_) {
      HostedOperator op{.kind = &Kind::lookup_backward, .name = "embedding.backward"};
      EmbeddingShape update = *lookup_;
      update.pass = Pass::backward;
      for (EmbeddingShape& other : update.others)
        other.pass = Pass::backward;
      const int passes = is_exact(update.update) ? embedding_sort_passes(update) : 0;
      op.kernels.assign(static_cast<std::size_t>(passes), embedding_sort_pass(update));
      op.kernels.emplace_back(update);
      writer_.run(compute_, op);
    }
    return_rows();
    sum_tables();
  }

  /// Gradients of tables that every rank has, as dense ones.
  void sum_tables() {
    for (const EmbeddingTable& table : job_.tables) {
      if (table.sharding == TableSharding::data) sum_gradients(table.name, table.rows * table.cols);
    }
  }

  /// Updates tables that every rank has, with a gradient of every row.
  void update_copies() {
    if (is_alone()) return;
    for (const EmbeddingTable& table : job_.tables) {
      if (table.sharding != TableSharding::data) continue;
      const VectorShape update{
          .chain = VectorOp::add, .rows = table.rows, .cols = table.cols, .dtype = job_.dtype};
      writer_.run(compute_, {.kind = &Kind::optimizer, .name = table.name + ".update", .kernels = {update}});
    }
  }

  ProgramBuilder& builder_;
  StepWriter writer_;
  const RecommendationJob& job_;
  NodeRanks grid_;
  std::int64_t samples_;
  DenseLayers layers_;
  std::optional<EmbeddingShape> lookup_;  ///< of its tables
  Bytes fetched_;                         ///< rows of the host's tables that a batch brings and takes back
  ProgramBuilder::Stream compute_, copy_, host_rows_;
  ProgramBuilder::Stream inputs_ = 0, exchange_ = 0, gradients_ = 0, rows_ = 0;
  bool has_rows_ = false;
};

}  // namespace

Program recommendation_program(const RecommendationJob& job, const ClusterSpec& cluster) {
  const NodeRanks grid = node_ranks_of(cluster);
  const RecommendationJob whole = placed(sharded(job, cluster), grid);
  check_placement(whole, grid, cluster.gpu.hbm.size);
  ProgramBuilder builder;
  for (int rank = 0; rank < grid.ranks; ++rank) {
    if (grid.ranks > 1) builder.begin_script({rank}, fmt::format("rank{}", rank));
    RankStep(builder, whole, rank, grid).write();
  }
  return builder.take(grid.ranks);
}

}}  // namespace c3::workloads
