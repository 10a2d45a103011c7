#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "base/json.hpp"
#include "results/recommendation.hpp"
#include "results/result_export.hpp"
#include "results/shown_text.hpp"
#include "results/study_json.hpp"
#include "results/table.hpp"
#include "results/text_table.hpp"
#include "tests/support/text_lines.hpp"

namespace c3::results_table_test { namespace {

using test::lines;

StrategyResult serial() {
  StrategyResult result;
  result.name = "serial";
  result.time = 2.5_ms;
  result.spread = TimeSpread{2.4_ms, 2.6_ms};
  result.lower_bound = 2.0_ms;
  result.speedup = 1;
  result.ideal_speedup = 1.5;
  return result;
}

StrategyResult partitioned() {
  StrategyResult result;
  result.name = "prioritized_partitioned";
  result.time = 312.5_ms;
  result.spread = TimeSpread{300.0_ms, 325.0_ms};
  result.lower_bound = 250.0_ms;
  result.speedup = 1.25;
  result.ideal_speedup = 1.5;
  result.share_of_ideal = 0.5;
  result.kernel = SideTimes{.alone = 200.0_ms, .together = 250.0_ms};
  result.collective = SideTimes{.alone = 300.0_ms, .together = 312.5_ms};
  result.loss = LossSplit{.dispatch = 1.0_us,
                          .cus = 2.0_us,
                          .cache = 3.0_us,
                          .hbm = 4.0_us,
                          .links = 5.0_us,
                          .interaction = Seconds{-6e-6}};
  result.best_cus = 128;
  return result;
}

StudyResult study(std::vector<StrategyResult> strategies) {
  return {.experiment = "hand",
          .seed = 7,
          .conditions = {.system = "node", .hbm_arbitration = HbmArbitration::byte_fair, .seeds = 8},
          .strategies = std::move(strategies)};
}

TEST_CASE("the table of a study is aligned and prints what is absent as a dash") {
  const auto table = lines(format_study(study({serial()})));
  CHECK(table.at(0) == "hand on node: 1 strategy, median of 8 seeds");
  CHECK(table.at(2) == "strategy   time       p5 - p95  bound  speedup  ideal  share  kernel  collective");
  CHECK(table.at(4) == "serial    2.500  2.400 - 2.600  2.000    1.000  1.500      -       -           -");
  CHECK(table.back() == "modelled with HBM arbitration byte_fair, dispatch oldest_first");
  CHECK(table.size() == 9);  // and no loss split, no recommendation
}

TEST_CASE("a single run has no spread in its table, and counts are singular") {
  StudyResult once = study({serial(), partitioned()});
  once.conditions.seeds = 1;
  for (StrategyResult& strategy : once.strategies)
    strategy.spread.reset();
  const auto table = lines(format_study(once));
  CHECK(table.at(0) == "hand on node: 2 strategies, 1 seed");
  CHECK(table.at(2).find("p5") == std::string::npos);
  once.conditions.draws = 50;
  CHECK(lines(format_study(once)).at(0) == "hand on node: 2 strategies, median of 1 seed x 50 draws");
}

TEST_CASE("a share above 100 % has a footnote that names its strategies, and no other share has one") {
  auto fast = partitioned();
  fast.share_of_ideal = 1.002;
  const std::string text = format_study(study({serial(), fast}));
  CHECK(text.find("share above 100%") != std::string::npos);
  CHECK(text.find("that make ideal:\nprioritized_partitioned\n") != std::string::npos);
  CHECK(format_study(study({serial(), partitioned()})).find("above 100%") == std::string::npos);
}

TEST_CASE("compute units are SMs in tables of NVIDIA parts and CUs in those of AMD parts") {
  auto on = study({serial(), partitioned()});
  for (const auto* gpu : {"h100-sxm", "a100-pcie-80gb", "rtx-6000d", "gb200", "l40s", "v100-sxm2-16gb"}) {
    on.conditions.gpu = gpu;
    CAPTURE(gpu);
    CHECK(format_study(on).find("SMs") != std::string::npos);
    CHECK(format_study(on).find("CUs") == std::string::npos);
  }
  for (const auto* gpu : {"mi300x", "mi250x-gcd", "t3-80cu", "of-my-own"}) {
    on.conditions.gpu = gpu;
    CHECK(format_study(on).find("SMs") == std::string::npos);
  }
}

TEST_CASE(
    "a training step's times leave out how long its many kernels and collectives took from first to last") {
  auto step = partitioned();
  step.step = StepResult{};
  const auto table = lines(format_study(study({step})));
  CHECK(table.at(2).find("kernel") == std::string::npos);
  CHECK(table.at(4).find(" > ") == std::string::npos);
}

TEST_CASE("a single run has no spread: no column in the table, null in the JSON") {
  StrategyResult once = serial();
  once.spread.reset();
  StudyResult single = study({once});
  single.conditions.seeds = 1;
  const auto table = lines(format_study(single));
  CHECK(table.at(0) == "hand on node: 1 strategy, 1 seed");
  CHECK(table.at(2) == "strategy   time  bound  speedup  ideal  share  kernel  collective");
  CHECK(table.at(4) == "serial    2.500  2.000    1.000  1.500      -       -           -");
  const auto json = Json::parse(study_json(single, "out/hand.h5"))["strategies"].elements()[0];
  CHECK(json["time_p5_us"].is_null());
  CHECK(json["time_p95_us"].is_null());
}

TEST_CASE("the table of a study fits 110 characters with the longest name and the longest times") {
  const auto table = lines(format_study(study({serial(), partitioned()})));
  for (const auto& line : table) {
    CAPTURE(line);
    CHECK(line.size() <= 110);
  }
  CHECK(table.at(5) ==
        "prioritized_partitioned  312.5  300.0 - 325.0  250.0    1.250  1.500  50.0%  200.0 > 250.0  300.0 > "
        "312.5  128");
}

TEST_CASE("times of a table share the unit in which the longest reads well") {
  const auto unit = [](Seconds longest) {
    auto only = serial();
    only.spread->p95 = longest;
    const auto text = format_study(study({only}));
    return text.substr(text.find("times in "), 11);
  };
  CHECK(unit(999.0_us) == "times in us");
  CHECK(unit(1.0_ms) == "times in ms");
  CHECK(unit(1.0_s) == "times in s:");
  CHECK(unit(5000.0_s) == "times in s:");
}

TEST_CASE("the loss split is in microseconds and adds up in its last column") {
  const auto table = lines(format_study(study({serial(), partitioned()})));
  const auto row = std::find_if(table.begin() + 7, table.end(),
                                [](const auto& line) { return line.starts_with("prioritized"); });
  REQUIRE(row != table.end());
  CHECK(*row == "prioritized_partitioned       1.0  2.0    3.0  4.0    5.0         -6.0    9.0");
}

TEST_CASE("a loss that rounds to nothing has no sign") {
  auto strategy = partitioned();
  strategy.loss = LossSplit{};
  strategy.loss->cache = Seconds{-1e-12};
  CHECK(format_study(study({strategy})).find("-0.0") == std::string::npos);
}

TEST_CASE("the JSON of a study has the documented fields in their order, and null for what is absent") {
  const auto json = Json::parse(study_json(study({serial(), partitioned()}), "out/hand.h5"));
  CHECK(json["schema_version"] == 1);
  CHECK(json["experiment"] == "hand");
  CHECK(json["seed"] == 7);
  CHECK(json["hbm_arbitration"] == "byte_fair");
  CHECK(json["dispatch_policy"] == "oldest_first");
  CHECK(json["clock_state"].is_null());
  CHECK(json["output"] == "out/hand.h5");
  const auto& first = json["strategies"].elements()[0];
  std::vector<std::string> keys;
  for (const auto& [key, value] : first.members())
    keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"strategy", "time_us", "time_p5_us", "time_p95_us", "lower_bound_us",
                                         "speedup", "ideal_speedup", "share_of_ideal", "kernel", "collective",
                                         "loss_us", "throughput", "step", "classes", "clock",
                                         "kernel_alone_clock", "flows", "estimate"});
  for (const auto* absent : {"share_of_ideal", "kernel", "collective", "loss_us", "throughput", "step"})
    CHECK(first[absent].is_null());
  const auto& second = json["strategies"].elements()[1];
  CHECK(second["time_us"].number() == doctest::Approx(312500).epsilon(1e-12));
  CHECK(second["share_of_ideal"] == 0.5);
  CHECK(second["kernel"]["together_us"].number() == doctest::Approx(250000).epsilon(1e-12));
  CHECK(second["loss_us"]["interaction"].number() == doctest::Approx(-6).epsilon(1e-12));
  CHECK(second["loss_us"]["total"].number() == doctest::Approx(9).epsilon(1e-12));
  CHECK(second["best_cus"] == 128);
}

