// What a GPU computes and how fast: one command of commands.h, whose rows it writes to a file.
//
//   gpu_bench steps|models|kernels|convolutions|attentions --out FILE [--only NAME] [--seconds S]
//       [--bytes N] [--small]
//   gpu_bench rows --out FILE       needs no GPU: the models that peers.py is to measure
//
// Exits with 1 where steps are not those of the processor.

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "bench/gpu/commands.h"
#include "operator/base/check.h"
#include "operator/base/command_line.h"
#include "operator/base/status.h"
#include "trainer/model/model.h"

namespace taas::bench {

nlohmann::json TroubleOf(const std::string& name, const absl::Status& status) {
  // How a session says that a device lacks one (placement.cc).
  const bool missing = status.message().find("has no kernel of") != std::string::npos;
  return {{"name", name}, {missing ? "missing" : "error", std::string(status.message())}};
}

namespace {

struct Flags {
  std::string command, out, only;
  double seconds = 2;
  int64_t bytes = 64 << 20;
  bool small = false;
};

// That are trained.
int64_t ParametersOf(const Row& row) {
  const auto spec = ParseModel(row.model, row.data);
  CHECK(spec.ok()) << row.name << ": " << spec.status();
  const auto model = BuildModel(*spec);
  CHECK(model.ok()) << row.name << ": " << model.status();
  int64_t count = 0;
  for (const Value variable : model->graph.Variables()) {
    const Node& node = model->graph.node(variable);
    if (node.trainable) count += node.outputs[0].shape.count();
  }
  return count;
}

nlohmann::json PeersRow(const Row& row) {
  const ImageShape& image = row.data.image;
  nlohmann::json columns = nlohmann::json::array();
  for (const ColumnShape& column : row.data.columns) columns.push_back(column.categories);
  return {{"name", row.name},
          {"model", nlohmann::json::parse(row.model)},
          {"optimizer", nlohmann::json::parse(row.optimizer)},
          {"batch", row.batch},
          {"parameters", ParametersOf(row)},
          {"precision", NameOf(row.precision)},
          {"features", row.data.features},
          {"image", {image.height, image.width, image.channels}},
          {"classes", std::max(row.data.classes, row.data.vocabulary)},
          {"columns", std::move(columns)}};
}

void WriteRows(const Flags& flags) {
  ResultFile file(flags.out, {{"command", flags.command}});
  for (const Row& row : MeasuredRows(Size::kWhole)) file.Add(PeersRow(row));
  file.Finish();
}

int Run(const Flags& flags) {
  if (flags.command == "rows") {
    WriteRows(flags);
    return 0;
  }
  const RealClock clock;
  const Clock::Time began = clock.Now();
  const auto gpus = cuda::CudaRuntime::Open(1);
  if (!gpus.ok()) {
    std::fprintf(stderr, "gpu_bench: %s\n", std::string(gpus.status().message()).c_str());
    return 1;
  }
  const std::chrono::duration<double> opening = clock.Now() - began;
  const cuda::DeviceInfo& device = (*gpus)->device(0).info();
  ResultFile file(flags.out, {{"command", flags.command},
                              {"device", device.name},
                              {"memoryBytes", device.memory_bytes},
                              {"driver", cuda::ReleaseOf((*gpus)->driver().version())},
                              {"openingSeconds", opening.count()}});
  const Context context{.gpus = **gpus,
                        .clock = clock,
                        .file = file,
                        .size = flags.small ? Size::kSmall : Size::kWhole,
                        .only = flags.only,
                        .seconds = flags.seconds,
                        .bytes = flags.bytes,
                        .threads = static_cast<int>(std::thread::hardware_concurrency())};
  bool clean = true;
  if (flags.command == "steps") clean = CompareSteps(context);
  if (flags.command == "models") MeasureModels(context);
  if (flags.command == "kernels") MeasureKernels(context);
  if (flags.command == "convolutions") MeasureConvolutions(context);
  if (flags.command == "attentions") MeasureAttentions(context);
  file.Finish();
  return clean ? 0 : 1;
}

int Main(int argc, char** argv) {
  CommandLine app({.name = "gpu_bench", .about = "What a GPU computes, and how fast."});
  Flags flags;
  app.AddOption("COMMAND", &flags.command, "what is done")
      .OneOf({"steps", "models", "kernels", "convolutions", "attentions", "rows"})
      .Required();
  app.AddOption("--out", &flags.out, "the file that gets JSON").Required();
  app.AddOption("--only", &flags.only, "rows whose name has this");
  app.AddOption("--seconds", &flags.seconds, "of measuring a row").ShowDefault();
  app.AddOption("--bytes", &flags.bytes, "of each array of kernels").Positive().ShowDefault();
  app.AddFlag("--small", &flags.small, "as small as a test wants it");
  if (const std::optional<int> ended = app.Parse(argc, argv)) return *ended;
  return Run(flags);
}

}  // namespace
}  // namespace taas::bench

int main(int argc, char** argv) { return taas::bench::Main(argc, argv); }
