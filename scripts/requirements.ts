// Writes docs/requirements.md from docs/requirements.yaml and the ids in test titles; --check only reports whether it is up to date.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { checkRequirements, renderRequirementsPage, requirementsPage } from './docs/requirements.ts';
import { readSourceTree } from './lint-repo/source-tree.ts';

const root = path.resolve(import.meta.dirname, '..');
const tree = readSourceTree(root);
if (!process.argv.includes('--check')) writeFileSync(path.join(root, requirementsPage), renderRequirementsPage(tree));
const problems = checkRequirements(readSourceTree(root));
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
