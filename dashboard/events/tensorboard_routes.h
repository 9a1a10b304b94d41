// TensorBoard's own routes for runs, curves, histograms and distributions, with answers that are
// equal in content to those of TensorBoard 2.21: same points, same numbers, same errors.
//
//   /data/runs
//   /data/plugin/{scalars,histograms,distributions}/tags
//   /data/plugin/scalars/scalars?run=&tag=[&format=csv]
//   /data/plugin/histograms/histograms?run=&tag=
//   /data/plugin/distributions/distributions?run=&tag=
//
// Three things differ: a description is shown as text and not rendered from Markdown; whole numbers
// of integer tensors are written like all others, 1.0 for 1; and a request for histograms without a
// tag or a run is a 400 (there TensorBoard fails with a 500).
//
// Ownership: pure function. Threads: any, while nobody refreshes the set. Errors: 400 and 404 with
// a sentence.
//
//   const Answer answer = AnswerTensorBoard(runs, "/data/plugin/scalars/scalars",
//                                           {{"run", "train"}, {"tag", "loss"}});

#ifndef DASHBOARD_EVENTS_TENSORBOARD_ROUTES_H_
#define DASHBOARD_EVENTS_TENSORBOARD_ROUTES_H_

#include <string_view>

#include "dashboard/events/answer.h"
#include "dashboard/events/run_set.h"

namespace taas::dashboard {

Answer AnswerTensorBoard(const RunSet& runs, std::string_view path, QueryPairs query);

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_TENSORBOARD_ROUTES_H_
