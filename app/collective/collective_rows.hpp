#pragma once
/// Collectives timed at some sizes, and how `c3sim collective` shows them.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/collective/collective_request.hpp"
#include "base/json.hpp"
#include "collectives/better_choice.hpp"
#include "collectives/measure.hpp"

namespace c3 { inline namespace app {

/// What is asked for at every size: wishes, not yet choices.
struct Wish {
  Mover mover;
  std::optional<Algorithm> algorithm;
  std::optional<Protocol> protocol;
  LaunchPath launch = LaunchPath::graph;
};

struct CollectiveRow {
  CollectiveCall call;
  MeasuredMethod how;
  CollectiveMeasurement here;
  std::optional<BetterChoice> better = {};       ///< a faster choice that the library leaves aside
  const MeasuredCollective* measured = nullptr;  ///< the row of the table to compare with; null: there is none
  const LoggedChoice* logged = nullptr;          ///< how the log's library ran this size; null: it does not say
  std::size_t wish = 0;

  /// Error of the time here, in percent of the measured time.
  double error() const;
};

/// Rows in the order of wishes, each sorted by size.
struct CollectiveRows {
  std::vector<Wish> wishes;
  std::vector<CollectiveRow> rows;
};

/// How the wish's rows are called where there are several wishes: "dma pcpy", "cu ring ll graph".
std::string label_of(const Wish& wish);

/// How the log's library ran \p call most often, where the library's choice is asked for; null otherwise.
const LoggedChoice* logged_choice(const CollectiveRequest& request, const Wish& wish,
                                  const CollectiveCall& call);

/// How the file of --table and what is simulated differ: in the system, and in methods. A sentence each.
std::vector<std::string> differences_of(const CollectiveRequest& request, const CollectiveRows& found);

/// What was taken from the file of --table, assumed, and ignored. Empty where that is nothing.
std::string logged_text(const CollectiveRequest& request, const CollectiveRows& found);
Json logged_json(const CollectiveRequest& request, const CollectiveRows& found);
/// "ring ll128, 16 channels"; "-" where the log does not say it.
std::string words_of(const LoggedChoice* choice);

std::string collective_json(const CollectiveRequest& request, const CollectiveRows& found);
/// The table as nccl-tests prints it; with a measured table, that beside, and how far the times here are off.
std::string collective_text(const CollectiveRequest& request, const CollectiveRows& found);
/// An HTML page that needs nothing else: bus bandwidth and time by size, and errors.
std::string collective_page(const CollectiveRequest& request, const CollectiveRows& found);

}}  // namespace c3::app
