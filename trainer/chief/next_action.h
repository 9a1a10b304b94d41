// What the chief of a job does next: one decision over who is here, how far the training is and
// what has failed. Pure; coordinator.h looks, asks here, and does it.
//
// Ownership: value types. Threads: any. Errors: none.
//
//   switch (NextAction(view)) …

#ifndef TRAINER_CHIEF_NEXT_ACTION_H_
#define TRAINER_CHIEF_NEXT_ACTION_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "operator/base/clock.h"

namespace taas {

struct ChiefView {
  // Where the model is that is trained.
  enum class Model {
    kNowhere,     // Only in the last cut: nobody holds it yet, or who did is gone.
    kHeld,        // With the holders of the present generation.
    kOutOfTouch,  // Likewise, but a call to one of them has failed.
  };
  Model model = Model::kNowhere;
  int64_t step = 0;      // Of the model that is held.
  int64_t cut_step = 0;  // Of the last cut.
  int64_t max_steps = 0;

  bool stopped = false;  // The process was told to stop.
  bool failed = false;   // Its own training, or its disk, whatever the holders do.

  // Of those who hold the model.
  size_t missing = 0;
  Clock::Duration waited{};  // For who is missing.
  Clock::Duration patience{};
  bool going = false;     // One was told to stop.
  bool replaced = false;  // One is not the process that was given its part.

  // Of those who train.
  bool lost = false;     // One whose gradients must not count any more.
  bool changed = false;  // Others may push than the holders know.

  bool saving = false;  // A cut is on its way to the disk.
  bool save_due = false;
  bool save_failed = false;  // And is to be tried again now.
};

enum class ChiefAction {
  kEndStopped,
  kEndFailed,
  kGiveUp,        // Who is missing has not come.
  kAwaitDisk,     // Nothing else is left to do.
  kFinish,        // All is trained, and cut.
  kExcuse,        // Lets holders go that hold nothing.
  kAwaitHolders,
  kBegin,         // A generation: gives the holders the last cut.
  kReconnect,
  kGoBack,        // To the last cut.
  kLetGo,         // Lets a holder go, with a cut.
  kFence,
  kName,          // Tells the holders who may push.
  kCut,           // The last one.
  kSave,          // A new cut.
  kSaveAgain,     // The last cut.
  kTrain,         // Looks on.
};

ChiefAction NextAction(const ChiefView& view);
// "finish".
std::string_view NameOf(ChiefAction action);

}  // namespace taas

#endif  // TRAINER_CHIEF_NEXT_ACTION_H_
