// The throw-away place of the demo: a working folder with two small files, and a home of its own. All of it goes when the tour ends.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Json } from '../../../core/index.ts';
import { readSettings, type Settings } from '../../../coding-agent/settings/index.ts';

/** Where the demo plays. */
export type DemoWorkspace = {
  readonly root: string;
  /** The working folder. */
  readonly cwd: string;
  /** The whole environment of the program there: nothing that is set outside reaches it. */
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Settings;
  /** Writes the answers that the scripted model will give, and names the file. */
  writeScript(name: string, answers: readonly Json[]): string;
  /** Leaves nothing behind. */
  remove(): void;
};

const greetSource = `// Greets whoever is on board.
const who = 'sailor';
console.log(\`Hello, \${who}!\`);
`;

// It ends when it is signed for, and soon in any case: nothing of the demo may outlive it.
const parcelSource = `#!/bin/sh
# Sends a parcel, which must not happen twice, and waits for a signature, as long as there is a ledger.
echo "one parcel sent" >> ledger.txt
tries=0
while [ -e ledger.txt ] && [ ! -e signed ] && [ $tries -lt 300 ]; do sleep 0.1; tries=$((tries + 1)); done
`;

/** Sets the stage. */
export function createDemoWorkspace(): DemoWorkspace {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-demo-')));
  const work = path.join(root, 'work');
  const home = path.join(root, 'home');
  for (const folder of [work, home]) mkdirSync(folder, { mode: 0o700 });
  writeFileSync(path.join(work, 'greet.mjs'), greetSource);
  writeFileSync(path.join(work, 'send-parcel.sh'), parcelSource, { mode: 0o755 });
  const env = {
    ...Object.fromEntries(
      keptVariables.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined),
    ),
    HOME: home,
    XDG_STATE_HOME: path.join(home, 'state'),
    XDG_DATA_HOME: path.join(home, 'data'),
    XDG_CONFIG_HOME: path.join(home, 'config'),
    XDG_CACHE_HOME: path.join(home, 'cache'),
  };
  return {
    root,
    cwd: work,
    env,
    settings: readSettings({ env, cwd: work }),
    writeScript(name, answers) {
      const file = path.join(root, `${name}.json`);
      writeFileSync(file, JSON.stringify(answers));
      return file;
    },
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** What a program needs of its surroundings to run at all. */
const keptVariables = ['PATH', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'TEMP', 'SystemRoot', 'PATHEXT'] as const;
