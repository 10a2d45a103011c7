#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/trace_text.hpp"
#include "workloads/traces/collective_matching.hpp"
#include "workloads/traces/collective_splits.hpp"
#include "workloads/traces/make_report.hpp"
#include "workloads/traces/order_ranks.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3::traces_collectives_test {

namespace {

/// A rank of \p world whose collectives start at \p starts and all end 10 us after 100, 200, ..
Rank rank_of(int number, int world, const std::vector<double>& starts, int elements = 64,
             bool sequences = true) {
  TraceText text;
  text.op("aten::zero", 0, 1);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::string sequence = sequences ? fmt::format(R"("Seq":{},)", i + 1) : "";
    const double end = 100.0 * static_cast<double>(i + 1) + 10.0;
    text.kernel(
        "ncclDevKernel_Generic", starts[i], end - starts[i], static_cast<int>(i) + 500, 20,
        fmt::format(
            R"(,{}"Collective name":"allreduce","In msg nelems":{},"Out msg nelems":{},"dtype":"BFloat16",)"
            R"("Group size":{},"Process Group Name":"0")",
            sequence, elements, elements, world));
  }
  return Rank(text.read(fmt::format(R"("distributedInfo":{{"rank":{},"world_size":{}}},)", number, world)));
}

/// A rank of two in an all-to-all of rows of 4 floats.
Rank exchanging(int number, const char* in, const char* out, int sent, int received, int world = 2) {
  TraceText text;
  text.op("aten::zero", 0, 1);
  text.kernel("ncclDevKernel_SendRecv", 50, 20, 500, 20,
              fmt::format(R"(,"Seq":1,"Collective name":"all_to_allv","In msg nelems":{},"Out msg nelems":{},)"
                          R"("dtype":"Float","Group size":{},"Process Group Name":"0",)"
                          R"("In split size":"{}","Out split size":"{}")",
                          sent, received, world, in, out));
  return Rank(text.read(fmt::format(R"("distributedInfo":{{"rank":{},"world_size":{}}},)", number, world)));
}

std::vector<std::int64_t> pairs_of(const std::vector<Rank>& ranks) {
  const std::vector<CollectiveInstance> instances = match_collectives(ranks);
  REQUIRE(instances.size() == 1);
  CHECK(has_unequal_shares(instances.front(), ranks));
  return bytes_of_pairs(instances.front(), ranks);
}

template <class... Ranks>
std::vector<Rank> run_of(Ranks... ranks) {
  std::vector<Rank> all;
  (all.push_back(std::move(ranks)), ...);
  return all;
}

}  // namespace

TEST_CASE("kinds and sizes of elements are known by PyTorch's, NCCL's and c10's names") {
  CHECK(collective_kind("_allgather_base") == "all_gather");
  CHECK(collective_kind("c10d::allreduce_") == "all_reduce");
  CHECK(collective_kind("nccl:all_to_all") == "all_to_all");
  CHECK(collective_kind("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL") == "reduce_scatter");
  CHECK(collective_kind("ncclDevKernel_Generic") == "");
  CHECK(element_bytes("BFloat16") == 2);
  CHECK(element_bytes("c10::Half") == 2);
  CHECK(element_bytes("Float8_e4m3fn") == 1);
  CHECK(element_bytes("long int") == 8);
  CHECK_FALSE(element_bytes("Quaternion").has_value());
}

TEST_CASE("metadata come from the kernel, or from c10d's operator and the range in it") {
  TraceText text;
  text.op(
      "record_param_comms", 0, 100,
      R"("Input type":["TensorList","Scalar","Scalar","Scalar","","ScalarList","ScalarList","Scalar"],)"
      R"("Concrete Inputs":["","337","93825114103440","0","","[]","[]","8"],"Input Dims":[[[4, 2048], [16]]])");
  text.event("user_annotation", "nccl:all_reduce", 10, 80, R"("pid":100,"tid":1)",
             R"("Input type":["c10::Half"],"Input Dims":[[4, 2048]])");
  text.launch("ncclDevKernel_Generic", 20, 40, 50, 5, 20);
  const Rank rank(text.read());
  REQUIRE(rank.collectives.size() == 1);
  const CollectiveKernel& kernel = rank.collectives[0];
  CHECK(kernel.kind == "all_reduce");
  CHECK(kernel.sequence == 337);
  CHECK(kernel.group_size == 8);
  CHECK(kernel.bytes == 2 * (4 * 2048 + 16));
  CHECK(kernel.is_specified());
  CHECK_FALSE(kernel.has_group_name);
}

TEST_CASE("what is not known of a collective is named") {
  TraceText text;
  text.kernel("ncclDevKernel_Generic", 40, 50, 5, 20);
  const Rank rank(text.read());
  CHECK(rank.collectives[0].missing() == "kind, bytes, group");
}

