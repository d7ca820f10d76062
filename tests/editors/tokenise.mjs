// What the library that colours in Visual Studio Code makes of texts, with the grammar of the extension: reads a JSON
// list of texts from standard input, and writes for each a list of [start, end, scope] in units of UTF-16.
//
//     cd editors/vscode && npm ci && node ../../tests/editors/tokenise.mjs < texts.json

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const extension = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "editors", "vscode");
const here = createRequire(join(extension, "package.json"));
const { Registry, parseRawGrammar, INITIAL } = here("vscode-textmate");
const { loadWASM, OnigScanner, OnigString } = here("vscode-oniguruma");

await loadWASM(readFileSync(here.resolve("vscode-oniguruma/release/onig.wasm")));
const path = join(extension, "syntaxes", "fair.tmLanguage.json");
const registry = new Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new OnigScanner(patterns),
    createOnigString: (text) => new OnigString(text),
  }),
  loadGrammar: async () => parseRawGrammar(readFileSync(path, "utf8"), path),
});
const grammar = await registry.loadGrammar("source.fair");

const found = JSON.parse(readFileSync(0, "utf8")).map((text) => {
  const tokens = [];
  let state = INITIAL;
  let start = 0;
  for (const line of text.split("\n")) {
    const read = grammar.tokenizeLine(line, state);
    state = read.ruleStack;
    for (const { startIndex, endIndex, scopes } of read.tokens) {
      if (scopes.length > 1) tokens.push([start + startIndex, start + Math.min(endIndex, line.length), scopes[1]]);
    }
    start += line.length + 1;
  }
  return tokens;
});
process.stdout.write(JSON.stringify(found));
