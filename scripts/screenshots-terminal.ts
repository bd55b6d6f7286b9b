// Takes the screenshots of docs/terminal.md in a real terminal with the scripted model, as SVG files. Run: node scripts/screenshots-terminal.ts
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { calls, says, scriptedServer } from '../src/testing/index.ts';
import { openTerminal, type Terminal } from '../test/support/terminal.ts';
import { renderSvg } from './screenshots/ansi-to-svg.ts';

const root = path.resolve(import.meta.dirname, '..');
const screenshotsDir = path.join(root, 'docs', 'screens');
const home = mkdtempSync(path.join(tmpdir(), 'fairlead-screens-'));
const projectDir = path.join(home, 'harbour');
const columns = 96;

mkdirSync(screenshotsDir, { recursive: true });
mkdirSync(projectDir);
writeFileSync(path.join(projectDir, 'AGENTS.md'), 'Use two spaces. Run the tests before you say that you are done.\n');
writeFileSync(
  path.join(projectDir, 'tide.ts'),
  'export function tide(hour: number): string {\n  return hour > 6 ? "low" : "high";\n}\n',
);

const code =
  'It says whether the tide is **low** or **high** at an hour:\n\n```ts\nfor (const hour of [3, 9]) console.log(tide(hour)); // high, low\n```\n\nOne thing to know: hour 6 counts as high.';

await using server = await scriptedServer(
  [
    calls('read_file', { path: 'tide.ts' }),
    says(code),
    calls('edit_file', { path: 'tide.ts', old_string: 'hour > 6', new_string: 'hour >= 6' }),
    says('Hour 6 is low now. The tests are next.'),
    calls('run_command', { command: 'npm test -- --watch=false' }),
    says('I could not run the tests: you said no. Nothing else was changed.'),
  ],
  {
    models: [
      { id: 'qwen3:8b', tools: true, context: 32_768 },
      { id: 'gemma3:4b', context: 8192 },
    ],
  },
);

const cleanups: (() => unknown)[] = [];
const env = {
  HOME: home,
  // Found and not configured, as at a first start. The key is never used.
  OLLAMA_HOST: server.url,
  ANTHROPIC_API_KEY: 'sk-example',
  XDG_STATE_HOME: path.join(home, 'state'),
  XDG_DATA_HOME: path.join(home, 'data'),
  XDG_CONFIG_HOME: path.join(home, 'config'),
};
// The shell prints the end of the program, because the terminal does not always detect it.
const shellScript = '"$@"; echo "exit code $?"';
type OpenOptions = { readonly variables?: Readonly<Record<string, string>>; readonly script?: string };
const openProgram = (
  args: readonly string[],
  rows: number,
  { variables = env, script = shellScript }: OpenOptions = {},
): Promise<Terminal> =>
  openTerminal(
    { after: (work) => void cleanups.push(work as () => unknown) },
    ['sh', '-c', script, 'sh', process.execPath, path.join(root, 'src', 'cli', 'bin.ts'), ...args],
    { columns, rows, cwd: projectDir, env: variables },
  );

async function captureScreen(terminal: Terminal, name: string): Promise<void> {
  // Wait until the screen is completely drawn and a question accepts keys.
  await new Promise((done) => setTimeout(done, 600));
  const seen = (await terminal.screen({ colors: true })).replaceAll('␛', '\u001b');
  writeFileSync(path.join(screenshotsDir, `${name}.svg`), renderSvg(seen.replaceAll(home, '~'), columns));
  console.log(`docs/screens/${name}.svg`);
}

/** What a first start finds, by the name of the picture. */
const { OLLAMA_HOST, ANTHROPIC_API_KEY, ...nothing } = env;
const firstStarts = {
  'first-nothing': nothing,
  'first-server': { ...nothing, OLLAMA_HOST },
  'first-key': { ...nothing, ANTHROPIC_API_KEY },
};

async function captureFirstStarts(): Promise<void> {
  const script = `echo '$ git diff | fairlead "Review this change."'; echo diff | "$@"; echo "exit code $?"; sleep 5`;
  const pipe = await openProgram(['Review this change.'], 8, { variables: nothing, script });
  await pipe.waitFor(/^exit code \d+$/m);
  await captureScreen(pipe, 'first-pipe');
  for (const [name, variables] of Object.entries(firstStarts)) {
    const start = await openProgram([], 12, { variables });
    await start.waitFor(/Exit/);
    await captureScreen(start, name);
    await start.keys('Escape');
    await start.waitFor(/^exit code \d+$/m);
  }
}

try {
  await captureFirstStarts();
  const screen = await openProgram(['--session-name', 'tide'], 34);
  await screen.waitFor(/Exit/);
  await captureScreen(screen, 'first');
  await screen.keys('Enter');
  await screen.waitFor(/Instructions loaded/);
  await screen.type('What does tide.ts do?');
  await screen.keys('Enter');
  await screen.waitFor(/counts as high/);
  await captureScreen(screen, 'answer');
  await screen.type('Make hour 6 low.');
  await screen.keys('Enter');
  await screen.waitFor(/\[y\/N\/a\]/);
  await captureScreen(screen, 'approval');
  await new Promise((done) => setTimeout(done, 600));
  await screen.keys('y', 'Enter');
  await screen.waitFor(/tests are next/);
  await captureScreen(screen, 'diff');
  await screen.type('/se');
  await screen.waitFor(/show-messages|resume|session/);
  await captureScreen(screen, 'completion');
  await screen.keys('C-c');
  await screen.type('/context');
  await screen.keys('Enter');
  await screen.waitFor(/By our estimate/);
  await captureScreen(screen, 'context');
  await screen.keys('Escape');
  await screen.keys('Escape');
  await screen.waitFor(/Go back to before which/);
  await captureScreen(screen, 'back');
  await screen.keys('Escape');
  // Close the list before typing, which would filter it.
  await screen.waitFor(/Nothing was changed/);
  await screen.waitFor(/^> *$/m);
  await screen.type('/exit');
  await screen.keys('Enter');
  await screen.waitFor(/^exit code 0$/m);
  const plain = await openProgram(['--plain', '--resume', 'tide'], 24);
  await plain.waitFor(/^>$/m);
  await plain.type('Run the tests.');
  await plain.keys('Enter');
  await plain.waitFor(/\[y\/N\/a\]/);
  await new Promise((done) => setTimeout(done, 600));
  await plain.type('n');
  await plain.keys('Enter');
  await plain.waitFor(/you said no/);
  await captureScreen(plain, 'plain');
} finally {
  for (const work of cleanups) await work();
  rmSync(home, { recursive: true, force: true });
}