TEST_CASE("the true cost runs from the latest start to the end, and the latest rank is the straggler") {
  // Ends are at 110 and 210 on both ranks; rank 1 starts 30 us, then rank 0 starts 5 us later than the other.
  const std::vector<Rank> ranks = run_of(rank_of(0, 2, {50, 180}), rank_of(1, 2, {80, 175}));
  const ImportReport report = make_report(ranks);
  CHECK(report.matched_by_sequence == 2);
  CHECK(report.true_cost == 60_us);
  CHECK(report.waiting == 35_us);
  CHECK((report.unmatched.count == 0 && report.waiting_at_least.count == 0));
  REQUIRE(report.stragglers.size() == 2);
  CHECK(report.stragglers[0].mean_late + report.stragglers[1].mean_late == 35_us);
  CHECK(report.collectives[0].bytes == 128);
  CHECK(report.unspecified.empty());
}

TEST_CASE(
    "of a collective of eight ranks of which two are here, the cost is an upper bound and the waiting a lower "
    "one") {
  std::vector<Rank> two = run_of(rank_of(0, 8, {50, 180}), rank_of(1, 8, {80, 175}));
  order_ranks(two, /*allow_missing=*/true);
  const ImportReport report = make_report(two);
  CHECK(report.partial == 2);
  CHECK(report.whole() == 0);
  CHECK(report.true_cost.count == 0);
  CHECK(report.cost_at_most == 60_us);
  CHECK(report.waiting.count == 0);
  CHECK(report.waiting_at_least == 35_us);
  CHECK(report.stragglers.empty());
}

TEST_CASE("collectives that all ranks of a job joined have the job as their group, where no size is recorded") {
  const auto rank = [](int number) {
    TraceText text;
    text.op("aten::zero", 0, 1);
    text.kernel("ncclDevKernel_AllReduce", 50, 60, 500, 20,
                R"(,"Collective name":"allreduce","In msg nelems":8,"Out msg nelems":8,"dtype":"Float")");
    return Rank(text.read(fmt::format(R"("distributedInfo":{{"rank":{},"world_size":2}},)", number)));
  };
  std::vector<Rank> both = run_of(rank(0), rank(1));
  order_ranks(both, false);
  const ImportReport report = make_report(both);
  CHECK(report.unspecified.empty());
  CHECK(report.collectives.front().group_size == 2);
  // Nobody has matched anything where there is one rank.
  std::vector<Rank> alone = run_of(rank(0));
  order_ranks(alone, false);
  CHECK(make_report(alone).unspecified.size() == 1);
}

TEST_CASE("of a rank alone, what is beyond the shortest alike collective was waiting") {
  // 60, 30 and 45 us.
  const ImportReport report = make_report(run_of(rank_of(0, 2, {50, 180, 265})));
  CHECK(report.unmatched == 135_us);
  CHECK(report.waiting_at_least == 45_us);
  CHECK(report.collectives[0].waiting_at_least == 45_us);
  CHECK(report.waiting.count == 0);
}

TEST_CASE("of collectives of unknown size, no waiting is stated") {
  TraceText text;
  text.op("aten::zero", 0, 1);
  text.kernel("ncclDevKernel_AllReduce_Sum_f16_RING_LL", 40, 50, 5, 20);
  text.kernel("ncclDevKernel_AllReduce_Sum_f16_RING_LL", 140, 10, 6, 20);
  const ImportReport report = make_report(run_of(Rank(text.read())));
  CHECK(report.unmatched == 60_us);
  CHECK(report.waiting_at_least.count == 0);
}

TEST_CASE("without sequence numbers, the order in a group matches, if all ranks have as many") {
  CHECK(match_collectives(run_of(rank_of(0, 2, {50, 180}, 64, false), rank_of(1, 2, {80, 175}, 64, false)))
            .size() == 2);
  CHECK(match_collectives(run_of(rank_of(0, 2, {50, 180}, 64, false), rank_of(1, 2, {80}, 64, false))).empty());
}

TEST_CASE("members of different size are refused with both events") {
  const auto mismatched = [] { match_collectives(run_of(rank_of(0, 2, {50}), rank_of(1, 2, {80}, 65))); };
  CHECK_THROWS_WITH_AS(
      mismatched(),
      "trace.json: rank 1: event 1: all_reduce of 130 B is matched with all_reduce of 128 B of rank 0 "
      "(event 1): members of a collective must have one kind and size",
      TraceSetError);
}

TEST_CASE("splits say in rows what each pair of ranks moves, and none are equal shares") {
  // Rows of 4 floats: rank 0 sends 1 to itself and 3 to rank 1, which sends 2 each.
  CHECK(
      pairs_of(run_of(exchanging(0, "[1, 3]", "[1, 2]", 16, 12), exchanging(1, "[2, 2]", "[3, 2]", 16, 20))) ==
      std::vector<std::int64_t>{16, 48, 32, 32});
  CHECK(pairs_of(run_of(exchanging(0, "[1, 3]", "[1, 2]", 16, 12), exchanging(1, "[]", "[3, 2]", 16, 20))) ==
        std::vector<std::int64_t>{16, 48, 32, 32});
}

