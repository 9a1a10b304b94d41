#include "trainer/cluster/chief_server.h"

#include <chrono>
#include <mutex>
#include <utility>

#include "grpcpp/grpcpp.h"
#include "operator/base/log.h"
#include "trainer/comm/greeting.h"
#include "trainer/proto/chief.grpc.pb.h"

namespace taas {
namespace {

// A report with the state of all GPUs of a machine has some kilobytes.
constexpr int kCallBytesMax = 256 << 10;
// Lines about strangers in the log.
constexpr std::chrono::seconds kComplainEvery{10};

class Service final : public wire::Chief::Service {
 public:
  Service(ChiefHandler& handler, std::string token)
      : handler_(handler), token_(std::move(token)) {}

  grpc::Status Join(grpc::ServerContext* context, const wire::JoinRequest* request,
                    wire::JoinReply* reply) override {
    if (!IsOfTheJob(*context)) return Refused(*context);
    *reply = handler_.Join(*request);
    return grpc::Status::OK;
  }
  grpc::Status Beat(grpc::ServerContext* context, const wire::BeatRequest* request,
                    wire::BeatReply* reply) override {
    if (!IsOfTheJob(*context)) return Refused(*context);
    *reply = handler_.Beat(*request);
    return grpc::Status::OK;
  }
  grpc::Status Leave(grpc::ServerContext* context, const wire::LeaveRequest* request,
                     wire::LeaveReply*) override {
    if (!IsOfTheJob(*context)) return Refused(*context);
    handler_.Leave(*request);
    return grpc::Status::OK;
  }

 private:
  bool IsOfTheJob(const grpc::ServerContext& context) const {
    if (token_.empty()) return true;
    const auto& metadata = context.client_metadata();
    const auto found = metadata.find(comm::kTokenHeader);
    return found != metadata.end() &&
           comm::IsSameSecret(token_, {found->second.data(), found->second.length()});
  }
  grpc::Status Refused(const grpc::ServerContext& context) {
    std::lock_guard lock(mutex_);
    if (const auto now = std::chrono::steady_clock::now(); now >= next_complaint_) {
      next_complaint_ = now + kComplainEvery;
      Log(LogLevel::kWarning, "a caller without this job's token is not served",
          {{"peer", context.peer()}});
    }
    return {grpc::StatusCode::UNAUTHENTICATED,
            "the caller does not have the token of this chief's job"};
  }

  ChiefHandler& handler_;
  const std::string token_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point next_complaint_{};
};

// "[::]" is all addresses of both families, also on a machine that has one of them.
std::string AddressOf(const std::string& host) {
  if (host.empty()) return "[::]";
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

struct ChiefServer::State {
  State(ChiefHandler& handler, std::string token) : service(handler, std::move(token)) {}
  Service service;
  int port = 0;
  std::unique_ptr<grpc::Server> server;
};

ChiefServer::ChiefServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

ChiefServer::~ChiefServer() {
  // A deadline that has passed: calls that are held are cancelled, their callers try again or give
  // up.
  state_->server->Shutdown(std::chrono::system_clock::time_point());
}

int ChiefServer::port() const { return state_->port; }

absl::StatusOr<std::unique_ptr<ChiefServer>> ChiefServer::Start(const std::string& host, int port,
                                                                ChiefHandler& handler,
                                                                std::string token) {
  auto state = std::make_unique<State>(handler, std::move(token));
  grpc::ServerBuilder builder;
  // Two processes on one port would each get half of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(kCallBytesMax);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
  const std::string address = AddressOf(host) + ":" + std::to_string(port);
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &state->port);
  builder.RegisterService(&state->service);
  state->server = builder.BuildAndStart();
  if (state->server == nullptr || state->port == 0) {
    return absl::ResourceExhaustedError("listen on " + address +
                                        " for the other replicas: the port is taken");
  }
  return std::unique_ptr<ChiefServer>(new ChiefServer(std::move(state)));
}

}  // namespace taas
