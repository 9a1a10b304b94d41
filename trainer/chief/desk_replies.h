// What every desk of a chief answers alike, whatever its members do together: who is admitted, and
// who is no member.
//
// Ownership: pure functions. Threads: any. Errors: none.
//
//   wire::JoinReply reply = ReplyOf(roster.Join(request, now));

#ifndef TRAINER_CHIEF_DESK_REPLIES_H_
#define TRAINER_CHIEF_DESK_REPLIES_H_

#include "trainer/cluster/membership.h"
#include "trainer/cluster/tf_config.h"
#include "trainer/proto/chief.pb.h"

namespace taas {

wire::JoinReply ReplyOf(const Admittance& admittance);
// To a caller that is none: `standing` is not kMember.
wire::BeatReply ReplyToNoMember(Membership::Standing standing, const ReplicaId& caller);

}  // namespace taas

#endif  // TRAINER_CHIEF_DESK_REPLIES_H_
