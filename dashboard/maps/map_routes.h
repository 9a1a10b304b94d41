// The map of GPUs and the queues, for `api/gpus`, `api/queues` and the streams of all tabs: each is
// made once for all who look, and only after something has changed.
//
// Ownership: what is given at construction outlives it. Threads: the executor's only. Errors:
// answers with a Problem.
//
//   MapRoutes maps({.board = board, .access = access, …});
//   maps.AddTo(&routes.table());
//   TabStream::Context{.gpus = [&](const Sight& sight) { return maps.Gpus(sight); }, …}

#ifndef DASHBOARD_MAPS_MAP_ROUTES_H_
#define DASHBOARD_MAPS_MAP_ROUTES_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dashboard/server/access.h"
#include "dashboard/server/board.h"
#include "dashboard/maps/gpu_readings.h"
#include "dashboard/maps/gpu_view.h"
#include "dashboard/maps/kueue_cache.h"
#include "dashboard/maps/queue_sight.h"
#include "dashboard/maps/queue_view.h"
#include "dashboard/server/route_table.h"
#include "operator/base/executor.h"

namespace taas::dashboard {

class MapRoutes : public Board::Listener {
 public:
  // A request, unlike a stream, gets what was made for another one so lately: whoever asks fifty
  // times a second does not make it fifty times.
  static constexpr std::chrono::seconds kLately{1};
  // Of sights whose text is kept: people of one team see the same.
  static constexpr size_t kTextsMax = 32;

  struct Context {
    Executor& executor;
    Board& board;
    Access& access;
    const KueueCache* kueue = nullptr;  // Null: Kueue is not looked at.
    bool local = false;                 // The cluster is that of `taas local`.
    GpuReadings* readings = nullptr;    // Null: nothing is measured.
  };

  explicit MapRoutes(const Context& context);
  ~MapRoutes() override;

  void AddTo(RouteTable* table);
  void OnChanges(const Board::Changes& changes) override;
  // Queues of Kueue, or readings of trainers, have changed.
  void Touch();

  // A GpuMap and a QueueList, in JSON.
  std::string Gpus(const Sight& sight);
  std::string Queues(const Sight& sight, const QueueSight& queue_sight);
  // For which rights have to be asked, beside those with jobs.
  std::set<std::string> Namespaces() const;

 private:
  template <typename Table>
  struct Made {
    std::optional<Table> table;
    bool stale = true;
    Clock::Time at{};
  };
  struct GpuText {
    Sight sight;
    std::string text;
  };

  template <typename Table>
  bool IsLate(const Made<Table>& made) const;
  const std::string& GpusMade(const Sight& sight);
  void MakeGpus();
  void MakeQueues();
  std::shared_ptr<const WatchedJob> JobOf(const KueueWorkload& workload) const;
  void AnswerGpus(ApiCall call);
  void AnswerQueues(ApiCall call);

  const Context context_;
  Made<GpuTable> gpus_;
  Made<QueueTable> queues_;
  std::vector<GpuText> gpu_texts_;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_MAPS_MAP_ROUTES_H_
