#include "trainer/graph/step_block.h"

namespace taas {

std::string FaultText(const Fault& fault) {
  const std::string at = std::to_string(fault.at);
  const std::string value = std::to_string(fault.value);
  const std::string bound = std::to_string(fault.bound);
  switch (fault.kind) {
    case Fault::Kind::kNone:
      return "";
    case Fault::Kind::kLabel:
      return "the label of row " + at + " is " + value + ", the model has " + bound +
             " classes from 0";
    case Fault::Kind::kId:
      return "id " + value + " at " + at + " is out of range, the table has " + bound + " rows";
    case Fault::Kind::kLoss:
      return "the loss is " + std::to_string(fault.loss);
  }
  return "";
}

}  // namespace taas
