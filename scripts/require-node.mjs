// Says one clear sentence when a checkout would run on a Node that is too old; runs on any Node from 12 up.
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
// The tests are written for a newer Node than the product needs: they say so by an argument.
const [major, minor] = (process.argv[2] || engines.node.replace('>=', '')).split('.').map(Number);
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  console.error(
    `${process.argv[2] ? 'Testing Fairlead' : 'Fairlead'} needs Node ${major}.${minor} or newer and found ${process.versions.node}: run "npm ci" first, which brings ` +
      'Node 24 on Linux and Windows, or install a newer Node.',
  );
  process.exit(1);
}
