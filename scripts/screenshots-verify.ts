// Takes the screenshot of docs/verification.md in a real terminal with scripted models of four families. Run: node scripts/screenshots-verify.ts
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isObject } from '../src/core/index.ts';
import { scriptedServer } from '../src/testing/index.ts';
import { respondAsModel } from '../test/support/scripted-judges.ts';
import { openTerminal } from '../test/support/terminal.ts';
import { renderSvg } from './screenshots/ansi-to-svg.ts';

const root = path.resolve(import.meta.dirname, '..');
const home = mkdtempSync(path.join(tmpdir(), 'fairlead-verify-screen-'));
const project = path.join(home, 'rover');
const columns = 110;
mkdirSync(path.join(project, 'docs'), { recursive: true });
writeFileSync(
  path.join(project, 'docs', 'guide.md'),
  '# Rover guide\n\nThe rover listens on port 8080 by default. It stores its log in the folder data.\n\nThe battery lasts for 14 hours. A full charge takes 3 hours.\n',
);
writeFileSync(
  path.join(project, 'README.md'),
  '# Rover\n\nThe rover listens on port 8080 by default. The battery lasts for 20 hours.\n\n- A full charge takes 3 hours.\n- The rover weighs 900 kg.\n',
);

await using server = await scriptedServer(
  ({ prompt, body }) => {
    const messages = isObject(body) && Array.isArray(body['messages']) ? body['messages'] : [];
    const system = messages.find((message) => isObject(message) && message['role'] === 'system');
    return respondAsModel({ answers: true }, isObject(system) ? String(system['content']) : '', prompt);
  },
  { models: ['qwen3', 'llama3.2', 'mistral-small', 'gemma3'].map((id) => ({ id, tools: true, context: 32_768 })) },
);

const cleanups: (() => unknown)[] = [];
try {
  const script = `"$1" "$2" --one-shot --refresh-models > list.txt; clear; echo '$ fairlead verify-claims --file README.md --against docs'; "$@"; echo "exit code $?"; sleep 9`;
  const program = [process.execPath, path.join(root, 'src', 'cli', 'bin.ts')];
  const terminal = await openTerminal(
    { after: (work) => void cleanups.push(work as () => unknown) },
    ['sh', '-c', script, 'sh', ...program, 'verify-claims', '--file', 'README.md', '--against', 'docs'],
    {
      columns,
      rows: 32,
      cwd: project,
      env: {
        HOME: home,
        OLLAMA_API_URL: server.url,
        XDG_STATE_HOME: path.join(home, 'state'),
        XDG_DATA_HOME: path.join(home, 'data'),
        XDG_CONFIG_HOME: path.join(home, 'config'),
      },
    },
  );
  await terminal.waitFor(/^exit code \d+$/m);
  const seen = (await terminal.screen({ colors: true })).replaceAll('␛', '\u001b');
  writeFileSync(path.join(root, 'docs', 'screens', 'verify.svg'), renderSvg(seen.replaceAll(home, '~'), columns));
  console.log('docs/screens/verify.svg');
} finally {
  for (const work of cleanups) await work();
  rmSync(home, { recursive: true, force: true });
}
