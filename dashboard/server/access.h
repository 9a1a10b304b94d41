// What an identity may do, by asking the API server (SubjectAccessReview); answers are kept 30 s.
//
// Ownership: transport and executor outlive it. Threads: the executor's only. Errors: no answer is
// no: what cannot be found out is not shown; an answer that is known goes on counting for kStale
// while the API server is away.
//
//   access.Check(identity, {{.verb = "delete", .group = "taas.dev", .resource = "trainingjobs",
//                            .ns = "ml", .name = "mnist"}}, [](std::vector<bool> may) { … });

#ifndef DASHBOARD_SERVER_ACCESS_H_
#define DASHBOARD_SERVER_ACCESS_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dashboard/server/identity.h"
#include "operator/base/executor.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

struct AccessQuestion {
  std::string verb;
  std::string group;        // Empty: the core group.
  std::string resource;     // "pods"
  std::string subresource;  // "log"; empty: none.
  std::string ns;           // Empty: everywhere.
  std::string name;         // Empty: whatever the name.
};

class Access {
 public:
  static constexpr std::chrono::seconds kFresh{30};
  static constexpr std::chrono::minutes kStale{10};
  // Of answers that are kept: 200 people with rights in 100 namespaces each.
  static constexpr size_t kAnswersMax = 100'000;

  using Done = std::function<void(std::vector<bool> may)>;

  Access(KubeTransport& transport, Executor& executor);
  ~Access();

  // `done` gets an answer for each question, in order; it may be called inside the call.
  void Check(const IdentityPtr& identity, const std::vector<AccessQuestion>& questions, Done done);

 private:
  struct Answer {
    bool may = false;
    bool known = false;
    bool asking = false;
    Clock::Time asked{};
    std::vector<std::function<void(bool)>> waiting;
  };

  void CheckOne(const IdentityPtr& identity, const AccessQuestion& question,
                std::function<void(bool)> done);
  void OnReply(const std::string& key, const absl::StatusOr<HttpReply>& reply);
  void MakeRoom(Clock::Time now);

  KubeTransport& transport_;
  Executor& executor_;
  std::map<std::string, Answer> answers_;
  bool refused_logged_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_ACCESS_H_
