#include "trainer/status/gpu_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kLibrary[] = "operator/base/libnvidia-ml.so.1";
// Longer than any machine needs.
constexpr std::chrono::seconds kPatience{60};

std::vector<std::string> Visible(const std::optional<std::string>& visible) {
  const std::vector<GpuReading> all = {{.id = "GPU-a1"}, {.id = "GPU-b2", .index = 1},
                                       {.id = "GPU-b3", .index = 2}};
  std::vector<std::string> ids;
  const auto part = [](const std::string& id) -> std::optional<GpuReading> {
    if (id != "MIG-c4") return std::nullopt;
    return GpuReading{.id = id};
  };
  for (const GpuReading& gpu : VisibleGpus(all, visible, part)) ids.push_back(gpu.id);
  return ids;
}

TEST(VisibleGpusTest, ReadsCudasVariableAsCudaDoes) {
  EXPECT_THAT(Visible(std::nullopt), ElementsAre("GPU-a1", "GPU-b2", "GPU-b3"));
  EXPECT_THAT(Visible("2,0"), ElementsAre("GPU-b3", "GPU-a1"));
  EXPECT_THAT(Visible("GPU-b"), ElementsAre("GPU-b2")) << "cut short";
  EXPECT_THAT(Visible("1,-1,0"), ElementsAre("GPU-b2")) << "up to the first that is none";
  EXPECT_THAT(Visible("NoDevFiles"), IsEmpty());
  EXPECT_THAT(Visible("GPU-"), ElementsAre("GPU-a1"));
  EXPECT_THAT(Visible(""), IsEmpty());
  EXPECT_THAT(Visible("MIG-c4,1"), ElementsAre("MIG-c4", "GPU-b2")) << "a part of a GPU";
  EXPECT_THAT(Visible("0,MIG-d5,1"), ElementsAre("GPU-a1"));
}

class GpuWatchTest : public ::testing::Test {
 protected:
  GpuWatchTest() { setenv("TAAS_FAKE_NVML", file_.c_str(), 1); }

  void Devices(const std::string& lines) {
    std::ofstream(file_ + ".new", std::ios::trunc) << lines;
    ASSERT_EQ(rename((file_ + ".new").c_str(), file_.c_str()), 0);
  }

  static GpuWatch::Options Options(std::optional<std::string> visible) {
    return {.visible = std::move(visible), .library = kLibrary,
            .every = std::chrono::milliseconds(5)};
  }

  // Until /status says so of its GPUs; "null": there are none.
  bool Await(const nlohmann::json& want) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (Gpus() != want) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  nlohmann::json Gpus() {
    return nlohmann::json::parse(board_.Json()).value("gpus", nlohmann::json());
  }

  const std::string file_ = ::testing::TempDir() + "/devices";
  StatusBoard board_{{.job = "default/mnist", .role = "chief"}};
};

TEST_F(GpuWatchTest, StatusShowsHowBusyTheOwnGpusAre) {
  Devices("GPU-a 93 100 200 H100\nGPU-b - 0 200 H100\n");
  const GpuWatch watch(board_, Options("1,0"));
  EXPECT_TRUE(Await({{{"id", "GPU-b"}, {"index", 1}, {"memoryUsedMiB", 0},
                      {"memoryTotalMiB", 200}},
                     {{"id", "GPU-a"}, {"index", 0}, {"utilization", 0.93},
                      {"memoryUsedMiB", 100}, {"memoryTotalMiB", 200}}})) << Gpus();
  Devices("GPU-a 5 100 200 H100\n");
  EXPECT_TRUE(Await(nullptr)) << "1 is none any more, and what follows is not seen" << Gpus();
}

