// Takes the picture of docs/agents-files.md in a real terminal with the scripted model, as an SVG file. Run: node scripts/screenshots-agents.ts
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { calls, says, scriptedServer } from '../src/testing/index.ts';
import { openTerminal } from '../test/support/terminal.ts';
import { renderSvg } from './screenshots/ansi-to-svg.ts';

const root = path.resolve(import.meta.dirname, '..');
const home = mkdtempSync(path.join(tmpdir(), 'fairlead-screens-'));
const projectDir = path.join(home, 'harbour');
const columns = 104;

const writeAgent = (folder: string, name: string, fields: string): void => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${name}.md`), `---\nname: ${name}\n${fields}\n---\nDo it.\n`);
};
writeAgent(
  path.join(home, 'config/fairlead/agents'),
  'reviewer',
  'description: Reviews a change.\ntools: Read, Grep\nmaxTurns: 10',
);
writeAgent(path.join(projectDir, '.claude/agents'), 'tester', 'description: Runs the tests.\nmodel: small');
mkdirSync(path.join(home, 'config/fairlead'), { recursive: true });
writeFileSync(path.join(home, 'config/fairlead/config.json'), '{"models":{"small":"ollama/gemma3:4b"}}\n');

await using server = await scriptedServer(
  ({ body, prompt, results }) => {
    if (JSON.stringify(body).includes('another agent has started'))
      return prompt.includes('tests') ? new Promise<never>(() => {}) : says('tide.ts: hour 6 is missing.');
    const spawn = (task: string, agent: string): ReturnType<typeof calls> =>
      calls('use_tool', { tool: 'spawn_agent', input: { task, agent, background: true } });
    const steps = [
      calls('load_tools', { names: ['spawn_agent'] }),
      spawn('Review tide.ts', 'reviewer'),
      spawn('Run the tests of tide.ts', 'tester'),
    ];
    return steps[results.length] ?? says('The reviewer and the tester work.');
  },
  {
    models: [
      { id: 'qwen3:8b', tools: true, context: 32_768 },
      { id: 'gemma3:4b', tools: true, context: 8192 },
    ],
  },
);

const cleanups: (() => unknown)[] = [];
const terminal = await openTerminal(
  { after: (work) => void cleanups.push(work as () => unknown) },
  [
    process.execPath,
    path.join(root, 'src/cli/bin.ts'),
    '--refresh-models',
    '--model',
    'qwen3:8b',
    '--mode',
    'auto',
    '--session-name',
    'harbour',
  ],
  {
    columns,
    rows: 46,
    cwd: projectDir,
    env: {
      HOME: home,
      HARNESS_INFERENCE_PROVIDER: 'ollama',
      OLLAMA_API_URL: server.url,
      XDG_STATE_HOME: path.join(home, 'state'),
      XDG_DATA_HOME: path.join(home, 'data'),
      XDG_CONFIG_HOME: path.join(home, 'config'),
    },
  },
);
const settle = (): Promise<unknown> => new Promise((done) => setTimeout(done, 900));
const enter = async (line: string, then: RegExp): Promise<void> => {
  await terminal.type(line);
  await terminal.keys('Enter');
  await terminal.waitFor(then);
};
await terminal.waitFor(/Trust this project's agent tester/);
await settle();
await terminal.keys('y', 'Enter');
await terminal.waitFor(/Fairlead with/);
await enter('Review and test tide.ts.', /tester work\./);
await terminal.waitFor(/is done\. Review/);
await enter('/agents', /They start no\s+agents/);
await settle();
const seen = (await terminal.screen({ colors: true })).replaceAll('␛', '\u001b');
mkdirSync(path.join(root, 'docs/screens'), { recursive: true });
writeFileSync(path.join(root, 'docs/screens/agents.svg'), renderSvg(seen.replaceAll(home, '~'), columns));
console.log('docs/screens/agents.svg');
for (const work of cleanups) await work();
rmSync(home, { recursive: true, force: true });
