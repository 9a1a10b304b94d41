#include "trainer/cluster/chief_client.h"

#include <arpa/inet.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>

#include "grpcpp/grpcpp.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/greeting.h"
#include "trainer/proto/chief.grpc.pb.h"

namespace taas {
namespace {

// A call that is answered at once; and one that the chief may hold, of which it is known that it is
// there.
constexpr std::chrono::milliseconds kCallPatience{1'000};
constexpr std::chrono::milliseconds kBeatPatienceOfAConnected{2'500};
constexpr std::chrono::milliseconds kProbePatience{200};
// All replicas start in the same moment: the chief listens a few milliseconds after the first call.
constexpr int kReconnectFirstMs = 20;
constexpr int kReconnectMaxMs = 250;
// One attempt to connect, with the handshake: on a machine with more work than cores it is slow.
constexpr int kConnectPatienceMs = 2'000;
constexpr int kResolveAgainMs = 500;

void Prepare(grpc::ClientContext& context, std::chrono::milliseconds patience, Absent absent) {
  // gRPC connects only while somebody waits for a call: one that fails at once would leave a
  // connection half made until a timer of 5 s.
  context.set_wait_for_ready(absent == Absent::kWait);
  gpr_timespec deadline = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                       gpr_time_from_millis(patience.count(), GPR_TIMESPAN));
  context.set_deadline(deadline);
}

absl::Status ToStatus(const grpc::Status& status, const char* call, const std::string& address) {
  if (status.ok()) return absl::OkStatus();
  std::string why = status.error_message();
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    // gRPC does not say what it waited for.
    const auto probe = comm::Channel::Connect(address, {.patience = kProbePatience});
    why = probe.ok() ? "no answer in time" : std::string(probe.status().message());
  }
  return absl::UnavailableError(std::string(call) + " the chief at " + address + ": " + why);
}

// How gRPC is told that `address` needs no resolver.
std::string TargetOf(const std::string& address) {
  const auto split = comm::SplitAddress(address);
  if (!split.ok()) return address;
  const auto& [host, port] = *split;
  in6_addr literal;
  if (inet_pton(AF_INET, host.c_str(), &literal) == 1) return "ipv4:" + address;
  if (inet_pton(AF_INET6, host.c_str(), &literal) == 1) return "ipv6:[" + host + "]:" + port;
  return address;
}

}  // namespace

struct ChiefClient::State {
  std::unique_ptr<wire::Chief::Stub> stub;
  std::mutex mutex;
  bool cancelled = false;
  std::set<grpc::ClientContext*> calls;  // Under way.
  std::string token;

  // `call` with a context that Cancel reaches.
  template <typename Call>
  grpc::Status Run(std::chrono::milliseconds patience, Absent absent, Call call) {
    grpc::ClientContext context;
    Prepare(context, patience, absent);
    if (!token.empty()) context.AddMetadata(comm::kTokenHeader, token);
    {
      std::lock_guard lock(mutex);
      if (cancelled) return {grpc::StatusCode::CANCELLED, "this process ends"};
      calls.insert(&context);
    }
    const grpc::Status status = call(context);
    std::lock_guard lock(mutex);
    calls.erase(&context);
    return status;
  }
};

ChiefClient::ChiefClient(const std::string& address, const std::string& token,
                         std::chrono::milliseconds beat_patience)
    : address_(address), beat_patience_(beat_patience), state_(std::make_unique<State>()) {
  state_->token = token;
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectFirstMs);
  // By its name a pause; what it bounds is the time that one attempt may take.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectPatienceMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, kResolveAgainMs);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A proxy in the environment is not for the replicas of one job.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // A literal address needs no resolver, which would pause between its answers.
  state_->stub = wire::Chief::NewStub(grpc::CreateCustomChannel(
      TargetOf(address), grpc::InsecureChannelCredentials(), arguments));
}

ChiefClient::~ChiefClient() = default;

void ChiefClient::Cancel() {
  std::lock_guard lock(state_->mutex);
  state_->cancelled = true;
  for (grpc::ClientContext* const call : state_->calls) call->TryCancel();
}

absl::StatusOr<wire::JoinReply> ChiefClient::Join(const wire::JoinRequest& request) {
  wire::JoinReply reply;
  const grpc::Status status =
      state_->Run(kCallPatience, Absent::kWait, [&](grpc::ClientContext& context) {
        return state_->stub->Join(&context, request, &reply);
      });
  if (!status.ok()) return ToStatus(status, "join", address_);
  return reply;
}

absl::StatusOr<wire::BeatReply> ChiefClient::Beat(const wire::BeatRequest& request, Absent absent) {
  const auto patience = absent == Absent::kWait
                            ? beat_patience_
                            : std::min(beat_patience_, kBeatPatienceOfAConnected);
  wire::BeatReply reply;
  const grpc::Status status = state_->Run(patience, absent, [&](grpc::ClientContext& context) {
    return state_->stub->Beat(&context, request, &reply);
  });
  if (!status.ok()) return ToStatus(status, "call", address_);
  return reply;
}

absl::Status ChiefClient::Leave(const wire::LeaveRequest& request,
                                std::chrono::milliseconds patience) {
  wire::LeaveReply reply;
  const grpc::Status status =
      state_->Run(patience, Absent::kWait, [&](grpc::ClientContext& context) {
        return state_->stub->Leave(&context, request, &reply);
      });
  return ToStatus(status, "take leave of", address_);
}

}  // namespace taas
