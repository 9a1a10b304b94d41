// GPUs that replicas of the bundled trainer hold and do not compute on, since the operator has no
// image for GPUs: the image without them trains on processors, and nothing fails.
//
// Ownership: values. Threads: any. Errors: none.
//
//   if (const std::string why = WhyGpusIdle(snapshot, ledger); !why.empty()) Warn(why);

#ifndef OPERATOR_PLAN_IDLE_GPUS_H_
#define OPERATOR_PLAN_IDLE_GPUS_H_

#include <string>

#include "operator/plan/snapshot.h"

namespace taas {

// The reason of the event.
inline constexpr char kGpusIdle[] = "GpusIdle";

// "2 replicas hold GPUs and compute on processors: the operator has no image for GPUs …". Empty:
// none does. Images that a user names are the user's business, and so is TAAS_GPUS; on the local
// cluster the node hands out GPUs by itself.
std::string WhyGpusIdle(const Snapshot& snapshot, const Ledger& ledger);

}  // namespace taas

#endif  // OPERATOR_PLAN_IDLE_GPUS_H_
