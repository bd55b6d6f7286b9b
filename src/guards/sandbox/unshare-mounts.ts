// Turns the mounts of a sandboxed command into steps of a shell script that calls mkdir, ln and mount: many mounts in one call, as entries of a mount table.
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import { escapeMountField, findMount, readHostMounts, type HostMount } from './host-mounts.ts';
import type { MountOperation } from './mount-plan.ts';
import type { ScriptArguments } from './script-arguments.ts';

/** The file descriptor of the table of mounts. Its file is in the folder for `/tmp`, which is covered when `/tmp` is mounted. */
export const tableFd = 8;

/** Where the new root is built, over the folder of the kernel's devices, which no command sees. */
export const newRoot = '/sys';

/** The programs that make folders, links and mounts; words of the script. */
export type MountPrograms = {
  readonly mkdir: string;
  readonly ln: string;
  readonly cp: string;
  readonly mount: string;
};

/** The steps that mount everything, and what the kernel must list afterwards. */
export type MountSteps = {
  readonly steps: readonly string[];
  /** One for each mount: `ro` or `rw`, a space, and its escaped mount point. */
  readonly expected: readonly string[];
};

/** What is done in one call each: folders, files and links to create, then mounts. */
type Batch = {
  readonly folders: Set<string>;
  readonly files: string[];
  readonly links: { readonly target: string; readonly at: string }[];
  /** Links of this machine that are copied into a folder. */
  readonly copies: { readonly from: readonly string[]; readonly into: string }[];
  readonly entries: string[];
};

type Layer = { readonly at: string; readonly isInMemory: boolean; readonly batch: Batch };

const createBatch = (): Batch => ({ folders: new Set(), files: [], links: [], copies: [], entries: [] });

const commonFlags = ['nosuid', 'nodev'];
const deviceNames = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];
const standardStreams = ['stdin', 'stdout', 'stderr'];

/** Returns the steps that carry out these operations below the new root. */
export function formatMountSteps(
  operations: readonly MountOperation[],
  words: ScriptArguments,
  programs: MountPrograms,
): MountSteps {
  const host = readHostMounts();
  const steps: string[] = [];
  const expected: string[] = ['ro /'];
  const made = new Set<string>();
  let batch = createBatch();
  const layers: Layer[] = [{ at: '/', isInMemory: true, batch: createBatch() }];

  let hasTable = false;
  const flush = (): void => {
    steps.push(...formatBatch(batch, words, programs, hasTable));
    hasTable ||= batch.entries.length > 0;
    batch = createBatch();
  };
  /** Creates a mount point, if it is in a folder in memory: in a folder of this machine it exists. */
  const create = (at: string, kind: 'folder' | 'file' | 'link'): void => {
    const layer = layers.findLast((each) => isPathInside(each.at, at));
    if (layer === undefined || !layer.isInMemory || layer.at === at) return;
    if (layer.batch === batch) flush();
    if (kind === 'folder') return void batch.folders.add(inNewRoot(at));
    if (path.dirname(at) !== '/') batch.folders.add(inNewRoot(path.dirname(at)));
    if (kind === 'file') batch.files.push(inNewRoot(at));
  };
  const mount = (source: string, at: string, type: string, flags: readonly string[]): void => {
    expected.push(`${flags.includes('ro') ? 'ro' : 'rw'} ${escapeMountField(at)}`);
    const target = inNewRoot(at);
    const key = `${source}\0${target}`;
    if (!made.has(key)) {
      made.add(key);
      batch.entries.push([escapeEntry(source), escapeEntry(target), type, flags.join(','), '0 0'].join(' '));
      return;
    }
    // Mount skips an entry of a table that is mounted already.
    flush();
    steps.push(
      `${programs.mount} -n -t ${words.add(type)} -o ${words.add(flags.join(','))} -- ${words.add(source)} ${words.add(target)}`,
    );
  };
  const remount = (at: string, flags: readonly string[]): void => {
    flush();
    expected.push(`${flags.includes('ro') ? 'ro' : 'rw'} ${escapeMountField(at)}`);
    const options = ['remount', 'bind', ...flags].join(',');
    steps.push(`${programs.mount} -n -o ${words.add(options)} -- ${words.add(inNewRoot(at))}`);
  };
  const bind = (source: string, at: string, isReadOnly: boolean): void => {
    create(at, statSync(source).isDirectory() ? 'folder' : 'file');
    // The folders of the kernel that this machine mounts inside its /proc are not those of the sandbox.
    const isKernel = isPathInside('/proc', source);
    const own = isKernel ? ['nosuid', 'nodev', 'noexec'] : keptFlags(findMount(host, source));
    mount(isKernel ? inNewRoot(source) : source, at, 'none', ['rbind', ...withReadOnly(own, isReadOnly)]);
    layers.push({ at, isInMemory: false, batch });
    if (isKernel) return;
    // A recursive bind shows the mounts inside with their own flags.
    for (const each of host.filter(({ mountPoint }) => mountPoint !== source && isPathInside(source, mountPoint)))
      remount(path.join(at, path.relative(source, each.mountPoint)), withReadOnly(keptFlags(each), isReadOnly));
  };
  const devices = (folder: string): void => {
    for (const name of deviceNames) {
      create(path.join(folder, name), 'file');
      // Without the flag for devices, unlike all other mounts.
      const flags = keptFlags(findMount(host, `/dev/${name}`)).filter((flag) => flag !== 'nodev' && flag !== 'ro');
      mount(`/dev/${name}`, path.join(folder, name), 'none', ['bind', ...flags]);
    }
    for (const name of ['pts', 'shm']) create(path.join(folder, name), 'folder');
    mount('devpts', path.join(folder, 'pts'), 'devpts', devptsFlags);
    batch.links.push({ target: 'pts/ptmx', at: path.join(folder, 'ptmx') });
    batch.links.push({ target: '/proc/self/fd', at: path.join(folder, 'fd') });
    const streams = standardStreams.map((name) => `/dev/${name}`).filter((each) => existsSync(each));
    if (streams.length > 0) batch.copies.push({ from: streams, into: inNewRoot(folder) });
  };
  for (const operation of operations) {
    const { at } = operation;
    switch (operation.kind) {
      case 'bind':
        if (!operation.isOptional || existsSync(operation.source)) bind(operation.source, at, operation.isReadOnly);
        break;
      case 'link':
        create(at, 'link');
        batch.links.push(operation);
        break;
      case 'empty':
        create(at, 'folder');
        mount('tmpfs', at, 'tmpfs', [
          `mode=${operation.mode.toString(8)}`,
          ...withReadOnly(commonFlags, operation.isReadOnly),
        ]);
        layers.push({ at, isInMemory: true, batch });
        break;
      case 'processes':
        create(at, 'folder');
        mount('proc', at, 'proc', ['nosuid', 'nodev', 'noexec']);
        layers.push({ at, isInMemory: false, batch });
        break;
      case 'devices':
        create(at, 'folder');
        mount('tmpfs', at, 'tmpfs', ['mode=755', ...commonFlags]);
        layers.push({ at, isInMemory: true, batch });
        break;
    }
  }
  // Nothing is mounted over devices, so they come last, when the folder for them has been mounted: one call of mount fewer.
  for (const operation of operations) if (operation.kind === 'devices') devices(operation.at);
  flush();
  return { steps, expected };
}

