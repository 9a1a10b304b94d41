// Keeps the directory of a pod while somebody reads logs in it.
//
// A pod that is deleted ends and its directory goes, often before a follower has asked for the last
// lines. So a reader holds a shared lock on the directory until it has given all of them, and the
// node waits for that, for a while. The kernel ends the lock with its holder, however that ends.
//
// Ownership: a LogPin owns its descriptor. Threads: any. Errors: none; where a directory cannot be
// locked, it goes without waiting.
//
//   LogPin pin(dirs.Pod(uid));               // The reader.
//   if (!IsBeingRead(dirs.Pod(uid))) disk.RemoveAll(dirs.Pod(uid));

#ifndef LOCALKUBE_NODE_LOG_PIN_H_
#define LOCALKUBE_NODE_LOG_PIN_H_

#include <string>
#include <utility>

namespace taas::localkube {

class LogPin {
 public:
  explicit LogPin(const std::string& pod_dir);
  ~LogPin() { Release(); }
  LogPin(LogPin&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  LogPin& operator=(LogPin&&) = delete;

  void Release();

 private:
  int fd_ = -1;
};

bool IsBeingRead(const std::string& pod_dir);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_LOG_PIN_H_