/// Took \p us, 95 % of its times at most \p p95_us.
StrategyResult taking(const std::string& name, double us, double p95_us, std::optional<LossSplit> loss = {}) {
  StrategyResult result;
  result.name = name;
  result.time = Seconds{us * 1e-6};
  result.spread = TimeSpread{result.time, Seconds{p95_us * 1e-6}};
  result.loss = loss;
  return result;
}

TEST_CASE("the fastest strategy is recommended when 95 % of its times are below the next one's median") {
  LossSplit lean, heavy;
  lean.dispatch = 5.0_us;
  heavy.dispatch = 25.0_us;
  heavy.cus = 40.0_us;
  heavy.interaction = 9.0_us;
  using Split = std::optional<LossSplit>;
  const auto last_line = [](double p95, const Split& of_best, const Split& of_next) {
    return lines(format_study(study({taking("serial", 200, 200), taking("sp", 110, 120, of_next),
                                     taking("dma", 100, p95, of_best)})))
        .back();
  };
  CHECK(last_line(109, lean, heavy) ==
        "recommended: dma, 10.0% faster than sp, which loses 40.0 us more to CUs");
  CHECK(last_line(109, lean, lean) == "recommended: dma, 10.0% faster than sp");
  CHECK(last_line(109, {}, heavy) == "recommended: dma, 10.0% faster than sp");
  CHECK(last_line(110, lean, heavy) ==
        "no clear winner between dma and sp: their medians are within the spread of the first");
  // 0.5 % apart is no difference that the model could tell.
  CHECK(lines(format_study(study({taking("sp", 100.5, 100.5), taking("dma", 100, 100)}))).back() ==
        "no clear winner between dma and sp: less than 1% apart is within noise");
  CHECK(last_line(250, lean, heavy) ==
        "no clear winner among dma, sp and serial: their medians are within the spread of the first");
  CHECK(format_study(study({taking("dma", 100, 100)})).find("recommended") == std::string::npos);
}

