// Starts the language server and hands it what is written; everything else is the server's.

const fs = require("fs");
const path = require("path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

/** A client that leaves it to this file and to the editor to say what failed: each says it once, and with the reason. */
class Client extends LanguageClient {
  async start() {
    this.starting = true;
    try {
      await super.start();
    } finally {
      this.starting = false;
    }
  }

  error(message, data, showing) {
    super.error(message, data, this.starting ? false : showing);
  }

  handleFailedRequest(type, token, problem, instead) {
    return super.handleFailedRequest(type, token, problem, instead, false);
  }
}

/** What the settings name, or else `fairdsl` of the folder's own environment, or else that of the path. */
function commandLine() {
  const named = vscode.workspace.getConfiguration("fairdsl").get("command");
  if (named.length) return named;
  const inside = process.platform === "win32" ? ".venv/Scripts/fairdsl.exe" : ".venv/bin/fairdsl";
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => path.join(folder.uri.fsPath, inside));
  return [folders.find(fs.existsSync) ?? "fairdsl", "lsp"];
}

function made() {
  const [command, ...args] = commandLine();
  const serverOptions = { command, args, options: { env: { ...process.env, PYTHONUNBUFFERED: "1" } } };
  const clientOptions = {
    documentSelector: [{ language: "fair" }],
    // Models and tables as well: a verdict goes with the files that it rests on.
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{fair,onnx,json,csv,parquet}") },
    middleware: { executeCommand: asked },
  };
  return new Client("fairdsl", "fairdsl", serverOptions, clientOptions);
}

/** What the server answers to a command; nothing where the check was ended, or where it says why there is none. */
async function asked(command, args, next) {
  try {
    return await next(command, args);
  } catch (problem) {
    if (!(problem instanceof vscode.CancellationError)) vscode.window.showWarningMessage(`fairdsl: ${problem.message}`);
  }
}

async function start() {
  client = made();
  try {
    await client.start();
  } catch (problem) {
    const choice = await vscode.window.showErrorMessage(
      `fairdsl: the language server does not start (${problem?.message ?? problem}). pip install 'fairdsl[lsp]' brings it along.`,
      "Say where it is",
    );
    if (choice) vscode.commands.executeCommand("workbench.action.openSettings", "fairdsl.command");
  }
}

async function stop() {
  if (client?.needsStop()) await client.stop();
}

async function restart() {
  await stop();
  await start();
}

/** The spec in front; from the walkthrough one that is open. */
async function checkThis() {
  const open = [vscode.window.activeTextEditor?.document, ...vscode.workspace.textDocuments];
  const spec = open.find((document) => document?.languageId === "fair");
  if (!spec) {
    vscode.window.showInformationMessage("fairdsl: open a spec first, a file that ends in .fair");
    return;
  }
  const found = await vscode.commands.executeCommand("fairdsl.check", spec.uri.toString(), []);
  if (!found) return;
  const said = Object.entries(found).map(([property, judgement]) => `${property}: ${judgement}`);
  vscode.window.showInformationMessage(said.join(", "));
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("fairdsl.checkThis", checkThis),
    vscode.commands.registerCommand("fairdsl.restart", restart),
    vscode.workspace.onDidChangeConfiguration(
      (change) => change.affectsConfiguration("fairdsl.command") && restart(),
    ),
  );
  await start();
};

exports.deactivate = stop;
