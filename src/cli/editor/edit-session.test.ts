// Tests `/session edit` end to end: a real session, a real editor process, mistakes listed in the file, and a new branch.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { messageText, type Event, type Message } from '../../core/index.ts';
import { resolveAgent, defineTool, Session } from '../../agent/index.ts';
import { memoryLog } from '../../stores/index.ts';
import { calls, says, scriptedProvider } from '../../testing/index.ts';
import { editSession, type SessionEditResult } from './index.ts';

const skip = process.platform === 'win32' ? 'needs a shell' : false;
const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks.',
  effect: 'read',
  input: { type: 'object' },
  run: () => 'found',
});

async function conversation(): Promise<{
  readonly session: Session;
  readonly events: readonly Event[];
  readonly requests: readonly { readonly messages: { readonly length: number } }[];
}> {
  const provider = scriptedProvider([calls('look_up'), says('It is blue.'), says('Because of the sky.'), says('more')]);
  const log = memoryLog();
  const session = await Session.open(resolveAgent({ provider, system: 's', tools: [lookUp] }), log);
  await session.advance('What colour?');
  await session.advance('Why?');
  return { session, events: log.events, requests: provider.requests };
}

/** Creates an editor that runs one step per start; $1 is the file, and each version it sees is saved. */
function editor(
  t: TestContext,
  ...steps: readonly string[]
): { readonly env: NodeJS.ProcessEnv; readonly seen: (round: number) => string } {
  const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-session-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const cases = steps.map((step, i) => `${i + 1}) ${step} ;;`).join('\n');
  const script = `#!/bin/sh\necho x >> "$OUT/rounds"\nn=$(wc -l < "$OUT/rounds" | tr -d ' ')\ncp "$1" "$OUT/seen$n"\ncase $n in\n${cases}\n*) exit 9 ;;\nesac\n`;
  writeFileSync(path.join(dir, 'ed'), script);
  chmodSync(path.join(dir, 'ed'), 0o755);
  return {
    env: { PATH: process.env['PATH'], OUT: dir, EDITOR: path.join(dir, 'ed') },
    seen: (round) => readFileSync(path.join(dir, `seen${round}`), 'utf8'),
  };
}

const change = (from: string, to: string): string => `sed -i.bak 's/${from}/${to}/' "$1"`;
const texts = (messages: readonly Message[]): readonly string[] =>
  messages.map((message) => (message.role === 'tool' ? 'results' : messageText(message)));
const forget = (t: TestContext, outcome: SessionEditResult): string => {
  assert.ok(outcome.type !== 'edited' && outcome.draftPath !== undefined, JSON.stringify(outcome));
  const { draftPath, message } = outcome;
  t.after(() => rmSync(path.dirname(draftPath), { recursive: true, force: true }));
  assert.ok(message.includes(draftPath), 'the message names the file');
  return readFileSync(draftPath, 'utf8');
};

test(
  '[J3] [J59] [J61] an edit becomes a new branch that the next run continues, and the old branch stays',
  { skip },
  async (t) => {
    const { session, events, requests } = await conversation();
    const tip = session.state.head ?? '';
    const { env } = editor(t, change('It is blue', 'It is green'));
    assert.deepEqual(await editSession(session, { env }), { type: 'edited', messages: 6, notices: [] });
    const now = ['What colour?', '', 'results', 'It is green.', 'Why?', 'Because of the sky.'];
    assert.deepEqual(texts(session.messages), now);
    assert.equal(events.findLast((event) => event.type === 'branch-started')?.reason, 'edited');
    await session.advance(undefined);
    assert.equal(requests.at(-1)?.messages.length, 7, 'the edited conversation is what is sent');
    await session.rewind(tip, 'returned');
    assert.equal(texts(session.messages)[3], 'It is blue.');
  },
);

