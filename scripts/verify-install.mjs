// Compares the installed packages with package-lock.json after an install, and removes those that the lockfile does not pin by hash;
// runs on any Node from 14 up, before a package is used.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(process.argv[2] || path.join(path.dirname(fileURLToPath(import.meta.url)), '..'));
const read = (file) => JSON.parse(readFileSync(path.join(root, file), 'utf8')).packages;

// npm writes this file with what it installed. Without it nothing was installed by npm, as in a copy of the sources.
const installed = existsSync(path.join(root, 'node_modules/.package-lock.json'))
  ? read('node_modules/.package-lock.json')
  : {};
const locked = read('package-lock.json');

const removed = [];
const different = [];
for (const [place, found] of Object.entries(installed)) {
  const pinned = locked[place];
  const folder = path.join(root, place);
  // Workspaces of the repository are linked, not downloaded.
  if (!place.includes('node_modules/') || found.link || !existsSync(folder)) continue;
  if (!pinned || pinned.version !== found.version) different.push(`${place} ${found.version}`);
  else if (pinned.integrity === undefined && pinned.optional) {
    rmSync(folder, { recursive: true, force: true });
    removed.push(`${place} ${found.version}`);
  } else if (pinned.integrity === undefined || found.integrity !== pinned.integrity)
    different.push(`${place} ${found.version}`);
}
if (removed.length > 0)
  console.error(
    `Removed ${removed.join(', ')}: package-lock.json has no hash of it, so what was downloaded cannot be verified. ` +
      'The product starts without it; to build, lint and format here, run "npm run lock" and then "npm ci".',
  );
if (different.length > 0) {
  console.error(`${different.join(', ')} is not what package-lock.json pins; run "npm ci".`);
  process.exitCode = 1;
}
