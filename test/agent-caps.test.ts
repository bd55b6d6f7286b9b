// Caps for sub-agents in the real program: shown before the start, enforced, and asked about above a threshold in every permission mode.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import type { JsonObject } from '../src/core/index.ts';
import { calls, says, type Script } from '../src/testing/index.ts';
import { answerPrompt, createProgram, type TestProgram } from './support/cli-harness.ts';
import { noTerminal } from './support/terminal.ts';

/** A parent that starts so many agents one after the other, and repeats what became of each. */
const scriptAgents =
  (count: number): Script<JsonObject> =>
  ({ body, results }) => {
    if (JSON.stringify(body).includes('another agent has started')) return says('done');
    if (results.length === 0) return calls('load_tools', { names: ['spawn_agent'] });
    return results.length <= count
      ? calls('use_tool', { tool: 'spawn_agent', input: { task: `part ${results.length}` } })
      : says(results.slice(1).join(' || '));
  };

function configure(program: TestProgram, settings: JsonObject): void {
  mkdirSync(program.config(), { recursive: true });
  writeFileSync(program.config('config.json'), JSON.stringify({ agents: settings }));
}

const autoArgs = ['--one-shot', '--no-sandbox', '--auto-approve', '--prompt', 'go'];
const countDone = (text: string): number => text.match(/: done, 1 turns/g)?.length ?? 0;

test('[A69] above the number of agents at which the user must consent nothing starts without a user, although calls are approved automatically', async (t) => {
  const program = await createProgram(t, scriptAgents(3));
  await program.seedModels('qwen3');
  configure(program, { askAfter: 2 });
  const { out, err } = await program.call(autoArgs);
  assert.equal(countDone(out), 2, err);
  assert.match(
    out,
    /This session has started 2 agents of at most 20\. More need the consent of the user, and no user is present\./,
  );
  configure(program, { askAfter: 0, max: 2 });
  const capped = await program.call(autoArgs);
  assert.equal(countDone(capped.out), 2, capped.err);
  assert.match(capped.out, /This session has started 2 agents, the maximum\./);
  configure(program, { askAfter: 0 });
  assert.equal(countDone((await program.call(autoArgs)).out), 3, 'the user has set that nothing is asked');
});

test(
  '[A69] the question before an agent shows its limits and the caps of the session, and above the threshold it is asked in every mode',
  { skip: noTerminal() },
  async (t) => {
    const program = await createProgram(t, scriptAgents(3));
    await program.seedModels('qwen3');
    configure(program, { askAfter: 1 });
    const terminal = await program.open(autoArgs);
    await answerPrompt(
      terminal,
      /part 2[^]*This agent: at most 25 turns, of unknown or no cost\.[^]*Agents of this session: at most 20 \(1 started\), 4 at a time \(0\s+running\), \$10\.00 for all[^]*started 1 agents of at most 20\.[^]*Call spawn_agent\?/,
      'y',
      'Enter',
    );
    await answerPrompt(
      terminal,
      /part 3[^]*started 2 agents of at most 20\.[^]*Call spawn_agent\?[^]*\[y\/N/,
      'n',
      'Enter',
    );
    await terminal.waitFor(/Denied by user/);
    await terminal.waitFor(/left with/);
  },
);
