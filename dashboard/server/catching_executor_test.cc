#include "dashboard/server/catching_executor.h"

#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/sim_executor.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;

class CatchingExecutorTest : public testing::Test {
 protected:
  void Run() { sim_.RunUntil(sim_.clock().Now() + 10s, [] { return false; }); }

  SimExecutor sim_{{.in_order = true}};
};

// Symptom: whatever threw in a callback after a request had been let in ended the dashboard for
// everybody: its thread had no catch but around the entry.
TEST_F(CatchingExecutorTest, ATaskThatThrowsIsNotTheLastOne) {
  CatchingExecutor executor(sim_, "a task of the test");
  std::vector<int> ran;
  executor.Post([] { throw std::runtime_error("out of range"); });
  executor.Post([&] { ran.push_back(1); });
  executor.PostAfter(1s, [] { throw std::bad_alloc(); });
  executor.PostAfter(2s, [&] { ran.push_back(2); });
  Run();
  EXPECT_EQ(ran, (std::vector<int>{1, 2}));
}

TEST_F(CatchingExecutorTest, WhoseTaskThrewIsToldAndMayThrowItself) {
  int told = 0;
  CatchingExecutor executor(sim_, "a task of the test", [&] {
    ++told;
    throw std::runtime_error("and again");
  });
  executor.Post([] {});
  Run();
  EXPECT_EQ(told, 0);
  executor.Post([] { throw std::runtime_error("out of range"); });
  Run();
  EXPECT_EQ(told, 1);
}

TEST_F(CatchingExecutorTest, ATaskMayOutliveItAndACancelledOneDoesNotRun) {
  int told = 0, ran = 0;
  auto executor = std::make_unique<CatchingExecutor>(sim_, "a task of the test", [&] { ++told; });
  executor->Post([] { throw std::runtime_error("late"); });
  const Executor::TimerId timer = executor->PostAfter(1s, [&] { ++ran; });
  EXPECT_TRUE(executor->Cancel(timer));
  executor.reset();
  Run();
  EXPECT_EQ(told, 0);
  EXPECT_EQ(ran, 0);
}

}  // namespace
}  // namespace taas::dashboard
