// Input that arrives just as a run ends is read by the next run, and input that no run can process is not retried forever.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { createAcpSession, type AcpClient } from '../src/server/acp/acp-session.ts';
import { createRunController } from '../src/cli/interactive/run-controller.ts';
import { Conversation } from '../src/coding-agent/conversation.ts';
import type { TerminalUI } from '../src/cli/tui/ui.ts';
import { parseCliArgs } from '../src/cli/args/parse-args.ts';
import { readSettings } from '../src/coding-agent/settings/index.ts';
import type { StopReason } from '../src/core/index.ts';
import { requestMessages, createProgram, type TestProgram } from './support/cli-harness.ts';
import type { TranscriptBlock } from '../src/sessions/index.ts';
import type { ConversationStatus } from '../src/coding-agent/index.ts';

/** A conversation with the program's server, in this process. */
async function openConversation(t: TestContext, program: TestProgram): Promise<Conversation> {
  const asked = parseCliArgs(['--interactive', '--no-sandbox'], { isInteractive: true });
  assert.ok(!('message' in asked));
  const talk = await Conversation.open({
    settings: readSettings({ env: program.env, cwd: program.cwd, platform: 'linux' }),
    flags: asked,
    selector: { type: 'new', name: 'late' },
    cwd: program.cwd,
    model: { name: 'qwen3', ref: { provider: 'ollama', model: 'qwen3', baseUrl: program.server.url }, tools: true },
    host: { confirm: async () => false, progress() {}, notify() {} },
  });
  t.after(() => talk.close());
  return talk;
}

/** A user interface that shows nothing. */
function createHeadlessUi(seen: {
  put?(block: TranscriptBlock): void;
  status?(status: ConversationStatus): void;
}): TerminalUI {
  return {
    putBlock: (block) => seen.put?.(block),
    onCancel: () => undefined,
    setStatus: (status) => seen.status?.(status),
    appendText() {},
    removeBlock() {},
    clear() {},
    onAction() {},
    askKey: async ({ defaultKey }) => defaultKey,
    pick: async () => undefined,
    setInput() {},
    insertInput() {},
    setCompleter() {},
    setHistory() {},
    suspendFor: (work) => work(),
    close: async () => {},
  };
}

type ConversationDriver = { readonly say: (words: string) => void; readonly done: (words: string) => Promise<unknown> };

/** The same conversation, controlled from a prompt and from an editor. */
const drivers: Readonly<Record<string, (talk: Conversation) => ConversationDriver>> = {
  'at the prompt'(talk) {
    let idle = Promise.withResolvers<void>();
    const status = ({ busy }: ConversationStatus): void => (busy === undefined ? idle.resolve() : undefined);
    const bench = createRunController(talk, createHeadlessUi({ status }), () => {});
    return {
      say: (words) => bench.handleInput(words, 'enter'),
      done(words) {
        idle = Promise.withResolvers<void>();
        bench.start(() => bench.context.runAgent(words));
        return idle.promise;
      },
    };
  },
  'from an editor'(talk) {
    const editor: AcpClient = {
      transcript: createHeadlessUi({}),
      echoesInput: true,
      ask: async () => undefined,
      confirm: async () => false,
      sendStatus() {},
      sendPlan() {},
      sendCommands() {},
    };
    const seat = createAcpSession(talk, editor);
    return { say: (words) => void seat.steer(words), done: (words) => seat.prompt(words) };
  },
};

for (const [where, driven] of Object.entries(drivers))
  test(`input that arrives ${where} at the very end of a run is answered, also if recording it is slow`, async (t) => {
    const program = await createProgram(t);
    const talk = await openConversation(t, program);
    const { say, done } = driven(talk);
    const late = ['one more thing', 'and another'];
    const ends: StopReason[] = [];
    talk.session.subscribe((event) => {
      if (event.type !== 'run-ended') return;
      ends.push(event.reason);
      const words = late.shift();
      if (words !== undefined) say(words);
    });
    await done('first');
    assert.deepEqual(talk.session.state.pending, []);
    assert.deepEqual(ends, ['answered', 'answered', 'answered']);
    assert.deepEqual(
      requestMessages(program.modelRequests().at(-1)).flatMap(({ role, content }) =>
        role === 'user' ? [content] : [],
      ),
      ['first', 'one more thing', 'and another'],
    );
  });

test('input that does not fit the context window stops the run once, returns to the prompt, and is not retried automatically', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('tiny');
  const input = `${'long '.repeat(20_000)}\n/cwd\n`;
  const { code, out, err } = await program.run(['--interactive', '--plain', '--no-sandbox'], { input });
  assert.equal(code, 0, err);
  assert.equal(out.split('The conversation no longer fits the model').length - 1, 1);
  assert.match(out, /The working directory is /, 'the next input is processed');
  assert.equal(program.modelRequests().length, 0);
});
