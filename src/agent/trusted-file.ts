// Reads files of code or rules. A project's file is used only if the user approved its exact text, and only that text runs.
import { hash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';
import { FairleadError, systemErrorCode } from '../core/index.ts';
import type { TrustStatus, TrustStore } from '../guards/index.ts';
import { boundaryError, type ResourceDir } from './project-files/search-dirs.ts';
import { readTextFile } from './project-files/text-file.ts';

/** A project's file that is not approved with its current text. */
export type UnapprovedFile = {
  readonly path: string;
  readonly text: string;
  readonly status: Exclude<TrustStatus, 'approved'>;
};

/** How a project's file is approved. */
export type FileApprovalOptions = {
  /** The approved files of projects; the user's own files need no approval. */
  readonly trust: TrustStore;
  /** Asks the user whether a project's file may be used; without it only approved files are. */
  readonly ask?: (file: UnapprovedFile) => Promise<boolean>;
  /** No user is present: a missing approval is not a rejection. */
  readonly unattended?: boolean;
};

const maxFileBytes = 256 * 1024;
const loadTimeoutMs = 10_000;

/** The error for a file that is not used; the message continues a sentence that begins with the path. */
export const fileRefusedError = (why: string): FairleadError =>
  new FairleadError('tool/custom-refused', why, { blame: 'user' });

/** The error code for a file that changed after its approval. */
export const FILE_CHANGED_CODE = 'tool/custom-changed';

/** Reads a file, which must be approved if it is a project's; `kind` names it in the approval. */
export async function readTrustedFile(
  dir: ResourceDir,
  file: string,
  kind: string,
  approval: FileApprovalOptions,
): Promise<string> {
  const outside = boundaryError(dir, file);
  if (outside) throw fileRefusedError(outside.why);
  const read = readTextFile(file, maxFileBytes);
  if ('wrong' in read) throw fileRefusedError(read.why);
  if (read.cut) throw fileRefusedError(`has ${read.size} bytes; it may have ${maxFileBytes}`);
  if (dir.scope === 'project') await assertApproved(file, read.text, kind, approval);
  return read.text;
}

async function assertApproved(
  file: string,
  text: string,
  kind: string,
  { trust, ask }: FileApprovalOptions,
): Promise<void> {
  const item = { subject: `${kind} ${file}`, hash: hash('sha256', text) };
  const status = trust.check(item);
  if (status === 'approved') return;
  if (!(await ask?.({ path: file, text, status })))
    throw status === 'new'
      ? fileRefusedError('is not approved, so it was not run')
      : new FairleadError(FILE_CHANGED_CODE, 'changed since it was approved, so it was not run', { blame: 'user' });
  trust.approve([item]);
}

/** The exports of this text. It runs from memory: the file may have changed since its approval, and files next to it are not approved. */
export async function importExports(file: string, text: string): Promise<Readonly<Record<string, unknown>>> {
  const code = /\.m?ts$/.test(file) ? stripTypes(text) : text;
  const loading = import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`) as Promise<
    Readonly<Record<string, unknown>>
  >;
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(fileRefusedError(`did not load within ${loadTimeoutMs / 1000} s`)),
    loadTimeoutMs,
  );
  try {
    return await Promise.race([loading, timeout]);
  } catch (error) {
    const isImport = systemErrorCode(error) === 'ERR_UNSUPPORTED_RESOLVE_REQUEST';
    throw isImport ? fileRefusedError('imports something; it must be one file and may import node:… only') : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Suppresses Node's experimental warning, which the user cannot act on. */
function stripTypes(text: string): string {
  const emitWarning: unknown = Reflect.get(process, 'emitWarning');
  Object.assign(process, { emitWarning: () => {} });
  try {
    return stripTypeScriptTypes(text);
  } finally {
    Object.assign(process, { emitWarning });
  }
}
