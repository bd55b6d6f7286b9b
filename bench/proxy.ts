// What the proxy adds, over a bare one that pipes, each in a process of its own: node bench/proxy.ts [--rounds 5]
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, request, type IncomingMessage, type RequestListener } from 'node:http';
import { rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const folder = path.join(tmpdir(), `fairlead-bench-proxy-${process.pid}`);
const chunkCount = 20_000;
const requestCount = 100;
/** A conversation that has gone on for a while: 20 messages, and as many more as were answered since. */
const createRequestBody = (answers: number): string =>
  JSON.stringify({
    model: 'm',
    stream: true,
    tools: [{ type: 'function', function: { name: 'run', parameters: { type: 'object' } } }],
    messages: Array.from({ length: 21 + 2 * answers }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: i % 2 === 0 ? `${'Words of a person who has much to say. '.repeat(8)}${i}` : ' word1',
    })),
  });
const formatEvent = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;

function startHttpServer(listener: RequestListener): void {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
}

/** A model: as many chunks as the path's last part says. */
function startModel(): void {
  startHttpServer((incoming, outgoing) => {
    incoming.resume();
    const many = Number(incoming.headers['x-chunks']);
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    let left = many;
    const go = (): void => {
      for (let i = 0; i < 10 && left > 0; i++, left--) outgoing.write(formatEvent(` word${left}`));
      if (left > 0) setImmediate(go);
      else outgoing.end(`${formatEvent('', 'stop')}data: [DONE]\n\n`);
    };
    incoming.on('end', go);
  });
}

function startBaselineProxy(target: string): void {
  startHttpServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const asking = request(target + url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(asking);
  });
}

/** The proxy, which keeps its conversations in memory or in files. */
async function startFairleadProxy(target: string, folder?: string): Promise<void> {
  const { openProxy } = await import('../src/bridges/index.ts');
  const gate = () => ({ type: 'allow' }) as const;
  const kept = folder === undefined ? {} : { folder };
  const { url } = await openProxy({ target, port: 0, extensions: [{ gates: [gate] }], ...kept });
  console.log(url);
}

async function spawnRole(role: string, target = ''): Promise<{ readonly url: string; readonly process: ChildProcess }> {
  const args = [
    '--disable-warning=ExperimentalWarning',
    import.meta.filename,
    '--role',
    role,
    '--target',
    target,
    '--folder',
    folder,
  ];
  const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise<string>((resolve) =>
    started.stdout.once('data', (data: Buffer) => resolve(String(data))),
  );
  return { url: line.trim(), process: started };
}

/** Milliseconds to the first byte of the answer's body, and to its end. */
async function timeRequest(
  url: string,
  many: number,
  answers: number,
): Promise<{ readonly first: number; readonly all: number }> {
  const body = createRequestBody(answers);
  const began = performance.now();
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-chunks': String(many) };
    request(`${url}/v1/chat/completions`, { method: 'POST', headers, agent: false }, resolve)
      .on('error', reject)
      .end(body);
  });
  let first = Number.NaN;
  let size = 0;
  for await (const chunk of answer) {
    if (size === 0) first = performance.now() - began;
    size += (chunk as Buffer).length;
  }
  if (size < many * 50) throw new Error(`${url} gave ${size} bytes for ${many} chunks.`);
  return { first, all: performance.now() - began };
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

async function compareProxies(rounds: number): Promise<void> {
  const upstream = await spawnRole('model');
  const names = ['floor', 'fairlead', 'fairlead-files'];
  const subjects = await Promise.all(names.map((name) => spawnRole(name, upstream.url)));
  const found = names.map(() => ({ firsts: [] as number[], alls: [] as number[] }));
  try {
    for (let i = 0; i < requestCount; i++)
      for (const [n, { url }] of subjects.entries()) found[n]?.firsts.push((await timeRequest(url, 1, i)).first);
    for (let round = 0; round < rounds; round++)
      for (const [n, { url }] of subjects.entries()) found[n]?.alls.push((await timeRequest(url, chunkCount, 0)).all);
    const [least] = found.map(toMedians);
    for (const [n, each] of found.map(toMedians).entries())
      console.log(
        `${(names[n] ?? '').padEnd(15)} first byte ${each.first.toFixed(2)} ms (+${(each.first - (least?.first ?? 0)).toFixed(2)})   ${chunkCount} chunks ${each.all.toFixed(0)} ms (x${(each.all / (least?.all ?? 1)).toFixed(2)})`,
      );
  } finally {
    for (const each of [upstream, ...subjects]) each.process.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first requests load code; they are left out. */
const toMedians = ({ firsts, alls }: { readonly firsts: readonly number[]; readonly alls: readonly number[] }) => ({
  first: median(firsts.slice(20)),
  all: median(alls),
});

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    role: { type: 'string', default: 'compare' },
    target: { type: 'string', default: '' },
    folder: { type: 'string', default: '' },
  },
});
if (values.role === 'model') startModel();
else if (values.role === 'floor') startBaselineProxy(values.target);
else if (values.role === 'fairlead') await startFairleadProxy(values.target);
else if (values.role === 'fairlead-files') await startFairleadProxy(values.target, values.folder);
else await compareProxies(Number(values.rounds));
