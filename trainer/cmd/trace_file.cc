#include "trainer/cmd/trace_file.h"

#include "operator/base/log.h"

namespace taas {
namespace {

// "/out/trace.json" and "worker-1": "/out/trace.worker-1.json".
std::string WithSuffix(const std::string& path, const std::string& suffix) {
  if (suffix.empty()) return path;
  const size_t slash = path.rfind('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  const size_t dot = path.rfind('.');
  const size_t at = dot == std::string::npos || dot <= name ? path.size() : dot;
  return path.substr(0, at) + "." + suffix + path.substr(at);
}

}  // namespace

TraceFile::TraceFile(const Clock& clock, FileSystem& files, const EngineConfig& engine,
                     const Process& process)
    : files_(files) {
  if (engine.trace_file.empty()) return;
  path_ = WithSuffix(engine.trace_file, process.suffix);
  trace_.emplace(clock, StepTrace::Options{.process = process.name,
                                           .first = engine.trace_from,
                                           .last = engine.trace_from + engine.trace_steps - 1});
}

TraceFile::~TraceFile() {
  // A process that trained nothing, such as an evaluator, has nothing to tell.
  if (trace_ && !written_ && trace_->recorded()) Write();
}

void TraceFile::WriteIfComplete() {
  if (trace_ && !written_ && trace_->complete()) Write();
}

void TraceFile::Write() {
  written_ = true;
  const absl::Status status = files_.WriteAtomically(path_, trace_->Json());
  if (status.ok()) {
    Log(LogLevel::kInfo, "trace written", {{"file", path_}});
  } else {
    Log(LogLevel::kError, "no trace", {{"file", path_}, {"why", std::string(status.message())}});
  }
}

}  // namespace taas
