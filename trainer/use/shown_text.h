// A text that comes byte by byte, on its way to a terminal: characters of several bytes are shown
// when they are whole, and what a terminal would carry out is shown as it is written
// (terminal_text.h). A model that has learned bytes may write any of them.
//
// Ownership: values. Threads: one. Errors: none: a byte that is no UTF-8 is shown as U+FFFD.
//
//   ShownText shown;
//   std::fputs(shown.Add(byte).c_str(), stdout);  // And at the end shown.Rest().

#ifndef TRAINER_USE_SHOWN_TEXT_H_
#define TRAINER_USE_SHOWN_TEXT_H_

#include <string>

namespace taas {

class ShownText {
 public:
  // What can be shown now: nothing in the middle of a character.
  std::string Add(char byte);
  // Of a text that ended in the middle of one.
  std::string Rest();

 private:
  std::string held_;  // The beginning of a character.
};

}  // namespace taas

#endif  // TRAINER_USE_SHOWN_TEXT_H_
