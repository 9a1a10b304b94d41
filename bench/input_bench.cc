// What training data costs: batches of streamed TFRecord files beside those of the same data in
// memory, the share of a training step that goes into gathering its batch, and what augmenting it,
// which is part of the step, adds.
//
// Files are read from the page cache, so the disk is not part of it. One thread computes. Of each
// figure the median of several rounds in turn.
//
//   bazel run -c opt //bench:input_bench [-- DIR]    (where files are made; default /tmp)

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "third_party/json.h"
#include "trainer/data/example.h"
#include "trainer/data/load_data.h"
#include "trainer/data/record_file.h"
#include "trainer/data/stream/train_input.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/task/model_task.h"

namespace taas {
namespace {

using nlohmann::json;

constexpr size_t kFileBytes = size_t{256} << 20;
constexpr int kRounds = 7;
constexpr double kRoundSeconds = 0.5;

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Images of noise, so that no two are alike, as records of one file.
void WriteImages(FileSystem& files, const std::string& path, size_t pixels, int64_t count) {
  auto writer = RecordWriter::Open(files, path);
  CHECK(writer.ok()) << writer.status();
  ExampleBuilder builder;
  std::string image(pixels, '\0');
  uint32_t state = 1;
  for (int64_t i = 0; i < count; ++i) {
    for (char& pixel : image) {
      state = state * 1664525u + 1013904223u;
      pixel = static_cast<char>(state >> 24);
    }
    builder.AddBytes("image", image);
    const int64_t label = i % 10;
    builder.AddInts("label", {&label, 1});
    CHECK((*writer)->Append(builder.Take()).ok());
  }
  CHECK((*writer)->Close().ok());
}

json DataOf(const std::string& path, const std::vector<int64_t>& shape, const json& more) {
  json data = {{"format", "tfrecord"},
               {"classes", 10},
               {"train", {{"files", {path}}}},
               {"tfrecord",
                {{"label", "label"},
                 {"features",
                  {{{"name", "image"}, {"dtype", "bytes"}, {"decode", "raw"}, {"shape", shape}},
                   {{"name", "label"}, {"dtype", "int64"}}}}}}};
  data.merge_patch(more);
  return data;
}

// Calls `work` for a round; seconds of one call.
double SecondsOf(const Clock& clock, const std::function<void()>& work) {
  const Clock::Time start = clock.Now();
  for (int64_t calls = 1;; ++calls) {
    work();
    const double seconds = std::chrono::duration<double>(clock.Now() - start).count();
    if (seconds >= kRoundSeconds) return seconds / static_cast<double>(calls);
  }
}

// One way to get at batches, one after the other.
class Batches {
 public:
  Batches(DataSets data, int64_t batch_size)
      : data_(std::move(data)),
        pixels_(static_cast<size_t>(batch_size * data_.train.features())),
        labels_(static_cast<size_t>(batch_size)),
        input_(data_, {.seed = 1, .batch_size = batch_size}) {}

  void Next() {
    const absl::Status status = input_.Fill(next_++, {.pixels = pixels_, .labels = labels_});
    CHECK(status.ok()) << status;
  }

