#include "trainer/cuda/emulate/emulator.h"

#include <cstring>
#include <numeric>

#include "operator/base/check.h"
#include "operator/base/random.h"
#include "trainer/cuda/emulate/fiber.h"
#include "trainer/cuda/emulate/watch.h"

// What kernels of this program declare __shared__; the linker's names of that section.
extern "C" {
extern char __start_cuda_shared[] __attribute__((weak));
extern char __stop_cuda_shared[] __attribute__((weak));
}

namespace taas::cuda::emulate {
namespace {

constexpr int kWarp = 32;
// A byte of shared memory before anybody wrote it: floats are NaN, indices far beside.
constexpr int kUnwritten = 0xff;

// One thread of the block that runs.
struct Thread {
  enum class State { kReady, kAtBarrier, kAtWarp, kDone };
  State state = State::kReady;
  Place place;
  Toucher toucher;
  WarpClock clock{};  // What it knows of the lanes of its warp.
  int line = 0;       // At which it waits.
  unsigned mask = 0;  // Of the lanes with which it waits.
  uint32_t value = 0;
  Lanes lanes{};
  Fiber* fiber = nullptr;  // Once it has begun.
};

class Block;

// What runs now; there is one emulator at work in a process.
struct Now {
  MemoryWatch* memory = nullptr;
  absl::FunctionRef<void()>* kernel = nullptr;
  Block* block = nullptr;
  Thread* thread = nullptr;
  std::string wrong;
};
Now now;

std::string NameOf(const Thread& thread) {
  return "thread " + std::to_string(thread.toucher.thread) + " of block " +
         std::to_string(thread.toucher.block);
}

// Leaves the thread that runs, for good if something is wrong.
void Yield() { now.thread->fiber->Leave(); }

void Fail(std::string wrong) {
  if (now.wrong.empty()) now.wrong = std::move(wrong);
  Yield();
}

Index IndexOf(unsigned number, const Index& size) {
  return {number % size.x, number / size.x % size.y, number / (size.x * size.y)};
}

uint64_t CountOf(const Index& size) { return uint64_t{size.x} * size.y * size.z; }

bool IsLaunch(const Launch& launch) {
  const uint64_t threads = CountOf(launch.block);
  return threads > 0 && threads <= Emulator::kThreadsMax &&
         launch.block.z <= Emulator::kBlockZMax && CountOf(launch.grid) > 0 &&
         launch.grid.x <= Emulator::kGridXMax && launch.grid.y <= Emulator::kGridYzMax &&
         launch.grid.z <= Emulator::kGridYzMax;
}

std::string TextOf(const Index& size) {
  return std::to_string(size.x) + " × " + std::to_string(size.y) + " × " + std::to_string(size.z);
}

}  // namespace

const Place& Here() {
  CHECK(now.thread != nullptr) << "a kernel's code outside of a run";
  return now.thread->place;
}

void WaitForBlock(int line) {
  now.thread->state = Thread::State::kAtBarrier;
  now.thread->line = line;
  Yield();
}

Lanes WaitForWarp(unsigned mask, uint32_t value, int line) {
  Thread& thread = *now.thread;
  const auto lane = static_cast<unsigned>(thread.toucher.thread % kWarp);
  if ((mask >> lane & 1) == 0) {
    Fail(NameOf(thread) + " waits in line " + std::to_string(line) +
         " for lanes of which it is none");
  }
  thread.state = Thread::State::kAtWarp;
  thread.line = line;
  thread.mask = mask;
  thread.value = value;
  Yield();
  return thread.lanes;
}

void RefuseLane(unsigned lane, const char* why, int line) {
  Fail(NameOf(*now.thread) + " takes in line " + std::to_string(line) + " the value of lane " +
       std::to_string(lane) + ", which " + why);
}

void BeginAtomic() { now.thread->toucher.atomically = true; }
void EndAtomic() { now.thread->toucher.atomically = false; }

void OnMisaligned(const void* address, size_t bytes) {
  if (now.thread == nullptr) return;
  Fail(NameOf(*now.thread) + " takes " + std::to_string(bytes) + " bytes at once at " +
       std::to_string(reinterpret_cast<uintptr_t>(address) % bytes) + " behind a multiple of that");
}

void OnAccess(const void* address, size_t bytes, bool writes) {
  if (now.thread == nullptr) return;
  const Thread& thread = *now.thread;
  if (thread.fiber->Holds(address)) return;  // Most accesses of most kernels.
  std::string wrong = now.memory->Access(address, bytes, writes, thread.toucher, thread.clock);
  if (!wrong.empty()) Fail(std::move(wrong));
}

namespace {

// Threads and their stacks, kept from launch to launch: most kernels of a small model run for less
// time than making these takes.
struct Stage {
  std::vector<Thread> threads;  // As many as the largest block had.
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber*> free;

