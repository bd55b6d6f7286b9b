// One measurement in one process: subject, server, what to do, how much. Prints a line of JSON.
import path from 'node:path';

const [subject = '', url = '', mode = '', n = '0', file = '', peers = ''] = process.argv.slice(2);

/** What a subject can be measured at; what it lacks, it is not measured at. */
export type Subject = {
  readonly load?: () => Promise<unknown>;
  readonly turn?: (url: string, turns: number) => Promise<number>;
  readonly stream?: (url: string) => Promise<number>;
  readonly open?: (file: string) => Promise<number>;
  readonly first?: (url: string, file: string) => Promise<number>;
  readonly read?: (file: string, times: number) => Promise<number>;
  readonly command?: (times: number) => Promise<number>;
  readonly git?: (times: number) => Promise<number>;
  /** What the first and the last of many calls take. */
  readonly growth?: (times: number) => Promise<Readonly<Record<string, number>>>;
};

const module = (await import(path.join(import.meta.dirname, 'subjects', `${subject}.ts`))) as {
  readonly subject: (peers: string) => Subject;
};
const createdSubject = module.subject(peers);
const configureServer = (settings: object): Promise<unknown> =>
  fetch(`${url}/__ctl`, { method: 'POST', body: JSON.stringify(settings) }).then((reply) => reply.text());

async function runMode(): Promise<unknown> {
  if (mode === 'import') return createdSubject.load?.();
  if (mode === 'turn') return createdSubject.turn?.(url, Number(n));
  if (mode === 'stream') return createdSubject.stream?.(url);
  if (mode === 'open') return createdSubject.open?.(file);
  if (mode === 'read') return createdSubject.read?.(file, Number(n));
  if (mode === 'command') return createdSubject.command?.(Number(n));
  if (mode === 'git') return createdSubject.git?.(Number(n));
  if (mode === 'growth') return createdSubject.growth?.(Number(n));
  return createdSubject.first?.(url, file);
}

if (mode !== 'import') await createdSubject.load?.();
// The first call loads what the later ones use.
if (mode === 'read') await createdSubject.read?.(file, 1);
if (mode === 'command') await createdSubject.command?.(1);
if (mode === 'git') await createdSubject.git?.(1);
if (mode === 'turn' || mode === 'stream' || mode === 'first') {
  await configureServer({ T: 3, chunks: 1 });
  await createdSubject.turn?.(url, 3);
  await configureServer(
    mode === 'turn' ? { T: Number(n), chunks: 1 } : { T: 0, chunks: mode === 'stream' ? Number(n) : 1 },
  );
}
const cpu = process.cpuUsage();
const since = performance.now();
const result = await runMode();
const ms = performance.now() - since;
const { user, system } = process.cpuUsage(cpu);
console.log(
  JSON.stringify({
    ms,
    cpuMs: (user + system) / 1000,
    rssMb: process.resourceUsage().maxRSS / 1024,
    result: typeof result === 'number' ? result : undefined,
    ...(typeof result === 'object' ? result : {}),
  }),
);
process.exit(0);
