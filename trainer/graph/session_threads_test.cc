// The same seed gives the same bits, whatever the number of threads.

#include <cstring>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/session.h"
#include "trainer/graph/testing/image_graph.h"
#include "trainer/graph/testing/unusual_graph.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/model/model.h"

namespace taas {
namespace {

struct Threads {
  int inter = 1;
  int intra = 1;
};

#if defined(__SANITIZE_THREAD__)
// The sanitizer does not see that OpenMP's threads wait for each other.
constexpr Threads kThreads[] = {{1, 1}, {2, 1}, {4, 1}};
#else
constexpr Threads kThreads[] = {{1, 1}, {2, 1}, {4, 1}, {1, 2}, {2, 2}, {1, 4}};
#endif

using Fill = void (*)(Session* session);

// What some steps of plain gradient descent leave: losses, variables and the last gradients.
std::vector<float> Train(const Graph& graph, SessionOptions options, const Threads& threads,
                         Fill fill) {
  options.deterministic = true;
  options.inter_op_threads = threads.inter;
  options.threads = threads.intra;
  auto session = Session::Compile(CpuRuntime(), graph, options);
  EXPECT_THAT(session, IsOk());
  EXPECT_THAT((*session)->InitializeVariables(/*seed=*/5), IsOk());
  fill(session->get());
  std::vector<float> all;
  for (int step = 1; step <= 4; ++step) {
    (*session)->SetStep(step);
    EXPECT_THAT((*session)->Run(RunKind::kTrain), IsOk());
    all.push_back((*session)->loss());
    for (size_t i = 0; i < (*session)->variables().size(); ++i) {
      const std::span<float> w = (*session)->variable(i).host();
      const std::span<float> g = (*session)->gradient(i).host();
      for (size_t at = 0; at < g.size(); ++at) w[at] -= 0.05f * g[at];
      all.insert(all.end(), w.begin(), w.end());
      all.insert(all.end(), g.begin(), g.end());
    }
    EXPECT_THAT((*session)->Run(RunKind::kForward), IsOk());
    all.push_back((*session)->loss());
  }
  return all;
}

void ExpectSameBits(const Graph& graph, const SessionOptions& options, Fill fill) {
  const std::vector<float> expected = Train(graph, options, kThreads[0], fill);
  for (const Threads& threads : kThreads) {
    const std::vector<float> got = Train(graph, options, threads, fill);
    ASSERT_EQ(got.size(), expected.size());
    size_t different = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      different += std::memcmp(&got[i], &expected[i], sizeof(float)) != 0 ? 1 : 0;
    }
    EXPECT_EQ(different, 0u) << threads.inter << " ops at a time, " << threads.intra
                             << " threads in each: of " << got.size() << " numbers";
  }
}

TEST(SessionThreadsTest, AGraphWithBranchesHasTheSameBits) {
  const UnusualGraph unusual = BuildUnusualGraph();
  ExpectSameBits(unusual.graph, {.batch = 64, .loss = unusual.loss},
                 [](Session* session) { FillUnusualBatch(3, session); });
}

TEST(SessionThreadsTest, AClassifierHasTheSameBits) {
  const auto model = BuildModel({.name = "mlp", .hidden = {500, 300}, .data = {784, 10}});
  ASSERT_THAT(model, IsOk());
  ExpectSameBits(model->graph, {.batch = 100, .loss = model->loss}, [](Session* session) {
    const std::span<float> x = session->FloatInput("features");
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1000) / 1000;
    const std::span<int32_t> y = session->Int32Input("labels");
    for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<int32_t>(i % 10);
  });
}

TEST(SessionThreadsTest, AResidualNetworkInBFloat16HasTheSameBits) {
  const ImageGraph images = BuildImageGraph({.size = 16, .channels = 32, .blocks = 2});
  ExpectSameBits(
      images.graph, {.batch = 16, .loss = images.loss, .products = Precision::kBFloat16},
      [](Session* session) { FillImageBatch(3, session); });
}

TEST(SessionThreadsTest, AResidualNetworkHasTheSameBits) {
  const ImageGraph images = BuildImageGraph({.size = 16, .channels = 32, .blocks = 2});
  ExpectSameBits(images.graph, {.batch = 16, .loss = images.loss},
                 [](Session* session) { FillImageBatch(3, session); });
}

}  // namespace
}  // namespace taas
