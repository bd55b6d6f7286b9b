// Checks the order of the folders in src/cli: a folder imports only folders that come before it, so that there is no cycle between them.
import { isTestFile, type RepoCheck } from './source-tree.ts';

/** The units of src/cli, lowest first: a folder, a file of src/cli, or a command. Units on one line do not import each other. */
const cliLayers: readonly (readonly string[])[] = [
  ['args', 'version'],
  ['mcp', 'tui'],
  ['editor', 'login'],
  ['doctor'],
  ['print-mode'],
  ['slash-commands'],
  ['interactive'],
  ['commands/conversation', 'commands/fleet'],
  ['commands'],
  ['commands/completions'],
  ['command-table'],
  ['main'],
  ['bin', 'index'],
  ['serve-bin', 'start-harness'],
];

/** Names each import inside src/cli that points to a later folder or to another one of the same layer, types and lazy imports included. */
export const checkCliLayers: RepoCheck = (tree) => {
  const problems: string[] = [];
  for (const file of tree.sources.values()) {
    const unit = getUnit(file.path);
    if (unit === undefined || isTestFile(file.path)) continue;
    const layer = getLayer(unit);
    if (layer < 0) problems.push(`${file.path} is in no layer of src/cli: add it to scripts/lint-repo/cli-layers.ts.`);
    for (const { target, line, specifier } of file.imports) {
      const other = target === undefined ? undefined : getUnit(target);
      if (other === undefined || other === unit || getLayer(other) < layer) continue;
      problems.push(`${file.path}:${line} imports '${specifier}': in src/cli, ${unit} may not import ${other}.`);
    }
  }
  return problems;
};

/** The folder or file of src/cli that a path belongs to; each command is a unit of its own. */
function getUnit(path: string): string | undefined {
  const [top, cli, ...names] = path.replace(/\.ts$/, '').split('/');
  if (top !== 'src' || cli !== 'cli') return undefined;
  return names.slice(0, names[0] === 'commands' ? 2 : 1).join('/');
}

/** The index of the layer of a unit, or -1; a command without a line of its own is in the layer `commands`. */
function getLayer(unit: string): number {
  const layer = cliLayers.findIndex((units) => units.includes(unit));
  return layer < 0 && unit.startsWith('commands/') ? getLayer('commands') : layer;
}
