#include <atomic>
#include <string>
#include <utility>

#include "operator/base/status.h"
#include "trainer/cmd/role.h"
#include "trainer/comm/listener.h"
#include "trainer/ps/commit_ledger.h"
#include "trainer/ps/shard.h"
#include "trainer/replica/member.h"

namespace taas {

absl::Status RunParameterServer(Role& role) {
  const ReplicaProcess& process = role.process();
  ASSIGN_OR_RETURN(const auto ledger, ps::CommitLedger::FromEnvironment(
                                          role.cluster().self.name(), process.start));
  ps::Shard shard({.job = JobKey(role.job()), .record = ledger.get()});
  std::atomic<int64_t> shown_generation = 0;
  const auto refresh = [&] {
    const ps::Shard::Stats stats = shard.stats();
    role.board().SetBytes(stats.bytes);
    role.board().SetStep(stats.step);
    role.board().SetBuffers({.staged = stats.staged,
                             .staged_bytes = stats.staged_bytes,
                             .spare_bytes = stats.spare_bytes,
                             .versions = stats.versions});
    // Once for each generation: what has happened since is on the board.
    if (stats.generation > shown_generation.exchange(stats.generation)) {
      role.board().SetState(RunState::kTraining);
    }
  };
  ASSIGN_OR_RETURN(const auto status_page, role.ServeStatus(refresh));
  const absl::Status claimed = role.place().Claim();
  if (!claimed.ok()) return Role::Restart(claimed);
  const auto serve = [&](comm::Channel& channel) { shard.Serve(channel); };
  ASSIGN_OR_RETURN(const auto listener,
                   comm::Listener::Open({.host = role.place().listen_host()}, serve));
  Member::Options options = role.MemberOptions();
  options.bulk_address = role.place().host() + ":" + std::to_string(listener->port());
  options.generation = [&] { return shard.stats().generation; };
  options.before_report = refresh;
  Member member(role.clock(), std::move(options), role.board(), role.stop());
  absl::Status status = member.Start();
  if (status.ok()) status = member.WaitForEnd();
  if (status.ok()) member.Leave();
  refresh();
  if (status.ok()) role.board().SetState(RunState::kDone);
  shard.Close();
  return status;
}

}  // namespace taas
