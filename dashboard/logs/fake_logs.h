// An API server that has logs of pods and nothing else, with a kubelet's rules: sinceTime counts
// whole seconds and is asked of each line, limitBytes cuts within a line, tailLines are the last.
//
// Ownership: the test's; outlives what uses it. Threads: the executor's only. Errors: what the test
// says.
//
//   FakeLogs logs(executor);
//   logs.Write("j-worker-0", "2026-11-21T05:54:17.1Z step 1");
//   logs.EndContainer("j-worker-0");

#ifndef DASHBOARD_LOGS_FAKE_LOGS_H_
#define DASHBOARD_LOGS_FAKE_LOGS_H_

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dashboard/logs/log_pod.h"
#include "dashboard/http/web_message.h"
#include "operator/base/executor.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

class FakeLogs : public KubeTransport {
 public:
  explicit FakeLogs(Executor& executor) : executor_(executor) {}

  // "TIME TEXT"; goes to those who follow, too.
  void Write(const std::string& pod, const std::string& line);
  // Streams that follow it end.
  void EndContainer(const std::string& pod);
  // From now on this code with this message; 200: not any more.
  void Refuse(const std::string& pod, int code, const std::string& message = "");
  // What follows now breaks off.
  void CutFollowing(const std::string& pod, const absl::Status& why);

  void Do(HttpRequest request, OnReply done) override;
  std::unique_ptr<StreamHandle> Stream(HttpRequest request, StreamCalls calls) override;

  // Requests for windows so far, and at one time.
  int windows() const { return windows_; }
  int windows_at_once_max() const { return windows_at_once_max_; }
  int following(const std::string& pod) const;
  const std::vector<HttpRequest>& requests() const { return requests_; }
  size_t chunk_bytes = 1'000;

 private:
  struct Log {
    std::vector<std::string> lines;
    bool ended = false;
    int code = 200;
    std::string message;
  };
  struct Open {
    std::string pod;
    StreamCalls calls;
    bool follow = false;
    bool over = false;
    std::string since;
  };
  class Handle;

  void Send(const std::shared_ptr<Open>& open, std::string text);
  void End(const std::shared_ptr<Open>& open, const absl::Status& status);
  void Post(const std::shared_ptr<Open>& open, std::function<void()> call);

  Executor& executor_;
  std::map<std::string, Log> logs_;
  std::vector<std::shared_ptr<Open>> open_;
  std::vector<HttpRequest> requests_;
  int windows_ = 0, windows_at_once_ = 0, windows_at_once_max_ = 0;
};

// Keeps what is written, and takes it only as fast as the test says.
class FakeSink : public StreamSink {
 public:
  bool Write(SharedText chunk) override;
  void End() override { ended = true; }
  void Abort() override { aborted = true; }
  size_t unsent() const override { return unsent_; }

  void Take(size_t bytes) { unsent_ -= std::min(bytes, unsent_); }

  std::string text;
  size_t unsent_max = 0;
  bool slow = false;  // Takes nothing by itself.
  bool gone = false;
  bool ended = false;
  bool aborted = false;

 private:
  size_t unsent_ = 0;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_LOGS_FAKE_LOGS_H_
