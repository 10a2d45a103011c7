#pragma once
/// When exchanges of messages end, without values of dates.

#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "interconnect/rank_partition.hpp"
#include "workloads/program/date_numbers.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// Exchanges of one rank of each class, which end at equal dates where they begin at equal ones, have equal
/// sizes, and so do all exchanges with which they share messages, directly or through others (colour
/// refinement).
class ExchangeDates {
 public:
  /// All must outlive it. \param transfers by class: how it differs from others in how fast it sends and
  /// receives \param unknown by class: a number where nobody knows when it begins what
  ExchangeDates(const Program& program, const RankPartition& classes, int node_gpus, DateNumbers& numbers,
                const std::vector<DateNumber>& transfers, const std::vector<std::optional<DateNumber>>& unknown)
      : program_(program),
        classes_(classes),
        node_gpus_(node_gpus),
        numbers_(numbers),
        transfers_(transfers),
        unknown_(unknown) {}

  /// The class \p number begins its next exchange at \p date.
  void begin(int number, const Exchange& what, DateNumber date);
  /// Of the exchange that the class began last; nullopt: some to which it is joined have not begun.
  std::optional<DateNumber> end(int number);

 private:
  /// The other end of a message, once that has begun: exchange, and place in it.
  using OtherEnd = std::optional<std::pair<std::size_t, std::size_t>>;
  struct Begun {
    int number = 0;  ///< of the class
    const Exchange* what = nullptr;
    DateNumber begin = 0;
    std::vector<OtherEnd> others = {};  ///< by message
    std::optional<DateNumber> end = std::nullopt;
  };
  /// From a class to another: ends of messages in their order.
  struct Channel {
    std::vector<std::pair<std::size_t, std::size_t>> sent, received;
  };

  void meet(std::size_t index, std::size_t place);
  int peer_class(const Begun& its, std::size_t place) const;
  std::optional<std::vector<std::size_t>> joined_to(std::size_t index) const;
  void end_together(const std::vector<std::size_t>& all);
  DateNumber first_number(const Begun& its);

  const Program& program_;
  const RankPartition& classes_;
  int node_gpus_;
  DateNumbers& numbers_;
  const std::vector<DateNumber>& transfers_;
  const std::vector<std::optional<DateNumber>>& unknown_;
  std::vector<Begun> begun_;
  std::map<int, std::size_t> last_;  ///< by class
  std::map<std::tuple<CommunicatorId, int, int, int>, Channel>
      channels_;  ///< by communicator, offset, classes of sender and receiver
};

}}  // namespace c3::workloads
