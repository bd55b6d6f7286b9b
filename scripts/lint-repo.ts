// Runs the repository checks over the checkout and prints one sentence for each problem.
import path from 'node:path';
import { checkRequirements } from './docs/requirements.ts';
import { checkCliLayers } from './lint-repo/cli-layers.ts';
import { checkCycles } from './lint-repo/cycles.ts';
import { checkDocComments } from './lint-repo/doc-comments.ts';
import { checkLayers, forbidDeepImports, listDeepImports } from './lint-repo/layers.ts';
import { checkLockfile } from './lint-repo/lockfile.ts';
import { checkFileHeaders } from './lint-repo/file-headers.ts';
import { checkNetworkAccess } from './lint-repo/network-access.ts';
import { checkSizes } from './lint-repo/sizes.ts';
import { readSourceTree, type RepoCheck } from './lint-repo/source-tree.ts';
import { checkSupplyChain } from './lint-repo/supply-chain.ts';
import { checkBannedText } from './lint-repo/banned-text.ts';

const checks: Readonly<Record<string, RepoCheck>> = {
  layers: checkLayers,
  'cli-layers': checkCliLayers,
  cycles: checkCycles,
  sizes: checkSizes,
  'doc-comments': checkDocComments,
  'file-headers': checkFileHeaders,
  'banned-text': checkBannedText,
  'network-access': checkNetworkAccess,
  lockfile: checkLockfile,
  'supply-chain': checkSupplyChain,
  requirements: checkRequirements,
};

const requestedChecks = process.argv.slice(2);
const unknownCheck = requestedChecks.find((name) => !Object.hasOwn(checks, name));
if (unknownCheck !== undefined) {
  console.error(`There is no check called ${unknownCheck}; there are ${Object.keys(checks).join(', ')}.`);
  process.exit(2);
}

const tree = readSourceTree(path.resolve(import.meta.dirname, '..'));
let problemCount = 0;
for (const [name, check] of Object.entries(checks)) {
  if (requestedChecks.length > 0 && !requestedChecks.includes(name)) continue;
  const sentences = check(tree);
  problemCount += sentences.length;
  for (const sentence of sentences) console.error(`${name}: ${sentence}`);
}
if (!forbidDeepImports && (requestedChecks.length === 0 || requestedChecks.includes('layers')))
  console.log(
    `layers: ${listDeepImports(tree).length} imports reach past the index of a module; this is not an error yet.`,
  );
if (problemCount > 0) process.exitCode = 1;
