#include "trainer/ring/side_thread.h"

#include <utility>

namespace taas {

SideThread::SideThread(std::function<void(size_t count)> work)
    : work_(std::move(work)), thread_([this] { Serve(); }) {}

SideThread::~SideThread() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  told_changed_.notify_one();
  thread_.join();
}

void SideThread::Tell(size_t count) {
  {
    const std::lock_guard lock(mutex_);
    told_ = count;
  }
  told_changed_.notify_one();
}

void SideThread::Await() {
  std::unique_lock lock(mutex_);
  done_changed_.wait(lock, [this] { return done_ == told_; });
  told_ = done_ = 0;
}

void SideThread::Serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    told_changed_.wait(lock, [this] { return closing_ || told_ != done_; });
    if (closing_) return;
    const size_t count = told_;
    lock.unlock();
    work_(count);
    lock.lock();
    done_ = count;
    done_changed_.notify_all();
  }
}

}  // namespace taas
