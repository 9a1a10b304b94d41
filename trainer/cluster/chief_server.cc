#include "trainer/cluster/chief_server.h"

#include <chrono>

#include "grpcpp/grpcpp.h"
#include "trainer/proto/chief.grpc.pb.h"

namespace taas {
namespace {

class Service final : public wire::Chief::Service {
 public:
  explicit Service(ChiefHandler& handler) : handler_(handler) {}

  grpc::Status Join(grpc::ServerContext*, const wire::JoinRequest* request,
                    wire::JoinReply* reply) override {
    *reply = handler_.Join(*request);
    return grpc::Status::OK;
  }
  grpc::Status Beat(grpc::ServerContext*, const wire::BeatRequest* request,
                    wire::BeatReply* reply) override {
    *reply = handler_.Beat(*request);
    return grpc::Status::OK;
  }
  grpc::Status Leave(grpc::ServerContext*, const wire::LeaveRequest* request,
                     wire::LeaveReply*) override {
    handler_.Leave(*request);
    return grpc::Status::OK;
  }

 private:
  ChiefHandler& handler_;
};

}  // namespace

struct ChiefServer::State {
  explicit State(ChiefHandler& handler) : service(handler) {}
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
                                                                ChiefHandler& handler) {
  auto state = std::make_unique<State>(handler);
  grpc::ServerBuilder builder;
  // Two processes on one port would each get half of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
  const std::string address = (host.empty() ? "0.0.0.0" : host) + ":" + std::to_string(port);
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
