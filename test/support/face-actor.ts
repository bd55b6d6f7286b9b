// A conversation of set pieces on a real face, for tests in a terminal: each entry names what is to happen.
import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Face, Heard, Question, Status } from '../../src/cli/face/face.ts';
import { openFace } from '../../src/cli/face/open.ts';

const EVIL = 'before \x1b]52;c;aGk=\x07\x1b]0;owned\x07\x1b[2J\x1b[5;5H\u202eafter\x9b31m';
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
const face = await openFace({ plain: process.argv.includes('--plain') });
const base: Status = { model: 'scripted', session: 'a session', mode: 'ask', stream: true, queued: 0, usd: 0.0123 };
const idle = (): void => face.status({ ...base, context: { used: 15_300, window: 128_000 } });
const busy = (what: string): void => face.status({ ...base, busy: what });
const id = (): string => `block ${(count += 1)}`;
const notice = (text: string): void => face.put({ type: 'notice', id: id(), level: 'info', text });

async function stream(chunks: number, ms: number, word: string): Promise<void> {
  const answer = id();
  busy('the model');
  face.put({ type: 'answer', id: answer, text: '', settled: false });
  let text = '';
  for (let index = 0; index < chunks; index += 1) {
    const chunk = `${word}${index}${index % 12 === 11 ? '\n' : ' '}${index % 60 === 59 ? '\n' : ''}`;
    text += chunk;
    face.extend(answer, chunk);
    if (ms > 0) await pause(ms);
    else if (index % 50 === 0) await new Promise(setImmediate);
  }
  face.put({ type: 'answer', id: answer, text, settled: true });
  idle();
}

const question = (title: string): Question => ({
  title,
  detail: 'rm -rf \x1b[8mhidden\u202e',
  keys: [
    { key: 'y', label: 'yes' },
    { key: 'n', label: 'no' },
    { key: 'a', label: 'always' },
  ],
  otherwise: 'n',
});

const pieces: Readonly<Record<string, (rest: string) => void | Promise<void>>> = {
  async markdown() {
    const answer = id();
    face.put({ type: 'answer', id: answer, text: '', settled: false });
    for (const line of MARKDOWN) face.extend(answer, `${line}\n`);
    face.put({ type: 'answer', id: answer, text: `${MARKDOWN.join('\n')}\n`, settled: true });
  },
  stream: (rest) => stream(Number(rest.split(' ')[0]), Number(rest.split(' ')[1] ?? 0), 'word'),
  async call() {
    const call = { type: 'call', id: id(), tool: 'bash', input: { command: 'make all' } } as const;
    face.put({ ...call, standing: 'running' });
    for (let line = 1; line <= 20; line += 1) face.extend(call.id, `out ${line}\n`);
    const output = Array.from({ length: 20 }, (_, line) => `out ${line + 1}\n`).join('');
    face.put({ ...call, standing: 'ok', output, ms: 1234 });
  },
  diff: () => face.put({ type: 'call', id: id(), tool: 'edit', input: { path: 'x' }, standing: 'ok', diff: DIFF }),
  evil() {
    face.put({ type: 'call', id: id(), tool: EVIL, input: { command: EVIL }, standing: 'failed', output: EVIL });
    face.put({ type: 'answer', id: id(), text: `${EVIL} &#27;[31m [link](http://x/\x1b]0;owned\x07)`, settled: true });
    face.put({ type: 'page', id: id(), title: EVIL, text: EVIL });
    notice(EVIL);
    notice('evil done');
  },
  async ask(rest) {
    await pause(Number(rest) || 0);
    notice(`answered ${await face.ask(question('Run bash?'))}`);
  },
  async questions() {
    const [first, second] = await Promise.all([face.ask(question('First?')), face.ask(question('Second?'))]);
    notice(`answered ${first} and ${second}`);
  },
  async given() {
    notice(`given up with ${await face.ask(question('Still there?'), AbortSignal.timeout(300))}`);
  },
  async pick() {
    const names = ['alpha', 'beta', 'gamma'];
    const choices = names.map((value) => ({ value, label: value, about: `the ${value} one` }));
    notice(`picked ${(await face.pick('Which one', choices)) ?? 'nothing'}`);
  },
  async tell(rest) {
    const open = (title: string, choices: readonly string[]): Promise<string | undefined> | undefined =>
      face.words?.(title, choices, rest === 'given up' ? AbortSignal.timeout(300) : undefined);
    const [first, second] = await Promise.all([
      open('Which port?\n(evil \x1b[2J\u202e)', ['eighty', 'another']),
      open('And why?', []),
    ]);
    notice(`told ${JSON.stringify(first)} and ${JSON.stringify(second)}`);
  },
  /** Waits for a signal of the test before it does what it is told. */
  async later(rest) {
    await new Promise<void>((go) => void process.once('SIGUSR2', () => go()));
    await pieces[rest]?.('');
  },
  async work(rest) {
    busy('a slow tool');
    await pause(Number(rest));
    idle();
  },
  blocks(rest) {
    for (let block = 1; block <= Number(rest); block += 1)
      face.put({ type: 'said', id: id(), text: `block number ${block}`, how: 'prompt' });
  },
  wide: () =>
    face.put({ type: 'answer', id: id(), text: '漢字かな混じり文'.repeat(12) + ' 👩‍💻 '.repeat(20), settled: true }),
  fill: (rest) => face.fill(rest),
  clear: () => face.clear(),
  crash: () =>
    void setTimeout(() => {
      throw new Error('a crash on purpose');
    }, 10),
  async aside() {
    await face.aside(
      async () => void spawnSync('sh', ['-c', 'echo inside; read line; echo got $line'], { stdio: 'inherit' }),
    );
    notice('aside done');
  },
  memory: () =>
    notice(
      `memory ${Math.round(process.memoryUsage().rss / 1e6)} MB cpu ${Math.round(process.cpuUsage().user / 1e3)} ms`,
    ),
};

async function heard(what: Heard): Promise<void> {
  if (what.type === 'quit') return leave(face);
  if (what.type !== 'line') return notice(`heard ${what.type}`);
  face.put({ type: 'said', id: id(), text: what.text, how: what.how === 'follow-up' ? 'follow-up' : 'prompt' });
  const [word = '', ...rest] = what.text.split(' ');
  const piece = pieces[word];
  if (piece === undefined) notice(`heard ${what.how} ${JSON.stringify(what.text)}`);
  else await piece(rest.join(' '));
}

async function leave(open: Face): Promise<void> {
  await open.close();
  process.stdout.write('closed\n');
}

face.remember(['an old entry', 'a later entry']);
face.complete(async (before) => {
  const word = /(?:^|\s)([@/]\S*)$/.exec(before)?.[1];
  if (word === undefined) return undefined;
  const all = word.startsWith('/') ? ['/help', '/model', '/exit'] : ['@src/main.ts', '@README.md'];
  const choices = all.filter((value) => value.startsWith(word)).map((value) => ({ value, label: value }));
  return { from: before.length - word.length, choices };
});
// A conversation that never begins, as when a model is waited for.
if (process.argv.includes('--deaf')) notice('nobody listens');
else face.listen(heard);
idle();
