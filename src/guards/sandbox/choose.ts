// Which sandbox commands run in: the best that works here, found once for each set of folders; and where none works, none is used.
import { bubblewrap, findProgram, newer, whyUnable } from './bubblewrap.ts';
import { noSandbox, refusal, type Confines, type Sandbox } from './sandbox.ts';

/** What a sandbox is chosen by. */
export type ChoiceOptions = Confines & {
  /** `none` only where the person says so in so many words. */
  readonly wanted?: 'auto' | 'none';
};

const tried = new Map<string, Promise<Sandbox>>();

/** Chooses a sandbox. It never falls back to none: without one that works, every command is refused with the reason. */
export function chooseSandbox({ wanted = 'auto', ...confines }: ChoiceOptions): Promise<Sandbox> {
  if (wanted === 'none') return Promise.resolve(noSandbox);
  const key = JSON.stringify(confines);
  const known = tried.get(key) ?? best(confines);
  tried.set(key, known);
  return known;
}

async function best(confines: Confines): Promise<Sandbox> {
  if (confines.roots.includes('/'))
    return refused(
      'the working folder is the whole disk, which no sandbox could confine',
      'Start in a folder of your own',
    );
  if (process.platform !== 'linux') return refused('there is no sandbox for this system yet', 'Work on Linux');
  const program = findProgram('bwrap', confines);
  if (program === undefined)
    return refused('there is no sandbox on this machine', 'Install bubblewrap (apt-get install bubblewrap)');
  if (confines.egress && findProgram('socat', confines) === undefined)
    return refused(
      'hosts are open to them, but the program that leads there is missing',
      'Install socat (apt-get install socat)',
    );
  if ((await whyUnable(program, confines, newer)) === undefined) return bubblewrap(program, confines, newer);
  const why = await whyUnable(program, confines);
  if (why === undefined) return bubblewrap(program, confines);
  return refused(`the sandbox does not work here (${why})`, `Allow user namespaces to ${program}`);
}

const refused = (why: string, mend: string): Sandbox =>
  refusal(`Commands are not run: ${why}. ${mend}, or start with --no-sandbox to run them as yourself.`);
