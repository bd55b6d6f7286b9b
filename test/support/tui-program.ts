// A scripted conversation on the real terminal UI, for tests in a terminal: each input names what happens.
import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { TerminalUI, UserAction, KeyQuestion } from '../../src/cli/tui/ui.ts';
import { createUi } from '../../src/cli/tui/create-ui.ts';
import type { ConversationStatus } from '../../src/coding-agent/index.ts';

const HOSTILE_TEXT = 'before \x1b]52;c;aGk=\x07\x1b]0;owned\x07\x1b[2J\x1b[5;5H\u202eafter\x9b31m';
const MARKDOWN = [
  '# Title',
  '',
  'Some **bold** words and `code`.',
  '',
  '```ts',
  "const answer: string = 'x';",
  '```',
  '',
];
const DIFF = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old line\n+new line\n';

let count = 0;
const ui = await createUi({ plain: process.argv.includes('--plain') });
const baseStatus: ConversationStatus = {
  model: 'scripted',
  session: 'a session',
  mode: 'ask',
  stream: true,
  queued: 0,
  usd: 0.0123,
};
const showIdle = (): void => ui.setStatus({ ...baseStatus, context: { used: 15_300, window: 128_000 } });
const showBusy = (activity: string): void => ui.setStatus({ ...baseStatus, busy: activity });
const nextId = (): string => `block ${(count += 1)}`;
const showNotice = (text: string): void => ui.putBlock({ type: 'notice', id: nextId(), level: 'info', text });

async function streamAnswer(chunks: number, ms: number, word: string): Promise<void> {
  const answer = nextId();
  showBusy('the model');
  ui.putBlock({ type: 'assistant', id: answer, text: '', settled: false });
  let text = '';
  for (let index = 0; index < chunks; index += 1) {
    const chunk = `${word}${index}${index % 12 === 11 ? '\n' : ' '}${index % 60 === 59 ? '\n' : ''}`;
    text += chunk;
    ui.appendText(answer, chunk);
    if (ms > 0) await pause(ms);
    else if (index % 50 === 0) await new Promise(setImmediate);
  }
  ui.putBlock({ type: 'assistant', id: answer, text, settled: true });
  showIdle();
}

const createQuestion = (title: string): KeyQuestion => ({
  title,
  detail: 'rm -rf \x1b[8mhidden\u202e',
  keys: [
    { key: 'y', label: 'yes' },
    { key: 'n', label: 'no' },
    { key: 'a', label: 'always' },
  ],
  defaultKey: 'n',
});

