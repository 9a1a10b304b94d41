// The schema of each kind as its CRD has it: the subset of OpenAPI that Kubernetes calls
// structural.

import type { JobKind } from "../../../api/types";
import type { Json } from "../manifest/path";
import { isObject } from "../manifest/path";
import tfJobs from "./tfjobs.json";
import trainingJobs from "./trainingjobs.json";

export interface SchemaNode {
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  format?: string;
  description?: string;
  properties?: Record<string, SchemaNode>;
  items?: SchemaNode;
  additionalProperties?: SchemaNode;
  required?: string[];
  default?: Json;
  enum?: Json[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  pattern?: string;
  nullable?: boolean;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-list-type"?: string;
  "x-kubernetes-list-map-keys"?: string[];
}

export interface KindSchema {
  apiVersion: string;
  kind: JobKind;
  schema: SchemaNode;
}

export const SCHEMAS: Record<JobKind, KindSchema> = {
  TrainingJob: trainingJobs as unknown as KindSchema,
  TFJob: tfJobs as unknown as KindSchema,
};

/** What a server knows of the metadata of any object, and which type it wants there. */
export const METADATA_FIELDS: Record<string, SchemaNode> = {
  name: { type: "string" },
  generateName: { type: "string" },
  namespace: { type: "string" },
  labels: { type: "object", additionalProperties: { type: "string" } },
  annotations: { type: "object", additionalProperties: { type: "string" } },
  finalizers: { type: "array", items: { type: "string" } },
  ownerReferences: { type: "array" },
  uid: { type: "string" },
  resourceVersion: { type: "string" },
  generation: { type: "integer" },
  creationTimestamp: { type: "string", nullable: true },
  deletionTimestamp: { type: "string", nullable: true },
  deletionGracePeriodSeconds: { type: "integer" },
  selfLink: { type: "string" },
  managedFields: { type: "array" },
};

export function kindOf(value: Json | undefined): JobKind | undefined {
  const kind = isObject(value) ? value.kind : undefined;
  return (Object.keys(SCHEMAS) as JobKind[]).find((known) => known === kind);
}
