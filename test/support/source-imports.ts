// Resolves imports of the package to its sources, so that the examples run without a build: `node --import` loads this file first.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { getSubpathSources } from '../../scripts/docs/exports.ts';

const root = path.resolve(import.meta.dirname, '../..');
const subpaths = getSubpathSources(readFileSync(path.join(root, 'package.json'), 'utf8'));

registerHooks({
  resolve(specifier, context, nextResolve) {
    const source = subpaths.get(specifier);
    return source === undefined
      ? nextResolve(specifier, context)
      : { url: pathToFileURL(path.join(root, source)).href, shortCircuit: true };
  },
});
