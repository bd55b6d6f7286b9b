// A folder of releases: signed manifests, file contents by hash, verified check-outs, and the history of promotions.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { FairleadError, isObject } from '../../core/index.ts';
import { makePrivateDir, readTextIfExists, withFileLock, writeTextAtomic } from '../../stores/index.ts';
import { createEntry, parseHistory, type HistoryEntry, type NewHistoryEntry } from './history.ts';
import { assertSigned, type ReleaseSignature } from './keys.ts';
import { getReleaseId, parseManifest, sha256, type ReleaseManifest } from './manifest.ts';

/** A release with its id and its signature. */
export type SignedRelease = {
  readonly id: string;
  readonly manifest: ReleaseManifest;
  readonly signature: ReleaseSignature;
};

/** A verified copy of the files of a release. */
export type CheckedOutRelease = SignedRelease & { readonly folder: string };

/** A manifest that cannot be read: the id in the name of its file, and why. */
export type UnreadableRelease = { readonly id: string; readonly error: FairleadError };

/** The releases of a folder, latest first, and the manifests that cannot be read. */
export type ReleaseListing = {
  readonly releases: readonly SignedRelease[];
  readonly unreadable: readonly UnreadableRelease[];
};

/** The releases of a folder. */
export type ReleaseStore = {
  readonly folder: string;
  /** Stores a release and returns it; `contents` has the file contents by hash. */
  add(manifest: ReleaseManifest, signature: ReleaseSignature, contents: ReadonlyMap<string, Uint8Array>): SignedRelease;
  /** Reads every manifest; one that cannot be read does not hide the others. */
  read(): ReleaseListing;
  /** All releases, latest first; throws if a manifest cannot be read. */
  list(): readonly SignedRelease[];
  /** Returns the release whose id or name this is, or whose id begins with it; throws if there is none or more than one. */
  find(idOrName: string): SignedRelease;
  /** Returns the content of a file by its hash; throws if it is missing or changed. */
  readContent(hash: string): Uint8Array;
  /** Writes the files of a release to a folder of its own. Throws unless a trusted key signed it and every content has its hash. */
  checkOut(id: string, trustedKeys: readonly string[]): CheckedOutRelease;
  /** Checks out a release, and throws also if a stored content is missing or changed that the check-out does not need any more. */
  verify(id: string, trustedKeys: readonly string[]): CheckedOutRelease;
  /** The recorded changes, oldest first; throws if the chain is broken. */
  readHistory(): readonly HistoryEntry[];
  /** Records what `decide` returns for the history as it is then; other processes wait meanwhile. */
  record(decide: (entries: readonly HistoryEntry[]) => NewHistoryEntry | undefined): Promise<HistoryEntry | undefined>;
};

/** Opens the folder of releases; it is created with the first release. */
export function openReleaseStore(folder: string): ReleaseStore {
  const manifests = path.join(folder, 'manifests');
  const historyFile = path.join(folder, 'history.jsonl');
  const contentFile = (hash: string): string => path.join(folder, 'contents', hash.slice(0, 2), hash);
  const headFile = path.join(folder, 'history.head');

  const store: ReleaseStore = {
    folder,
    add(manifest, signature, contents) {
      const id = getReleaseId(manifest);
      for (const { hash } of manifest.files) {
        const content = contents.get(hash);
        if (content === undefined || sha256(content) !== hash) throw contentError(hash);
        writeWhole(contentFile(hash), content);
      }
      writeWhole(path.join(manifests, `${id}.json`), `${JSON.stringify({ manifest, signature }, null, 2)}\n`);
      return { id, manifest, signature };
    },
    read() {
      const releases: SignedRelease[] = [];
      const unreadable: UnreadableRelease[] = [];
      for (const name of readNames(manifests).filter((each) => /^[0-9a-f]{20}\.json$/.test(each)))
        try {
          releases.push(readRelease(path.join(manifests, name)));
        } catch (error) {
          unreadable.push({ id: path.basename(name, '.json'), error: toManifestError(error) });
        }
      return {
        releases: releases.toSorted((a, b) => (a.manifest.created < b.manifest.created ? 1 : -1)),
        unreadable: unreadable.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      };
    },
    list() {
      const { releases, unreadable } = store.read();
      if (unreadable[0]) throw unreadable[0].error;
      return releases;
    },
    find(idOrName) {
      const { releases: all, unreadable } = store.read();
      const found = all.filter(({ id, manifest }) => id === idOrName || manifest.name === idOrName);
      const matches = found.length > 0 ? found : all.filter(({ id }) => idOrName !== '' && id.startsWith(idOrName));
      const [first, second] = matches;
      const damaged = unreadable.find(({ id }) => idOrName !== '' && id.startsWith(idOrName));
      if (damaged && found.length === 0) throw damaged.error;
      if (first !== undefined && second === undefined) return first;
      throw new FairleadError(
        first === undefined ? 'release/unknown' : 'release/ambiguous',
        first === undefined
          ? `There is no release ${JSON.stringify(idOrName)}${unreadable[0] ? `, and the manifest ${unreadable[0].id} cannot be read` : ''}.`
          : `${JSON.stringify(idOrName)} names more than one release: ${matches.map(({ id }) => id).join(', ')}.`,
        { blame: 'user', hint: 'fairlead release list shows the ids.' },
      );
    },
    readContent(hash) {
      const content = existsSync(contentFile(hash)) ? readFileSync(contentFile(hash)) : undefined;
      if (content === undefined || sha256(content) !== hash) throw contentError(hash);
      return content;
    },
    checkOut(id, trustedKeys) {
      const release = store.find(id);
      assertSigned(release.manifest, release.signature, trustedKeys);
      const target = path.join(folder, 'check-outs', release.id);
      // Every file is hashed for every run, because a file can be changed while a worker is active.
      if (!isIntact(target, release.manifest)) writeCheckOut(store, target, release.manifest);
      return { ...release, folder: target };
    },
    verify(id, trustedKeys) {
      const release = store.checkOut(id, trustedKeys);
      for (const { hash } of release.manifest.files) store.readContent(hash);
      return release;
    },
    readHistory() {
      // The head is read first: an entry that is recorded meanwhile is then one more than it names, and not one less.
      const head = readTextIfExists(headFile)?.trim();
      return parseHistory(readTextIfExists(historyFile) ?? '', head);
    },
    record: (decide) => {
      makePrivateDir(folder);
      return withFileLock(historyFile, async () => {
        const text = readTextIfExists(historyFile) ?? '';
        const entries = parseHistory(text, readTextIfExists(headFile)?.trim());
        const change = decide(entries);
        if (change === undefined) return undefined;
        const entry = createEntry(entries, change, new Date().toISOString());
        // The whole file is replaced: a process that is killed leaves no part of a line.
        writeTextAtomic(historyFile, `${text}${JSON.stringify(entry)}\n`);
        writeTextAtomic(headFile, `${entry.hash}\n`);
        return entry;
      });
    },
  };
  return store;
}

