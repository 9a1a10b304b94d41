// An API server in memory: lists, watches, creates, merge patches and deletes of the kinds that the
// operator works with, with faults on request.
//
// Ownership: the test's; outlives the controllers that use it, one after the other. Threads: the
// executor's only. Errors: those of a real API server, as replies; and those that the test asks
// for.
//
//   FakeApi api(executor, random);
//   api.Put("trainingjobs", job);
//   api.faults().lose_reply_of_write = 3;

#ifndef OPERATOR_CONTROLLER_FAKE_API_H_
#define OPERATOR_CONTROLLER_FAKE_API_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "operator/base/executor.h"
#include "operator/base/random.h"
#include "operator/kube/transport.h"
#include "third_party/json.h"

namespace taas {

class FakeApi : public KubeTransport {
 public:
  using Json = nlohmann::json;

  // Writes count from 1, events excluded; 0: never.
  struct Faults {
    int crash_after_write = 0;    // Calls `on_crash`, and no reply is sent any more to that client.
    int lose_reply_of_write = 0;  // Applied, but the client hears Unknown.
    int fail_write = 0;           // 500, not applied.
    std::string refuse_post_of;   // 403 in other words each time, for objects of this resource.
    bool refuse_ledger = false;   // 403 for every PATCH of a job itself, not of its status.
    bool refuse_status = false;   // 403 for every PATCH of a job's status.
    // A PATCH of a job takes so long: to a client that waits for less it is not applied.
    std::chrono::milliseconds job_patch_takes{0};
    int pods_max = 0;             // 403 for each further pod, as by a quota; 0: no limit.
    std::string invalid_pod;      // 422 in these words for every pod.
    std::string pod_warning;      // The header Warning of the answer to the POST of a pod.
    std::string refuse_get_of;    // 403 for a GET of one object of this resource.
    bool earlier_tfjob_crd = false;  // A TFJob's status keeps only what an earlier CRD knew.
    std::string absent;           // 404 for all of this resource, as without its CRD.
    // Of a pod that has ended: its node is quicker, and the reply its last state, of no version.
    bool overtake_deletes = false;
    bool hold_watches = false;    // Events wait until this is false again (call Release).
  };

  FakeApi(Executor& executor, Random& random) : executor_(executor), random_(random) {}

  void Do(HttpRequest request, OnReply done) override;
  std::unique_ptr<StreamHandle> Stream(HttpRequest request, StreamCalls calls) override;

  Faults& faults() { return faults_; }
  // What the cluster keeps is no memory of the operator: a test that measures that one leaves the
  // environments of the containers away.
  void set_keeps_environments(bool keeps) { keeps_environments_ = keeps; }
  void set_on_crash(std::function<void()> call) { on_crash_ = std::move(call); }
  // Replies and events on their way to a client that is no more are dropped.
  void Disconnect() { ++client_; }
  void Release();

  // What kubelets, users and the garbage collector do.
  Json Put(const std::string& resource, Json object);  // Creates or replaces.
  const Json* Find(const std::string& resource, const std::string& name) const;
  void Remove(const std::string& resource, const std::string& name);
  std::vector<std::string> Names(const std::string& resource) const;
  // Removes a job (of "trainingjobs" or "tfjobs") and then all that it owns.
  void DeleteJob(const std::string& resource, const std::string& name);

  int writes() const { return writes_; }
  int deletes() const { return deletes_; }
  // POSTs of pods that were applied, by pod name.
  const std::map<std::string, int>& pod_creates() const { return pod_creates_; }
  const std::vector<Json>& events() const { return events_; }
  // PATCHes that left their object as it was.
  int idle_patches() const { return idle_patches_; }
  // Requests that asked for something that the real server would refuse.
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  struct Watch {
    std::string resource;
    StreamCalls calls;
    int client;
    std::weak_ptr<bool> alive;
  };
  class Handle;
  struct Target {
    std::string resource;
    std::string name;
    std::string subresource;
  };

  static Target Parse(const std::string& path);
  void Reply(int client, OnReply done, absl::StatusOr<HttpReply> reply);
  HttpReply Handle_(const HttpRequest& request, const Target& target);
  HttpReply List(const Target& target);
  HttpReply Post(const HttpRequest& request, const Target& target);
  HttpReply Patch(const HttpRequest& request, const Target& target);
  HttpReply Delete(const HttpRequest& request, const Target& target);
  void StopLater(const Json& dying);
  void Notify(const std::string& resource, const char* type, const Json& object);
  void Send(const Watch& watch, const std::string& line);

  Executor& executor_;
  Random& random_;
  Faults faults_;
  std::function<void()> on_crash_;
  bool keeps_environments_ = true;
  int client_ = 0;
  int64_t version_ = 1000;
  int64_t last_uid_ = 0;
  int writes_ = 0;
  int deletes_ = 0;
  int idle_patches_ = 0;
  std::map<std::string, std::map<std::string, Json>> objects_;  // By resource, name.
  std::vector<Watch> watches_;
  std::vector<std::pair<Watch, std::string>> held_;
  struct Past {
    int64_t version;
    std::string resource;
    std::string line;
  };
  std::vector<Past> history_;
  std::map<std::string, int> pod_creates_;
  std::vector<Json> events_;
  std::vector<std::string> complaints_;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_FAKE_API_H_
