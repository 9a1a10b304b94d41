// The whole dashboard inside a program: cache, web server, and what lies between.
//
// `taas-operator dashboard` is this and flags; `taas local up` runs the same against its own API
// server. Stop and the destructor return when no connection is open and no thread is left.
//
// Ownership: owns its threads and connections. Threads: Start and Stop from any thread, not from
// one of its own. Errors: InvalidArgument for a bad option or kubeconfig, with its name;
// Unavailable for an address that cannot be listened on. An API server that does not answer is no
// error: the page says so.
//
//   ASSIGN_OR_RETURN(auto dashboard, DashboardProcess::Start({.kubeconfig = path}));
//   Print(dashboard->url());

#ifndef DASHBOARD_SERVER_DASHBOARD_PROCESS_H_
#define DASHBOARD_SERVER_DASHBOARD_PROCESS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/api/job.h"

namespace taas::dashboard {

struct DashboardOptions {
  std::string kubeconfig;               // A file; empty: the account of the pod this runs in.
  std::vector<std::string> namespaces;  // Empty: all.
  std::vector<JobKind> kinds = {JobKind::kTrainingJob, JobKind::kTfJob};
  std::string gpu_resource = "nvidia.com/gpu";
  std::string address = "127.0.0.1:8090";  // Port 0: any free one.
  std::string address_flag = "--addr";     // Which says the address: named where it is taken.
  std::string base_path;                   // "/taas" where a proxy leaves it in the path.
  // Names by which the page is reached. Empty: any, but on a loopback address names of this
  // machine.
  std::vector<std::string> hosts;
  // Origins that may show single charts in a frame.
  std::vector<std::string> frame_ancestors;
  bool read_only = false;
  // On one machine: what a one-time link logs in with. Empty: there are no such links.
  std::string local_token;
  // Prints such a link; for who is not logged in.
  std::string link_command;
  // Where jobs that are gone are kept; empty: nowhere.
  std::string history_file;
  int history_days = 30;
  // For copies of event files while somebody looks at histograms; emptied at the start and at the
  // end. Empty: a temporary folder.
  std::string event_dir;
  // On one machine: where a claim of a namespace is. Event files are read there rather than copied,
  // also those of jobs that are over. Null: volumes cannot be seen.
  std::function<std::string(const std::string& ns, const std::string& claim)> claim_dir;
};

class DashboardProcess {
 public:
  static absl::StatusOr<std::unique_ptr<DashboardProcess>> Start(DashboardOptions options);
  virtual ~DashboardProcess() = default;

  // Idempotent.
  virtual void Stop() = 0;
  // True once the first lists have arrived.
  virtual bool Ready() const = 0;
  virtual uint16_t port() const = 0;
  virtual std::string url() const = 0;  // "http://127.0.0.1:8090/"
  // "GET jobs/*/*/*" below api, of those that want a token; for tests that go through all of them.
  virtual std::vector<std::string> routes() const = 0;
  // With a code that is good once; as url() where there is no local token.
  virtual std::string OneTimeUrl() = 0;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_DASHBOARD_PROCESS_H_
