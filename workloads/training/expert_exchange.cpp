#include "workloads/training/expert_exchange.hpp"

#include <utility>

namespace c3 { inline namespace workloads {
namespace {

/// Bytes of a token; in FP8 with an fp32 scale for each 128 numbers, as DeepEP sends it.
Bytes token_bytes(const TrainingSetup& setup, bool fp8) {
  constexpr double kNumbersOfAScale = 128.0;
  const Bytes number =
      fp8 ? element_size(DType::fp8) + element_size(DType::fp32) / kNumbersOfAScale : element_size(setup.dtype);
  return number * static_cast<double>(setup.model.routed_width());
}

/// What each member sends to each, of \p of_a_rank: a share to those that have the experts, or what these
/// have of it back.
std::vector<Bytes> sends_of(const ExpertLoads& loads, std::int64_t layer, Bytes of_a_rank, bool back) {
  std::vector<Bytes> sends;
  for (int from = 0; from < loads.positions(); ++from)
    for (int to = 0; to < loads.positions(); ++to)
      sends.push_back(of_a_rank * loads.share(layer, back ? from : to));
  return sends;
}

CollectiveCall all_to_all(const ExpertGrid& grid, RankGroups among, Bytes of_a_rank, DType dtype) {
  return grid.along(among, {.kind = CollectiveKind::all_to_all, .bytes = of_a_rank, .dtype = dtype});
}

}  // namespace

ExpertCalls expert_calls(const TrainingSetup& setup, const ExpertGrid& grid, const ExpertLoads* loads,
                         std::int64_t layer) {
  const RoutedTokens routed = balanced_tokens(setup);
  const auto tokens = static_cast<double>(setup.tokens_between());
  const bool by_node = setup.experts.dispatch == Dispatch::hybridep;
  const bool once = by_node || setup.experts.dispatch == Dispatch::deepep;
  const double copies =
      once ? tokens * destinations(*setup.model.experts, grid.expert()) : static_cast<double>(routed.sent);
  const auto gathered = [&](CollectiveKind kind, RankGroups groups, double of_a_rank, bool fp8) {
    return grid.along(groups, {.kind = kind,
                               .bytes = token_bytes(setup, fp8) * (of_a_rank * groups.size),
                               .dtype = fp8 ? DType::fp8 : setup.dtype});
  };
  const bool is_uneven = loads != nullptr && setup.experts.capacity_factor == 0.0;
  const auto exchange = [&](bool fp8, bool back) {
    const Bytes of_a_rank = token_bytes(setup, fp8) * copies;
    CollectiveCall call = all_to_all(grid, by_node ? grid.node_groups() : grid.expert_groups(), of_a_rank,
                                     fp8 ? DType::fp8 : setup.dtype);
    if (!is_uneven) return call;
    call.kind = CollectiveKind::all_to_all_v;
    call.bytes = {};
    call.sends = sends_of(*loads, layer, of_a_rank, back);
    return call;
  };
  const auto way = [&](bool fp8, bool back) {
    std::vector<CollectiveCall> calls;
    if (setup.experts.dispatch == Dispatch::allgather) {
      if (grid.token_groups().size > 1)
        calls.push_back(gathered(CollectiveKind::all_gather, grid.token_groups(), tokens, fp8));
      return calls;
    }
    if (grid.expert() > (by_node ? grid.nodes() : 1)) calls.push_back(exchange(fp8, back));
    if (grid.tensor() > 1)
      calls.push_back(gathered(CollectiveKind::all_gather, grid.tensor_groups(), copies, fp8));
    return calls;
  };
  ExpertCalls calls{.out = way(setup.experts.fp8_dispatch, false),
                    .back = way(false, true),
                    .gradients_out = way(false, false)};
  for (CollectiveCall& call : calls.back)
    if (call.kind == CollectiveKind::all_gather) call.kind = CollectiveKind::reduce_scatter;
  if (calls.back.size() > 1) std::swap(calls.back.front(), calls.back.back());
  if (!by_node || grid.nodes() == 1) return calls;
  const auto over_network = [&](bool fp8) {
    const Bytes of_a_rank =
        token_bytes(setup, fp8) * (tokens * destinations(*setup.model.experts, grid.nodes()));
    return all_to_all(grid, grid.network_groups(), of_a_rank, fp8 ? DType::fp8 : setup.dtype);
  };
  calls.network_out = over_network(setup.experts.fp8_dispatch);
  calls.network_back = over_network(false);
  return calls;
}

ExpertExchange::ExpertExchange(const TrainingSetup& setup, const ExpertGrid& grid, ExpertPosition at,
                               StepProgram& program)
    : setup_(setup),
      grid_(grid),
      at_(at),
      calls_(expert_calls(setup, grid)),
      routed_(balanced_tokens(setup)),
      program_(program),
      compute_(program.stream("compute")) {}

void ExpertExchange::begin_layer(std::int64_t layer) {
  if (at_.loads == nullptr) return;
  calls_ = expert_calls(setup_, grid_, at_.loads, layer);
  routed_ = routed_tokens(setup_, at_, layer);
}

// The end of an exchange is recorded when somebody waits for it, or other tokens leave on its stream: in a
// shared hardware queue an event holds up what is behind it.
void ExpertExchange::record_arrival() {
  if (!under_way_ || under_way_->arrived) return;
  under_way_->arrived = program_.record(program_.stream("dispatch"), under_way_->name + " arrived");
}

void ExpertExchange::before(PartId part) {
  if (!under_way_ || part.block == BlockId::shared_experts) return;
  record_arrival();
  program_.wait(compute_, under_way_->arrived.value());
  read_ = std::exchange(under_way_, std::nullopt)->buffer;
}

void ExpertExchange::after(PartId part, Pass pass) {
  if (read_) program_.memory().release(*std::exchange(read_, std::nullopt));
  if (part.block != BlockId::experts) return;
  const bool forward = pass == Pass::forward;
  const auto bytes = [&](std::int64_t tokens, bool fp8) {
    return token_bytes(setup_, fp8) * static_cast<double>(tokens);
  };
  const std::int64_t own =
      setup_.experts.dispatch == Dispatch::alltoall ? routed_.sent : setup_.tokens_between();
  if (forward && part.role == Role::dispatch)
    launch("dispatch", calls_.out, calls_.network_out, bytes(routed_.received, setup_.experts.fp8_dispatch));
  if (forward && part.role == Role::restore)
    launch("combine", calls_.back, calls_.network_back, bytes(own, false));
  if (!forward && part.role == Role::combine)
    launch("combine backward", calls_.gradients_out, calls_.network_back, bytes(routed_.received, false));
  if (!forward && part.role == Role::arrange)
    launch("dispatch backward", calls_.back, calls_.network_back, bytes(own, false));
}

void ExpertExchange::launch(const std::string& name, const std::vector<CollectiveCall>& calls,
                            const std::optional<CollectiveCall>& network, Bytes arrives) {
  if (setup_.framework.syncs_routing && name == "dispatch" && setup_.experts.capacity_factor == 0.0)
    program_.host_wait(program_.record(compute_, "tokens of experts counted"));
  if (calls.empty() && !network) return;
  if (other_ != nullptr) other_->record_arrival();
  const auto stream = program_.stream("dispatch");
  program_.order(compute_, stream, name + " ready");
  if (network) {
    const auto between_nodes = program_.stream("dispatch_network");
    program_.order(compute_, between_nodes, name + " ready");
    program_.collective(between_nodes, name + " network " + std::string(name_of(network->kind)), *network);
  }
  for (const CollectiveCall& call : calls)
    program_.collective(stream, name + " " + std::string(name_of(call.kind)), call);
  if (network) program_.order(program_.stream("dispatch_network"), stream, name + " network arrived");
  under_way_ = UnderWay{
      .name = name, .buffer = program_.memory().allocate(compute_, MemoryClass::communication, name, arrives)};
}

}}  // namespace c3::workloads
