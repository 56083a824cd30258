// Writes src/api/schema.ts from the description that the server's own table of routes gives.
// HORAE_PYTHON names the Python that has horae; without it, the repository's .venv is taken.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const here = (path) => new URL(path, import.meta.url).pathname;
const python = process.env.HORAE_PYTHON ?? here("../../.venv/bin/python");
const description = JSON.parse(
  execFileSync(python, [here("openapi.py")], { maxBuffer: 64 << 20 }).toString(),
);
// What has a default is left out of answers: it must not be taken for granted.
const types = astToString(
  await openapiTS(description, { defaultNonNullable: false, emptyObjectsUnknown: true }),
);
const text = `// Made by \`npm run types\` from the server's /openapi.json; not written by hand.\n\n${types}`;
if (process.argv.includes("--print")) process.stdout.write(text);
else writeFileSync(here("../src/api/schema.ts"), text);
