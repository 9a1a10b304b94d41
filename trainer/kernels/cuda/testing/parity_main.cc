// Every op's kernel for GPUs against its twin on the processor, on the GPU that this machine has:
// the cases of the twin tests.
//
//   parity --out FILE [--gtest_filter=ConvTest.*]
//
// FILE is JSON: {"device", "driver", "kernels": [{"op", "dtype", "cases", "difference",
// "tolerance"}…], "withoutCase": ["Op of float32"…], "tests", "failed": [{"test", "says"}…],
// "clean"}. A difference is in parts of the largest element. Exits with 1 unless all is clean.

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "third_party/json.h"
#include "trainer/cuda/cuda_runtime.h"
#include "trainer/kernels/cuda/cuda_kernels.h"
#include "trainer/kernels/cuda/testing/card_twin.h"

namespace taas::cuda {
namespace {

using Json = nlohmann::json;

// On a card that is lost every case fails: the first say why.
constexpr size_t kFailuresMax = 50;
constexpr size_t kTextMax = 1'000;

// The tests that failed, each with the first thing that was wrong.
class Failures : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo& info) override {
    const testing::TestResult& result = *info.result();
    if (!result.Failed() || tests_.size() == kFailuresMax) return;
    for (int i = 0; i < result.total_part_count(); ++i) {
      const testing::TestPartResult& part = result.GetTestPartResult(i);
      if (!part.failed()) continue;
      tests_.push_back({{"test", std::string(info.test_suite_name()) + "." + info.name()},
                        {"says", std::string(part.message()).substr(0, kTextMax)}});
      return;
    }
  }
  const Json& tests() const { return tests_; }

 private:
  Json tests_ = Json::array();
};

Json KernelsOf(const CardTwins& twins) {
  Json list = Json::array();
  for (const auto& [kernel, seen] : twins.seen()) {
    list.push_back({{"op", kernel.first},
                    {"dtype", NameOf(kernel.second)},
                    {"cases", seen.cases},
                    {"difference", seen.difference},
                    {"tolerance", seen.tolerance}});
  }
  return list;
}

Json WithoutCase(const CardTwins& twins) {
  Json list = Json::array();
  for (const auto& [op, dtype] : StandardCudaKernels().Of(kGpu)) {
    if (twins.seen().contains({op, dtype})) continue;
    list.push_back(op + " of " + std::string(NameOf(dtype)));
  }
  return list;
}

Json Check() {
  const auto gpus = CudaRuntime::Open(1);
  if (!gpus.ok()) return {{"clean", false}, {"error", std::string(gpus.status().message())}};
  CardTwins twins((*gpus)->device(0));
  auto owned = std::make_unique<Failures>();
  const Failures& failures = *owned;
  testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  tests.listeners().Append(owned.release());
  const bool passed = RUN_ALL_TESTS() == 0;
  Json without = testing::GTEST_FLAG(filter) == "*" ? WithoutCase(twins) : Json::array();
  const bool clean = passed && without.empty() && tests.test_to_run_count() > 0;
  return {{"device", (*gpus)->device(0).name()},
          {"driver", ReleaseOf((*gpus)->driver().version())},
          {"kernels", KernelsOf(twins)},
          {"withoutCase", std::move(without)},
          {"tests", tests.test_to_run_count()},
          {"failed", failures.tests()},
          {"clean", clean}};
}

int Main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3 || std::strcmp(argv[1], "--out") != 0) {
    std::fprintf(stderr, "usage: parity --out FILE [--gtest_filter=…]\n");
    return 2;
  }
  const Json result = Check();
  std::ofstream file(argv[2]);
  file << result.dump(1) << "\n";
  file.close();
  if (file.fail()) {
    std::fprintf(stderr, "parity: cannot write %s\n", argv[2]);
    return 2;
  }
  if (result.contains("error")) {
    std::fprintf(stderr, "parity: %s\n", result["error"].get<std::string>().c_str());
  }
  for (const Json& kernel : result.value("withoutCase", Json::array())) {
    std::fprintf(stderr, "parity: no case for %s: is its test a twin_test, in :twin_cases?\n",
                 kernel.get<std::string>().c_str());
  }
  return result["clean"] ? 0 : 1;
}

}  // namespace
}  // namespace taas::cuda

int main(int argc, char** argv) { return taas::cuda::Main(argc, argv); }
