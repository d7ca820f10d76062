// Runs the extension with stand-ins for the editor and for the client of the language server.

const assert = require("node:assert");
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const path = require("node:path");

const shown = [];
const commands = {};
const started = [];
const documents = [];
let settings = [];
let failure = null;
let changed;
let latest;

const say = (kind) => async (text) => void shown.push(`${kind}: ${text}`);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "folder-"));

class CancellationError extends Error {}

const vscode = {
  CancellationError,
  window: {
    showErrorMessage: say("error"),
    showWarningMessage: say("warning"),
    showInformationMessage: say("information"),
  },
  workspace: {
    getConfiguration: () => ({ get: () => settings }),
    workspaceFolders: [{ uri: { fsPath: folder } }],
    textDocuments: documents,
    createFileSystemWatcher: () => null,
    onDidChangeConfiguration: (heard) => void (changed = heard),
  },
  commands: {
    registerCommand: (name, does) => void (commands[name] = does),
    executeCommand: (name, ...args) => commands[name](...args),
  },
};

/** Fails as the real one does: with a text instead of an error, after a message of its own, and is not to be stopped then. */
class LanguageClient {
  constructor(id, name, server, client) {
    Object.assign(this, { server, options: client, running: false });
    latest = this;
  }

  async start() {
    started.push([this.server.command, ...this.server.args]);
    if (failure) {
      this.error("no connection", failure, "force");
      throw failure;
    }
    this.running = true;
  }

  async stop() {
    assert(this.running);
    this.running = false;
  }

  needsStop() {
    return this.running;
  }

  error(message, data, showing) {
    if (showing) shown.push(`client: ${message}`);
  }

  handleFailedRequest(type, token, problem, instead, showing = true) {
    this.error(`${type} failed`, problem, showing);
    throw problem;
  }

  async ask(problem) {
    const next = async () => (problem ? this.handleFailedRequest("check", null, problem, null) : { fair: "holds" });
    return this.options.middleware.executeCommand("fairdsl.check", [], next);
  }
}

const stands = { vscode, "vscode-languageclient/node": { LanguageClient } };
const load = Module._load;
Module._load = (name, ...rest) => stands[name] ?? load(name, ...rest);
const extension = require("../../editors/vscode/src/extension.js");
const said = () => shown.splice(0);

(async () => {
  failure = "Error: spawn fairdsl ENOENT";
  await extension.activate({ subscriptions: [] });
  assert.deepStrictEqual(started.pop(), ["fairdsl", "lsp"]);
  const [once, ...more] = said();
  assert.match(once, /^error: .*does not start .*ENOENT/);
  assert.deepStrictEqual(more, []);

  // It can be started again after that, by its command and by another setting, and finds the folder's own.
  failure = null;
  const inside = process.platform === "win32" ? "Scripts/fairdsl.exe" : "bin/fairdsl";
  const own = path.join(folder, ".venv", inside);
  fs.mkdirSync(path.dirname(own), { recursive: true });
  fs.writeFileSync(own, "");
  await commands["fairdsl.restart"]();
  assert.deepStrictEqual(started.pop(), [own, "lsp"]);
  settings = ["elsewhere", "lsp"];
  await changed({ affectsConfiguration: (name) => name === "fairdsl.command" });
  assert.deepStrictEqual(started.pop(), ["elsewhere", "lsp"]);
  assert.deepStrictEqual(said(), []);

  // What a check comes to, and what keeps it from coming to anything.
  await commands["fairdsl.checkThis"]();
  assert.match(said().join(), /^information: .*open a spec first/);
  documents.push({ languageId: "fair", uri: "file:///a.fair" });
  for (const [problem, expected] of [
    [null, ["information: fair: holds"]],
    [new Error("the spec has errors"), ["warning: fairdsl: the spec has errors"]],
    [new CancellationError(), []],
  ]) {
    commands["fairdsl.check"] = () => latest.ask(problem);
    await commands["fairdsl.checkThis"]();
    assert.deepStrictEqual(said(), expected);
  }
  await extension.deactivate();
  await extension.deactivate();
  fs.rmSync(folder, { recursive: true });
  console.log("as it should be");
})();
