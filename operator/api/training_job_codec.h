// The former names of job_codec.h, until their callers use those.
//
// Ownership, Threads, Errors: as there.
//
//   ASSIGN_OR_RETURN(const Job job, DecodeTrainingJob(text));

#ifndef OPERATOR_API_TRAINING_JOB_CODEC_H_
#define OPERATOR_API_TRAINING_JOB_CODEC_H_

#include <string>
#include <string_view>

#include "operator/api/job_codec.h"

namespace taas {

inline absl::StatusOr<Job> DecodeTrainingJob(std::string_view json) {
  return DecodeJob(JobKind::kTrainingJob, json);
}
inline std::string EncodeStatus(const JobStatus& status) { return EncodeStatus(Job{}, status); }

}  // namespace taas

#endif  // OPERATOR_API_TRAINING_JOB_CODEC_H_
