// Writes the tables of docs/library.md from the types of the package; --check only reports whether they are up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findUndocumentedExports, libraryGuide, renderLibraryGuide } from './docs/library-guide.ts';
import { readSourceTree } from './lint-repo/source-tree.ts';

const root = path.resolve(import.meta.dirname, '..');
const tree = readSourceTree(root);
const file = path.join(root, libraryGuide);
const current = readFileSync(file, 'utf8');
const rendered = renderLibraryGuide(tree, current);
const problems = findUndocumentedExports(tree, rendered);
if (!process.argv.includes('--check')) writeFileSync(file, rendered);
else if (current !== rendered) problems.push(`${libraryGuide} is not up to date: npm run guide`);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
