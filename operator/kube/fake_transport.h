// A transport whose other end is the test: requests wait until the test answers them.
//
// Ownership: the test's; outlives what uses it. Threads: the executor's only. Errors: what the test
// says.
//
//   FakeTransport transport(executor);
//   reflector.Start();
//   transport.Reply({.code = 200, .body = list});   // To the oldest request.
//   transport.stream().Open(200);

#ifndef OPERATOR_KUBE_FAKE_TRANSPORT_H_
#define OPERATOR_KUBE_FAKE_TRANSPORT_H_

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/executor.h"
#include "operator/kube/transport.h"

namespace taas {

class FakeTransport : public KubeTransport {
 public:
  // One stream, as its server sees it. Calls after the client has gone are dropped.
  class ServerStream {
   public:
    ServerStream(Executor& executor, HttpRequest request, StreamCalls calls)
        : request(std::move(request)), executor_(executor), calls_(std::move(calls)) {}

    void Open(int code) {
      Post([this, code] { calls_.opened(code); });
    }
    void Send(std::string chunk) {
      Post([this, chunk = std::move(chunk)] { calls_.data(chunk); });
    }
    void End(absl::Status status = absl::OkStatus()) {
      Post([this, status] { calls_.ended(status); });
    }
    bool gone() const { return *gone_; }
    const HttpRequest request;

   private:
    friend class FakeTransport;
    void Post(std::function<void()> call) {
      executor_.Post([gone = gone_, call = std::move(call)] {
        if (!*gone) call();
      });
    }
    Executor& executor_;
    const StreamCalls calls_;
    std::shared_ptr<bool> gone_ = std::make_shared<bool>(false);
  };

  explicit FakeTransport(Executor& executor) : executor_(executor) {}

  void Do(HttpRequest request, OnReply done) override {
    requests_.emplace_back(std::move(request), std::move(done));
  }
  std::unique_ptr<StreamHandle> Stream(HttpRequest request, StreamCalls calls) override {
    streams_.push_back(
        std::make_unique<ServerStream>(executor_, std::move(request), std::move(calls)));
    return std::make_unique<Handle>(streams_.back()->gone_);
  }

  size_t waiting() const { return requests_.size(); }
  const HttpRequest& request() const {
    CHECK(!requests_.empty()) << "no request waits";
    return requests_.front().first;
  }
  void Reply(absl::StatusOr<HttpReply> reply) {
    CHECK(!requests_.empty()) << "no request waits";
    executor_.Post([done = std::move(requests_.front().second), reply = std::move(reply)] {
      done(reply);
    });
    requests_.pop_front();
  }
  // The latest.
  ServerStream& stream() {
    CHECK(!streams_.empty()) << "no stream was started";
    return *streams_.back();
  }
  size_t streams() const { return streams_.size(); }
  // The latest whose path has `part` in it.
  ServerStream& FindStream(const std::string& part) {
    for (auto stream = streams_.rbegin(); stream != streams_.rend(); ++stream) {
      if ((*stream)->request.path.find(part) != std::string::npos) return **stream;
    }
    CHECK(false) << "no stream of " << part;
    return *streams_.back();
  }

 private:
  class Handle : public StreamHandle {
   public:
    explicit Handle(std::shared_ptr<bool> gone) : gone_(std::move(gone)) {}
    ~Handle() override { *gone_ = true; }

   private:
    const std::shared_ptr<bool> gone_;
  };

  Executor& executor_;
  std::deque<std::pair<HttpRequest, OnReply>> requests_;
  std::deque<std::unique_ptr<ServerStream>> streams_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_FAKE_TRANSPORT_H_
