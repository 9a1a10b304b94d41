// A compiled graph as TensorFlow's GraphDef, which TensorBoard's page of graphs shows.
//
// Names, edges, devices, types and shapes are those of the nodes as they run: what was merged into
// one kernel is one node. Leaves are called as in TensorFlow (Placeholder, VariableV2, Const), by
// which TensorBoard tells them apart.
//
// Ownership: values. Threads: any. Errors: none.
//
//   RETURN_IF_ERROR(writer->Add(wall, GraphEvent(session.ops(RunKind::kTrain))));

#ifndef TRAINER_SUMMARY_GRAPH_EVENT_H_
#define TRAINER_SUMMARY_GRAPH_EVENT_H_

#include <span>

#include "trainer/graph/session.h"
#include "trainer/summary/event.pb.h"

namespace taas {

// Without a time.
summary::Event GraphEvent(std::span<const OpInfo> ops);

}  // namespace taas

#endif  // TRAINER_SUMMARY_GRAPH_EVENT_H_