test(
  '[J59] a mistake is listed with its line at the top of the file, which is opened again with the typed text',
  { skip },
  async (t) => {
    const { session } = await conversation();
    const { env, seen } = editor(
      t,
      `${change('It is blue', 'It is green')}; ${change('%%% assistant 4', '%%% asistant 4')}; ${change('%% result', '%% reslt')}`,
      change('%% reslt', '%% result'),
      change('asistant', 'assistant'),
    );
    assert.equal((await editSession(session, { env })).type, 'edited');
    assert.equal(texts(session.messages)[3], 'It is green.');
    const told = (round: number): readonly string[] =>
      seen(round)
        .split('\n')
        .filter((line) => line.startsWith('#! '));
    assert.equal(told(1).length, 0);
    assert.equal(told(2).length, 2);
    assert.equal(told(3).length, 1, 'corrected mistakes are not listed again');
    for (const round of [2, 3])
      for (const line of told(round)) {
        const [, number, what] = /line (\d+): (.*)/.exec(line) ?? [];
        const there = seen(round).split('\n')[Number(number) - 1];
        assert.match(
          there ?? '',
          what?.includes('reslt') ? /^%% reslt/ : /^%%% asistant 4$/,
          'the line is the one in the file as it is now',
        );
      }
  },
);

test(
  '[J59] an unchanged file, an empty file and a change of comments only are cancelled with a message',
  { skip },
  async (t) => {
    for (const [step, message] of [
      ['true', 'Nothing was edited, so the conversation was not changed.'],
      ['echo >> "$1"', 'Nothing was edited, so the conversation was not changed.'],
      ['sed -i.bak 1d "$1"', 'Nothing was edited, so the conversation was not changed.'],
      [': > "$1"', 'The file is empty, so the conversation was not changed.'],
      ['sed -i.bak "/^#/!d" "$1"', 'The file is empty, so the conversation was not changed.'],
    ] as const) {
      const { session } = await conversation();
      const { head } = session.state;
      assert.deepEqual(await editSession(session, { env: editor(t, step).env }), { type: 'cancelled', message }, step);
      assert.equal(session.state.head, head, 'nothing was written');
    }
  },
);

test('[J59] an uncorrected mistake or a failing editor keeps the text and names the file', { skip }, async (t) => {
  for (const [step, why] of [
    ['true', /The mistakes were not corrected/],
    ['exit 3', /exited with code 3/],
    ['rm "$1"', /cannot be read/],
  ] as const) {
    const { session } = await conversation();
    const { head } = session.state;
    const { env } = editor(t, `${change('It is blue', 'It is green')}; ${change('%% result', '%% reslt')}`, step);
    const outcome = await editSession(session, { env });
    assert.match(outcome.type === 'edited' ? '' : outcome.message, why);
    assert.match(forget(t, outcome), /It is green/);
    assert.equal(session.state.head, head);
  }
});

test(
  '[J59] a session that waits for approval can be edited: the open call counts as not settled',
  { skip },
  async (t) => {
    const provider = scriptedProvider([calls('look_up')]);
    const gates = [() => ({ type: 'ask', question: 'May it?' }) as const];
    const session = await Session.open(
      { ...resolveAgent({ provider, system: 's', tools: [lookUp] }), gates },
      memoryLog(),
    );
    await session.advance('What colour?');
    assert.equal(session.state.calls.length, 1);
    const outcome = await editSession(session, { env: editor(t, change('What colour', 'Which shade')).env });
    assert.deepEqual(outcome, { type: 'edited', messages: 3, notices: [] });
    assert.deepEqual(texts(session.messages), ['Which shade?', '', 'results']);
    assert.equal(session.state.calls.length, 0);
  },
);

test(
  '[J59] a session that changed during the edit is not overwritten, nor one with an active run',
  { skip },
  async (t) => {
    const { session } = await conversation();
    const { env } = editor(t, change('It is blue', 'It is green'));
    const outcome = editSession(session, { env });
    await session.annotate('x', 1);
    const went = await outcome;
    assert.equal(went.type, 'failed');
    assert.match(forget(t, went), /It is green/);
    assert.equal(texts(session.messages)[3], 'It is blue.');
    const running = session.advance('again');
    assert.match(JSON.stringify(await editSession(session, { env })), /A run is active/);
    await running;
  },
);
