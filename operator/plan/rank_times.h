// What the time of the ranks of an all-reduce goes to, as the /status of its chief says it
// (docs/contract.md), and sums of it over ranks and jobs.
//
// Whoever wrote it is not trusted: a share is between 0 and 1, a role is one that we know, and what
// is beyond a job's number of ranks is left out. Sums are whole numbers, so that what was added can
// be taken away again without a rest.
//
// Pure. Ownership: values. Threads: any. Errors: none; what is not told is not there.
//
//   RankReader reader;  // Is fed by whoever reads the page.
//   totals += SumOf(reader.Take());

#ifndef OPERATOR_PLAN_RANK_TIMES_H_
#define OPERATOR_PLAN_RANK_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/job.h"

namespace taas {

// Shares of its time, 0 … 1; the rest is the update and what follows it.
struct RankTime {
  Role role = Role::kWorker;
  int32_t index = 0;
  double compute = 0;
  double wait = 0;      // For the slowest of the others.
  double exchange = 0;  // Of gradients, for which it waits.
  double hidden = 0;    // Of gradients, beside `compute`: no part of the sum.
  int64_t bytes_per_step = 0;  // That it sends.

  std::string name() const;  // "worker-1"
  bool operator==(const RankTime&) const = default;
};

struct RankTimes {
  std::vector<RankTime> ranks;  // The one that tells, then its peers in their order.
  std::string slowest;          // Whom the others wait for: one of `ranks`; empty: nobody.

  bool operator==(const RankTimes&) const = default;
};

struct RankSums {
  int64_t ranks = 0;
  int64_t compute_thousandths = 0, wait_thousandths = 0;
  int64_t exchange_thousandths = 0, hidden_thousandths = 0;
  int64_t bytes_per_step = 0;
  int64_t jobs_with_slowest = 0;

  bool operator==(const RankSums&) const = default;
  RankSums& operator+=(const RankSums& more) { return Add(more, 1); }
  RankSums& operator-=(const RankSums& less) { return Add(less, -1); }

 private:
  RankSums& Add(const RankSums& other, int64_t sign);
};
RankSums SumOf(const RankTimes& times);

// Takes `shares` and `slowest` of a page and `shares` of its `peers` as a parser meets them.
// `depth` is that of the object or list which is entered, left, or has the value: 1 for the page.
class RankReader {
 public:
  // Of one job: more train in no ring that anybody has seen.
  static constexpr size_t kRanksMax = 1'024;

  void Enter(int depth, bool list);
  void Leave(int depth);
  void Key(int depth, std::string_view name);
  void Number(int depth, double value);
  void Text(int depth, std::string_view value);

  // Once, when the page has been read.
  RankTimes Take();

 private:
  // A replica that is being read.
  struct Seen {
    std::optional<Role> role;
    RankTime time;
    bool tells = false;  // It has `shares`.
    std::string key;     // The last one; what no name of ours is is "".
  };
  void Keep(const Seen& seen);

  RankTimes times_;
  std::string slowest_;
  Seen own_, peer_;
  bool in_peers_ = false;
  int shares_ = 0;  // Depth of the shares that are being read; 0: none are.
  std::string share_key_;
};

}  // namespace taas

#endif  // OPERATOR_PLAN_RANK_TIMES_H_
