// Checks custom resources: a JSON array on standard input, one problem a line on standard output.
//
// Two checks, because each misses what the other finds. The TypeScript compiler refuses unknown fields at every
// depth of a literal; the validators know patterns, enumerations and which fields are required.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import ts from "typescript";

const HERE = dirname(fileURLToPath(import.meta.url));
const PACKAGES = {
  "cert-manager.io": "cert-manager",
  "external-secrets.io": "external-secrets",
  "gateway.networking.k8s.io": "gateway-api",
  "keda.sh": "keda",
  "monitoring.coreos.com": "prometheus-operator",
};
const OPTIONS = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: [],
};

const resources = JSON.parse(readFileSync(0, "utf8"));
const checked = [];
for (const resource of resources) {
  const { apiVersion, kind } = resource;
  const pack = PACKAGES[apiVersion.split("/")[0]];
  if (pack === undefined) report(resource, `no schema is known for ${apiVersion}`);
  else checked.push([resource, `@kubernetes-models/${pack}/${apiVersion}/${kind}`]);
}
for (const [resource, module] of checked) {
  try {
    const models = await import(module);
    new models[resource.kind](structuredClone(resource)).validate();
  } catch (error) {
    report(resource, error.message);
  }
}
for (const [index, problem] of unknownFields(checked)) report(checked[index][0], problem);

function report(resource, problem) {
  const { kind, metadata } = resource;
  console.log(`${kind}/${metadata?.name}: ${problem.replaceAll("\n", " ")}`);
}

// One line of source per resource, so that the line of a diagnostic says which one it is about.
function unknownFields(checked) {
  const path = join(HERE, "resources.ts");
  const source = checked
    .map(([resource, module], index) => {
      const literal = JSON.stringify(resource);
      return `export const r${index}: import("${module}").I${resource.kind} = ${literal};`;
    })
    .join("\n");
  const host = ts.createCompilerHost(OPTIONS);
  const readSource = host.getSourceFile;
  const fileExists = host.fileExists;
  host.getSourceFile = (name, ...rest) =>
    name === path ? ts.createSourceFile(name, source, OPTIONS.target ?? ts.ScriptTarget.ESNext) : readSource(name, ...rest);
  host.fileExists = (name) => name === path || fileExists(name);
  const program = ts.createProgram([path], OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map((found) => [
    found.file.getLineAndCharacterOfPosition(found.start).line,
    ts.flattenDiagnosticMessageText(found.messageText, " "),
  ]);
}
