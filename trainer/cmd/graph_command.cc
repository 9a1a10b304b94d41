#include "trainer/cmd/graph_command.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/command_line.h"
#include "operator/base/file_system.h"
#include "operator/base/status.h"
#include "trainer/cmd/flags.h"
#include "trainer/graph/graph_text.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/summary/event_file.h"
#include "trainer/summary/graph_event.h"
#include "trainer/task/model_task.h"

namespace taas {
namespace {

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

struct GraphFlags {
  Flags flags;
  std::string format = "text";
  std::string to;
  bool training = false;
};

absl::Status WriteEvent(FileSystem& files, const std::string& dir, const Session& session,
                        RunKind kind) {
  const RealClock clock;
  ASSIGN_OR_RETURN(const auto writer, EventWriter::Open(files, clock, dir));
  RETURN_IF_ERROR(writer->Add(clock.WallNow(), GraphEvent(session.ops(kind))));
  std::printf("%s\n", writer->path().c_str());
  return absl::OkStatus();
}

absl::Status ShowGraph(const GraphFlags& wanted, const GetEnv& env) {
  PosixFileSystem files;
  ASSIGN_OR_RETURN(const std::string json, TrainerJson(wanted.flags, env, files,
                                                       {.checkpoint = false, .others = false}));
  ASSIGN_OR_RETURN(const TrainerConfig config, ParseTrainerConfig(json));
  const ModelTask::Process process;
  ASSIGN_OR_RETURN(const auto session,
                   ModelTask::CompileModel(CpuRuntime(), files, config, process, wanted.training));
  const RunKind kind = wanted.training ? RunKind::kTrain : RunKind::kForward;
  if (wanted.format == "event") return WriteEvent(files, wanted.to, *session, kind);
  const std::string text =
      wanted.format == "dot" ? GraphDot(*session, kind) : GraphText(*session, kind);
  if (wanted.to.empty()) {
    std::fputs(text.c_str(), stdout);
    return absl::OkStatus();
  }
  const std::string path = wanted.to + "/graph." + (wanted.format == "dot" ? "dot" : "txt");
  RETURN_IF_ERROR(files.MakeDirs(wanted.to));
  RETURN_IF_ERROR(files.WriteAtomically(path, text));
  std::printf("%s\n", path.c_str());
  return absl::OkStatus();
}

}  // namespace

int RunGraphCommand(int argc, char** argv, const GetEnv& env) {
  CommandLine app(
      {.name = "",
       .about = "Shows the ops by which a model is computed: on which device, in which order, at "
                "what cost."});
  GraphFlags wanted;
  app.AddOption("--format", &wanted.format, "text, event (for TensorBoard) or dot (for Graphviz)")
      .OneOf({"text", "event", "dot"})
      .ShowDefault();
  app.AddOption("--to", &wanted.to, "directory to write to; text and dot: without it to stdout");
  app.AddFlag("--training", &wanted.training, "a whole step, with gradients and updates");
  AddFlags(app, &wanted.flags);
  const std::optional<int> ended = app.Parse(argc, argv);
  if (ended) return *ended;
  if (wanted.format == "event" && wanted.to.empty()) {
    std::fputs("graph: --format event needs --to DIR\n", stderr);
    return kUsage;
  }
  const absl::Status status = ShowGraph(wanted, env);
  if (status.ok()) return kOk;
  std::fprintf(stderr, "graph: %s\n", std::string(status.message()).c_str());
  return kFailed;
}

}  // namespace taas
