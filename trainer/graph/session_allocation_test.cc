// A step allocates nothing of ours. Counted are every operator new of the process, on all threads,
// and every malloc, calloc, realloc and aligned_alloc that an object of this tree calls, but for
// those within dnnl_primitive_execute, on its thread and on those of OpenMP: it makes a table of
// its arguments, as many allocations in each step as in the one before, which a test says too. Not
// seen are the calls of malloc inside oneDNN and OpenMP, which the linker does not send here (a
// matrix product packs its operands into buffers that oneDNN takes and gives back).

#include <omp.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "gtest/gtest.h"
#include "oneapi/dnnl/dnnl.h"
#include "operator/base/check.h"
#include "operator/base/clock.h"
#include "trainer/graph/session.h"
#include "trainer/graph/step_trace.h"
#include "trainer/graph/testing/image_graph.h"
#include "trainer/graph/testing/unusual_graph.h"
#include "trainer/model/model.h"

namespace {
std::atomic<int64_t> allocations{0};
std::atomic<int64_t> of_library{0};
thread_local bool in_library = false;

void Count() { ++(in_library || omp_in_parallel() != 0 ? of_library : allocations); }
}  // namespace

// The linker sends our objects' calls here (see BUILD).
extern "C" {
void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* memory, size_t bytes);
void* __real_aligned_alloc(size_t alignment, size_t bytes);
dnnl_status_t __real_dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream,
                                            int count, const dnnl_exec_arg_t* arguments);

dnnl_status_t __wrap_dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream,
                                            int count, const dnnl_exec_arg_t* arguments) {
  in_library = true;
  const dnnl_status_t status = __real_dnnl_primitive_execute(primitive, stream, count, arguments);
  in_library = false;
  return status;
}

void* __wrap_malloc(size_t bytes) {
  Count();
  return __real_malloc(bytes);
}
void* __wrap_calloc(size_t count, size_t bytes) {
  Count();
  return __real_calloc(count, bytes);
}
void* __wrap_realloc(void* memory, size_t bytes) {
  Count();
  return __real_realloc(memory, bytes);
}
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  Count();
  return __real_aligned_alloc(alignment, bytes);
}
}

