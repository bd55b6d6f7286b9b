// Runs the checks of the house plan over the checkout and prints one sentence for each thing that is wrong.
import path from 'node:path';
import { cycles } from './house/cycles.ts';
import { documentation } from './house/documentation.ts';
import { floors } from './house/floors.ts';
import { lockfile } from './house/lockfile.ts';
import { openings } from './house/openings.ts';
import { sizes } from './house/sizes.ts';
import { readTree, type HouseCheck } from './house/tree.ts';
import { words } from './house/words.ts';

const checks: Readonly<Record<string, HouseCheck>> = {
  floors,
  cycles,
  sizes,
  documentation,
  openings,
  words,
  lockfile,
};

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !Object.hasOwn(checks, name));
if (unknown !== undefined) {
  console.error(`There is no check called ${unknown}; there are ${Object.keys(checks).join(', ')}.`);
  process.exit(2);
}

const tree = readTree(path.resolve(import.meta.dirname, '..'));
let faults = 0;
for (const [name, check] of Object.entries(checks)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const sentences = check(tree);
  faults += sentences.length;
  for (const sentence of sentences) console.error(`${name}: ${sentence}`);
}
if (faults > 0) process.exitCode = 1;
