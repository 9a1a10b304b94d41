#include "trainer/cuda/emulate/fiber.h"

#include <cstdint>
#include <cstring>

extern "C" void taas_change_stack(void** left, void* entered);

// Keeps the caller's registers on its stack, and takes those that are on the other.
asm(R"(
.text
.globl taas_change_stack
.hidden taas_change_stack
.type taas_change_stack, @function
taas_change_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size taas_change_stack, .-taas_change_stack
)");

namespace taas::cuda::emulate {
namespace {

constexpr size_t kRegisters = 6;

}  // namespace

Fiber::Fiber(void (*entry)()) : stack_(std::make_unique_for_overwrite<std::byte[]>(kStackBytes)) {
  // As if `entry` had been called: with a stack that is 8 bytes behind a multiple of 16.
  const uintptr_t top = (reinterpret_cast<uintptr_t>(stack_.get()) + kStackBytes) / 16 * 16;
  void** words = reinterpret_cast<void**>(top);
  *--words = nullptr;  // Nobody to return to.
  *--words = reinterpret_cast<void*>(entry);
  words -= kRegisters;
  std::memset(words, 0, kRegisters * sizeof(void*));
  inside_ = words;
}

void Fiber::Enter() { taas_change_stack(&outside_, inside_); }

void Fiber::Leave() { taas_change_stack(&inside_, outside_); }

}  // namespace taas::cuda::emulate
