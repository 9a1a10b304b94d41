// A step allocates nothing: operator new and our objects' calls of malloc are counted.

#include <atomic>
#include <cstdlib>
#include <new>

#include "gtest/gtest.h"
#include "operator/base/check.h"
#include "trainer/graph/session.h"
#include "trainer/graph/testing/unusual_graph.h"
#include "trainer/model/model.h"

namespace {
std::atomic<int64_t> allocations{0};
}  // namespace

// The linker sends our objects' calls here (see BUILD).
extern "C" {
void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* memory, size_t bytes);
void* __real_aligned_alloc(size_t alignment, size_t bytes);

void* __wrap_malloc(size_t bytes) {
  ++allocations;
  return __real_malloc(bytes);
}
void* __wrap_calloc(size_t count, size_t bytes) {
  ++allocations;
  return __real_calloc(count, bytes);
}
void* __wrap_realloc(void* memory, size_t bytes) {
  ++allocations;
  return __real_realloc(memory, bytes);
}
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __real_aligned_alloc(alignment, bytes);
}
}

// All forms that containers and the standard library use, so that none is freed by another's
// partner.
void* operator new(size_t bytes) {
  ++allocations;
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

}  // namespace
}  // namespace taas