TEST_CASE("a recommendation from single runs says that seeds may differ by more") {
  StudyResult once = study({taking("sp", 110, 110), taking("dma", 100, 100)});
  once.conditions.seeds = 1;
  CHECK(lines(format_study(once)).back() ==
        "recommended: dma, 10.0% faster than sp; of one run each: seeds may differ by more");
}

TEST_CASE("a recommendation is strategy and reason in the JSON, without a strategy where none is best") {
  const auto json = [](const StudyResult& result) {
    return Json::parse(study_json(result, "out/hand.h5"))["recommendation"];
  };
  const auto clear = json(study({taking("sp", 110, 120), taking("dma", 100, 105)}));
  CHECK(clear["strategy"] == "dma");
  CHECK(clear["reason"] == "10.0% faster than sp");
  const auto unclear = json(study({taking("sp", 110, 120), taking("dma", 100, 115)}));
  CHECK(unclear["strategy"].is_null());
  CHECK(unclear["reason"] ==
        "no clear winner between dma and sp: their medians are within the spread of the first");
  CHECK(json(study({taking("sp", 110, 120)})).is_null());
}

TEST_CASE("a recommendation says what runtime rules pick, and what that loses against the fastest") {
  StudyResult result = study({taking("sp", 110, 120), taking("rp", 105, 106), taking("dma", 100, 101)});
  result.heuristics = {{HeuristicRule::work_groups, "sp", 0, Seconds{110e-6}},
                       {HeuristicRule::isolated_times, "rp", 32, Seconds{125e-6}}};
  const auto table = lines(format_study(result));
  CHECK(table[table.size() - 1] ==
        "recommended: dma, 5.0% faster than rp; runtime rules pick sp (+10.0%) and rp with 32 CUs (+25.0%)");
  const auto json = Json::parse(study_json(result, "out/hand.h5"))["recommendation"];
  CHECK(json["rules"].elements().size() == 2);
  const auto& rule = json["rules"].elements()[1];
  CHECK(rule["rule"] == "isolated_times");
  CHECK(rule["strategy"] == "rp");
  CHECK(rule["cus"] == 32);
  CHECK(rule["time_us"].number() == doctest::Approx(125));
  CHECK(rule["regret"].number() == doctest::Approx(0.25));
  CHECK(json["rules"].elements()[0]["cus"].is_null());

  // They are named where none is the fastest, too.
  result.strategies.back().time = result.strategies[1].time;
  CHECK(recommendation_text(*recommend(result))
            .ends_with("the spread of the first; runtime rules pick sp (+4.8%) and rp with 32 CUs (+19.0%)"));
  result.heuristics.clear();
  CHECK(Json::parse(study_json(result, "out/hand.h5"))["recommendation"]["rules"].elements().empty());
}

