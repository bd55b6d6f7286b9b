// Ends the process from another thread while its main thread is blocked.
import { write } from 'node:fs';
import { Session, type Debugger } from 'node:inspector';
import { setTimeout as sleep } from 'node:timers/promises';
import { escapeInvisibleLine } from '../../core/index.ts';
import { blockedExitCode } from './main-thread.ts';

const stackTimeoutMs = 5000;
const writeTimeoutMs = 1000;
const exitTimeoutMs = 15_000;
const maxFrames = 5;
const maxUrlLength = 300;

// The last listener of the exit closes standard error: Node would print a sentence about a debugger there.
const exitExpression = `process.on('exit', () => process.getBuiltinModule('node:fs').closeSync(2)); process.exit(${blockedExitCode})`;

/**
 * Writes the message and the code that the main thread executes to standard error, and ends the process with `blockedExitCode`. V8 interrupts
 * running JavaScript for it. A main thread inside a long call of native code is not interrupted: then the process kills itself.
 */
export async function endProcess(message: string): Promise<never> {
  const session = connectToMainThread();
  const stack = session ? await Promise.race([readStack(session), sleep(stackTimeoutMs, [])]) : [];
  const lines = [message, ...stack.map((frame) => `  at ${frame}`), ''];
  // Not a synchronous write: the main thread may be blocked because standard error is a pipe that is full.
  const written = new Promise<void>((resolve) => write(2, lines.join('\n'), () => resolve()));
  await Promise.race([written, sleep(writeTimeoutMs)]);
  session?.post('Runtime.evaluate', { expression: exitExpression });
  if (session) await sleep(exitTimeoutMs);
  process.kill(process.pid, 'SIGKILL');
  return new Promise<never>(() => {});
}

function connectToMainThread(): Session | undefined {
  try {
    const session = new Session();
    session.connectToMainThread();
    return session;
  } catch {
    // Node can be built without an inspector.
    return undefined;
  }
}

/** Pauses the main thread and returns its innermost calls. */
const readStack = (session: Session): Promise<readonly string[]> =>
  new Promise((resolve) => {
    const urls = new Map<string, string>();
    session.on('Debugger.scriptParsed', ({ params }) => void urls.set(params.scriptId, params.url));
    session.on('Debugger.paused', ({ params }) =>
      resolve(params.callFrames.slice(0, maxFrames).map((frame) => formatFrame(frame, urls))),
    );
    session.post('Debugger.enable');
    session.post('Debugger.pause');
  });

const formatFrame = (
  { functionName, location: { scriptId, lineNumber } }: Debugger.CallFrame,
  urls: ReadonlyMap<string, string>,
): string => {
  // A custom tool is loaded from a data URL, which is its whole text.
  const url = (urls.get(scriptId) ?? '').replace(/^(data:[^,]*),.*$/s, '$1').slice(0, maxUrlLength);
  return escapeInvisibleLine(`${functionName || '(anonymous)'} (${url}:${lineNumber + 1})`);
};
