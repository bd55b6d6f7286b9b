// Copies text to the clipboard: with the program of the desktop or of tmux if there is one, and through the terminal (OSC 52), which also works over ssh.
import { spawn } from 'node:child_process';
import { findProgramOutside } from '../../tools/index.ts';

/** The programs that set the clipboard, and when each applies. */
const programs: readonly {
  readonly name: string;
  readonly args: readonly string[];
  readonly applies: (env: NodeJS.ProcessEnv) => boolean;
}[] = [
  { name: 'pbcopy', args: [], applies: () => process.platform === 'darwin' },
  { name: 'clip.exe', args: [], applies: () => process.platform === 'win32' },
  { name: 'wl-copy', args: [], applies: (env) => Boolean(env['WAYLAND_DISPLAY']) },
  { name: 'xclip', args: ['-selection', 'clipboard'], applies: (env) => Boolean(env['DISPLAY']) },
  { name: 'xsel', args: ['--clipboard', '--input'], applies: (env) => Boolean(env['DISPLAY']) },
  { name: 'tmux', args: ['load-buffer', '-w', '-'], applies: (env) => Boolean(env['TMUX']) },
];

/** Terminals ignore longer sequences. */
const maxSequenceChars = 100_000;
const programTimeoutMs = 3000;

/** The control sequence that asks a terminal to set its clipboard; undefined if the text is too long for it. */
export function formatClipboardSequence(text: string): string | undefined {
  const encoded = Buffer.from(text).toString('base64');
  return encoded.length > maxSequenceChars ? undefined : `\u001B]52;c;${encoded}\u0007`;
}

/** Copies a text, and returns what took it: the names of programs, and `terminal` for the control sequence; empty if nothing did. */
export async function copyToClipboard(
  text: string,
  cwd: string,
  output: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stdout,
): Promise<readonly string[]> {
  const taken: string[] = [];
  for (const { name, args, applies } of programs) {
    const file = applies(process.env) ? findProgramOutside(name, cwd) : undefined;
    if (file === undefined || !(await pipeTo(file, args, text))) continue;
    taken.push(name);
    break;
  }
  const sequence = output.isTTY ? formatClipboardSequence(text) : undefined;
  if (sequence !== undefined) {
    output.write(sequence);
    taken.push('terminal');
  }
  return taken;
}

/** Runs a program with the text as its input; returns whether it succeeded. xclip stays in the background to serve the clipboard, so only its exit is awaited. */
function pipeTo(file: string, args: readonly string[], text: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(file, args, { stdio: ['pipe', 'ignore', 'ignore'], timeout: programTimeoutMs });
  child.once('error', () => resolve(false)).once('exit', (code) => resolve(code === 0));
  child.stdin.on('error', () => undefined).end(text);
  return promise;
}