  std::span<Thread> Take(size_t count) {
    if (threads.size() < count) threads.resize(count);
    return std::span(threads).first(count);
  }
};

Stage& TheStage() {
  static Stage* const kStage = std::make_unique<Stage>().release();
  return *kStage;
}

// The threads of one block after the other, and their turns.
class Block {
 public:
  Block(const Launch& launch, bool watched, Stage& stage, Counts& counts)
      : grid_(launch.grid),
        watched_(watched),
        threads_(stage.Take(CountOf(launch.block))),
        stage_(stage),
        counts_(counts) {
    for (unsigned i = 0; i < threads_.size(); ++i) {
      threads_[i].place.thread = IndexOf(i, launch.block);
      threads_[i].place.block_size = launch.block;
      threads_[i].place.grid_size = launch.grid;
    }
  }

  // To the end, or until something is wrong.
  void Run(unsigned number, std::span<const unsigned> order) {
    order_ = order;
    for (size_t i = 0; i < threads_.size(); ++i) Reset(i, number);
    while (now.wrong.empty()) {
      bool ran = false;
      for (at_ = 0; at_ < order_.size(); ++at_) {
        Thread& thread = threads_[order_[at_]];
        if (thread.state != Thread::State::kReady) continue;
        Resume(thread);
        ran = true;
        if (!now.wrong.empty()) return;
      }
      if (!ran && !Release()) return;
    }
  }

  // What a fiber does: threads that begin, one after the other, of whichever block runs. Most never
  // wait, and so none of them costs a change of stacks.
  static void RunThreads() {
    for (;;) {
      (*now.kernel)();
      now.thread->state = Thread::State::kDone;
      if (!now.block->TakeNext()) Yield();
    }
  }

 private:
  void Reset(size_t i, unsigned number) {
    Thread& thread = threads_[i];
    thread.state = Thread::State::kReady;
    thread.place.block = IndexOf(number, grid_);
    if (thread.toucher.warp_barriers > 0) thread.clock = {};
    thread.toucher = {.block = number, .thread = static_cast<int>(i)};
    thread.fiber = nullptr;
  }

  void Resume(Thread& thread) {
    now.thread = &thread;
    if (thread.fiber == nullptr) {
      if (stage_.free.empty()) {
        stage_.fibers.push_back(std::make_unique<Fiber>(&RunThreads));
        stage_.free.push_back(stage_.fibers.back().get());
      }
      thread.fiber = stage_.free.back();
      stage_.free.pop_back();
    }
    thread.fiber->Enter();
    // It may be another by now.
    if (now.thread->state == Thread::State::kDone) stage_.free.push_back(now.thread->fiber);
    now.thread = nullptr;
  }

  // On the stack of a thread that has ended: whether the next in turn begins there.
  bool TakeNext() {
    if (!now.wrong.empty()) return false;
    size_t next = at_ + 1;
    while (next < order_.size() && threads_[order_[next]].state != Thread::State::kReady) ++next;
    if (next == order_.size() || threads_[order_[next]].fiber != nullptr) return false;
    at_ = next;
    Thread& thread = threads_[order_[next]];
    thread.fiber = now.thread->fiber;
    now.thread = &thread;
    return true;
  }

  // Lets those go on for whom all they wait for have come; false if there are none.
  bool Release() {
    bool released = false;
    for (size_t first = 0; first < threads_.size(); first += kWarp) {
      released |= ReleaseWarp(
          threads_.subspan(first, std::min<size_t>(kWarp, threads_.size() - first)));
    }
    return released || ReleaseBlock();
  }

  bool ReleaseWarp(std::span<Thread> warp) {
    for (Thread& thread : warp) {
      if (thread.state != Thread::State::kAtWarp) continue;
      // Lanes that there are not, or that have ended, are not waited for.
      unsigned there = 0, waiting = 0;
      for (size_t lane = 0; lane < warp.size(); ++lane) {
        const unsigned bit = thread.mask & 1u << lane;
        if (warp[lane].state != Thread::State::kDone) there |= bit;
        if (warp[lane].state == Thread::State::kAtWarp && warp[lane].mask == thread.mask &&
            warp[lane].line == thread.line) {
          waiting |= bit;
        }
      }
      if (there != waiting) continue;
      Meet(warp, waiting);
      return true;
    }
    return false;
  }