TEST_F(GpuWatchTest, StatusShowsHowWellTheyAre) {
  Devices("GPU-a 93 100 200 power=412500 limit=700000 temperature=64 reasons=36 volatile=7,2 H100\n"
          "GPU-b 1 100 200 power=90000 reasons=0 H100\n");
  const GpuWatch watch(board_, Options(std::nullopt));
  EXPECT_TRUE(Await({{{"id", "GPU-a"}, {"index", 0}, {"utilization", 0.93},
                      {"memoryUsedMiB", 100}, {"memoryTotalMiB", 200}, {"powerWatts", 412.5},
                      {"powerLimitWatts", 700}, {"temperatureC", 64},
                      {"throttle", {"PowerCap", "Heat"}}, {"eccUncorrected", 2}},
                     {{"id", "GPU-b"}, {"index", 1}, {"utilization", 0.01},
                      {"memoryUsedMiB", 100}, {"memoryTotalMiB", 200}, {"powerWatts", 90},
                      {"throttle", nlohmann::json::array()}}})) << Gpus();
}

TEST_F(GpuWatchTest, OfAProcessThatComputesItsDevicesAreShownWhateverTheVariableSays) {
  Devices("GPU-a 1 100 200 H100\nGPU-b 2 0 200 H100\nMIG-c - 5 9 H100 MIG 1g.10gb\n");
  GpuWatch watch(board_, Options("0"));
  watch.ComputesOn({"GPU-b"});
  EXPECT_TRUE(Await({{{"id", "GPU-b"}, {"index", 1}, {"utilization", 0.02}, {"memoryUsedMiB", 0},
                      {"memoryTotalMiB", 200}}})) << Gpus();
  watch.ComputesOn({"MIG-c"});
  EXPECT_TRUE(Await({{{"id", "MIG-c"}, {"index", 0}, {"memoryUsedMiB", 5},
                      {"memoryTotalMiB", 9}}})) << Gpus() << ": what it does not tell is not 0";
  watch.ComputesOn({"GPU-gone"});
  EXPECT_TRUE(Await(nullptr)) << Gpus();
}

TEST_F(GpuWatchTest, ADriverThatHangsHoldsUpNeitherStatusNorTheEnd) {
  Devices("GPU-a 93 100 200 H100\n");
  auto options = Options(std::nullopt);
  options.patience = std::chrono::milliseconds(20);
  std::optional<GpuWatch> watch(std::in_place, board_, options);
  EXPECT_TRUE(Await({{{"id", "GPU-a"}, {"index", 0}, {"utilization", 0.93},
                      {"memoryUsedMiB", 100}, {"memoryTotalMiB", 200}}}));
  // Whoever reads it waits for somebody who writes it.
  ASSERT_EQ(mkfifo((file_ + ".new").c_str(), 0600), 0);
  ASSERT_EQ(rename((file_ + ".new").c_str(), file_.c_str()), 0);
  EXPECT_TRUE(Await(nullptr)) << Gpus() << ": it is not known any more";
  watch.reset();
  const int fifo = open(file_.c_str(), O_RDWR | O_CLOEXEC);
  Devices("");
  close(fifo);
}

TEST_F(GpuWatchTest, ADriverThatGoesAwayLeavesNothingBehind) {
  Devices("GPU-a 93 100 200 H100\n");
  const GpuWatch watch(board_, Options(std::nullopt));
  EXPECT_TRUE(Await({{{"id", "GPU-a"}, {"index", 0}, {"utilization", 0.93},
                      {"memoryUsedMiB", 100}, {"memoryTotalMiB", 200}}}));
  ASSERT_EQ(remove(file_.c_str()), 0);
  EXPECT_TRUE(Await(nullptr)) << Gpus();
}

TEST_F(GpuWatchTest, WhoMayUseNoneMeasuresNone) {
  Devices("GPU-a 93 100 200 H100\n");
  { const GpuWatch watch(board_, Options("")); }
  EXPECT_TRUE(Gpus().is_null());
}

TEST_F(GpuWatchTest, AMachineWithoutADriverIsNoTrouble) {
  ASSERT_TRUE(remove(file_.c_str()) == 0 || errno == ENOENT);
  { const GpuWatch watch(board_, Options(std::nullopt)); }
  { const GpuWatch watch(board_, {.visible = {}, .library = "libno-such-library.so.1"}); }
  EXPECT_TRUE(Gpus().is_null());
}

}  // namespace
}  // namespace taas
