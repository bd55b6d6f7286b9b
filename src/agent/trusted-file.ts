// A file of code or rules that somebody put into a project: it is used only after a yes to its very text, and code runs from that text alone.
import { hash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';
import { FairleadError, systemErrorCode } from '../core/index.ts';
import type { TrustStatus, TrustStore } from '../guards/index.ts';
import { boundaryError, type ResourceDir } from './project-files/search-dirs.ts';
import { readTextFile } from './project-files/text-file.ts';

/** A file of a project that is not approved as it is. */
export type UnapprovedFile = {
  readonly path: string;
  readonly text: string;
  readonly status: Exclude<TrustStatus, 'approved'>;
};

/** Who decides whether a project's file may be used. */
export type FileApprovalOptions = {
  /** What was approved of projects; a person's own files need no approval. */
  readonly trust: TrustStore;
  /** Asks the person whether a project's file may run; without it none that is not approved does. */
  readonly ask?: (file: UnapprovedFile) => Promise<boolean>;
  /** Nobody is there to be asked: what is not agreed to was not refused either. */
  readonly unattended?: boolean;
};

const maxFileBytes = 256 * 1024;
const loadTimeoutMs = 10_000;

/** Why a file is not used; the sentence goes on after its name. */
export const fileRefusedError = (why: string): FairleadError =>
  new FairleadError('tool/custom-refused', why, { blame: 'user' });

/** The code of the error for a file that was approved, and is another now. */
export const FILE_CHANGED_CODE = 'tool/custom-changed';

/** The text of a file on a shelf, approved where it must be; `kind` is what an approval calls it. */
export async function readTrustedFile(
  shelf: ResourceDir,
  file: string,
  kind: string,
  approving: FileApprovalOptions,
): Promise<string> {
  const away = boundaryError(shelf, file);
  if (away) throw fileRefusedError(away.why);
  const read = readTextFile(file, maxFileBytes);
  if ('wrong' in read) throw fileRefusedError(read.why);
  if (read.cut) throw fileRefusedError(`has ${read.size} bytes; it may have ${maxFileBytes}`);
  if (shelf.scope === 'project') await assertApproved(file, read.text, kind, approving);
  return read.text;
}

async function assertApproved(
  file: string,
  text: string,
  kind: string,
  { trust, ask }: FileApprovalOptions,
): Promise<void> {
  const item = { subject: `${kind} ${file}`, hash: hash('sha256', text) };
  const standing = trust.check(item);
  if (standing === 'approved') return;
  if (!(await ask?.({ path: file, text, status: standing })))
    throw standing === 'new'
      ? fileRefusedError('is not approved, so it was not run')
      : new FairleadError(FILE_CHANGED_CODE, 'changed since it was approved, so it was not run', { blame: 'user' });
  trust.approve([item]);
}

/** What the text exports. It is run from memory: the file may have changed since it was judged, and other files next to it were judged by nobody. */
export async function importDefaultExport(file: string, text: string): Promise<unknown> {
  const code = /\.m?ts$/.test(file) ? stripTypes(text) : text;
  const loading = import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`) as Promise<{
    readonly default?: unknown;
  }>;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(fileRefusedError(`did not load within ${loadTimeoutMs / 1000} s`)),
    loadTimeoutMs,
  );
  try {
    return (await Promise.race([loading, late])).default;
  } catch (error) {
    const isImport = systemErrorCode(error) === 'ERR_UNSUPPORTED_RESOLVE_REQUEST';
    throw isImport ? fileRefusedError('imports something; it must be one file and may import node:… only') : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Node warns that this is new. It is what runs our own sources, and a person has nothing to do about it. */
function stripTypes(text: string): string {
  const emitWarning: unknown = Reflect.get(process, 'emitWarning');
  Object.assign(process, { emitWarning: () => {} });
  try {
    return stripTypeScriptTypes(text);
  } finally {
    Object.assign(process, { emitWarning });
  }
}
