// Writes an archive in the format of an initial file system of Linux (cpio, newc).

/** A file of the archive. `/dev/console` is the only device that a kernel needs before devices are mounted. */
export type ArchiveEntry =
  | { readonly type: 'file'; readonly path: string; readonly content: Buffer; readonly isExecutable?: boolean }
  | { readonly type: 'folder'; readonly path: string }
  | { readonly type: 'console'; readonly path: string };

const modes = { file: 0o100_644, program: 0o100_755, folder: 0o40_755, console: 0o20_600 } as const;
const alignment = 4;

const pad = (size: number): Buffer => Buffer.alloc((alignment - (size % alignment)) % alignment);

/** Returns the bytes of an archive with these entries, in this order: a folder comes before its files. */
export function createArchive(entries: readonly ArchiveEntry[]): Buffer {
  return Buffer.concat([
    ...entries.flatMap((entry, i) => {
      const isProgram = entry.type === 'file' && entry.isExecutable === true;
      const content = entry.type === 'file' ? entry.content : Buffer.alloc(0);
      const device: readonly [number, number] = entry.type === 'console' ? [5, 1] : [0, 0];
      return encodeEntry(entry.path, modes[isProgram ? 'program' : entry.type], content, device, i + 1);
    }),
    ...encodeEntry('TRAILER!!!', 0, Buffer.alloc(0), [0, 0], 0),
  ]);
}

function encodeEntry(
  path: string,
  mode: number,
  content: Buffer,
  [major, minor]: readonly [number, number],
  inode: number,
): readonly Buffer[] {
  const name = Buffer.from(`${path.replace(/^\/+/, '')}\0`);
  const fields = [inode, mode, 0, 0, 1, 0, content.length, 0, 0, major, minor, name.length, 0];
  const header = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`);
  return [header, name, pad(header.length + name.length), content, pad(content.length)];
}
