// The history for callers: what they may see of a job that is there, they see of one that is gone.
//
//   GET api/history?namespace=&text=&before=&limit=   rows, newest first
//   GET api/history/UID                               one job
//
// A namespace that has no job any more is asked for as others are. Rows out of sight are left out
// where rows are selected, so neither a page's length nor its cursor tells of them. Events, logs
// and the manifest need the rights that they need of a job that is there; what is held back is
// named.
//
// Ownership: what is given at construction outlives it. Threads: the executor's only. Errors:
// answers with a Problem.
//
//   HistoryRoutes history({.store = store, .access = access});
//   history.AddTo(&routes.table());

#ifndef DASHBOARD_HISTORY_HISTORY_ROUTES_H_
#define DASHBOARD_HISTORY_HISTORY_ROUTES_H_

#include <string>
#include <vector>

#include "dashboard/history/history_store.h"
#include "dashboard/server/access.h"
#include "dashboard/server/route_table.h"
#include "dashboard/server/sight.h"

namespace taas::dashboard {

class HistoryRoutes {
 public:
  static constexpr int kLimitDefault = 100;
  // Of one page: some 500 KB.
  static constexpr int kLimitMax = 500;
  // A caller who may not see everything is asked about so many namespaces, those that were used
  // last: where each run has a namespace of its own there are thousands.
  static constexpr size_t kNamespacesMax = 300;
  // Of the text that is searched for; more are ignored.
  static constexpr size_t kWordsMax = 8;

  struct Context {
    HistoryStore& store;
    Access& access;
  };

  explicit HistoryRoutes(const Context& context) : context_(context) {}
  void AddTo(RouteTable* table);

 private:
  void List(ApiCall call);
  void ListPlaces(const ApiCall& call, const HistoryQuery& query,
                  const std::vector<HistoryPlace>& places);
  void ListSeen(const ApiCall& call, HistoryQuery query, const std::vector<HistoryPlace>& places,
                const SightPtr& sight, bool all_asked);
  void Detail(ApiCall call);
  void DetailOf(ApiCall call, const std::string& uid, const HistoryName& name);

  const Context context_;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_ROUTES_H_
