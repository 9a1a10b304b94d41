// Nodes, pods and devices for tests of this page.

import type { GpuDevice, GpuHolder, GpuMap, GpuNode } from "../../api/types";

export function holder(name: string, more: Partial<GpuHolder> = {}): GpuHolder {
  return {
    namespace: "ml",
    pod: `${name}-worker-0`,
    count: 1,
    devices: [],
    source: "count",
    job: { kind: "TrainingJob", namespace: "ml", name },
    role: "worker",
    index: 0,
    owner: "ada",
    state: "Running",
    since: "2026-03-01T10:00:00Z",
    idle: false,
    ...more,
  };
}

/** With as many GPUs as there are devices. */
export function known(name: string, devices: string[], more: Partial<GpuHolder> = {}): GpuHolder {
  return holder(name, {
    devices,
    count: devices.length,
    source: "allocatedResourcesStatus",
    ...more,
  });
}

export function device(id: string, more: Partial<GpuDevice> = {}): GpuDevice {
  return { id, health: "Healthy", ...more };
}

export function node(name: string, more: Partial<GpuNode> = {}): GpuNode {
  return {
    name,
    ready: true,
    schedulable: true,
    product: "H100",
    simulated: false,
    capacity: 8,
    allocatable: 8,
    hidden: 0,
    holders: [],
    devices: [],
    ...more,
  };
}

export function gpuMap(nodes: GpuNode[], more: Partial<GpuMap> = {}): GpuMap {
  return { resource: "nvidia.com/gpu", nodesVisible: true, nodes, pending: [], ...more };
}
