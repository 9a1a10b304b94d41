// The spec of a TrainingJob, as a struct.
//
// Ownership: values. Threads: any. Errors: InvalidArgument naming the field.
//
//   RETURN_IF_ERROR(ReadTrainingJobSpec(root["spec"], &job.spec));

#ifndef OPERATOR_API_TRAINING_JOB_SPEC_CODEC_H_
#define OPERATOR_API_TRAINING_JOB_SPEC_CODEC_H_

#include "absl/status/status.h"
#include "operator/api/job.h"
#include "operator/api/json_field.h"


namespace taas {

absl::Status ReadTrainingJobSpec(const JsonField& spec, JobSpec* out);

}  // namespace taas

#endif  // OPERATOR_API_TRAINING_JOB_SPEC_CODEC_H_
