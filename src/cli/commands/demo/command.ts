// The `demo` command: a tour of two minutes that needs no model and no network, in a folder that is gone afterwards.
import { parseArgs } from 'node:util';
import { FairleadError, formatError } from '../../../core/index.ts';
import type { Command } from '../../args/command.ts';
import { createUi, type TerminalUI } from '../../tui/index.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { createTour, type Tour } from './tour.ts';
import { tourSteps } from './steps.ts';
import { createDemoWorkspace, type DemoWorkspace } from './workspace.ts';

const usage = `Usage: fairlead demo [--fast] [--plain]

A tour of two minutes on a scripted model: no key, no server and no network are needed, and nothing is left behind.
--fast waits for nobody; --plain says it in lines instead of on a screen.`;

/** Gives the tour: 0 given or left, 1 where something is not as it claims, 2 misused, 130 and 143 by signal. */
export const run: Command['run'] = async (args) => {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${usage}\n`);
    return exitCodes.answered;
  }
  let asked: { readonly fast: boolean; readonly plain: boolean };
  try {
    const options = { fast: { type: 'boolean', default: false }, plain: { type: 'boolean', default: false } } as const;
    asked = parseArgs({ args: [...args], options }).values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message.split('\n')[0]}\n${usage}\n`);
    return exitCodes.misused;
  }
  const stage = createDemoWorkspace();
  const leave = enterDemoWorkspace(stage);
  try {
    return await runTour(stage, asked);
  } finally {
    leave();
    stage.remove();
  }
};

/** Goes into the stage's folder and home, as everything that is told there must be there; the way back is handed out. */
function enterDemoWorkspace({ cwd: work, env }: DemoWorkspace): () => void {
  const [cwd, home] = [process.cwd(), process.env['HOME']];
  process.chdir(work);
  process.env['HOME'] = env['HOME'];
  return () => {
    process.chdir(cwd);
    if (home === undefined) delete process.env['HOME'];
    else process.env['HOME'] = home;
  };
}

async function runTour(
  stage: DemoWorkspace,
  { fast, plain }: { readonly fast: boolean; readonly plain: boolean },
): Promise<number> {
  const stop = new AbortController();
  const signals = stopOnSignal(stop);
  const left = (): number => signals.code ?? exitCodes.interrupted;
  const person = process.stdin.isTTY && process.stdout.isTTY;
  const face = await createUi({ plain });
  try {
    if (person) stopOnQuit(face, stop);
    await runTourSteps(createTour(face, stage, { person: person && !fast, signal: stop.signal }));
    return stop.signal.aborted ? left() : exitCodes.answered;
  } catch (error) {
    // What breaks off in the middle of a scene is no fault of the scene.
    if (stop.signal.aborted) return left();
    if (!(error instanceof FairleadError)) throw error;
    face.putBlock({ type: 'notice', id: 'failed', level: 'error', text: formatError(error) });
    return exitCodes.failed;
  } finally {
    await face.close();
    signals.release();
  }
}

async function runTourSteps(guide: Tour): Promise<void> {
  guide.showScreen(
    'Fairlead, a tour',
    `Two minutes: tools and an approval, a crash and its resume, an edit of history.
No model is asked and nothing goes over the network. Everything happens in
${guide.workspace.root}, which is removed afterwards.`,
  );
  for (const [i, step] of tourSteps.entries()) {
    if (!(await guide.waitForNext())) return;
    guide.showScreen(`${i + 1} of ${tourSteps.length}  ${step.title}`, step.text);
    await step.run(guide);
  }
}

/** Ctrl+C and the like end the tour, not only what is being shown. */
function stopOnQuit(face: TerminalUI, stop: AbortController): void {
  face.onAction((heard) => {
    if (heard.type === 'quit' || heard.type === 'interrupt') stop.abort();
  });
}

function stopOnSignal(stop: AbortController): { readonly code: number | undefined; readonly release: () => void } {
  let code: number | undefined;
  const end = (signal: NodeJS.Signals): void => {
    code ??= signal === 'SIGTERM' ? exitCodes.terminated : exitCodes.interrupted;
    stop.abort();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, end);
  // Who no longer reads has left; the listener stays, as there may be more to tell them.
  process.stdout.on('error', () => stop.abort());
  return {
    get code() {
      return code;
    },
    release: () => signals.forEach((signal) => void process.off(signal, end)),
  };
}
