#include "trainer/ps/shard_client.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/loops/bfloat16_loops.h"
#include "trainer/proto/shard.pb.h"
#include "trainer/ps/wire.h"

namespace taas::ps {

using comm::Block;
using comm::Channel;
using comm::ConstBlock;
using comm::FrameHead;
using comm::FrameType;
using comm::Refusal;
using comm::WaitReadable;

namespace {

// Between attempts to reach a shard: short at first, because a restarted one is back in a moment.
constexpr std::chrono::milliseconds kRetryFirst{20};
constexpr std::chrono::milliseconds kRetryMax{500};
// How often a caller that waits is asked whether it still wants the answer: bounds the end on
// SIGTERM.
constexpr std::chrono::milliseconds kLookUp{100};

absl::Status RefusalToStatus(const FrameHead& head, const std::string& sentence) {
  switch (static_cast<Refusal>(head.refusal)) {
    case Refusal::kGeneration:
    // Its address is another job's by now: the chief knows the new one.
    case Refusal::kJob: return absl::AbortedError(sentence);
    case Refusal::kFenced: return absl::FailedPreconditionError(sentence);
    case Refusal::kNotYet: return absl::UnavailableError(sentence);
    default: return absl::InvalidArgumentError(sentence);
  }
}

// Whether a new connection may do better. DataLoss: who has the address of a shard that went can
// be anybody; the chief knows the new one.
bool IsBroken(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDataLoss(status);
}

// OK, or the error that a refusal means.
absl::Status CheckAnswer(Channel& channel, const FrameHead& head, FrameType wanted) {
  if (head.type == wanted) return absl::OkStatus();
  if (head.type != FrameType::kRefused) {
    return absl::DataLossError(channel.peer() + " answers with " + comm::FrameTypeName(head.type));
  }
  ASSIGN_OR_RETURN(const std::string sentence, channel.ReceiveText(head.payload_bytes));
  return Annotate(RefusalToStatus(head, sentence), channel.peer());
}

uint64_t BytesOf(const std::vector<Block>& blocks) {
  uint64_t bytes = 0;
  for (const Block& block : blocks) bytes += block.bytes;
  return bytes;
}

void AddBlocks(const std::vector<Piece>& pieces, const std::vector<std::span<float>>& variables,
               std::vector<Block>* blocks) {
  for (const Piece& piece : pieces) {
    const std::span<float> part = variables[static_cast<size_t>(piece.variable)].subspan(
        static_cast<size_t>(piece.offset), static_cast<size_t>(piece.count));
    blocks->push_back({part.data(), part.size_bytes()});
  }
}

std::vector<Block> BlocksOf(const std::vector<Piece>& pieces,
                            const std::vector<std::span<float>>& variables) {
  std::vector<Block> blocks;
  AddBlocks(pieces, variables, &blocks);
  return blocks;
}

// Values, then each slot: the order of a shard's memory.
std::vector<Block> BlocksOf(const std::vector<Piece>& pieces, const ModelSpans& model) {
  std::vector<Block> blocks = BlocksOf(pieces, model.variables);
  for (const auto& slot : model.slots) AddBlocks(pieces, slot, &blocks);
  return blocks;
}

absl::Status ReceiveValues(Channel& channel, const FrameHead& head,
                           const std::vector<Block>& blocks) {
  if (head.payload_bytes != BytesOf(blocks)) {
    return absl::DataLossError(channel.peer() + " sends " + std::to_string(head.payload_bytes) +
                               " bytes of values, expected " + std::to_string(BytesOf(blocks)));
  }
  return channel.ReceiveInto(blocks);
}

// The rows that changed of each piece, which lies in the block of its number.
absl::Status ReceiveChanged(Channel& channel, const FrameHead& head,
                            const std::vector<size_t>& elements,
                            const std::vector<Block>& blocks) {
  const auto contents = ReceiveRows(channel, elements, head.payload_bytes);
  if (absl::IsInvalidArgument(contents.status())) {
    return absl::DataLossError(channel.peer() + " sends " +
                               std::string(contents.status().message()));
  }
  RETURN_IF_ERROR(contents.status());
  const std::vector<PieceGradient> pieces = PiecesOf(*contents, elements);
  for (size_t i = 0; i < pieces.size(); ++i) {
    float* const piece = static_cast<float*>(blocks[i].data);
    const std::span<const float> values = pieces[i].values;
    if (!pieces[i].rows) {
      std::ranges::copy(values, piece);
      continue;
    }
    ForRowRuns(*pieces[i].rows, [&](const RowRun& run) {
      std::ranges::copy(values.subspan(run.packed, run.count), piece + run.at);
    });
  }
  return absl::OkStatus();
}

wire::NamedRequest NamedOf(const std::vector<Pusher>& pushers) {
  wire::NamedRequest request;
  for (const Pusher& pusher : pushers) *request.add_pushers() = ToWire(pusher);
  return request;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ShardControl>> ShardControl::Connect(const std::string& address,
                                                                    Options options) {
  ASSIGN_OR_RETURN(auto channel, Channel::Connect(address, {}));
  channel->LimitSilence(options.silence_max);
  RETURN_IF_ERROR(channel->Send({.type = FrameType::kHello}, options.job));
  return std::unique_ptr<ShardControl>(new ShardControl(std::move(channel)));
}

absl::Status ShardControl::Configure(const ShardConfig& config, const ModelSpans& model) {
  wire::ConfigureRequest request;
  request.set_generation(config.generation);
  request.set_shard(config.shard);
  for (const std::string& shard : config.shards) request.add_shards(shard);
  for (const Piece& piece : config.pieces) {
    wire::Piece* out = request.add_pieces();
    out->set_variable(piece.variable);
    out->set_offset(piece.offset);
    out->set_count(piece.count);
    if (piece.decay) out->set_decay(*piece.decay);
  }
  request.set_optimizer(config.optimizer);
  *request.mutable_committed() = ToWire(config.committed);
  request.set_step(config.step);
  request.set_max_steps(config.max_steps);
  request.set_aggregate(config.aggregate);
  if (config.max_staleness) request.set_max_staleness(*config.max_staleness);
  if (config.named) *request.mutable_named() = NamedOf(*config.named);
  request.set_hears_busy(true);
  request.set_chief_pod(config.chief_pod);
  const std::string text = request.SerializeAsString();
  const uint64_t length = text.size();
  std::vector<ConstBlock> payload = {{&length, sizeof(length)}, {text.data(), text.size()}};
  for (const Block& block : BlocksOf(config.pieces, model)) {
    payload.push_back({block.data, block.bytes});
  }
  RETURN_IF_ERROR(channel_->Send({.type = FrameType::kConfigure}, payload));
  ASSIGN_OR_RETURN(const FrameHead head, Answer(FrameType::kState));
  ASSIGN_OR_RETURN(const std::string answer, channel_->ReceiveText(head.payload_bytes));
  ASSIGN_OR_RETURN(const auto state, ParseMessage<wire::ShardState>(answer));
  takes_named_ = state.takes_named();
  // What was shared is of the generation before, or as large as all slots together.
  channel_->ForgetShared();
  generation_ = static_cast<uint32_t>(config.generation);
  return absl::OkStatus();
}

absl::StatusOr<FrameHead> ShardControl::Answer(FrameType wanted) {
  for (;;) {
    ASSIGN_OR_RETURN(const FrameHead head, channel_->ReceiveHead());
    if (head.type == FrameType::kBusy) {
      RETURN_IF_ERROR(channel_->Discard(head.payload_bytes));
      continue;
    }
    RETURN_IF_ERROR(CheckAnswer(*channel_, head, wanted));
    return head;
  }
}

absl::StatusOr<std::string> ShardControl::Ask(FrameType type, const std::string& payload) {
  RETURN_IF_ERROR(channel_->Send({.type = type, .generation = generation_}, payload));
  ASSIGN_OR_RETURN(const FrameHead head, Answer(FrameType::kState));
  return channel_->ReceiveText(head.payload_bytes);
}

absl::StatusOr<ShardControl::State> ShardControl::AskState(FrameType type,
                                                           const std::string& payload) {
  ASSIGN_OR_RETURN(const std::string text, Ask(type, payload));
  ASSIGN_OR_RETURN(const auto state, ParseMessage<wire::SequencerState>(text));
  State out{.step = state.step(), .committed = FromWire(state.committed()), .gone = {}};
  for (const wire::PusherId& pusher : state.gone()) out.gone.push_back(FromWire(pusher));
  return out;
}

absl::StatusOr<int64_t> ShardControl::Generation() {
  ASSIGN_OR_RETURN(const std::string text, Ask(FrameType::kAsk, ""));
  ASSIGN_OR_RETURN(const auto state, ParseMessage<wire::ShardState>(text));
  takes_named_ = state.takes_named();
  return state.generation();
}

absl::StatusOr<ShardControl::State> ShardControl::Fence(const Pusher& pusher) {
  wire::FenceRequest request;
  request.set_rank(static_cast<int32_t>(pusher.rank));
  request.set_pod_number(pusher.pod);
  request.set_start(pusher.start);
  return AskState(FrameType::kFence, request.SerializeAsString());
}

absl::StatusOr<ShardControl::State> ShardControl::Cut() { return AskState(FrameType::kCut, ""); }

absl::StatusOr<ShardControl::State> ShardControl::WaitStep(int64_t step,
                                                           std::chrono::milliseconds hold) {
  wire::WaitStepRequest request;
  request.set_step(step);
  request.set_hold_ms(static_cast<int32_t>(hold.count()));
  return AskState(FrameType::kWaitStep, request.SerializeAsString());
}

absl::Status ShardControl::ReadCut(int64_t step, const std::vector<Piece>& pieces,
                                   const ModelSpans& model) {
  RETURN_IF_ERROR(channel_->Send(
      {.type = FrameType::kReadCut, .generation = generation_, .step = step}));
  ASSIGN_OR_RETURN(const FrameHead head, Answer(FrameType::kValues));
  RETURN_IF_ERROR(ReceiveValues(*channel_, head, BlocksOf(pieces, model)));
  channel_->LetPayloadPagesGo();
  return absl::OkStatus();
}

absl::Status ShardControl::ReleaseCut() { return Ask(FrameType::kReleaseCut, "").status(); }

absl::Status ShardControl::Name(const std::vector<Pusher>& pushers) {
  if (!takes_named_) return absl::OkStatus();
  return Ask(FrameType::kNamed, NamedOf(pushers).SerializeAsString()).status();
}

Exchange::Exchange(Options options, std::vector<std::span<float>> variables,
                   std::vector<std::span<float>> gradients)
    : options_(std::move(options)),
      gradients_(gradients.begin(), gradients.end()),
      peers_(options_.shards.size()) {
  CHECK(options_.layout.shards.size() == peers_.size())
      << "exchange with " << peers_.size() << " shards, layout of "
      << options_.layout.shards.size();
  for (size_t shard = 0; shard < peers_.size(); ++shard) {
    const std::vector<Piece>& pieces = options_.layout.shards[shard];
    peers_[shard].variables = BlocksOf(pieces, variables);
    for (const Block& block : BlocksOf(pieces, gradients)) {
      peers_[shard].gradients.push_back({block.data, block.bytes});
      peers_[shard].elements.push_back(block.bytes / sizeof(float));
    }
  }
}

absl::StatusOr<Exchange::Result> Exchange::Pull(const StillWanted& still_wanted) {
  return Run({.type = FrameType::kPull,
              .generation = static_cast<uint32_t>(options_.generation),
              .rank = options_.pusher.rank,
              .pod = options_.pusher.pod,
              .start = options_.pusher.start},
             still_wanted);
}

absl::StatusOr<Exchange::Result> Exchange::Push(uint64_t sequence, int64_t batch, int64_t base,
                                                const StillWanted& still_wanted,
                                                RowsOfVariables rows) {
  for (size_t shard = 0; shard < peers_.size(); ++shard) {
    peers_[shard].rows.Pack(options_.layout.shards[shard], gradients_, rows);
    peers_[shard].narrow.clear();
    if (options_.narrow && peers_[shard].takes_narrow) Narrow(shard);
  }
  return Run(HeadOf(FrameType::kPush, {{options_.pusher, sequence, batch}, base},
                    static_cast<uint32_t>(options_.generation)),
             still_wanted);
}

void Exchange::Narrow(size_t shard) {
  Peer& peer = peers_[shard];
  const std::vector<Piece>& pieces = options_.layout.shards[shard];
  size_t trained = 0;
  for (const Piece& piece : pieces) {
    if (!piece.decay) trained += static_cast<size_t>(piece.count);
  }
  peer.rounded.resize(trained);
  peer.narrow = {{peer.rounded.data(), trained * sizeof(uint16_t)}};
  uint16_t* to = peer.rounded.data();
  for (size_t i = 0; i < pieces.size(); ++i) {
    // Those that are moved are the last.
    if (pieces[i].decay) {
      peer.narrow.push_back(peer.gradients[i]);
      continue;
    }
    BestBFloat16Loops().round(static_cast<const float*>(peer.gradients[i].data), to,
                              pieces[i].count);
    to += pieces[i].count;
  }
}

absl::StatusOr<Exchange::Result> Exchange::Run(const FrameHead& head,
                                               const StillWanted& still_wanted) {
  // Whoever was told to stop meanwhile sends nothing any more.
  if (!still_wanted()) return absl::AbortedError("no longer wanted");
  for (Peer& peer : peers_) peer.sent = peer.answered = false;
  std::chrono::milliseconds delay = kRetryFirst;
  absl::Status fatal;
  int breaks = 0;
  bool pause = false;
  while (fatal.ok()) {
    // All requests leave before any answer is awaited: a push settles when every shard has it.
    if (!pause) SendMissing(head);
    pause = false;
    std::vector<size_t> asked;
    std::vector<const Channel*> channels;
    size_t missing = 0;
    for (size_t shard = 0; shard < peers_.size(); ++shard) {
      if (peers_[shard].answered) continue;
      if (!peers_[shard].sent) {
        ++missing;
        continue;
      }
      asked.push_back(shard);
      channels.push_back(peers_[shard].channel.get());
    }
    if (asked.empty() && missing == 0) break;
    // One that could not be reached is tried again, whatever the others wait for.
    const std::vector<bool> readable = WaitReadable(channels, missing > 0 ? delay : kLookUp);
    if (missing > 0) delay = std::min(delay * 2, kRetryMax);
    bool progress = false;
    for (size_t i = 0; i < asked.size() && fatal.ok(); ++i) {
      if (!readable[i]) continue;
      Peer& peer = peers_[asked[i]];
      const auto answer = ReceiveFrom(peer);
      if (answer.ok()) {
        peer.answered = progress = true;
        peer.answer = *answer;
        continue;
      }
      trouble_ = std::string(answer.status().message());
      peer.channel = nullptr;
      peer.sent = false;
      // Once is an accident; who breaks off each time is not to be called without end.
      pause = breaks++ > 0;
      if (!IsBroken(answer.status())) fatal = answer.status();
    }
    if (!progress && fatal.ok() && !still_wanted()) {
      fatal = absl::AbortedError("no longer wanted" + (trouble_.empty() ? "" : ": " + trouble_));
    }
  }
  if (fatal.ok()) {
    trouble_.clear();
    return Conclude();
  }
  // Answers that are still under way belong to this call; the next one must not read them.
  for (Peer& peer : peers_) {
    if (!peer.answered) peer.channel = nullptr;
  }
  return fatal;
}

Exchange::Result Exchange::Conclude() const {
  const ValuesInfo& first = peers_[0].answer;
  Result result{.step = first.push_step,
                .applied = !first.dropped,
                .banked = first.banked,
                .values_step = first.values_step,
                .batch = first.batch};
  int64_t oldest = first.values_step;
  for (const Peer& peer : peers_) {
    oldest = std::min(oldest, peer.answer.values_step);
    result.newest_step = std::max(result.newest_step, peer.answer.values_step);
  }
  const bool fits = first.oldest ? oldest >= *first.oldest : oldest == result.newest_step;
  result.values_step = fits ? oldest : -1;
  return result;
}

void Exchange::SendMissing(const FrameHead& head) {
  for (size_t shard = 0; shard < peers_.size(); ++shard) {
    Peer& peer = peers_[shard];
    if (peer.sent) continue;
    const absl::Status status = SendTo(peer, options_.shards[shard], head);
    peer.sent = status.ok();
    if (status.ok()) continue;
    peer.channel = nullptr;
    trouble_ = std::string(status.message());
  }
}

absl::Status Exchange::SendTo(Peer& peer, const std::string& address, const FrameHead& head) {
  if (peer.channel == nullptr) {
    ASSIGN_OR_RETURN(peer.channel, Channel::Connect(address, {}));
    peer.channel->LimitSilence(options_.silence_max);
    RETURN_IF_ERROR(peer.channel->Send({.type = FrameType::kHello}, options_.job));
  }
  if (head.type != FrameType::kPush) return peer.channel->Send(head);
  uint64_t bytes = 0;
  for (const ConstBlock& block : peer.narrow) bytes += block.bytes;
  const bool as_rows = peer.takes_rows && peer.rows.saves();
  if (!peer.narrow.empty() && !(as_rows && peer.rows.bytes() < bytes)) {
    FrameHead narrow = head;
    narrow.flags |= comm::kFlagNarrow;
    return peer.channel->Send(narrow, peer.narrow);
  }
  if (!as_rows) return peer.channel->Send(head, peer.gradients);
  FrameHead rows = head;
  rows.type = FrameType::kPushRows;
  std::vector<ConstBlock> payload = {{&peer.have, sizeof(peer.have)}};
  payload.insert(payload.end(), peer.rows.payload().begin(), peer.rows.payload().end());
  return peer.channel->Send(rows, payload);
}

absl::StatusOr<ValuesInfo> Exchange::ReceiveFrom(Peer& peer) {
  ASSIGN_OR_RETURN(const FrameHead head, peer.channel->ReceiveHead());
  RETURN_IF_ERROR(CheckAnswer(*peer.channel, head, FrameType::kValues));
  const ValuesInfo info = ValuesInfoOf(head);
  peer.takes_rows = info.takes_rows;
  peer.takes_narrow = info.takes_narrow;
  if (info.banked) {
    RETURN_IF_ERROR(ReceiveValues(*peer.channel, head, {}));
    return info;
  }
  // Until all has come, the variables are of no step.
  peer.have = -1;
  if (info.rows) {
    RETURN_IF_ERROR(ReceiveChanged(*peer.channel, head, peer.elements, peer.variables));
  } else {
    RETURN_IF_ERROR(ReceiveValues(*peer.channel, head, peer.variables));
    // Where rows are pushed the answers are rows, but for a few.
    if (peer.takes_rows && peer.rows.saves()) peer.channel->LetPayloadPagesGo();
  }
  peer.have = info.values_step;
  return info;
}

}  // namespace taas::ps
