// GET api/stream: opens a tab's stream, and keeps it until its client has gone.
//
// Ownership: what is given at construction outlives it; owns the tabs' streams. Threads: the
// executor's only. Errors: answers with a Problem.
//
//   StreamRoutes streams(context);
//   streams.AddTo(&routes.table());

#ifndef DASHBOARD_SERVER_STREAM_ROUTES_H_
#define DASHBOARD_SERVER_STREAM_ROUTES_H_

#include <cstdint>
#include <map>
#include <memory>

#include "dashboard/server/route_table.h"
#include "dashboard/server/tab_stream.h"

namespace taas::dashboard {

class StreamRoutes {
 public:
  // Of one identity. A script that opens streams and forgets them must not use up everybody's.
  static constexpr size_t kTabsOfOneMax = 100;

  explicit StreamRoutes(const TabStream::Context& context) : context_(context) {}
  ~StreamRoutes();
  void AddTo(RouteTable* table);
  // Tells all tabs that the server stops.
  void Stop();
  size_t tabs() const { return tabs_.size(); }

 private:
  void Open(ApiCall call);

  const TabStream::Context context_;
  uint64_t next_ = 1;
  std::map<uint64_t, std::unique_ptr<TabStream>> tabs_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_STREAM_ROUTES_H_
