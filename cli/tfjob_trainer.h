// A TFJob that runs the bundled trainer: its template gives the configuration in TAAS_TRAINER, as
// the kind has no field for it. Commands treat it as a job of spec.trainer.
//
// Ownership: none is kept. Threads: any. Errors: none; a variable that is not there, is no value of
// its own or no configuration, and flags beside it, which win, leave the job as it is.
//
//   TakeTrainerOfTemplate(&job);  // Now job.spec.trainer is what the variable says.

#ifndef CLI_TFJOB_TRAINER_H_
#define CLI_TFJOB_TRAINER_H_

#include <string_view>

#include "operator/api/job.h"

namespace taas {

void TakeTrainerOfTemplate(Job* job);

// Where a job of the bundled trainer says so, for who is told to change it: "spec.volumes".
std::string_view VolumesField(const Job& job);
std::string_view CheckpointDirField(const Job& job);

}  // namespace taas

#endif  // CLI_TFJOB_TRAINER_H_
