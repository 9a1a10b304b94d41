#include "operator/base/nvml_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Code = absl::StatusCode;
using Gpus = std::vector<GpuReading>;

constexpr char kLibrary[] = "operator/base/libnvidia-ml.so.1";
// Longer than any machine needs.
constexpr std::chrono::milliseconds kPatience = 60s;

absl::StatusOr<Gpus> Read(const Nvml& nvml) { return nvml.Read(); }

class NvmlReaderTest : public ::testing::Test {
 protected:
  NvmlReaderTest() {
    std::remove(file_.c_str());
    setenv("TAAS_FAKE_NVML", file_.c_str(), 1);
  }
  ~NvmlReaderTest() override { Answer(); }

  void Devices(const std::string& lines) const {
    std::ofstream(file_ + ".new", std::ios::trunc) << lines;
    ASSERT_EQ(std::rename((file_ + ".new").c_str(), file_.c_str()), 0);
  }
  // A driver that does not answer: whoever reads the file waits for somebody who writes it.
  void Hang() {
    ASSERT_EQ(mkfifo(hung_.c_str(), 0600), 0);
    ASSERT_EQ(std::rename(hung_.c_str(), file_.c_str()), 0);
    hangs_ = true;
  }
  // Those who wait find no device, and later ones what Devices says.
  void Answer() {
    if (!hangs_) return;
    hangs_ = false;
    const int fifo = open(file_.c_str(), O_RDWR | O_CLOEXEC);
    Devices("GPU-b 2 1 2 B\n");
    close(fifo);
  }

  const std::string file_ = ::testing::TempDir() + "/reader_devices";
  const std::string hung_ = ::testing::TempDir() + "/reader_hung";
  bool hangs_ = false;
};

TEST_F(NvmlReaderTest, AnswersWithWhatNvmlSays) {
  Devices("GPU-a 1 1 2 A\n");
  NvmlReader reader(kLibrary);
  for (int i = 0; i < 3; ++i) {
    const auto gpus = reader.Ask<Gpus>(kPatience, Read);
    ASSERT_THAT(gpus, IsOk());
    EXPECT_EQ(gpus->front().id, "GPU-a");
  }
}

TEST_F(NvmlReaderTest, NvmlIsLoadedAsSoonAsItCanBe) {
  NvmlReader reader(kLibrary);
  EXPECT_THAT(reader.Ask<Gpus>(kPatience, Read),
              StatusIs(Code::kUnavailable, HasSubstr("Driver Not Loaded")));
  Devices("GPU-a 1 1 2 A\n");
  EXPECT_THAT(reader.Ask<Gpus>(kPatience, Read), IsOk());
  NvmlReader none("libno-such-library.so.1");
  EXPECT_THAT(none.Ask<Gpus>(kPatience, Read), StatusIs(Code::kNotFound));
}

TEST_F(NvmlReaderTest, ADriverThatDoesNotAnswerIsNotWaitedForLongerThanAsked) {
  Devices("GPU-a 1 1 2 A\n");
  NvmlReader reader(kLibrary);
  ASSERT_THAT(reader.Ask<Gpus>(kPatience, Read), IsOk());
  Hang();
  EXPECT_THAT(reader.Ask<Gpus>(10ms, Read),
              StatusIs(Code::kDeadlineExceeded, HasSubstr("within 10 ms")));
  EXPECT_THAT(reader.Ask<Gpus>(kPatience, Read),
              StatusIs(Code::kUnavailable, HasSubstr("still does not answer")))
      << "a second call would hang, too";
  Answer();
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!reader.Ask<Gpus>(kPatience, Read).ok()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::yield();
  }
}

TEST_F(NvmlReaderTest, TheEndWaitsForNoDriver) {
  Devices("GPU-a 1 1 2 A\n");
  const auto began = std::chrono::steady_clock::now();
  {
    NvmlReader reader(kLibrary);
    Hang();
    EXPECT_THAT(reader.Ask<Gpus>(1ms, Read), StatusIs(Code::kDeadlineExceeded));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, kPatience);
}

TEST_F(NvmlReaderTest, StopEndsTheWaitOfWhoAsks) {
  Devices("GPU-a 1 1 2 A\n");
  std::promise<void> asked, answered;
  NvmlReader reader(kLibrary);
  std::thread stopper([&] {
    asked.get_future().wait();
    reader.Stop();
  });
  const std::shared_future<void> answers = answered.get_future().share();
  const auto gpus = reader.Ask<Gpus>(kPatience, [&asked, answers](const Nvml& nvml) {
    asked.set_value();
    answers.wait();
    return nvml.Read();
  });
  stopper.join();
  answered.set_value();
  EXPECT_THAT(gpus, StatusIs(Code::kCancelled));
  EXPECT_THAT(reader.Ask<Gpus>(kPatience, Read), StatusIs(Code::kCancelled));
}

}  // namespace
}  // namespace taas
