// The output of all pods of one namespace, merged line by line as it is written.
//
// Ownership: store and logs outlive it. Threads: one; the store's callbacks only queue. Errors: a
// log that cannot be read is left out.
//
//   LogFollower follower(store, logs, "default");
//   for (const std::string& line : follower.Take()) Print(line);

#ifndef CLI_LOCAL_LOG_FOLLOWER_H_
#define CLI_LOCAL_LOG_FOLLOWER_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "localkube/api/log_source.h"
#include "localkube/api/store.h"

namespace taas {

class LogFollower {
 public:
  LogFollower(localkube::Store& store, localkube::LogSource& logs, const std::string& ns);
  ~LogFollower();

  // "[worker-0] text", in the order in which they are found.
  std::vector<std::string> Take();
  // The last lines of every pod that has failed and has written any, under a heading each.
  std::vector<std::string> LastLinesOfFailed() const;

 private:
  // What the store's thread has seen; guarded by mutex_.
  struct SeenPod {
    std::string name;
    std::string label;  // "worker-0"
    std::vector<std::string> containers;
    bool failed = false;
  };
  struct Followed {
    std::string label;
    std::unique_ptr<localkube::LogReader> reader;
    bool ended = false;
    std::vector<std::string> last;  // At most kLastLines.
  };

  void OnEvent(const localkube::StoreEvent& event);
  void Read(Followed* followed, std::vector<std::string>* lines);

  localkube::LogSource& logs_;
  const std::string ns_;
  mutable std::mutex mutex_;
  std::map<std::string, SeenPod> seen_;  // By uid.
  std::map<std::pair<std::string, std::string>, Followed> followed_;  // By uid and container.
  std::unique_ptr<localkube::StoreWatch> watch_;
};

}  // namespace taas

#endif  // CLI_LOCAL_LOG_FOLLOWER_H_