const devptsFlags = ['newinstance', 'ptmxmode=0666', 'mode=620', 'nosuid', 'noexec'];

const inNewRoot = (at: string): string => path.join(newRoot, at);

const withReadOnly = (flags: readonly string[], isReadOnly: boolean): readonly string[] =>
  isReadOnly && !flags.includes('ro') ? ['ro', ...flags] : flags;

/** Returns the flags of a mount that stay: the kernel refuses to remove one from a mount of another user namespace. */
const keptFlags = ({ flags }: HostMount): readonly string[] => [
  ...commonFlags,
  ...['ro', 'noexec'].filter((flag) => flags.includes(flag)),
];

/** Escapes a field of a mount table: each byte that is not an ordinary character of a path is an octal number. */
const escapeEntry = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => {
      const sign = String.fromCharCode(byte);
      return /[\w/.-]/.test(sign) && byte < 128 ? sign : `\\${byte.toString(8).padStart(3, '0')}`;
    })
    .join('');

function formatBatch(
  batch: Batch,
  words: ScriptArguments,
  { mkdir, ln, cp, mount }: MountPrograms,
  hasTable: boolean,
): readonly string[] {
  const { folders, files, links, copies, entries } = batch;
  const table = `/proc/self/fd/${tableFd}`;
  return [
    ...(folders.size > 0 ? [`${mkdir} -p -- ${words.addAll([...folders])}`] : []),
    ...files.map((file) => `: >${words.add(file)}`),
    ...formatLinks(links, words, ln),
    ...copies.map(({ from, into }) => `${cp} -P -- ${words.addAll(from)} ${words.add(into)}`),
    ...(entries.length > 0
      ? [
          ...(hasTable ? [] : [`exec ${tableFd}>${newRoot}/tmp/table`]),
          `printf '%s\\n' ${words.addAll(entries)} >${table}`,
          `${mount} -n -a -T ${table}`,
        ]
      : []),
  ];
}

/** Links with the name of their target are made in one call for each folder. */
function formatLinks(links: Batch['links'], words: ScriptArguments, ln: string): readonly string[] {
  const named = links.filter(({ target, at }) => path.basename(target) === path.basename(at));
  const byFolder = Map.groupBy(named, ({ at }) => path.dirname(at));
  return [
    ...[...byFolder].map(
      ([folder, each]) =>
        `${ln} -s -- ${words.addAll(each.map(({ target }) => target))} ${words.add(`${inNewRoot(folder)}/`)}`,
    ),
    ...links
      .filter((link) => !named.includes(link))
      .map(({ target, at }) => `${ln} -s -- ${words.add(target)} ${words.add(inNewRoot(at))}`),
  ];
}
