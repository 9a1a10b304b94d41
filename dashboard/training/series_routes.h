// GET api/jobs/NS/PLURAL/NAME/series[?since=STEP]: the curves of a training, as they are now; where
// nobody answers, as the history has them. Those of a job that is over are filled from its event
// files, where they can be seen, and end with what its status says.
//
// Ownership: what is given at construction outlives it. Threads: the executor's only. Errors:
// answers with a Problem; a trainer that does not answer is no error.
//
//   SeriesRoutes series(context);
//   series.AddTo(&routes.table());

#ifndef DASHBOARD_TRAINING_SERIES_ROUTES_H_
#define DASHBOARD_TRAINING_SERIES_ROUTES_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "dashboard/server/access.h"
#include "dashboard/server/board.h"
#include "dashboard/server/route_table.h"
#include "dashboard/training/series_source.h"
#include "operator/base/executor.h"

namespace taas::dashboard {

class SeriesRoutes {
 public:
  struct Context {
    Executor& executor;
    Board& board;
    Access& access;
    SeriesSource& source;
    // What the history has of a job that nobody answers for; "": nothing. Null: there is none.
    std::function<void(const std::string& uid, std::function<void(std::string answer)> done)>
        recorded = nullptr;
    // What the job's event files have, as a SeriesAnswer; "": nothing. Null: nobody can see them.
    std::function<void(const WatchedJob& job, const SeriesSource::Pods& pods,
                       std::function<void(std::string curves)> done)>
        written = nullptr;
  };

  explicit SeriesRoutes(Context context) : context_(std::move(context)) {}
  void AddTo(RouteTable* table);

 private:
  void Series(ApiCall call);
  void Complete(const ClusterCache::JobPtr& job, std::string answer,
                std::function<void(const std::string& answer)> respond);

  const Context context_;
};

// Of a job that is over: `answer` with what `files` have, and with its last points.
std::string CompleteAnswer(const std::string& answer, const std::string& files,
                           const WatchedJob& job, Clock::WallTime now);
// A SeriesAnswer without the points at `step` and before.
std::string SeriesSince(const std::string& answer, double step);

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_SERIES_ROUTES_H_