TEST_CASE("a long recommendation goes on in another line") {
  StudyResult many = study({});
  for (int i = 0; i < 6; ++i)
    many.strategies.push_back(taking("prioritized_partition_" + std::to_string(i), 100, 100));
  const auto table = lines(format_study(many));
  CHECK(table[table.size() - 3].starts_with("no clear winner among prioritized_partition_0, "));
  CHECK(table[table.size() - 2].starts_with("  "));
  CHECK(table.back().starts_with("  "));
  for (const auto& line : table)
    CHECK(line.size() <= 110);
}

ResultTable table_of(const std::string& strategy, std::vector<ColumnData> columns) {
  return {.path = "run.h5", .strategy = strategy, .name = "t", .columns = std::move(columns)};
}

TEST_CASE("CSV has units in its header, quotes what needs it, and leaves empty what a strategy lacks") {
  const std::vector<ResultTable> tables{
      table_of("serial", {{{"name", "1", ""}, std::vector<std::string>{"a,b", "say \"hi\""}},
                          {{"start", "ps", ""}, std::vector<std::int64_t>{0, 5}},
                          {{"algbw", "B/s", ""}, std::vector<double>{0.5, 2.5e16}}}),
      table_of("dma", {{{"start", "ps", ""}, std::vector<std::int64_t>{7}},
                       {{"flops", "flop", ""}, std::vector<double>{2}}})};
  const CsvExport csv(tables);
  CHECK(csv.header() + csv.rows(tables.front()) + csv.rows(tables.back()) ==
        "strategy,name,start_ps,algbw_B_per_s,flops\n"
        "serial,\"a,b\",0,0.5,\n"
        "serial,\"say \"\"hi\"\"\",5,2.5e+16,\n"
        "dma,,7,,2\n");
}

TEST_CASE("a table exported as JSON keeps one list a column") {
  const auto json = Json::parse(
      to_json(std::vector{table_of("dma", {{{"start", "ps", ""}, std::vector<std::int64_t>{7, 8}}})}));
  CHECK(json["tables"].elements()[0]["strategy"] == "dma");
  CHECK(json["tables"].elements()[0]["columns"]["start_ps"] == std::vector<int>{7, 8});
}

TEST_CASE("a row with too few cells is refused") {
  TextTable table({"a", "b"});
  CHECK_THROWS_WITH_AS(table.add({"1"}), "a row must have as many cells as the header", std::invalid_argument);
}

TEST_CASE("what is shown of a text is printable and short, whatever is in it") {
  CHECK(shown_word("mlp.gate_up é", 40) == "mlp.gate_up é");
  CHECK(shown_word("a\x1b[2J\nb\x7f", 40) == "a\uFFFD[2J\uFFFDb\uFFFD");
  CHECK(shown_word("\xC2\x9B"
                   "2J\xFF",
                   40) == "\uFFFD2J\uFFFD");  // the control sequence of eight bits
  CHECK(shown_word(std::string(50, 'x'), 10) == "xxxxxxx...");
  CHECK(shown_word("123456é", 7) == "1234...");
  CHECK(shown_word("12345éé", 8) == "12345...");  // between code points
  CHECK(shown_lines("a\tb\n\x1b\n") == "a\tb\n\uFFFD\n");
  TextTable table({"name"});
  table.add({std::string(1000, 'x') + "\x1b"});
  CHECK(table.width() == 200);
}

}}  // namespace c3::results_table_test