 private:
  DataSets data_;
  std::vector<uint8_t> pixels_;
  std::vector<int32_t> labels_;
  TrainInput input_;
  int64_t next_ = 0;
};

struct Mode {
  const char* name;
  bool streams;
  int64_t readers;
  int64_t prefetch;
};

constexpr Mode kModes[] = {{"in memory", false, 0, 0},
                           {"streamed, by the training's thread", true, 0, 0},
                           {"streamed, 2 readers", true, 2, 0},
                           {"streamed, 2 readers, 2 batches ahead", true, 2, 2}};

void CompareWithMemory(FileSystem& files, const Clock& clock, const std::string& path,
                       const std::vector<int64_t>& shape) {
  size_t pixels = 1;
  for (const int64_t size : shape) pixels *= static_cast<size_t>(size);
  const int64_t count = static_cast<int64_t>(kFileBytes / pixels);
  WriteImages(files, path, pixels, count);
  const double record =
      static_cast<double>(files.ReadAll(path)->size()) / static_cast<double>(count);
  // At most a quarter of the data is in memory.
  const json streaming = {{"shuffleBuffer", std::min<int64_t>(10'000, count / 8)}};
  const int64_t batch = std::min<int64_t>(100, count / 32);
  std::vector<std::unique_ptr<Batches>> batches;
  for (const Mode& mode : kModes) {
    auto data = LoadData(files, DataOf(path, shape,
                                       mode.streams ? json{{"streaming", streaming}}
                                                    : json::object()));
    CHECK(data.ok()) << data.status();
    data->streaming.readers = mode.readers;
    data->streaming.prefetch = mode.prefetch;
    batches.push_back(std::make_unique<Batches>(*std::move(data), batch));
  }
  std::vector<std::vector<double>> rounds(batches.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < batches.size(); ++i) {
      rounds[i].push_back(SecondsOf(clock, [&] { batches[i]->Next(); }));
    }
  }
  for (size_t i = 0; i < batches.size(); ++i) {
    const double rate = static_cast<double>(batch) / Median(rounds[i]);
    std::printf("| %.0f | %s | %.0f | %.2f |\n", record, kModes[i].name, rate,
                rate * record / 1e9);
    std::fflush(stdout);
  }
}

struct Network {
  const char* name;
  const char* model;
  std::vector<int64_t> shape;
  int64_t batch;
};

std::unique_ptr<ModelTask> MakeTask(FileSystem& files, const Network& network, const json& data) {
  const auto config = ParseTrainerConfig(json{{"model", json::parse(network.model)},
                                              {"batchSize", network.batch},
                                              {"maxSteps", 1},
                                              {"data", data}}
                                             .dump());
  CHECK(config.ok()) << config.status();
  auto task = ModelTask::Make(CpuRuntime(), files, *config);
  CHECK(task.ok()) << task.status();
  CHECK((*task)->session().InitializeVariables(1).ok()) << "initialize";
  return *std::move(task);
}

void MeasureShare(FileSystem& files, const Clock& clock, const std::string& path,
                  const Network& network) {
  const bool colour = network.shape[2] > 1;
  WriteImages(files, path, static_cast<size_t>(network.shape[0] * network.shape[1]) *
                               static_cast<size_t>(network.shape[2]),
              60'000);
  const json augment = {{"augment", {{"crop", {{"padding", 4}}}, {"flip", colour}}}};
  json streaming = augment;
  streaming["streaming"] = json::object();
  const auto plain = MakeTask(files, network, DataOf(path, network.shape, json::object()));
  const auto augmented = MakeTask(files, network, DataOf(path, network.shape, augment));
  const auto streamed = MakeTask(files, network, DataOf(path, network.shape, streaming));
  int64_t batch = 0;
  const auto fill = [&](ModelTask& task) {
    return SecondsOf(clock, [&] { CHECK(task.FillBatch(batch++).ok()); });
  };
  const auto step = [&](ModelTask& task) {
    return SecondsOf(clock, [&] {
      const int64_t next = batch++;
      CHECK(task.ComputeGradients({&next, 1}).ok());
    });
  };
  std::vector<std::vector<double>> rounds(5);
  for (int round = 0; round < kRounds; ++round) {
    rounds[0].push_back(fill(*plain));
    rounds[1].push_back(fill(*augmented));
    rounds[2].push_back(step(*plain));
    rounds[3].push_back(step(*augmented));
    rounds[4].push_back(step(*streamed));
  }
  double us[5];
  for (size_t i = 0; i < rounds.size(); ++i) us[i] = Median(rounds[i]) * 1e6;
  std::printf("| %s | %.0f | %.0f | %.0f | %.1f %% | %.0f | %.0f |\n", network.name, us[0], us[1],
              us[2], 100 * us[0] / us[2], us[3], us[4]);
}

int Run(const std::string& dir) {
  PosixFileSystem files;
  const RealClock clock;
  const std::string path = dir + "/input_bench.tfrecord";
  std::printf("| bytes in a record | batches | examples/s | GB/s |\n|---|---|---|---|\n");
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{28, 28, 1}, {32, 32, 3}, {224, 224, 3}}) {
    CompareWithMemory(files, clock, path, shape);
  }
  std::printf("\n| model, batch | gather, µs | with seeds, µs | step, µs | gather of it | "
              "augmented step, µs | streamed, µs |\n"
              "|---|---|---|---|---|---|---|\n");
  for (const Network& network :
       {Network{"MLP 784-100-10, 100", R"({"name":"mlp","hidden":[100]})", {28, 28, 1}, 100},
        Network{"MLP 784-500-10, 100", R"({"name":"mlp","hidden":[500]})", {28, 28, 1}, 100},
        Network{"LeNet, 100", R"({"name":"lenet"})", {28, 28, 1}, 100},
        Network{"ResNet-20, 128", R"({"name":"resnet20"})", {32, 32, 3}, 128}}) {
    MeasureShare(files, clock, path, network);
  }
  CHECK(files.Remove(path).ok());
  return 0;
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) { return taas::Run(argc > 1 ? argv[1] : "/tmp"); }