const demoCommands: Readonly<Record<string, (rest: string) => void | Promise<void>>> = {
  async markdown() {
    const answer = nextId();
    ui.putBlock({ type: 'assistant', id: answer, text: '', settled: false });
    for (const line of MARKDOWN) ui.appendText(answer, `${line}\n`);
    ui.putBlock({ type: 'assistant', id: answer, text: `${MARKDOWN.join('\n')}\n`, settled: true });
  },
  stream: (rest) => streamAnswer(Number(rest.split(' ')[0]), Number(rest.split(' ')[1] ?? 0), 'word'),
  async call() {
    const call = { type: 'call', id: nextId(), tool: 'bash', input: { command: 'make all' } } as const;
    ui.putBlock({ ...call, status: 'running' });
    for (let line = 1; line <= 20; line += 1) ui.appendText(call.id, `out ${line}\n`);
    const output = Array.from({ length: 20 }, (_, line) => `out ${line + 1}\n`).join('');
    ui.putBlock({ ...call, status: 'ok', output, ms: 1234 });
  },
  diff: () => ui.putBlock({ type: 'call', id: nextId(), tool: 'edit', input: { path: 'x' }, status: 'ok', diff: DIFF }),
  evil() {
    ui.putBlock({
      type: 'call',
      id: nextId(),
      tool: HOSTILE_TEXT,
      input: { command: HOSTILE_TEXT },
      status: 'failed',
      output: HOSTILE_TEXT,
    });
    ui.putBlock({
      type: 'assistant',
      id: nextId(),
      text: `${HOSTILE_TEXT} &#27;[31m [link](http://x/\x1b]0;owned\x07)`,
      settled: true,
    });
    ui.putBlock({ type: 'output', id: nextId(), title: HOSTILE_TEXT, text: HOSTILE_TEXT });
    showNotice(HOSTILE_TEXT);
    showNotice('evil done');
  },
  async ask(rest) {
    await pause(Number(rest) || 0);
    showNotice(`answered ${await ui.askKey(createQuestion('Run bash?'))}`);
  },
  async reply() {
    let reply: string | undefined;
    const key = await ui.askKey({ ...createQuestion('Run bash?'), onReply: (text) => (reply = text) });
    showNotice(`answered ${key} with ${JSON.stringify(reply)}`);
  },
  async questions() {
    const [first, second] = await Promise.all([
      ui.askKey(createQuestion('First?')),
      ui.askKey(createQuestion('Second?')),
    ]);
    showNotice(`answered ${first} and ${second}`);
  },
  async given() {
    showNotice(`given up with ${await ui.askKey(createQuestion('Still there?'), AbortSignal.timeout(300))}`);
  },
  async pick() {
    const names = ['alpha', 'beta', 'gamma'];
    const choices = names.map((value) => ({ value, label: value, description: `the ${value} one` }));
    showNotice(`picked ${(await ui.pick('Which one', choices)) ?? 'nothing'}`);
  },
  async tell(rest) {
    const open = (title: string, choices: readonly string[]): Promise<string | undefined> | undefined =>
      ui.askText?.(title, choices, rest === 'given up' ? AbortSignal.timeout(300) : undefined);
    const [first, second] = await Promise.all([
      open('Which port?\n(evil \x1b[2J\u202e)', ['eighty', 'another']),
      open('And why?', []),
    ]);
    showNotice(`told ${JSON.stringify(first)} and ${JSON.stringify(second)}`);
  },
  /** Waits for a signal of the test before it runs the named command. */
  async later(rest) {
    await new Promise<void>((go) => void process.once('SIGUSR2', () => go()));
    await demoCommands[rest]?.('');
  },
  async work(rest) {
    showBusy('a slow tool');
    await pause(Number(rest));
    showIdle();
  },
  blocks(rest) {
    for (let block = 1; block <= Number(rest); block += 1)
      ui.putBlock({ type: 'user', id: nextId(), text: `block number ${block}`, how: 'prompt' });
  },
  wide: () =>
    ui.putBlock({
      type: 'assistant',
      id: nextId(),
      text: '漢字かな混じり文'.repeat(12) + ' 👩‍💻 '.repeat(20),
      settled: true,
    }),
  fill: (rest) => ui.setInput(rest),
  clear: () => ui.clear(),
  crash: () =>
    void setTimeout(() => {
      throw new Error('a crash on purpose');
    }, 10),
  async aside() {
    await ui.suspendFor(
      async () => void spawnSync('sh', ['-c', 'echo inside; read line; echo got $line'], { stdio: 'inherit' }),
    );
    showNotice('aside done');
  },
  memory: () =>
    showNotice(
      `memory ${Math.round(process.memoryUsage().rss / 1e6)} MB cpu ${Math.round(process.cpuUsage().user / 1e3)} ms`,
    ),
};

async function handleAction(action: UserAction): Promise<void> {
  if (action.type === 'quit') return closeUi(ui);
  if (action.type !== 'submit') return showNotice(`heard ${action.type}`);
  ui.putBlock({
    type: 'user',
    id: nextId(),
    text: action.text,
    how: action.how === 'follow-up' ? 'follow-up' : 'prompt',
  });
  const [name = '', ...rest] = action.text.split(' ');
  const command = demoCommands[name];
  if (command === undefined) showNotice(`heard ${action.how} ${JSON.stringify(action.text)}`);
  else await command(rest.join(' '));
}

async function closeUi(open: TerminalUI): Promise<void> {
  await open.close();
  process.stdout.write('closed\n');
}

ui.setHistory(['an old entry', 'a later entry']);
ui.setCompleter(async (before) => {
  const word = /(?:^|\s)([@/]\S*)$/.exec(before)?.[1];
  if (word === undefined) return undefined;
  const all = word.startsWith('/') ? ['/help', '/model', '/exit'] : ['@src/main.ts', '@README.md'];
  const choices = all.filter((value) => value.startsWith(word)).map((value) => ({ value, label: value }));
  return { from: before.length - word.length, choices };
});
// A conversation that never starts, as while a model is loading.
if (process.argv.includes('--deaf')) showNotice('nobody listens');
else ui.onAction(handleAction);
showIdle();
