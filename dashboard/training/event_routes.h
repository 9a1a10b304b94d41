// What is in a training's event files, below jobs/NS/PLURAL/NAME/events:
//
//   GET …/events                        how much of them was read, from whom, and what is wrong
//   GET …/events/data/runs              and the rest of TensorBoard's routes (tensorboard_routes.h)
//   GET …/events/data/histograms/tags   and ours (histogram_routes.h)
//
// Ownership: what is given at construction outlives it. Threads: the executor's only. Errors:
// answers with a Problem below …/events, as TensorBoard does below …/events/data.
//
//   EventRoutes events(context);
//   events.AddTo(&routes.table());

#ifndef DASHBOARD_TRAINING_EVENT_ROUTES_H_
#define DASHBOARD_TRAINING_EVENT_ROUTES_H_

#include "dashboard/server/access.h"
#include "dashboard/server/board.h"
#include "dashboard/server/route_table.h"
#include "dashboard/training/event_mirror.h"

namespace taas::dashboard {

class EventRoutes {
 public:
  struct Context {
    Board& board;
    Access& access;
    EventMirror& mirror;
  };

  explicit EventRoutes(const Context& context) : context_(context) {}
  void AddTo(RouteTable* table);

 private:
  void Ask(ApiCall call);

  const Context context_;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_EVENT_ROUTES_H_
