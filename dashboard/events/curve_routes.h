// The curves in a training's event files, as its `/series` page has them:
//
//   /data/curves   {"series": {"loss": [[step, wall, value], …]}, "evaluator": {…}}
//
// Of the run in the top directory, which is the training's, and of "eval", which is the
// evaluator's. Points that are no finite numbers, and steps that do not rise, are left out.
//
// Ownership: values. Threads: any, while nobody refreshes the runs. Errors: none; what is not there
// has no curves.
//
//   const Answer answer = AnswerCurves(runs);

#ifndef DASHBOARD_EVENTS_CURVE_ROUTES_H_
#define DASHBOARD_EVENTS_CURVE_ROUTES_H_

#include "dashboard/events/answer.h"
#include "dashboard/events/run_set.h"

namespace taas::dashboard {

// Of a run; a program of a user's own may write any number.
inline constexpr size_t kCurveTagsMax = 64;

Answer AnswerCurves(const RunSet& runs);

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_CURVE_ROUTES_H_
