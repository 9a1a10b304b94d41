// The life of a job as a table: what the chief sees, and what it does then.

#include "trainer/chief/next_action.h"

#include <chrono>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace taas {
namespace {

using namespace std::chrono_literals;

constexpr auto kNowhere = ChiefView::Model::kNowhere;
constexpr auto kHeld = ChiefView::Model::kHeld;
constexpr auto kOutOfTouch = ChiefView::Model::kOutOfTouch;

struct Row {
  const char* what;
  ChiefView view;
  ChiefAction action;
};

// Of twenty steps, ten of which are made and none cut.
ChiefView At(ChiefView::Model model, ChiefView view) {
  view.model = model;
  view.max_steps = 20;
  view.patience = 5min;
  if (model != kNowhere && view.step == 0) view.step = 10;
  return view;
}

void Check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(NameOf(NextAction(row.view)), NameOf(row.action)) << row.what;
  }
}

TEST(NextActionTest, NobodyHoldsTheModel) {
  Check({
      {"all are here", At(kNowhere, {}), ChiefAction::kBegin},
      {"one is missing", At(kNowhere, {.missing = 1, .waited = 5min}), ChiefAction::kAwaitHolders},
      {"and has not come", At(kNowhere, {.missing = 1, .waited = 5min + 1s}), ChiefAction::kGiveUp},
      {"while the disk writes the last cut",
       At(kNowhere, {.missing = 1, .waited = 6min, .saving = true}), ChiefAction::kAwaitDisk},
      {"another is told to stop meanwhile", At(kNowhere, {.missing = 1, .going = true}),
       ChiefAction::kExcuse},
      {"who trains is of no interest yet", At(kNowhere, {.lost = true, .changed = true}),
       ChiefAction::kBegin},
      {"the disk is no reason to wait", At(kNowhere, {.saving = true}), ChiefAction::kBegin},
      {"there is nothing to cut", At(kNowhere, {.save_due = true}), ChiefAction::kBegin},
      {"the chief before this one cut the last step",
       At(kNowhere, {.cut_step = 20, .missing = 1}), ChiefAction::kFinish},
  });
}

TEST(NextActionTest, TheModelIsTrained) {
  Check({
      {"nothing else to do", At(kHeld, {}), ChiefAction::kTrain},
      {"a checkpoint is due", At(kHeld, {.save_due = true}), ChiefAction::kSave},
      {"while the one before is written", At(kHeld, {.saving = true, .save_due = true}),
       ChiefAction::kTrain},
      {"one has failed", At(kHeld, {.save_failed = true}), ChiefAction::kSaveAgain},
      {"and the next is due", At(kHeld, {.save_due = true, .save_failed = true}),
       ChiefAction::kSave},
      {"a worker came", At(kHeld, {.changed = true, .save_due = true}), ChiefAction::kName},
      {"one is lost, and so others are named", At(kHeld, {.lost = true, .changed = true}),
       ChiefAction::kFence},
      {"all steps are made", At(kHeld, {.step = 20, .save_due = true}), ChiefAction::kCut},
      {"while the disk writes one before", At(kHeld, {.step = 20, .saving = true}),
       ChiefAction::kCut},
      {"by one who was lost then", At(kHeld, {.step = 20, .lost = true}), ChiefAction::kFence},
      {"and cut", At(kHeld, {.step = 20, .cut_step = 20}), ChiefAction::kFinish},
      {"and the disk still writes", At(kHeld, {.step = 20, .cut_step = 20, .saving = true}),
       ChiefAction::kAwaitDisk},
  });
}

TEST(NextActionTest, AHolderGoes) {
  Check({
      {"told to stop", At(kHeld, {.going = true, .lost = true}), ChiefAction::kLetGo},
      {"while the disk writes", At(kHeld, {.going = true, .saving = true}), ChiefAction::kLetGo},
      {"after the last step", At(kHeld, {.step = 20, .going = true}), ChiefAction::kLetGo},
      {"gone", At(kHeld, {.replaced = true}), ChiefAction::kGoBack},
      {"gone after the last step", At(kHeld, {.step = 20, .replaced = true}),
       ChiefAction::kGoBack},
      {"gone while the disk writes", At(kHeld, {.replaced = true, .saving = true}),
       ChiefAction::kGoBack},
      {"its connection broke", At(kOutOfTouch, {}), ChiefAction::kReconnect},
      {"and it is another process", At(kOutOfTouch, {.replaced = true}), ChiefAction::kGoBack},
      {"a checkpoint has to wait", At(kOutOfTouch, {.save_due = true}), ChiefAction::kReconnect},
  });
}

TEST(NextActionTest, TheProcessEnds) {
  for (const ChiefView::Model model : {kNowhere, kHeld, kOutOfTouch}) {
    Check({
        {"told to stop", At(model, {.stopped = true, .going = true, .lost = true}),
         ChiefAction::kEndStopped},
        {"while the disk writes", At(model, {.stopped = true, .saving = true}),
         ChiefAction::kAwaitDisk},
        {"and so is a holder",
         At(model, {.stopped = true, .going = true, .saving = true}),
         model == kHeld      ? ChiefAction::kLetGo
         : model == kNowhere ? ChiefAction::kExcuse
                             : ChiefAction::kAwaitDisk},
        {"and one after another",
         At(model, {.stopped = true, .going = true, .replaced = true, .saving = true}),
         model == kHeld ? ChiefAction::kLetGo : ChiefAction::kExcuse},
        {"its own training failed", At(model, {.failed = true, .replaced = true}),
         ChiefAction::kEndFailed},
        {"and it is told to stop", At(model, {.stopped = true, .failed = true}),
         ChiefAction::kEndStopped},
        {"the last step is no reason to finish what failed",
         At(model, {.step = 20, .cut_step = 20, .failed = true}), ChiefAction::kEndFailed},
        {"all is done, but it is told to stop",
         At(model, {.step = 20, .cut_step = 20, .stopped = true}), ChiefAction::kEndStopped},
    });
  }
}

}  // namespace
}  // namespace taas
