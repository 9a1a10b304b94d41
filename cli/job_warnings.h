// What an accepted job's user should know before it runs, which nobody refuses.
//
// Paths that lie on no volume of the role that uses them; GPUs on which nobody would compute; what
// the bundled trainer would refuse in the configuration that a TFJob hands to it.
//
// Ownership: values. Threads: any. Errors: none; what is no job has no warnings.
//
//   for (const std::string& words : JobWarnings(kind, document)) io.err << words << "\n";

#ifndef CLI_JOB_WARNINGS_H_
#define CLI_JOB_WARNINGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "operator/api/job.h"

namespace taas {

// `document`: of a job that CheckJob accepts. One sentence each, beginning with the field.
std::vector<std::string> JobWarnings(JobKind kind, std::string_view document);

}  // namespace taas

#endif  // CLI_JOB_WARNINGS_H_