TEST_CASE("what each pair moves is not known where a list is shortened or a rank is missing") {
  CHECK(pairs_of(run_of(exchanging(0, "[1, ...]", "[1, 2]", 16, 12), exchanging(1, "[2, 2]", "[3, 2]", 16, 20)))
            .empty());
  CHECK(pairs_of(run_of(exchanging(0, "[1, 2, 1]", "[1, 2, 1]", 16, 16, 3),
                        exchanging(1, "[2, 2, 1]", "[2, 2, 1]", 20, 20, 3)))
            .empty());
}

TEST_CASE("splits that do not add up are refused at the kernel") {
  const auto refused = [](std::vector<Rank> ranks, const std::string& why) {
    CHECK_THROWS_WITH_AS(pairs_of(ranks), doctest::Contains(why.c_str()), TraceSetError);
  };
  refused(run_of(exchanging(0, "[1, 3]", "[1, 1]", 16, 8), exchanging(1, "[2, 2]", "[3, 2]", 16, 20)),
          "trace.json: rank 0: event 1: rank 0 receives 16 B of rank 1 in an all-to-all, which sends it 32 B");
  refused(run_of(exchanging(0, "[1, 2]", "[1, 2]", 16, 12), exchanging(1, "[2, 2]", "[3, 2]", 16, 20)),
          "the in-splits of an all-to-all add up to 3 rows, which do not divide its 16 elements");
  refused(run_of(exchanging(0, "[1, 2, 1]", "[1, 2]", 16, 12), exchanging(1, "[2, 2]", "[3, 2]", 16, 20)),
          "an all-to-all of 2 ranks has 3 in-splits");
  refused(run_of(exchanging(0, "[]", "[1, 2]", 15, 12), exchanging(1, "[2, 2]", "[3, 2]", 16, 20)),
          "15 elements of an all-to-all cannot be divided into 2 equal shares");
}

TEST_CASE("splits are read from concrete inputs, too") {
  TraceText text;
  text.op(
      "record_param_comms", 0, 100,
      R"("Input type":["TensorList","Scalar","Scalar","Scalar","","ScalarList","ScalarList","Scalar"],)"
      R"("Concrete Inputs":["","337","93825114103440","0","","[6, 2]","[5, 3]","2"],"Input Dims":[[[8, 4]]])");
  text.launch("ncclDevKernel_SendRecv", 20, 40, 50, 5, 20);
  const Rank rank(text.read());
  REQUIRE(rank.collectives.size() == 1);
  CHECK(rank.collectives[0].splits == "[6, 2] > [5, 3]");
  CHECK(rank.collectives[0].in_splits == std::vector<std::int64_t>{6, 2});
  CHECK(rank.collectives[0].out_splits == std::vector<std::int64_t>{5, 3});
}

TEST_CASE("a rank whose collectives end at another date has another clock, and is moved") {
  TraceText shifted;
  shifted.op("aten::zero", 1000, 1);
  for (int i = 0; i < 3; ++i)
    shifted.kernel(
        "ncclDevKernel_Generic", 1090 + 100 * i, 20, i + 1, 20,
        fmt::format(R"(,"Seq":{},"Collective name":"allreduce","In msg nelems":64,"dtype":"BFloat16",)"
                    R"("Group size":3,"Process Group Name":"0")",
                    i + 1));
  const std::vector<Rank> ranks = run_of(rank_of(0, 3, {90, 190, 290}), rank_of(1, 3, {95, 195, 295}),
                                         Rank(shifted.read(R"("distributedInfo":{"rank":2,"world_size":3},)")));
  const Clocks clocks = align_clocks(ranks, match_collectives(ranks));
  CHECK(clocks.offsets[2] == 1000_us);
  CHECK(clocks.corrected[2]);
  CHECK_FALSE(clocks.corrected[0]);
  CHECK(clocks.spread_worst == Picoseconds{});
}

TEST_CASE("ranks that are there twice or missing are refused, unless missing ones are allowed") {
  const auto order = [](std::vector<Rank> ranks, bool allow) { order_ranks(ranks, allow); };
  CHECK_THROWS_WITH_AS(order(run_of(rank_of(1, 2, {50}), rank_of(1, 2, {50})), false),
                       "trace.json: rank 1: trace.json is of this rank as well", TraceSetError);
  CHECK_THROWS_WITH_AS(
      order(run_of(rank_of(0, 4, {50}), rank_of(3, 4, {50})), false),
      "trace.json: rank 0: 2 of the job's ranks are missing: 1, 2; name the files of all ranks or of "
      "one, or give --allow-missing",
      TraceSetError);
  CHECK_NOTHROW(order(run_of(rank_of(0, 4, {50}), rank_of(3, 4, {50})), true));
  CHECK_NOTHROW(order(run_of(rank_of(3, 8, {50})), false));
}

}  // namespace c3::traces_collectives_test
