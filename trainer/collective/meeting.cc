#include "trainer/collective/meeting.h"

#include <unistd.h>

#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/collective/memory_link.h"
#include "trainer/collective/socket_link.h"
#include "trainer/comm/frame.h"
#include "trainer/comm/greeting.h"
#include "trainer/comm/local_socket.h"

namespace taas::collective {
namespace {

using comm::FrameHead;
using comm::FrameType;

// Of a job's name and token.
constexpr uint64_t kGreetingBytesMax = 1 << 10;
// Of terms: a line that people can read.
constexpr uint64_t kTermsBytesMax = 8 << 10;
// Of a note, the same, and short.
constexpr uint64_t kNoteBytesMax = 1 << 10;
// Between terms and note.
constexpr char kLineEnd = '\n';
// Ranks have 16 bits in frames.
constexpr uint32_t kRanksMax = 1 << 16;

std::string RankName(int rank, const std::string& address) {
  return "rank " + std::to_string(rank) + " at " + address;
}

absl::Status Refuse(comm::Channel& channel, comm::Refusal refusal, const std::string& sentence) {
  RETURN_IF_ERROR(channel.Send(
      {.type = FrameType::kRefused, .refusal = static_cast<uint32_t>(refusal)}, sentence));
  return absl::FailedPreconditionError(channel.peer() + " refused: " + sentence);
}

}  // namespace

Meeting::Caller::~Caller() {
  if (socket_ >= 0) close(socket_);
}

void Meeting::Serve(comm::Channel& channel) {
  channel.LimitSilence(options_.patience);
  const absl::Status status = Admit(channel);
  if (status.ok()) return;
  const bool notable = absl::IsDataLoss(status) || absl::IsInvalidArgument(status);
  Log(notable ? LogLevel::kWarning : LogLevel::kDebug,
      "connection of a rank closed", {{"why", std::string(status.message())}});
}

absl::Status Meeting::Admit(comm::Channel& channel) {
  ASSIGN_OR_RETURN(const FrameHead hello, channel.ReceiveHead());
  if (hello.type != FrameType::kHello || hello.payload_bytes > kGreetingBytesMax) {
    return absl::DataLossError(channel.peer() + " does not begin with HELLO but with " +
                               comm::FrameTypeName(hello.type));
  }
  ASSIGN_OR_RETURN(const std::string job, channel.ReceiveText(hello.payload_bytes));
  if (!comm::IsWelcome(comm::ParseGreeting(options_.job), comm::ParseGreeting(job))) {
    return Refuse(channel, comm::Refusal::kJob,
                  "the caller is of another job or attempt, or does not have this job's token");
  }
  ASSIGN_OR_RETURN(const FrameHead meet, channel.ReceiveHead());
  if (meet.type != FrameType::kMeet || meet.payload_bytes > kTermsBytesMax + kNoteBytesMax ||
      meet.rank >= kRanksMax) {
    return absl::DataLossError(channel.peer() + " does not go on with MEET but with " +
                               comm::FrameTypeName(meet.type));
  }
  ASSIGN_OR_RETURN(std::string theirs, channel.ReceiveText(meet.payload_bytes));
  std::string note;
  if (const size_t end = theirs.find(kLineEnd); end != std::string::npos) {
    note = theirs.substr(end + 1);
    theirs.resize(end);
  }
  if (const std::string own = terms(); theirs != own) {
    const std::string sentence = "rank " + std::to_string(meet.rank) + " comes with " + theirs +
                                 ", and here it is " + own +
                                 ": ranks must have the same program and model, on devices of "
                                 "one kind";
    (void)Refuse(channel, comm::Refusal::kInvalid, sentence);
    return absl::InvalidArgumentError(channel.peer() + " refused: " + sentence);
  }
  return Keep(channel, {.epoch = meet.generation, .rank = static_cast<int>(meet.rank)},
              std::move(note));
}

void Meeting::SetTerms(std::string terms) {
  std::lock_guard lock(mutex_);
  terms_ = std::move(terms);
}

void Meeting::SetNote(std::string note) {
  std::lock_guard lock(mutex_);
  note_ = std::move(note);
}

std::string Meeting::note() const {
  std::lock_guard lock(mutex_);
  return note_;
}

std::string Meeting::terms() const {
  std::lock_guard lock(mutex_);
  return terms_;
}

absl::Status Meeting::Keep(comm::Channel& channel, const Call& theirs, std::string note) {
  const auto [epoch, rank] = std::pair(theirs.epoch, theirs.rank);
  uint32_t present = 0;
  {
    std::lock_guard lock(mutex_);
    book_.Hears(epoch);
    present = book_.epoch();
    changed_.notify_all();
  }
  if (epoch < present) {
    return Refuse(channel, comm::Refusal::kGeneration,
                  "rank " + std::to_string(rank) + " calls for epoch " + std::to_string(epoch) +
                      ", and here it is epoch " + std::to_string(present));
  }
  // The last frame of this connection, before the link can be used.
  RETURN_IF_ERROR(
      channel.Send({.type = FrameType::kMeet, .generation = epoch}, this->note()));
  std::lock_guard lock(mutex_);
  if (epoch != book_.epoch()) return absl::OkStatus();  // It is closed, and comes again.
  ASSIGN_OR_RETURN(const int socket, channel.TakeSocket());
  book_.Keep(epoch, rank, Caller(socket, channel.peer(), std::move(note)));
  changed_.notify_all();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::unique_ptr<Link>>> Meeting::Meet(const Call& call) {
  const auto until = std::chrono::steady_clock::now() + options_.patience;
  {
    std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(book_.Open(call.epoch));
  }
  Links links(call.addresses.size());
  notes_.assign(links.size(), "");
  notes_[static_cast<size_t>(call.rank)] = note();
  for (int rank = 0; rank < call.rank; ++rank) {
    const auto place = static_cast<size_t>(rank);
    ASSIGN_OR_RETURN(links[place], CallRank(call, rank, &notes_[place]));
  }
  for (int left = static_cast<int>(call.addresses.size()) - call.rank - 1; left > 0; --left) {
    ASSIGN_OR_RETURN(auto came, AwaitCaller(call, links, until));
    auto& [rank, caller] = came;
    const std::string name = "rank " + std::to_string(rank) + " (" + caller.name() + ")";
    notes_[static_cast<size_t>(rank)] = caller.note();
    ASSIGN_OR_RETURN(links[static_cast<size_t>(rank)], MakeLink(caller.TakeSocket(), name));
  }
  return links;
}

void Meeting::Cancel(uint32_t epoch) {
  std::lock_guard lock(mutex_);
  book_.Cancel(epoch);
  changed_.notify_all();
}

absl::StatusOr<std::unique_ptr<Link>> Meeting::CallRank(const Call& call, int rank,
                                                        std::string* note) const {
  const std::string& address = call.addresses[static_cast<size_t>(rank)];
  const std::string name = RankName(rank, address);
  auto connected = comm::Channel::Connect(address, {.patience = options_.patience});
  // An address that is none is nothing that this rank could do better.
  if (absl::IsInvalidArgument(connected.status())) {
    return absl::UnavailableError("call " + name + ": " +
                                  std::string(connected.status().message()));
  }
  ASSIGN_OR_RETURN(const auto channel, std::move(connected));
  channel->LimitSilence(options_.patience);
  RETURN_IF_ERROR(channel->Send({.type = FrameType::kHello}, options_.job));
  RETURN_IF_ERROR(channel->Send({.type = FrameType::kMeet,
                                 .generation = call.epoch,
                                 .rank = static_cast<uint32_t>(call.rank)},
                                terms() + kLineEnd + this->note()));
  ASSIGN_OR_RETURN(const FrameHead answer, channel->ReceiveHead());
  if (answer.type == FrameType::kRefused) {
    ASSIGN_OR_RETURN(const std::string why, channel->ReceiveText(answer.payload_bytes));
    const bool terms = answer.refusal == static_cast<uint32_t>(comm::Refusal::kInvalid);
    return absl::Status(terms && rank == 0 ? absl::StatusCode::kInvalidArgument
                                           : absl::StatusCode::kFailedPrecondition,
                        name + " refuses rank " + std::to_string(call.rank) + ": " + why);
  }
  if (answer.type != FrameType::kMeet) {
    return absl::DataLossError(name + " answers MEET with " +
                               comm::FrameTypeName(answer.type));
  }
  if (answer.payload_bytes > kNoteBytesMax) {
    return absl::DataLossError(name + " answers MEET with a note of " +
                               std::to_string(answer.payload_bytes) + " bytes");
  }
  if (answer.payload_bytes > 0) {
    ASSIGN_OR_RETURN(*note, channel->ReceiveText(answer.payload_bytes));
  }
  ASSIGN_OR_RETURN(const int socket, channel->TakeSocket());
  return MakeLink(socket, name);
}

absl::StatusOr<std::pair<int, Meeting::Caller>> Meeting::AwaitCaller(
    const Call& call, const Links& links, std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  const auto comes = [&] { return !book_.Stands(call.epoch).ok() || !book_.empty(); };
  if (!changed_.wait_until(lock, until, comes)) {
    std::string missing;
    for (size_t rank = static_cast<size_t>(call.rank) + 1; rank < links.size(); ++rank) {
      if (links[rank] != nullptr) continue;
      missing += (missing.empty() ? "" : ", ") +
                 RankName(static_cast<int>(rank), call.addresses[rank]);
    }
    return absl::UnavailableError("meet the ranks of epoch " + std::to_string(call.epoch) + ": " +
                                  missing + " has not called within " +
                                  std::to_string(options_.patience.count()) + " ms");
  }
  RETURN_IF_ERROR(book_.Stands(call.epoch));
  std::pair<int, Caller> came = *book_.Take();
  const auto rank = static_cast<size_t>(came.first);
  if (came.first <= call.rank || rank >= links.size() || links[rank] != nullptr) {
    return absl::FailedPreconditionError(
        "meet the ranks of epoch " + std::to_string(call.epoch) + ": " + came.second.name() +
        " calls rank " + std::to_string(call.rank) + " of " + std::to_string(links.size()) +
        " as rank " + std::to_string(came.first));
  }
  return came;
}

absl::StatusOr<std::unique_ptr<Link>> Meeting::MakeLink(int socket, std::string name) const {
  if (!comm::IsLocal(socket)) return MakeSocketLink(socket, std::move(name));
  return MakeMemoryLink(socket, std::move(name), options_.patience, options_.lent);
}

}  // namespace taas::collective