  // They know each other's values, and what each has done before.
  void Meet(std::span<Thread> warp, unsigned lanes) const {
    Lanes met{.values = {}, .there = lanes};
    WarpClock clock{};  // Which nobody asks about who is not watched.
    for (size_t lane = 0; lane < warp.size(); ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      met.values[lane] = warp[lane].value;
      if (!watched_) continue;
      warp[lane].clock[lane] = ++warp[lane].toucher.warp_barriers;
      std::ranges::transform(clock, warp[lane].clock, clock.begin(),
                             [](uint32_t one, uint32_t other) { return std::max(one, other); });
    }
    for (size_t lane = 0; lane < warp.size(); ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      warp[lane].lanes = met;
      if (watched_) warp[lane].clock = clock;
      warp[lane].state = Thread::State::kReady;
    }
  }

  bool ReleaseBlock() {
    const auto done = [](const Thread& thread) { return thread.state == Thread::State::kDone; };
    if (std::ranges::all_of(threads_, done)) return false;
    const Thread& first = *std::ranges::find_if_not(threads_, done);
    for (const Thread& thread : threads_) {
      const bool with_it = thread.state == Thread::State::kAtBarrier &&
                           first.state == Thread::State::kAtBarrier && thread.line == first.line;
      if (with_it) continue;
      now.wrong = NameOf(first) + Waits(first) +
                  (&thread == &first ? " for lanes that do not come"
                                     : ", and " + NameOf(thread) + Waits(thread));
      return false;
    }
    ++counts_.barriers;
    for (Thread& thread : threads_) {
      ++thread.toucher.block_barriers;
      thread.state = Thread::State::kReady;
    }
    return true;
  }

  static std::string Waits(const Thread& thread) {
    const std::string line = std::to_string(thread.line);
    switch (thread.state) {
      case Thread::State::kDone: return " has ended";
      case Thread::State::kAtWarp: return " waits for its warp in line " + line;
      default: return " waits at the barrier of line " + line;
    }
  }

  const Index grid_;
  const bool watched_;
  const std::span<Thread> threads_;
  std::span<const unsigned> order_;
  size_t at_ = 0;  // In the order: whose turn it is.
  Stage& stage_;
  Counts& counts_;
};

}  // namespace

Emulator::Emulator(bool watched) : watched_(watched) {
  const auto bytes = static_cast<size_t>(__stop_cuda_shared - __start_cuda_shared);
  // What lies beside it are other variables of the program.
  memory_.Add("shared memory", __start_cuda_shared, watched ? bytes : 0, /*written=*/false,
              /*guarded=*/false);
}

Emulator::~Emulator() { memory_.Remove(__start_cuda_shared); }

std::vector<unsigned> Emulator::InOrder(unsigned count, const Launch& launch,
                                        uint64_t salt) const {
  std::vector<unsigned> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (launch.order == Order::kDescending) std::ranges::reverse(order);
  if (launch.order != Order::kSeeded) return order;
  SeededRandom random(launch.seed * 1'000'003 + salt);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  return order;
}

absl::Status Emulator::Run(const Launch& launch, absl::FunctionRef<void()> kernel) {
  CHECK(now.memory == nullptr) << "one run at a time";
  if (!IsLaunch(launch)) {
    return absl::InvalidArgumentError(launch.kernel + ": " + TextOf(launch.grid) +
                                      " blocks of " + TextOf(launch.block) +
                                      " threads are no launch");
  }
  const auto threads = static_cast<unsigned>(CountOf(launch.block));
  const auto blocks = static_cast<unsigned>(CountOf(launch.grid));
  if (watched_) memory_.Forget();
  counts_ = {};
  Block block(launch, watched_, TheStage(), counts_);
  now = {.memory = &memory_, .kernel = &kernel, .block = &block, .thread = nullptr, .wrong = {}};
  std::vector<unsigned> order;
  for (const unsigned number : InOrder(blocks, launch, 0)) {
    std::memset(__start_cuda_shared, kUnwritten,
                static_cast<size_t>(__stop_cuda_shared - __start_cuda_shared));
    memory_.SetWritten(__start_cuda_shared, false);
    // The same for all blocks, unless it is of a seed.
    if (order.empty() || launch.order == Order::kSeeded) {
      order = InOrder(threads, launch, number + 1);
    }
    block.Run(number, order);
    if (!now.wrong.empty()) break;
  }
  counts_.read_bytes = memory_.read_bytes();
  counts_.written_bytes = memory_.written_bytes();
  const std::string wrong = std::exchange(now, Now()).wrong;
  // Whoever was in the middle of its thread then is of no use to another.
  if (!wrong.empty()) TheStage() = {};
  return wrong.empty() ? absl::OkStatus()
                       : absl::InvalidArgumentError(launch.kernel + ": " + wrong);
}

}  // namespace taas::cuda::emulate
