// Chooses the face for where the program runs; the screen's libraries load only when it is the one.
import type { Face } from './face.ts';
import { wantsColours } from './paint.ts';

/** What decides on the face besides the terminal itself. */
export type FaceOptions = {
  /** Wants the plain face, as `--plain` and FAIRLEAD_PLAIN=1 do. */
  readonly plain?: boolean;
  readonly env?: NodeJS.ProcessEnv;
};

/** Opens the screen on a capable terminal, and the plain face everywhere else. */
export async function openFace(options: FaceOptions = {}): Promise<Face> {
  const env = options.env ?? process.env;
  const { stdin: input, stdout: output } = process;
  const person = input.isTTY && output.isTTY;
  const dumb = env['TERM'] === 'dumb';
  const plainly = options.plain === true || !['', '0', undefined].includes(env['FAIRLEAD_PLAIN']);
  const colours = wantsColours(env, output.isTTY);
  if (person && !dumb && !plainly) {
    const { screenFace } = await import('./screen.ts');
    return screenFace({ colours });
  }
  const { plainFace } = await import('./plain.ts');
  return plainFace({ input, output, colours, editing: person && !dumb && colours });
}
