#pragma once
/// How the kernels that compute on one CU divide its arithmetic.

#include <cstddef>
#include <vector>

namespace c3 { inline namespace gpu {

/// A kernel whose work groups compute on CUs. Copies do not join: they use no arithmetic.
class ComputeClient {
 public:
  /// Share of a CU's arithmetic, > 0..1, that \p groups of its work groups use where no other kernel computes.
  virtual double arithmetic_asked(int groups) = 0;
  /// The share that it has of some CUs of \p xcd has changed (CuShares::changed says of which).
  virtual void on_shares_changed(int xcd) = 0;

 protected:
  ~ComputeClient() = default;
};

/// What a kernel has of one CU.
struct ArithmeticShare {
  int groups = 0;          ///< its work groups there
  double available = 1.0;  ///< arithmetic that the other kernels leave it, > 0..1; 1 where it gets all it asks

  friend bool operator==(const ArithmeticShare&, const ArithmeticShare&) = default;
};

/// Divides the arithmetic of every CU of a GPU among the kernels whose work groups are resident there.
/// Each kernel gets what it asks for. Where they ask for more than the CU has, they get max-min fair shares
/// weighted by waves, as from a scheduler that goes round the ready waves. The CU is then never idle while it
/// has work, so two kernels together take no longer on it than one after the other. Work groups that come and
/// go change the shares of everybody on the CU at the end of the instant, when settle() is called.
/// Wrong when: kernels use different pipes (matrix, vector) and share only the issue slots: they are then less
/// in each other's way than here.
class CuShares {
 public:
  CuShares(int xcds, int cus_per_xcd);

  /// \p groups work groups of \p client, of \p waves waves each, are now on the CU.
  void join(int xcd, int cu, ComputeClient& client, int waves, int groups = 1);
  /// As join() and settle(), on a CU where nobody else is.
  void join_alone(int xcd, int cu, ComputeClient& client, int waves, int groups);
  void leave(int xcd, int cu, const ComputeClient& client, int groups = 1);
  /// Divides the CUs that have changed anew, and tells the kernels there whose share or number of work groups
  /// is another.
  void settle();

  /// As of the last settle(). \p client must have a work group there.
  ArithmeticShare of(const ComputeClient& client, int xcd, int cu) const;
  /// Whether the CU's division changes in the settle() that is under way.
  bool changed(int xcd, int cu) const { return !units_.empty() && units_[index(xcd, cu)].touched; }

 private:
  struct Entry {
    ComputeClient* client = nullptr;
    int groups = 0;
    int waves = 0;  ///< of one work group
    double available = 1.0;
    ArithmeticShare settled = {};
  };
  struct Unit {
    std::vector<Entry> entries;  ///< by kernel, in order of arrival
    bool touched = false;
  };
  struct Place {
    int xcd, cu;
  };
  struct Asking {
    Entry* entry;
    double asked;
  };
  struct Told {
    ComputeClient* client;
    int xcd;
    friend bool operator==(const Told&, const Told&) = default;
  };
  std::size_t index(int xcd, int cu) const {
    return static_cast<std::size_t>(xcd) * static_cast<std::size_t>(cus_per_xcd_) +
           static_cast<std::size_t>(cu);
  }
  static Entry* find(std::vector<Entry>& entries, const ComputeClient& client);
  Unit& touch(int xcd, int cu);
  void divide(std::vector<Entry>& entries);
  void publish(int xcd, Entry& entry);

  int cus_per_xcd_;
  std::size_t cus_;
  std::vector<Unit> units_;       ///< none before a kernel joins: GPUs that only communicate need none
  std::vector<Place> touched_;    ///< since the last settle()
  std::vector<Told> to_tell_;     ///< scratch
  std::vector<Asking> unserved_;  ///< scratch
};

}}  // namespace c3::gpu
