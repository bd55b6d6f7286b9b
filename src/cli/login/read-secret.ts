// Reads a secret on the terminal without showing it.
import { printErr } from '../args/stdio.ts';

const PASTE_MARKS = ['\x1b[200~', '\x1b[201~'];

/** Reads a line without echo; undefined if the user cancels with Ctrl+C, Ctrl+D or Esc. */
export async function readSecret(prompt: string, signal?: AbortSignal): Promise<string | undefined> {
  const { stdin } = process;
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const cancel = (): void => resolve(undefined);
  let secret = '';
  const onData = (data: Buffer): void => {
    const keys = PASTE_MARKS.reduce((text, mark) => text.replaceAll(mark, ''), String(data));
    // A lone Esc cancels; other keys that begin with it, such as arrows, have no meaning here.
    if (keys === '\x1b') return cancel();
    if (keys.startsWith('\x1b')) return;
    for (const key of keys) {
      if (key === '\r' || key === '\n') return resolve(secret);
      if (key === '\x03' || key === '\x04') return cancel();
      if (key === '\x7f' || key === '\b') secret = secret.slice(0, -1);
      else if (key === '\x15') secret = '';
      else if (key >= ' ') secret += key;
    }
  };
  printErr(prompt);
  stdin.setRawMode(true);
  stdin.on('data', onData).once('end', cancel).resume();
  signal?.addEventListener('abort', cancel);
  try {
    return await promise;
  } finally {
    signal?.removeEventListener('abort', cancel);
    stdin.off('data', onData).off('end', cancel).pause();
    stdin.setRawMode(false);
    printErr('\n');
  }
}
