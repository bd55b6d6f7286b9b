// Which sandbox commands run in: the best that works here, found once for each set of folders; and where none works, none is used.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { bubblewrap, findProgram, newer, whyUnable } from './bubblewrap.ts';
import { containerOfRoots } from './container.ts';
import { seatbelt, whyNoSeatbelt } from './seatbelt.ts';
import { noSandbox, refusal, type Confines, type Sandbox } from './sandbox.ts';
import { withoutTraps } from './traps.ts';

/** What a sandbox is chosen by. */
export type ChoiceOptions = Confines & {
  /** `none` only where the person says so in so many words. */
  readonly wanted?: 'auto' | 'none';
  /** A container to use where there is nothing lighter and its image is here. */
  readonly container?: { readonly engine: string; readonly image: string };
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

async function best({ container, ...confines }: Omit<ChoiceOptions, 'wanted'>): Promise<Sandbox> {
  if (confines.roots.includes('/'))
    return refused(
      'the working folder is the whole disk, which no sandbox could confine',
      'Start in a folder of your own',
    );
  const light = await lightest(confines);
  // A container has no way to the hosts that are open, and another system inside: it is better than nothing.
  if (light.name !== 'refused' || !container) return light;
  const engine = path.isAbsolute(container.engine) ? container.engine : findProgram(container.engine, confines);
  if (engine === undefined || !(await hasImage(engine, container.image))) return light;
  return withoutTraps(containerOfRoots({ ...container, engine }, confines), confines);
}

async function lightest(confines: Confines): Promise<Sandbox> {
  if (process.platform === 'darwin') {
    const why = whyNoSeatbelt(confines);
    if (why === undefined) return withoutTraps(seatbelt(confines), confines);
    return refused(why, 'Install podman or docker and pull the image of sandbox.image');
  }
  const program = process.platform === 'linux' ? findProgram('bwrap', confines) : undefined;
  if (program === undefined)
    return refused(
      'there is no sandbox on this machine',
      process.platform === 'linux'
        ? 'Install bubblewrap (apt-get install bubblewrap)'
        : 'Install podman or docker and pull the image of sandbox.image',
    );
  if (confines.egress && findProgram('socat', confines) === undefined)
    return refused(
      'hosts are open to them, but the program that leads there is missing',
      'Install socat (apt-get install socat)',
    );
  if ((await whyUnable(program, confines, newer)) === undefined)
    return withoutTraps(bubblewrap(program, confines, newer), confines);
  const why = await whyUnable(program, confines);
  if (why === undefined) return withoutTraps(bubblewrap(program, confines), confines);
  return refused(`the sandbox does not work here (${why})`, `Allow user namespaces to ${program}`);
}

/** Nothing is pulled: an image that is not here is none. */
const hasImage = (engine: string, image: string): Promise<boolean> =>
  new Promise((resolve) => {
    execFile(engine, ['image', 'inspect', image], { timeout: 10_000 }, (error) => resolve(error === null));
  });

const refused = (why: string, mend: string): Sandbox =>
  refusal(`Commands are not run: ${why}. ${mend}, or start with --no-sandbox to run them as yourself.`);
