// Builds the documentation site into dist-docs/, or the folder of --out; fails on a broken link or a page without a place in the side bar.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildSite } from './docs/site.ts';

const root = path.resolve(import.meta.dirname, '..');
const { values } = parseArgs({ options: { out: { type: 'string', default: path.join(root, 'dist-docs') } } });
const outDir = path.resolve(values.out);
const { pages, problems } = buildSite(root, outDir);
for (const problem of problems) console.error(problem);
console.log(`${pages} pages in ${outDir}; open ${path.join(outDir, 'index.html')} in a browser.`);
if (problems.length > 0) process.exitCode = 1;
