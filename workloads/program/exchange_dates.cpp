#include "workloads/program/exchange_dates.hpp"

#include <bit>
#include <cstdint>
#include <set>

#include "workloads/program/message_ways.hpp"

namespace c3 { inline namespace workloads {
namespace {

void append(DateSignature& signature, Bytes bytes) {
  const auto bits = std::bit_cast<std::uint64_t>(bytes.value);
  signature.push_back(static_cast<DateNumber>(bits));
  signature.push_back(static_cast<DateNumber>(bits >> 32U));
}

}  // namespace

void ExchangeDates::begin(int number, const Exchange& what, DateNumber date) {
  const std::size_t index = begun_.size();
  begun_.push_back({number, &what, date, std::vector<OtherEnd>(what.messages.size())});
  last_[number] = index;
  for (std::size_t place = 0; place < what.messages.size(); ++place)
    meet(index, place);
}

// Messages from a class to another meet in the order in which they come.
void ExchangeDates::meet(std::size_t index, std::size_t place) {
  const Begun& its = begun_[index];
  const Message& message = its.what->messages[place];
  const int peer = peer_class(its, place);
  const int sender = message.sends ? its.number : peer, receiver = message.sends ? peer : its.number;
  const int offset = offset_of(program_.communicators[its.what->communicator], message);
  Channel& channel = channels_[{its.what->communicator, offset, sender, receiver}];
  auto& own = message.sends ? channel.sent : channel.received;
  const auto& others = message.sends ? channel.received : channel.sent;
  own.emplace_back(index, place);
  if (others.size() < own.size()) return;
  const std::pair<std::size_t, std::size_t> other = others[own.size() - 1];
  begun_[index].others[place] = other;
  begun_[other.first].others[other.second] = {index, place};
}

int ExchangeDates::peer_class(const Begun& its, std::size_t place) const {
  const RankGroups& groups = program_.communicators[its.what->communicator].groups;
  return classes_.class_of(
      peer_of(groups, classes_.representative(its.number), its.what->messages[place].offset));
}

std::optional<DateNumber> ExchangeDates::end(int number) {
  const std::size_t index = last_.at(number);
  if (begun_[index].end) return begun_[index].end;
  const auto all = joined_to(index);
  if (!all) return std::nullopt;
  end_together(*all);
  return begun_[index].end;
}

/// All exchanges that may be in flight with \p index; nullopt: not all have begun.
std::optional<std::vector<std::size_t>> ExchangeDates::joined_to(std::size_t index) const {
  std::vector<std::size_t> all{index};
  std::set<std::size_t> seen{index};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Begun& its = begun_[all[i]];
    for (std::size_t place = 0; place < its.others.size(); ++place) {
      if (unknown_[static_cast<std::size_t>(peer_class(its, place))]) continue;
      if (!its.others[place]) return std::nullopt;
      const std::size_t other = its.others[place]->first;
      if (seen.insert(other).second) all.push_back(other);
    }
  }
  return all;
}

void ExchangeDates::end_together(const std::vector<std::size_t>& all) {
  std::map<std::size_t, DateNumber> numbers;
  for (const std::size_t index : all)
    numbers[index] = first_number(begun_[index]);
  for (std::size_t before = 0, now = 1; before != now;) {
    before = now;
    std::map<std::size_t, DateNumber> refined;
    std::set<DateNumber> different;
    for (const auto& [index, number] : numbers) {
      const Begun& its = begun_[index];
      DateSignature signature{kExchange, number};
      for (std::size_t place = 0; place < its.others.size(); ++place) {
        const auto& unknown = unknown_[static_cast<std::size_t>(peer_class(its, place))];
        const OtherEnd& other = its.others[place];
        signature.push_back(unknown ? *unknown : numbers.at(other->first));
        signature.push_back(unknown ? 0 : static_cast<DateNumber>(other->second));
      }
      different.insert(refined[index] = numbers_.of(signature));
    }
    numbers = std::move(refined);
    now = different.size();
  }
  for (const auto& [index, number] : numbers)
    begun_[index].end = number;
}

/// Of its begin, what moves, and how far.
DateNumber ExchangeDates::first_number(const Begun& its) {
  DateSignature signature{kExchange, its.begin, transfers_[static_cast<std::size_t>(its.number)],
                          its.what->communicator};
  const int own = classes_.representative(its.number);
  for (const Message& message : its.what->messages) {
    const int peer = peer_of(program_.communicators[its.what->communicator].groups, own, message.offset);
    signature.push_back(message.sends ? 1 : 0);
    signature.push_back(own / node_gpus_ == peer / node_gpus_ ? 1 : 0);
    append(signature, message.bytes);
  }
  return numbers_.of(signature);
}

}}  // namespace c3::workloads
