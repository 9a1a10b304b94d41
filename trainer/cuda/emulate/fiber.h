// A stack of its own, on which code runs until it leaves it, and goes on later from there: what a
// thread of a block is while it waits.
//
// Registers are those that a call keeps in the System V ABI of x86-64. As little as that, since a
// kernel with barriers changes threads millions of times (ucontext asks the kernel for signals'
// masks each time).
//
// Ownership: owns the stack; what it holds when it goes is not destroyed. Threads: one. Errors:
// none; code that returns from `entry` ends the program.
//
//   Fiber fiber(&Work);  // Work() calls fiber.Leave() in the middle, and never returns.
//   fiber.Enter();       // Runs Work up to there.

#ifndef TRAINER_CUDA_EMULATE_FIBER_H_
#define TRAINER_CUDA_EMULATE_FIBER_H_

#include <cstddef>
#include <memory>

namespace taas::cuda::emulate {

class Fiber {
 public:
  explicit Fiber(void (*entry)());

  // From outside: goes on where the fiber was left, and returns when it is left again.
  void Enter();
  // From inside.
  void Leave();
  // Whether it is an address of its stack.
  bool Holds(const void* address) const {
    return static_cast<size_t>(static_cast<const std::byte*>(address) - stack_.get()) < kStackBytes;
  }

 private:
  // Our kernels keep little on their stacks; a page less would do for most.
  static constexpr size_t kStackBytes = 64 << 10;

  std::unique_ptr<std::byte[]> stack_;
  void* inside_;             // The stack pointers, of the one that does not run.
  void* outside_ = nullptr;
};

}  // namespace taas::cuda::emulate

#endif  // TRAINER_CUDA_EMULATE_FIBER_H_
