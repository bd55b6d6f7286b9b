// The slash command /agents in a real terminal: agent files with their trust, and the sub-agents of the session with status, questions and cost.
import assert from 'node:assert/strict';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { JsonObject } from '../src/core/index.ts';
import { calls, says, type Script } from '../src/testing/index.ts';
import { bin } from './support/program-dirs.ts';
import { createPromptEnvironment, writeFiles, type PromptEnvironment } from './support/terminal-prompt.ts';
import { noTerminal, openTerminal, type Terminal } from './support/terminal.ts';
import { waitUntilArmed } from './support/tui.ts';

const spawn = (input: JsonObject): ReturnType<typeof calls> => calls('use_tool', { tool: 'spawn_agent', input });

/** Starts two agents in the background, one of which never answers and one of which asks, and answers. */
const script: Script<JsonObject> = ({ body, prompt, results }) => {
  if (JSON.stringify(body).includes('another agent has started'))
    return prompt.includes('hang')
      ? new Promise<never>(() => {})
      : results.length === 0
        ? calls('run_command', { command: 'touch made' })
        : says('Reviewed.');
  if (results.length === 0) return calls('load_tools', { names: ['spawn_agent'] });
  if (results.length === 1) return spawn({ task: 'hang forever', background: true });
  if (results.length === 2) return spawn({ task: 'review it', agent: 'reviewer', background: true });
  return says('Both work.');
};

test(
  '[A69] /agents shows the agent files with source and trust, and the agents of the session with status, question, turns and cost',
  { skip: noTerminal() },
  async (t) => {
    const environment = await createPromptEnvironment(t, script, {
      files: {
        '.claude/agents/reviewer.md':
          '---\nname: reviewer\ndescription: Reviews.\ntools: Read, Bash, no_such\nmodel: inherit\nhooks: {}\n---\nYou review.\n',
        '.claude/agents/broken.md': 'no fields',
      },
    });
    const config = path.join(environment.env['XDG_CONFIG_HOME'] ?? '', 'fairlead/agents');
    writeFiles(config, { 'mine.md': '---\nname: mine\ndescription: Mine.\nmodel: beta\nmaxTurns: 3\n---\nMine.\n' });
    const terminal = await openProgram(t, environment);
    await terminal.waitFor(/reviewer \(.*reviewer\.md\)[^]*\| You review\.[^]*Trust this project's agent reviewer\?/);
    await waitUntilArmed();
    await terminal.keys('y', 'Enter');
    await terminal.waitFor(/broken\.md: has no name in its frontmatter/);
    const enter = async (line: string, then: RegExp): Promise<string> => {
      await terminal.type(line);
      await terminal.keys('Enter');
      return terminal.waitFor(then);
    };
    const files = await enter('/agents', /They start no\s+agents\./);
    assert.match(
      files,
      /mine · yours · trusted\s+tools: those of its parent; model: beta; at most 3 turns\s+\S+mine\.md/,
    );
    assert.match(
      files,
      /reviewer · of the project · trusted\s+tools: read_file, [^]*not here: no_such\s+The field hooks is not used\.\s+\S+reviewer\.md/,
    );
    assert.match(files, /Agents of this session\s+none/);
    await enter('go', /Both work\./);
    await terminal.waitFor(/is done\. review it/);
    const shown = await enter('/agents', /\(2 started\)[^]*\(1 running\)/);
    assert.match(shown, /● agent-\w+ · running · 1 turns, 0 calls, [^\n]+ · alpha\n +hang forever/);
    assert.match(shown, / {2}agent-\w+ \(reviewer\) · done · 2 turns, 1 calls, [^\n]+ · alpha\n +review it/);
    const [, id = ''] = /● (agent-\w+) · running/.exec(shown) ?? [];
    await enter(`/agents stop ${id}`, new RegExp(`${id} is stopped\\.`));
    await enter('/agents', new RegExp(`${id} · stopped: cancelled`));
    await enter(`/agents ${id}`, /Task: hang forever[^]*< hang forever/);
  },
);

const openProgram = (t: TestContext, { env, cwd }: PromptEnvironment): Promise<Terminal> =>
  openTerminal(
    t,
    [
      'sh',
      '-c',
      '"$@"; echo "exit code $?"',
      'sh',
      process.execPath,
      bin,
      '--no-sandbox',
      '--refresh-models',
      '--model',
      'alpha',
      '--mode',
      'auto',
    ],
    { columns: 120, rows: 60, cwd, env },
  );
