#include "trainer/chief/desk_replies.h"

namespace taas {
namespace {

wire::JoinReply::Verdict VerdictOf(Admittance::Verdict verdict) {
  switch (verdict) {
    case Admittance::Verdict::kAccepted: return wire::JoinReply::ACCEPTED;
    case Admittance::Verdict::kLater: return wire::JoinReply::LATER;
    case Admittance::Verdict::kRefused: break;
  }
  return wire::JoinReply::REFUSED;
}

}  // namespace

wire::JoinReply ReplyOf(const Admittance& admittance) {
  wire::JoinReply reply;
  reply.set_sentence(admittance.sentence);
  reply.set_verdict(VerdictOf(admittance.verdict));
  return reply;
}

wire::BeatReply ReplyToNoMember(Membership::Standing standing, const ReplicaId& caller) {
  const bool replaced = standing == Membership::Standing::kReplaced;
  wire::BeatReply reply;
  reply.set_verdict(replaced ? wire::BeatReply::SUPERSEDED : wire::BeatReply::JOIN_AGAIN);
  reply.set_sentence(replaced ? "a later process has taken the place of " + caller.name()
                              : "the chief does not know this " + caller.name());
  return reply;
}

}  // namespace taas
