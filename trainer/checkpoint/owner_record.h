// The content of `.owner` in a checkpoint directory, and the rules by which it changes hands.
//
// Ownership: values and pure functions. Threads: any. Errors: DataLoss for text that is no record;
// MayClaim's are the sentences that the late process prints.
//
//   ASSIGN_OR_RETURN(const OwnerRecord there, ParseOwnerRecord(text));
//   RETURN_IF_ERROR(MayClaim(there, me, clock.WallNow(), 30s));

#ifndef TRAINER_CHECKPOINT_OWNER_RECORD_H_
#define TRAINER_CHECKPOINT_OWNER_RECORD_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"

namespace taas {

// Who writes. `uid` is that of the job object; without a cluster any text that names the run.
struct CheckpointOwner {
  std::string job;  // "default/mnist", for messages only.
  std::string uid;
  int64_t attempt = 1;
  int64_t pod = 1;    // The incarnation: pod number,
  std::string start;  // then the process's random start number.
};

struct OwnerRecord {
  CheckpointOwner owner;
  Clock::WallTime renewed;
  bool released = false;
};

std::string EncodeOwnerRecord(const OwnerRecord& record);
absl::StatusOr<OwnerRecord> ParseOwnerRecord(const std::string& text);

bool SameProcess(const CheckpointOwner& a, const CheckpointOwner& b);
// "job default/mnist (uid 7f0c…, attempt 1, pod 2)".
std::string DescribeOwner(const CheckpointOwner& owner);

// Within a job the higher attempt wins, within an attempt the higher pod number, within a pod
// whoever comes later. Another job gets the directory when its owner released it or gave no sign
// for `lease`.
absl::Status MayClaim(const OwnerRecord& there, const CheckpointOwner& me, Clock::WallTime now,
                      Clock::Duration lease);

}  // namespace taas

#endif  // TRAINER_CHECKPOINT_OWNER_RECORD_H_
