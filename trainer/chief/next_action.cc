#include "trainer/chief/next_action.h"

namespace taas {
namespace {

ChiefAction WithoutHolders(const ChiefView& view) {
  // None has anything that the last cut lacks.
  if (view.going) return ChiefAction::kExcuse;
  if (view.missing == 0) return ChiefAction::kBegin;
  if (view.waited <= view.patience) return ChiefAction::kAwaitHolders;
  return view.saving ? ChiefAction::kAwaitDisk : ChiefAction::kGiveUp;
}

// Before the process ends. The disk may take minutes, and a holder that goes too has seconds.
ChiefAction WhileTheDiskWrites(const ChiefView& view) {
  if (view.going && view.model == ChiefView::Model::kHeld) return ChiefAction::kLetGo;
  const bool lost = view.model == ChiefView::Model::kNowhere || view.replaced;
  return view.going && lost ? ChiefAction::kExcuse : ChiefAction::kAwaitDisk;
}

ChiefAction WithHolders(const ChiefView& view) {
  // It has seconds, and what it holds is nowhere else.
  if (view.going) return ChiefAction::kLetGo;
  if (view.replaced) return ChiefAction::kGoBack;
  if (view.lost) return ChiefAction::kFence;
  if (view.changed) return ChiefAction::kName;
  // Before anyone is told that all is trained: until then it can be lost again.
  if (view.step >= view.max_steps) return ChiefAction::kCut;
  if (view.saving) return ChiefAction::kTrain;
  if (view.save_due) return ChiefAction::kSave;
  return view.save_failed ? ChiefAction::kSaveAgain : ChiefAction::kTrain;
}

}  // namespace

ChiefAction NextAction(const ChiefView& view) {
  const bool done = view.cut_step >= view.max_steps;
  if (view.stopped || view.failed || done) {
    // One writes at a time.
    if (view.saving) return done ? ChiefAction::kAwaitDisk : WhileTheDiskWrites(view);
    if (view.stopped) return ChiefAction::kEndStopped;
    return view.failed ? ChiefAction::kEndFailed : ChiefAction::kFinish;
  }
  switch (view.model) {
    case ChiefView::Model::kNowhere: return WithoutHolders(view);
    case ChiefView::Model::kHeld: return WithHolders(view);
    // A connection can break though both ends live: then nothing is lost and nothing goes back.
    case ChiefView::Model::kOutOfTouch:
      return view.replaced ? ChiefAction::kGoBack : ChiefAction::kReconnect;
  }
  return ChiefAction::kTrain;
}

std::string_view NameOf(ChiefAction action) {
  switch (action) {
    case ChiefAction::kEndStopped: return "end stopped";
    case ChiefAction::kEndFailed: return "end failed";
    case ChiefAction::kGiveUp: return "give up";
    case ChiefAction::kAwaitDisk: return "await disk";
    case ChiefAction::kFinish: return "finish";
    case ChiefAction::kExcuse: return "excuse";
    case ChiefAction::kAwaitHolders: return "await holders";
    case ChiefAction::kBegin: return "begin";
    case ChiefAction::kReconnect: return "reconnect";
    case ChiefAction::kGoBack: return "go back";
    case ChiefAction::kLetGo: return "let go";
    case ChiefAction::kFence: return "fence";
    case ChiefAction::kName: return "name";
    case ChiefAction::kCut: return "cut";
    case ChiefAction::kSave: return "save";
    case ChiefAction::kSaveAgain: return "save again";
    case ChiefAction::kTrain: return "train";
  }
  return "";
}

}  // namespace taas
