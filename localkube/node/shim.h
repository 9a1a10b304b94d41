// One run of one container: starts it, keeps its output, ends it, and says on disk how it ended.
//
// Every run has a shim of its own, a process that outlives `taas local`, so that a cluster which is
// stopped, killed or replaced finds its pods running. The shim is the hidden verb `taas shim DIR`
// of the same program.
//
// Ownership: the process; it ends when RunShim returns, and nothing that it started is left by
// then; disk outlives it. Threads: one. Errors: reported in `exit.json` where the run was claimed,
// else in `shim.log`.
//
//   int main(int argc, char** argv) { return taas::localkube::RunShim(argv[2]); }

#ifndef LOCALKUBE_NODE_SHIM_H_
#define LOCALKUBE_NODE_SHIM_H_

#include <string>

#include "operator/base/file_system.h"

namespace taas::localkube {

// `dir` holds the spec of a run (shim_record.h). Returns 0 if the run has ended, or is not ours to
// run because it was started before; 1 if this directory is not one of a run.
int RunShim(const std::string& dir);
int RunShim(const std::string& dir, FileSystem& disk);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_SHIM_H_