const contentError = (hash: string): FairleadError =>
  new FairleadError('release/content-changed', `The content ${hash.slice(0, 12)} of a release is missing or changed.`, {
    blame: 'store',
    hint: 'Create the release again from the folder of the agent.',
  });

function readRelease(file: string): SignedRelease {
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const { manifest, signature } = isObject(value) ? value : {};
  const parsed = parseManifest(manifest);
  const id = getReleaseId(parsed);
  const isSigned = isObject(signature) && typeof signature['key'] === 'string';
  if (isSigned && typeof signature['signature'] === 'string' && path.basename(file, '.json') === id)
    return { id, manifest: parsed, signature: signature as ReleaseSignature };
  throw new FairleadError('release/bad-manifest', `The manifest ${path.basename(file)} was changed.`, {
    blame: 'store',
    hint: 'Delete it, and create the release again.',
  });
}

/** Errors of the file system name files of this machine, and are replaced. */
function toManifestError(error: unknown): FairleadError {
  if (error instanceof FairleadError) return error;
  const why = error instanceof SyntaxError ? 'It is not JSON.' : 'The file cannot be read.';
  return new FairleadError('release/bad-manifest', why, { blame: 'store', cause: error });
}

function readNames(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Writes a file so that a reader sees all of it or none; an existing one stays. */
function writeWhole(file: string, content: string | Uint8Array): void {
  if (existsSync(file) && readFileSync(file).equals(Buffer.from(content))) return;
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, content, { mode: 0o600, flush: true });
  renameSync(draft, file);
}

/** Whether a folder has exactly the files of a manifest. */
function isIntact(folder: string, { files }: ReleaseManifest): boolean {
  if (!existsSync(folder)) return false;
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => !each.isDirectory());
  if (found.length !== files.length || found.some((each) => !each.isFile())) return false;
  return files.every(({ path: name, hash }) => {
    const file = path.join(folder, ...name.split('/'));
    return existsSync(file) && sha256(readFileSync(file)) === hash;
  });
}

function writeCheckOut(store: ReleaseStore, target: string, manifest: ReleaseManifest): void {
  mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
  const draft = mkdtempSync(`${target}-`);
  try {
    for (const { path: name, hash } of manifest.files) {
      const file = path.join(draft, ...name.split('/'));
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, store.readContent(hash), { mode: 0o400 });
    }
    chmodSync(draft, 0o700);
    replaceFolder(draft, target, () => isIntact(target, manifest));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Renames a folder to its target. A target that another process wrote meanwhile stays if it is good, and is replaced if not. */
function replaceFolder(draft: string, target: string, isGood: () => boolean): void {
  try {
    renameSync(draft, target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'EPERM') throw error;
    if (isGood()) return;
    rmSync(target, { recursive: true, force: true });
    renameSync(draft, target);
  }
}
