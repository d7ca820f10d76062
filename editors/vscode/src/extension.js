// Starts the language server and hands it what is written; everything else is the server's.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function made() {
  const [command, ...args] = vscode.workspace.getConfiguration("fairdsl").get("command");
  const serverOptions = { command, args, options: { env: { ...process.env, PYTHONUNBUFFERED: "1" } } };
  const clientOptions = {
    documentSelector: [{ language: "fair" }],
    // Models and tables as well: a verdict goes with the files that it rests on.
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{fair,onnx,json,csv,parquet}") },
  };
  return new LanguageClient("fairdsl", "fairdsl", serverOptions, clientOptions);
}

async function start() {
  client = made();
  try {
    await client.start();
  } catch (problem) {
    const choice = await vscode.window.showErrorMessage(
      `fairdsl: the language server does not start (${problem.message}). pip install 'fairdsl[lsp]' brings it along.`,
      "Say where it is",
    );
    if (choice) vscode.commands.executeCommand("workbench.action.openSettings", "fairdsl.command");
  }
}

async function checkThis() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.languageId !== "fair") {
    vscode.window.showInformationMessage("fairdsl: open a spec first, a file that ends in .fair");
    return;
  }
  try {
    const found = await vscode.commands.executeCommand("fairdsl.check", editor.document.uri.toString(), []);
    const said = Object.entries(found).map(([property, judgement]) => `${property}: ${judgement}`);
    vscode.window.showInformationMessage(said.join(", "));
  } catch (problem) {
    vscode.window.showWarningMessage(`fairdsl: ${problem.message}`);
  }
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("fairdsl.checkThis", checkThis),
    vscode.commands.registerCommand("fairdsl.restart", async () => {
      await client?.stop();
      await start();
    }),
  );
  await start();
};

exports.deactivate = () => client?.stop();
