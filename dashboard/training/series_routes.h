// GET api/jobs/NS/PLURAL/NAME/series[?since=STEP]: the curves of a training, as they are now; where
// nobody answers, as the history has them.
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

namespace taas::dashboard {

class SeriesRoutes {
 public:
  struct Context {
    Board& board;
    Access& access;
    SeriesSource& source;
    // What the history has of a job that nobody answers for; "": nothing. Null: there is none.
    std::function<void(const std::string& uid, std::function<void(std::string answer)> done)>
        recorded = nullptr;
  };

  explicit SeriesRoutes(Context context) : context_(std::move(context)) {}
  void AddTo(RouteTable* table);

 private:
  void Series(ApiCall call);

  const Context context_;
};

// A SeriesAnswer without the points at `step` and before.
std::string SeriesSince(const std::string& answer, double step);

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_SERIES_ROUTES_H_
