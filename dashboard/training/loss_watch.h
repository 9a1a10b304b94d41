// Whether the loss of a running training rises: one that has diverged goes on, its pods are well,
// and nothing else says that it learns no more.
//
// The rule looks at the curve that the chief keeps, of which single batches jump about, so all that
// it compares are medians of neighbouring points:
//
//   many times   the newest points are above four times the first one
//   for long     the loss had fallen by a fifth or more of its first value, and in the last quarter
//                of the curve it was above half of that way up again all the time
//   absurd       of a classifier, which has an accuracy too, that is wrong more often than right:
//                above twenty, as no guess of a million classes at random is. The first point may
//                be one of a training that has diverged already
//
// Nobody is asked while nobody looks, and each job once in a while.
//
// Ownership: what is given at construction outlives it. Threads: the executor's only. Errors: none;
// of a job without a curve nothing is said.
//
//   LossWatch watch({.executor = executor, .jobs = …, .fetch = …, .watched = …, .tell = …});
//   watch.Start();

#ifndef DASHBOARD_TRAINING_LOSS_WATCH_H_
#define DASHBOARD_TRAINING_LOSS_WATCH_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/server/watched.h"
#include "operator/base/executor.h"

namespace taas::dashboard {

// Fewer points say nothing of where they go.
inline constexpr size_t kLossPointsMin = 6;
bool LossRises(const std::vector<double>& losses, const std::vector<double>& accuracies = {});
// "loss" or "accuracy" in a SeriesAnswer; empty: there is no such curve.
std::vector<double> CurveOf(std::string_view answer, const std::string& name);

class LossWatch {
 public:
  static constexpr std::chrono::seconds kTick{5};
  // Of one job; a curve grows by a point each few seconds at most.
  static constexpr std::chrono::seconds kEvery{30};
  // In one tick: an answer has up to 120 KB, and is read on the dashboard's own thread.
  static constexpr size_t kJobsPerTick = 8;

  using JobPtr = std::shared_ptr<const WatchedJob>;
  struct Context {
    Executor& executor;
    std::function<std::vector<JobPtr>()> jobs;
    // A SeriesAnswer; may be given inside the call.
    std::function<void(const WatchedJob& job, std::function<void(const std::string&)> done)> fetch;
    std::function<bool()> watched;  // Whether anybody looks.
    std::function<void(const WatchedJob& job, bool rises)> tell;  // Where it has changed.
  };

  explicit LossWatch(Context context) : context_(std::move(context)) {}
  ~LossWatch();
  void Start() { Tick(); }

 private:
  struct Seen {
    Clock::Time at{};
    bool rises = false;
    bool there = true;
  };

  void Tick();
  void Look(const JobPtr& job);

  const Context context_;
  std::map<std::string, Seen> seen_;  // By uid, of jobs that run.
  Executor::TimerId timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_LOSS_WATCH_H_
