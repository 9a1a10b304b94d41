// Our own richer routes: histograms with the true edges of their bins for any range of steps, which
// TensorBoard does not give, and what is wrong with the files.
//
//   /data/histograms/tags
//       {"tags":[{"run","tag","displayName","description","count","firstStep","lastStep","bins"}]}
//       `count` histograms are kept; `bins` is the most that one of them has.
//   /data/histograms/series?run=&tag=[&steps=FROM..TO][&max=N]
//       {"run","tag","firstStep","lastStep","inRange",
//        "histograms":[{"step","wall","min","max","edges":[…],"counts":[…]}]}
//       Of `inRange` histograms at most N, spread evenly, the first and the last among them. FROM
//       and TO may be left out. `edges` has one more than `counts`; both are empty where nothing
//       was counted.
//   /data/problems
//       {"problems":[{"run","file","byte","what"}]}   `file` is "" for the directory itself.
//
// Numbers that JSON does not have are texts, as in TensorBoard's answers.
//
// Ownership: pure function. Threads: any, while nobody refreshes the set. Errors: 400 and 404 with
// a sentence.
//
//   const Answer answer = AnswerHistogramRoutes(
//       runs, "/data/histograms/series",
//       {{"run", "."}, {"tag", "hidden1/weights"}, {"steps", "100..500"}, {"max", "20"}});

#ifndef DASHBOARD_EVENTS_HISTOGRAM_ROUTES_H_
#define DASHBOARD_EVENTS_HISTOGRAM_ROUTES_H_

#include <string_view>

#include "dashboard/events/answer.h"
#include "dashboard/events/run_set.h"

namespace taas::dashboard {

// As many as TensorBoard shows: more ridges than that on a page cannot be told apart.
inline constexpr size_t kHistogramsByDefault = 51;

Answer AnswerHistogramRoutes(const RunSet& runs, std::string_view path, QueryPairs query);

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_HISTOGRAM_ROUTES_H_
