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
  /** What the first and the last of many calls take. */
  readonly growth?: (times: number) => Promise<Readonly<Record<string, number>>>;
};

const module = (await import(path.join(import.meta.dirname, 'subjects', `${subject}.ts`))) as {
  readonly subject: (peers: string) => Subject;
};
const made = module.subject(peers);
const control = (settings: object): Promise<unknown> =>
  fetch(`${url}/__ctl`, { method: 'POST', body: JSON.stringify(settings) }).then((reply) => reply.text());

async function work(): Promise<unknown> {
  if (mode === 'import') return made.load?.();
  if (mode === 'turn') return made.turn?.(url, Number(n));
  if (mode === 'stream') return made.stream?.(url);
  if (mode === 'open') return made.open?.(file);
  if (mode === 'read') return made.read?.(file, Number(n));
  if (mode === 'command') return made.command?.(Number(n));
  if (mode === 'growth') return made.growth?.(Number(n));
  return made.first?.(url, file);
}

if (mode !== 'import') await made.load?.();
// The first call loads what the later ones use.
if (mode === 'read') await made.read?.(file, 1);
if (mode === 'command') await made.command?.(1);
if (mode === 'turn' || mode === 'stream' || mode === 'first') {
  await control({ T: 3, chunks: 1 });
  await made.turn?.(url, 3);
  await control(mode === 'turn' ? { T: Number(n), chunks: 1 } : { T: 0, chunks: mode === 'stream' ? Number(n) : 1 });
}
const cpu = process.cpuUsage();
const since = performance.now();
const result = await work();
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
