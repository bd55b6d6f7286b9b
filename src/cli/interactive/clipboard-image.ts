// Reads an image from the clipboard with the program of the desktop, for Ctrl+V at the prompt.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { imageType, maxImageBytes } from '../../coding-agent/index.ts';
import { environmentOutside, findProgramOutside } from '../../tools/index.ts';

const execFileAsync = promisify(execFile);

/** A command that prints the image of the clipboard, and the variable without which there is no such clipboard. */
type ClipboardCommand = { readonly program: string; readonly args: readonly string[]; readonly variable?: string };

const clipboardCommands: readonly ClipboardCommand[] = [
  { program: 'wl-paste', args: ['--no-newline', '--type', 'image/png'], variable: 'WAYLAND_DISPLAY' },
  { program: 'xclip', args: ['-selection', 'clipboard', '-t', 'image/png', '-o'], variable: 'DISPLAY' },
  { program: 'pngpaste', args: ['-'] },
];

/** Saves the image of the clipboard in a private folder and returns its path, or a sentence why there is none. */
export async function saveClipboardImage(
  folder: string,
  { cwd, env = process.env }: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<{ readonly file: string } | { readonly problem: string }> {
  const present = clipboardCommands.flatMap(({ program, args, variable }) => {
    if (variable !== undefined && !env[variable]) return [];
    const found = findProgramOutside(program, cwd);
    return found === undefined ? [] : [{ program: found, args }];
  });
  if (present.length === 0)
    return { problem: 'To paste an image, install wl-paste, xclip or pngpaste, or type @ and the path of the image.' };
  for (const { program, args } of present) {
    const bytes = await readOutput(program, args, environmentOutside(cwd, env));
    const type = bytes && imageType(bytes);
    if (bytes === undefined || type === undefined) continue;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = path.join(
      folder,
      `${new Date().toISOString().replaceAll(/[:.]/g, '-')}.${type.slice('image/'.length)}`,
    );
    writeFileSync(file, bytes, { mode: 0o600 });
    return { file };
  }
  return { problem: 'There is no image in the clipboard.' };
}

const readOutput = (program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Buffer | undefined> =>
  execFileAsync(program, [...args], { encoding: 'buffer', maxBuffer: maxImageBytes, timeout: 3000, env }).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
