// A TFJob as the TrainingJob that behaves the same.
//
// Both dialects of TFJobs are taken: policies in the spec or, which wins, in its runPolicy. Where a
// default differs, what the TFJob had is written out; what has no place in a TrainingJob is named
// in the notes and left out.
//
// Ownership: values. Threads: any. Errors: InvalidArgument for what is no TFJob.
//
//   ASSIGN_OR_RETURN(const ConvertedJob job, ConvertTfJob(document));
//   for (const std::string& note : job.notes) io.err << note << "\n";

#ifndef CLI_CONVERT_JOB_H_
#define CLI_CONVERT_JOB_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taas {

struct ConvertedJob {
  std::string json;
  std::vector<std::string> notes;
};
absl::StatusOr<ConvertedJob> ConvertTfJob(std::string_view json);

}  // namespace taas

#endif  // CLI_CONVERT_JOB_H_
