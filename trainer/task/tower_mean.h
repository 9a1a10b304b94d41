// What a tower on a device of its own does with its gradients before it uses them: it takes part in
// their mean over all towers.
//
// The gradients are one arena, and the mean is of all of it at once. With it goes the mean of the
// losses, in which a tower whose data is wrong has NaN: so a step in which one tower has a fault,
// or a loss that is no number, is a fault on all, and none is updated. What no gradient reaches,
// the moving moments, becomes what it is on the first tower.
//
// Ownership: borrows the session, of whose runs kTrain it is part, and the collective. Threads:
// those of the session's runs. Errors: of the collective.
//
//   ASSIGN_OR_RETURN(const auto mean, TowerMean::Make(session, collective, /*rank=*/1));

#ifndef TRAINER_TASK_TOWER_MEAN_H_
#define TRAINER_TASK_TOWER_MEAN_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/collective.h"
#include "trainer/graph/runtime.h"
#include "trainer/graph/session.h"

namespace taas {

class TowerMean : public StepRest {
 public:
  // Of a session whose gradients list no rows.
  static absl::StatusOr<std::unique_ptr<TowerMean>> Make(Session& session, Collective& collective,
                                                         int rank);
  ~TowerMean() override;
  TowerMean(const TowerMean&) = delete;
  TowerMean& operator=(const TowerMean&) = delete;

  absl::Status Launch(Stream& stream) override;

 private:
  TowerMean(Session& session, Collective& collective, int rank)
      : session_(session), collective_(collective), rank_(rank) {}
  absl::Status MakeParts();

  Session& session_;
  Collective& collective_;
  const int rank_;
  LoneKernel loss_unless_fault_, check_loss_;
  Buffer mean_loss_;
  // Where the tower's own is, and the mean, as it is written and read.
  const void* loss_ = nullptr;
  void* mean_ = nullptr;
  const void* mean_read_ = nullptr;
  Collective::Exchange exchange_;
};

}  // namespace taas

#endif  // TRAINER_TASK_TOWER_MEAN_H_