// All forms that containers and the standard library use, so that none is freed by another's
// partner.
void* operator new(size_t bytes) {
  Count();
  void* memory = __real_malloc(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return operator new(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return operator new(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace taas {
namespace {

// Of several steps after the first, in which one-time set-up may happen.
int64_t AllocationsOfSteps(Session* session) {
  CHECK(session->Run(RunKind::kTrain).ok()) << "the first step failed";
  const int64_t before = allocations.load();
  for (int step = 0; step < 5; ++step) {
    const bool trained = session->Run(RunKind::kTrain).ok();
    const bool evaluated = session->Run(RunKind::kForward).ok();
    CHECK(trained && evaluated && session->loss() >= 0) << "a step failed";
  }
  return allocations.load() - before;
}

TEST(SessionAllocationTest, TheCountersSeeAllocations) {
  const int64_t before = allocations.load();
  {
    const std::unique_ptr<int> memory = std::make_unique<int>(1);
    asm volatile("" : : "r"(memory.get()) : "memory");  // Else the compiler leaves it out.
  }
  EXPECT_GE(allocations.load() - before, 1);
}

TEST(SessionAllocationTest, AStepOfAnyGraphAllocatesNothing) {
  const UnusualGraph unusual = BuildUnusualGraph();
  auto session = Session::Compile(unusual.graph, {.batch = 16, .loss = unusual.loss});
  ASSERT_TRUE(session.ok()) << session.status();
  (*session)->InitializeVariables(1);
  FillUnusualBatch(1, session->get());
  EXPECT_EQ(AllocationsOfSteps(session->get()), 0);
}

TEST(SessionAllocationTest, AStepOfAClassifierAllocatesNothing) {
  const auto model = BuildModel({.name = "mlp", .hidden = {50}, .data = {784, 10}});
  ASSERT_TRUE(model.ok()) << model.status();
  auto session = Session::Compile(
      model->graph, {.batch = 100, .loss = model->loss, .fetches = {model->accuracy}});
  ASSERT_TRUE(session.ok()) << session.status();
  (*session)->InitializeVariables(1);
  EXPECT_EQ(AllocationsOfSteps(session->get()), 0);
}

// Convolutions, batch normalization with its updates, dropout, pooling, merged chains.
TEST(SessionAllocationTest, AStepOfAResidualNetworkAllocatesNothing) {
  const ImageGraph images = BuildImageGraph({.size = 8, .channels = 16, .blocks = 2});
  for (const int inter : {1, 2}) {
    for (const int intra : {1, 2}) {
      auto session = Session::Compile(images.graph, {.batch = 4,
                                                     .loss = images.loss,
                                                     .threads = intra,
                                                     .deterministic = intra == 2,
                                                     .inter_op_threads = inter});
      ASSERT_TRUE(session.ok()) << session.status();
      (*session)->InitializeVariables(1);
      FillImageBatch(1, session->get());
      EXPECT_EQ(AllocationsOfSteps(session->get()), 0) << inter << ", " << intra;
      // Whatever oneDNN takes, it takes it in every step alike.
      int64_t last = -1;
      for (int round = 0; round < 2; ++round) {
        const int64_t before = of_library;
        EXPECT_EQ(AllocationsOfSteps(session->get()), 0) << inter << ", " << intra;
        const int64_t here = of_library - before;
        EXPECT_GT(here, 0) << "the counter sees nothing";
        if (round > 0) {
          EXPECT_EQ(here, last);
        }
        last = here;
      }
    }
  }
}

// Lists of rows have room for all ids of a batch, of which more are different in a later step.
TEST(SessionAllocationTest, AStepOfAnEmbeddingAllocatesNothing) {
  Graph graph;
  const Value table = graph.Variable("table", Shape({1000, 256}), Initializer::Uniform(-1, 1));
  const Value ids = graph.Input("ids", {DType::kInt32, Shape({Shape::kBatch, 9})});
  const Value x = graph.Add("Embedding", "", {table, ids});
  graph.Add("ReduceMean", "loss", {graph.Add("Square", "", {x})});
  for (const int threads : {1, 3}) {
    auto session = Session::Compile(graph, {.batch = 50, .loss = "loss", .threads = threads});
    ASSERT_TRUE(session.ok()) << session.status();
    (*session)->InitializeVariables(1);
    EXPECT_EQ(AllocationsOfSteps(session->get()), 0);
    EXPECT_EQ((*session)->gradient_rows(0)->ids.size(), 1u);
    const std::span<int32_t> input = (*session)->Int32Input("ids");
    for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<int32_t>(i);
    const int64_t before = allocations;
    const bool trained = (*session)->Run(RunKind::kTrain).ok();
    EXPECT_EQ(allocations - before, 0);
    EXPECT_TRUE(trained);
    EXPECT_EQ((*session)->gradient_rows(0)->ids.size(), 450u);
  }
}

TEST(SessionAllocationTest, AStepInBFloat16AllocatesNothing) {
  const DataShape digits{.features = 784, .classes = 10, .image = {28, 28, 1}};
  const DataShape tokens{.features = 71, .vocabulary = 40};
  const std::pair<const char*, DataShape> models[] = {
      {R"({"name":"lenet"})", digits},
      {R"({"name":"lstm","hidden":[24]})", digits},
      {R"({"name":"gpt2","blocks":1,"heads":2,"width":16})", tokens}};
  for (const auto& [text, shape] : models) {
    const auto spec = ParseModel(text, shape);
    ASSERT_TRUE(spec.ok()) << spec.status();
    const auto model = BuildModel(*spec);
    ASSERT_TRUE(model.ok()) << model.status();
    for (const int threads : {1, 2}) {
      auto session = Session::Compile(model->graph, {.batch = 4,
                                                     .loss = model->loss,
                                                     .threads = threads,
                                                     .products = Precision::kBFloat16});
      ASSERT_TRUE(session.ok()) << session.status();
      (*session)->InitializeVariables(1);
      EXPECT_EQ(AllocationsOfSteps(session->get()), 0) << text << ", " << threads;
    }
  }
}

// Recording too: memory for all events is taken when the session is compiled.
TEST(SessionAllocationTest, ATracedStepAllocatesNothing) {
  const RealClock clock;
  StepTrace trace(clock, {.first = 1, .last = 3});
  const ImageGraph images = BuildImageGraph({});
  auto session = Session::Compile(
      images.graph,
      {.batch = 4, .loss = images.loss, .inter_op_threads = 2, .trace = &trace});
  ASSERT_TRUE(session.ok()) << session.status();
  (*session)->InitializeVariables(1);
  FillImageBatch(1, session->get());
  EXPECT_EQ(AllocationsOfSteps(session->get()), 0);
  EXPECT_TRUE(trace.complete());
}

}  // namespace
}  // namespace taas
