// The trace of some steps of a process, and its file: `engine.trace` of the configuration.
//
// The file is written when the last step that is to be recorded has run, or when the training ends
// before. Where a job has several replicas, the name of each goes before the file's extension, so
// that they do not write over each other's.
//
// Ownership: borrows clock and file system. Threads: one at a time. Errors: a file that cannot be
// written costs the trace, not the training: a line in the log.
//
//   TraceFile file(clock, files, config.engine, {.process = "worker/1", .suffix = "worker-1"});
//   …  // sessions are compiled with file.trace()
//   file.WriteIfComplete();  // after a step

#ifndef TRAINER_CMD_TRACE_FILE_H_
#define TRAINER_CMD_TRACE_FILE_H_

#include <optional>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "trainer/config/trainer_config.h"
#include "trainer/graph/step_trace.h"

namespace taas {

class TraceFile {
 public:
  struct Process {
    std::string name;    // What the viewer calls it.
    std::string suffix;  // "" where the process is alone.
  };

  TraceFile(const Clock& clock, FileSystem& files, const EngineConfig& engine,
            const Process& process);
  // Writes what was recorded until then.
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Null where no trace is wanted.
  StepTrace* trace() { return trace_ ? &*trace_ : nullptr; }
  void WriteIfComplete();

 private:
  void Write();

  FileSystem& files_;
  std::string path_;
  std::optional<StepTrace> trace_;
  bool written_ = false;
};

}  // namespace taas

#endif  // TRAINER_CMD_TRACE_FILE_H_
