#include "operator/base/nvml_reader.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace taas {
namespace {

// For a call that is under way at the end: NVML answers in milliseconds, or not for seconds.
constexpr std::chrono::milliseconds kFarewell{200};

}  // namespace

struct NvmlReader::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void(const Loaded&)> question;
  bool owes = false;  // An answer.
  bool closing = false;
  bool ended = false;  // The thread has.
  std::thread thread;
};

NvmlReader::NvmlReader(std::string library)
    : library_(std::move(library)), shared_(std::make_shared<Shared>()) {}

NvmlReader::~NvmlReader() {
  Stop();
  std::unique_lock lock(shared_->mutex);
  if (!shared_->thread.joinable()) return;
  const bool ended = shared_->changed.wait_for(lock, kFarewell, [this] { return shared_->ended; });
  lock.unlock();
  if (ended) {
    shared_->thread.join();
  } else {
    shared_->thread.detach();
  }
}

void NvmlReader::Stop() {
  const std::lock_guard lock(shared_->mutex);
  shared_->closing = true;
  shared_->changed.notify_all();
}

absl::Status NvmlReader::Run(std::chrono::milliseconds patience,
                             std::function<void(const Loaded&)> question) {
  std::unique_lock lock(shared_->mutex);
  if (shared_->closing) return absl::CancelledError("ask NVML: it is no longer wanted");
  if (shared_->owes) {
    return absl::UnavailableError("ask NVML: the driver still does not answer what it was asked "
                                  "before; a card that has fallen off the bus does that");
  }
  if (!shared_->thread.joinable()) {
    shared_->thread = std::thread([shared = shared_, library = library_] {
      Serve(shared, library);
    });
  }
  shared_->question = std::move(question);
  shared_->owes = true;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, patience,
                            [this] { return !shared_->owes || shared_->closing; });
  if (!shared_->owes) return absl::OkStatus();
  if (shared_->closing) return absl::CancelledError("ask NVML: it is no longer wanted");
  return absl::DeadlineExceededError("ask NVML: the driver has not answered within " +
                                     std::to_string(patience.count()) + " ms");
}

void NvmlReader::Serve(const std::shared_ptr<Shared>& shared, const std::string& library) {
  Loaded nvml = absl::UnavailableError("not loaded yet");
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->changed.wait(lock, [&] { return shared->closing || shared->question; });
    if (shared->closing) break;
    const auto question = std::exchange(shared->question, nullptr);
    lock.unlock();
    if (!nvml.ok()) nvml = Nvml::Load(library.c_str());
    question(nvml);
    lock.lock();
    shared->owes = false;
    shared->changed.notify_all();
  }
  lock.unlock();
  nvml = absl::UnavailableError("closed");
  lock.lock();
  shared->ended = true;
  shared->changed.notify_all();
}

}  // namespace taas
