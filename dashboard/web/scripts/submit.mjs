// Writes what the submit page takes from the rest of the repository:
//
//   src/pages/submit/schema/{trainingjobs,tfjobs}.json   from crds/: the schema of what a user
//       writes, without status, and without rules in CEL, which only a server can run
//   src/pages/submit/templates/examples.json             from examples/ and examples/models/: the
//       texts as they are
//
// The files are committed, so that nothing but the build has to run this first; a test runs it with
// --check, which writes nothing and fails when a file is not what this would write.
//
//   node scripts/submit.mjs [--check]

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const OUT = join(import.meta.dirname, "..", "src", "pages", "submit");

/** Without the rules, at any depth; a field that is called like one stays. */
function withoutRules(schema) {
  const out = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "x-kubernetes-validations") continue;
    if (keyword === "properties") {
      const fields = Object.entries(value).map(([name, field]) => [name, withoutRules(field)]);
      out.properties = Object.fromEntries(fields);
    } else if (keyword === "items" || keyword === "additionalProperties") {
      out[keyword] = withoutRules(value);
    } else {
      out[keyword] = value;
    }
  }
  return out;
}

function schemaOf(plural) {
  const path = join(ROOT, "crds", `${plural}.yaml`);
  const crd = parse(readFileSync(path, "utf8"), { merge: true });
  const { group, names, versions } = crd.spec;
  const stored = versions.find((version) => version.storage);
  const { apiVersion, kind, status, ...properties } = stored.schema.openAPIV3Schema.properties;
  if (!apiVersion || !kind || !status || !properties.spec) {
    throw new Error(`read ${path}: apiVersion, kind, spec and status are expected at its root`);
  }
  return {
    apiVersion: `${group}/${stored.name}`,
    kind: names.kind,
    schema: withoutRules({ ...stored.schema.openAPIV3Schema, properties }),
  };
}

function examples() {
  const texts = ["examples", "examples/models"].flatMap((name) => {
    const folder = join(ROOT, name);
    const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
    return files.sort().map((file) => {
      return [file.replace(/\.yaml$/, ""), readFileSync(join(folder, file), "utf8")];
    });
  });
  return Object.fromEntries(texts);
}

const files = {
  "schema/trainingjobs.json": schemaOf("trainingjobs"),
  "schema/tfjobs.json": schemaOf("tfjobs"),
  "templates/examples.json": examples(),
};
const check = process.argv.includes("--check");
const stale = [];
for (const [name, content] of Object.entries(files)) {
  const path = join(OUT, name);
  const text = `${JSON.stringify(content, null, 1)}\n`;
  if (!check) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) stale.push(name);
}
if (stale.length > 0) {
  process.stderr.write(`submit: run node scripts/submit.mjs, these are old: ${stale.join(", ")}\n`);
  process.exit(1);
}
